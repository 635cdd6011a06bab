"""Run tests under a tool of compute-sanitizer in parallel, and write its findings as JSON.

    PYGPU_BACKEND=cuda PYTHONPATH=build/gpu-package \\
        python tests/gpu/sanitize.py --tool memcheck --seconds 570 --json build/results/sanitizer-memcheck.json

- `memcheck` runs the suite's tests that use a GPU and no other GPU library; `racecheck`, `initcheck` and `synccheck`
  run tests of kernels. `sanitizer/tests_per_tool.py` lists the test files, the tools' options and the environment, with
  reasons. Arguments PATH replace the list of files. Deferred arithmetic is on.
- Each process runs a few short test files, or a part of a long file. The longest files run first. The result lists the
  files that were not finished after `--seconds`; `--unfinished-of FILE` runs the files of such a list.
- A finding is listed with its kernel, its first lines, and the tests during which the tool printed it. The tool prints
  with a delay, so an earlier test of the file may be the cause.
- `memcheck` also reports memory that was not freed when the context is destroyed. For this check the plugin
  `gpu.exit_cleanup` frees the remaining objects at the end of each process.
- The exit status is 1 if there are findings, and 2 if there are no findings but some files were not finished. A failed
  test is listed, but is no finding, because many tests depend on times and the tools slow them down.

To find the caller of a kernel, run the test alone, with `--processes 1 --option=--show-backtrace=host`. By default
there are no host backtraces, because to record them the tool keeps Python's frames alive, and thereby all arrays in the
frames.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benches" / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parent / "sanitizer"))
sys.path.insert(0, str(Path(__file__).resolve().parent / "runner"))

import jobs
import machine
import run_tests
import tests_per_tool
from checked_run import CheckedRun, divided


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line. All arguments after `--` are passed to pytest."""
    words = list(sys.argv[1:] if words is None else words)
    end = words.index("--") if "--" in words else len(words)
    cores = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", help="test files and folders (default: the tool's list)")
    parser.add_argument("--tool", choices=tests_per_tool.TOOLS, default="memcheck")
    parser.add_argument("--json", type=Path, help="the result (default: build/results/sanitizer-TOOL.json)")
    parser.add_argument("--processes", type=int, default=min(cores, 15), help="processes that share the device")
    parser.add_argument("--seconds", dest="total", type=float, default=570, help="seconds of the whole run")
    parser.add_argument("--limit", type=float, help="seconds of one process (default: those of the whole run)")
    parser.add_argument("--host-gib", type=float, help="host memory of one process (default: a share of the machine's)")
    parser.add_argument("--device-gib", type=float, default=4, help="free device memory before a process starts")
    parser.add_argument("--batch", type=float, default=10, help="seconds of the short files that one process runs")
    parser.add_argument("--part", type=float, default=15, help="seconds of a part of a long file")
    parser.add_argument("--seconds-of", type=Path, nargs="*", default=run_tests.EARLIER, help="earlier results")
    parser.add_argument("--unfinished-of", type=Path, help="earlier result of the tool, whose unfinished files to run")
    parser.add_argument("--no-leaks", action="store_true", help="do not report memory that was not freed")
    parser.add_argument("--option", action="append", default=[], help="option of the tool, as --option=--NAME=VALUE")
    parser.add_argument("--sanitizer", default=os.environ.get("SANITIZER"), help="path of compute-sanitizer")
    parser.add_argument("--list", action="store_true", help="print the files of each process in their order, and stop")
    made = parser.parse_args(words[:end])
    made.pytests = words[end + 1 :]
    made.json = made.json or Path(f"build/results/sanitizer-{made.tool}.json")
    made.limit = made.limit or made.total
    made.host_gib = made.host_gib or 0.9 * os.sysconf("SC_PHYS_PAGES") * jobs.PAGE / (1 << 30) / made.processes
    return made


def version_of(sanitizer: str) -> str:
    """Return the version that the tool prints, or end the script if it cannot be run."""
    try:
        done = subprocess.run([sanitizer, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            f"compute-sanitizer cannot be run: {error}; name it: --sanitizer PATH, or SANITIZER=PATH"
        ) from error
    return next((line for line in done.stdout.splitlines() if line.startswith("Version")), done.stdout.strip())


def selected(options: argparse.Namespace) -> list[str]:
    """Return the test files of the run."""
    if options.unfinished_of is not None:
        earlier = json.loads(options.unfinished_of.read_text(encoding="utf-8"))
        return sorted({entry["file"] for entry in earlier["unfinished"]})
    paths = options.paths or tests_per_tool.TOOLS[options.tool].paths
    return (
        run_tests.files_with_tests(paths) if paths else tests_per_tool.of_suite(run_tests.files_with_tests(["tests"]))
    )


def print_result(result: dict[str, Any], path: Path) -> None:
    """Print the findings, and then the rest of the result."""
    for one in result["findings"]:
        print(f"FOUND {one['count']} times: {one['text']}: {one['kernel'] or 'no kernel'}: {', '.join(one['tests'])}")
        print(*(f"    {line}" for line in one["lines"]), sep="\n")
    for failure in result["failures"]:
        print(f"failed: {failure['test']}: {failure['why'][:200]}")
    for entry in result["unfinished"]:
        print("not finished:", ", ".join(f"{key}: {value}" for key, value in entry.items()))
    print(
        f"{result['tool']}: {result['errors']} errors, {len(result['findings'])} distinct findings, "
        f"{json.dumps(result['total'])}, {result['files_finished']} files finished, "
        f"{len(result['unfinished'])} pieces not finished, in {result['seconds']} s; {path}"
    )


def main() -> int:
    """Run the tool, write the result and print it."""
    options = arguments()
    sanitizer = options.sanitizer or shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    files = selected(options)
    if options.list:
        for batch in divided(files, options):
            print(*batch, sep=", ")
        return 0
    version = version_of(sanitizer)
    run = CheckedRun(options, sanitizer)
    described = run_tests.device_of_tests(run.environment())
    if "error" in described["PyGPU"]:
        raise SystemExit(f"the tests need a GPU: {described['PyGPU']['error']}")
    print(f"{described['PyGPU']}; {version}; {options.tool} over {len(files)} files, logs in {run.folder}", flush=True)
    run.all(files)
    result = run.result()
    machine.write(options.json, {**result, "sanitizer": version, "machine": described})
    print_result(result, options.json)
    return 1 if result["errors"] else 2 if result["unfinished"] else 0


if __name__ == "__main__":
    sys.exit(main())
