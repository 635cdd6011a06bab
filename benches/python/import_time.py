"""Measure the time that `import PyGPU` adds to `import numpy`, the loaded modules, and the size of the wheel.

python benches/python/import_time.py [--json FILE] [--repeats N] [--wheel FILE] [--peers]
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import machine

MOST_ADDED = 5.0  # Greatest permitted time in milliseconds that the import of PyGPU adds.
MOST_WHEEL = 4_000_000  # Greatest permitted size of the wheel in bytes.
INSIDE = "import time, numpy; start = time.perf_counter(); import {0}; print(time.perf_counter() - start)"
PEERS = ["cupy", "torch", "numba.cuda", "cuda.core", "jax"]
LINE = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|(\s+)(\S+)")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a new process, without the user's site packages."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True, env=environment)


def wall(code: str) -> float:
    """Return the milliseconds that a whole process takes."""
    start = time.perf_counter()
    run("-c", code)
    return 1000 * (time.perf_counter() - start)


def inside(module: str) -> float:
    """Return the milliseconds that `import PyGPU` takes in a process that has already imported NumPy."""
    return 1000 * float(run("-c", INSIDE.format(module)).stdout)


def loaded(module: str) -> list[dict[str, Any]]:
    """Return the modules that an import loads in addition to NumPy's, with microseconds without nested imports."""
    lines = run("-X", "importtime", "-c", f"import numpy, sys; sys.stderr.write('=====\\n'); import {module}").stderr
    after = lines.rpartition("=====")[2]
    return [{"module": name, "microseconds": int(own)} for own, _, _, name in LINE.findall(after)]


def added(module: str, repeats: int) -> dict[str, Any]:
    """Return the median times that the import of a module adds; processes with and without the import alternate."""
    inside(module)  # The first process is not timed, because it writes the bytecode and fills the file cache.
    alone, both, statement = [], [], []
    for _ in range(repeats):
        alone.append(wall("import numpy"))
        both.append(wall(f"import numpy, {module}"))
        statement.append(inside(module))
    pairs = [with_it - without for with_it, without in zip(both, alone, strict=True)]
    return {
        "module": module,
        "statement_ms": round(statistics.median(statement), 3),
        "statement_least_ms": round(min(statement), 3),
        "process_added_ms": round(statistics.median(pairs), 3),
        "process_numpy_ms": round(statistics.median(alone), 2),
        "process_both_ms": round(statistics.median(both), 2),
        "repeats": repeats,
    }


def installed_bytes() -> int:
    """Return the size of the installed package in bytes, without bytecode files."""
    spec = importlib.util.find_spec("PyGPU")
    folder = Path(str(spec and spec.origin)).parent
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")


def main() -> None:
    """Measure the times and sizes that the command line selects, and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write the result there")
    parser.add_argument("--repeats", type=int, default=20, help="processes for each median (20)")
    parser.add_argument("--wheel", metavar="FILE", help="the wheel whose size counts; by default the one in dist/")
    parser.add_argument("--peers", action="store_true", help="also CuPy, torch, numba, cuda.core and JAX, 3 times each")
    arguments = parser.parse_args()
    results = [added("PyGPU", arguments.repeats)]
    if arguments.peers:
        for name in PEERS:
            try:
                present = importlib.util.find_spec(name) is not None
            except ImportError:
                present = False
            if present:
                results.append(added(name, 3))
    wheels = [Path(arguments.wheel)] if arguments.wheel else sorted(Path("dist").glob("*.whl"))
    wheel = wheels[-1].stat().st_size if wheels else None
    modules = loaded("PyGPU")
    content = {
        "benchmark": "import_time",
        "results": results,
        "loaded": modules,
        "wheel_bytes": wheel,
        "installed_bytes": installed_bytes(),
        "limits": {"statement_ms": MOST_ADDED, "wheel_bytes": MOST_WHEEL},
    }
    if arguments.json:
        machine.write(arguments.json, content)
    machine.print_header()
    print("loaded:", ", ".join(f"{one['module']} {one['microseconds']} us" for one in modules))
    print(f"installed: {content['installed_bytes']} bytes; wheel: {wheel} of at most {MOST_WHEEL} bytes")
    machine.print_table(
        [
            [
                f"import {one['module']}",
                f"{one['statement_ms']:.2f}",
                f"{one['process_added_ms']:.2f}",
                f"{one['process_numpy_ms']:.1f}",
                f"{MOST_ADDED:.0f}" if one["module"] == "PyGPU" else "-",
            ]
            for one in results
        ],
        ["ms, medians", "statement after numpy", "process over numpy", "process with numpy", "limit"],
    )


if __name__ == "__main__":
    main()
