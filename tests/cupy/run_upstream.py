"""Run CuPy's own tests over PyGPU, and print by folder how many pass and why the others fail.

    git clone https://github.com/cupy/cupy
    python tests/cupy/run_upstream.py cupy cupy_tests/math_tests cupy_tests/linalg_tests

Paths are relative to the folder `tests` of the checkout; by default the modules of `COUNTED` run. Options after ``--``
are passed to pytest, which runs once for each module. Tests of huge arrays are omitted unless ``--huge`` is given.
Tests that use a private module or name of CuPy cannot pass, so the report counts them separately.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PRIVATE = re.compile(r"private in CuPy:|has no attribute '_[a-z]")
FOLDERS = (
    *("binary", "creation", "functional", "indexing", "io", "lib", "linalg", "logic", "manipulation", "math", "misc"),
    *("padding", "polynomial", "random", "sorting", "statistics", "testing"),
)
CORE = (
    *("array_function", "dlpack", "elementwise", "iter", "multithreading", "ndarray", "ndarray_adv_indexing"),
    *("ndarray_byteswap", "ndarray_complex_ops", "ndarray_contiguity", "ndarray_conversion", "ndarray_copy_and_view"),
    *("ndarray_cuda_array_interface", "ndarray_elementwise_op", "ndarray_get", "ndarray_indexing", "ndarray_math"),
    *("ndarray_owndata", "ndarray_reduction", "ndarray_scatter", "ndarray_ufunc", "ndarray_unary_op"),
    *("nep50_examples", "raw", "reduction", "structured", "syncdetect", "ufunc_methods", "userkernel"),
)
CUDA = ("device", "graph", "memory", "memory_hook", "nvtx", "pinned_memory", "profile", "runtime", "stream")
COUNTED = (
    *(f"cupy_tests/{name}_tests" for name in FOLDERS),
    *(f"cupy_tests/core_tests/test_{name}.py" for name in CORE),
    *("cupy_tests/core_tests/fusion_tests", "cupy_tests/cuda_tests/memory_hooks_tests"),
    *(f"cupy_tests/cuda_tests/test_{name}.py" for name in CUDA),
    *("cupy_tests/test_init.py", "cupy_tests/test_ndim.py", "cupy_tests/test_numpy_interop.py"),
    *("cupy_tests/test_type_routines.py", "cupy_tests/fft_tests/test_fft.py", "cupyx_tests/test_cupyx.py"),
    *("cupyx_tests/test_pinned_array.py", "cupyx_tests/test_rsqrt.py", "cupyx_tests/test_runtime.py"),
    *("cupyx_tests/test_time.py", "cupyx_tests/profiler_tests", "cupyx_tests/scipy_tests/test_get_array_module.py"),
    *("cupyx_tests/scipy_tests/special_tests", "cupyx_tests/scipy_tests/fft_tests/test_fft.py"),
)
"""The test modules that run by default: tests of NumPy's names, kernels, `cupy.cuda`, `cupy.testing` and `cupyx`.

Tests of private modules are omitted (``cupy._core``, carray, CUB, cuTENSOR, caches of compilers, wrappers of CUDA's
libraries, plans of FFTs), and so are tests of packages and functions that PyGPU lacks by design: sparse matrices,
images, signals, interpolation, the compiler of Python functions, textures, several processes, cosine and Hankel
transforms.
"""

NOT_HUGE = ["-k", "not Huge and not huge and not large and not 32bit and not int32_overflow", "-m", "not slow"]
LONGEST = 160


def last_error(message: str) -> str:
    """Return the line of a message that names the error.

    Numbers in the line are replaced, so that errors with the same cause are counted together.
    """
    lines = [line for line in message.splitlines() if line.strip() and not line.startswith("for ")]
    errors = [line for line in lines if re.match(r"(\w+\.)*\w*(Error|Exception|Warning)\b", line)]
    prefix = (
        "only cupy: " if "only cupy raised" in message else "only numpy: " if "only numpy raised" in message else ""
    )
    text = errors[-1] if prefix and errors else " ".join(lines[:2])
    return prefix + re.sub(r"0x[0-9a-f]+|\d+", "N", text)[:LONGEST]


def report(outcomes: list[tuple[str, str, str]], causes: int) -> None:
    """Print the number of tests by folder and outcome, and the most frequent causes of failures."""
    folders: dict[str, Counter[str]] = defaultdict(Counter)
    failures: Counter[str] = Counter()
    for test, outcome, message in outcomes:
        folder = test.partition("::")[0].rpartition("/")[0]
        is_private = outcome == "failed" and PRIVATE.search(message) is not None
        folders[folder]["private" if is_private else outcome] += 1
        if outcome == "failed" and not is_private:
            failures[last_error(message)] += 1
    total = sum(folders.values(), Counter())
    for folder, counts in [*sorted(folders.items()), ("all", total)]:
        counted = counts["passed"] + counts["failed"]
        share = f"{100 * counts['passed'] / counted:.1f} %" if counted else "none counted"
        others = f"{counts['skipped']} skipped, {counts['private']} private"
        print(f"{folder}: {counts['passed']} of {counted} ({share}), {others}")
    for cause, count in failures.most_common(causes):
        print(f"{count:6} {cause}")


def modules(tests: Path, paths: tuple[str, ...]) -> list[str]:
    """Return the Python files with tests in the given files and folders, largest first."""
    found = [file for path in paths for file in (sorted((tests / path).rglob("test_*.py")) or [tests / path])]
    return [str(file.relative_to(tests)) for file in sorted(found, key=lambda file: -file.stat().st_size)]


def run(tests: Path, module: str, options: list[str], outcomes: Path, seconds: float) -> str:
    """Run pytest on a test file for a limited time, write the outcomes to a file, and return pytest's summary."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "upstream_plugin", "-p", "no:cacheprovider"]
    command += ["-c", os.devnull, "--rootdir", ".", "-W", "ignore", "--tb=line", "-rN"]
    command += ["--continue-on-collection-errors", *options, module]
    path = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))
    settings = {"CUPY_CHECKOUT": str(tests.parent), "CUPY_OUTCOMES": str(outcomes), "PYTHONPATH": path}
    environment = {"CUPY_TEST_GPU_LIMIT": "1", **os.environ, **settings}
    try:
        done = subprocess.run(
            command, cwd=tests, env=environment, stdout=subprocess.PIPE, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return f"ended after {seconds} s"
    lines = done.stdout.splitlines()
    return lines[-1] if lines and done.returncode in (0, 1) else f"pytest returned {done.returncode}: {lines[-1:]}"


def main() -> int:
    """Run CuPy's tests, print the report, and return 1 if a test failed."""
    parser = argparse.ArgumentParser(description="Run CuPy's own tests over PyGPU.")
    parser.add_argument("checkout", type=Path, help="folder of a checkout of CuPy")
    parser.add_argument("paths", nargs="*", help="files and folders of tests, relative to the checkout's `tests`")
    parser.add_argument("--huge", action="store_true", help="also run tests of huge arrays")
    parser.add_argument("--causes", type=int, default=40, help="number of causes of failures to print")
    parser.add_argument("--processes", type=int, default=1, help="number of test modules that run at the same time")
    parser.add_argument("--seconds", type=float, default=1800, help="time limit of a module")
    parser.add_argument("--outcomes", type=Path, help="file for the outcome of each test, a line of JSON each")
    own = sys.argv[1:]
    options = own[own.index("--") + 1 :] if "--" in own else []
    arguments = parser.parse_args(own[: own.index("--")] if "--" in own else own)
    tests = arguments.checkout.resolve() / "tests"
    options = [*([] if arguments.huge else NOT_HUGE), *options]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.processes) as pool:
        files = {
            Path(folder) / f"{number}.jsonl": module
            for number, module in enumerate(modules(tests, arguments.paths or COUNTED))
        }
        ends = pool.map(lambda file: run(tests, files[file], options, file, arguments.seconds), files)
        for module, end in zip(files.values(), ends, strict=True):
            print(f"{module}: {end}", flush=True)
        lines = [line for file in files if file.exists() for line in file.read_text().splitlines()]
    if arguments.outcomes:
        arguments.outcomes.write_text("".join(line + "\n" for line in lines))
    outcomes = [tuple(json.loads(line)) for line in lines]
    report(outcomes, arguments.causes)
    return int(any(outcome == "failed" for _, outcome, _ in outcomes))


if __name__ == "__main__":
    sys.exit(main())
