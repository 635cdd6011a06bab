"""Measure the first use of PyGPU: the first operation of each kind for each state of the kernel cache, and memory use.

python benches/python/cold_start.py [--json FILE]

Each number comes from a new process. The cache folder is empty, full (after a run of the same program) or read-only.
The user root cannot measure a read-only folder, because permissions do not restrict root. A network folder is not
simulated, because a delayed file system needs FUSE or root.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import machine

PROGRAM = """
import json, sys, time
import numpy
start = time.perf_counter()
import PyGPU
times = {"import": 1000 * (time.perf_counter() - start)}
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
before = resident()
x = numpy.linspace(0, 1, 1000, dtype=numpy.float32)
start = time.perf_counter()
a = PyGPU.to_gpu(x); a.get()
times["upload and download"] = 1000 * (time.perf_counter() - start)
memory = {"after import": before, "after the first array": resident()}
def kernel():
    scale = PyGPU.Kernel("__global__ void scale(float *x) { x[threadIdx.x] *= 2; }", "scale")
    scale[1, 32](a)
    return a
KINDS = {
    "arithmetic": lambda: (a * 2 + 1),
    "function": lambda: PyGPU.sin(a),
    "reduction": lambda: PyGPU.sum(a),
    "scan": lambda: PyGPU.cumsum(a),
    "sort": lambda: PyGPU.sort(a),
    "mask": lambda: a[a > 0.5],
    "product": lambda: a @ a,
    "random numbers": lambda: PyGPU.random.default_rng(1).random(1000),
    "kernel from source": kernel,
}
for name, call in KINDS.items():
    start = time.perf_counter()
    call().get()
    times[name] = 1000 * (time.perf_counter() - start)
memory["after all kinds"] = resident()
print(json.dumps({"milliseconds": times, "resident_bytes": memory, "backend": PyGPU.backend_name()}))
"""


def measured(cache: Path) -> dict[str, Any]:
    """Run the measured program in a new process with the given cache folder, and return the numbers that it prints."""
    environment = {**os.environ, "PYGPU_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def size(folder: Path) -> int:
    """Return the total size of all files in a folder in bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def set_writable(folder: Path, *, writable: bool) -> None:
    """Allow or forbid the owner to write into a folder and its subfolders."""
    for path in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
        path.chmod(0o700 if writable else 0o500)


def states(folder: Path) -> dict[str, Any]:
    """Measure the program in each state of one cache folder: first empty, then full, then read-only."""
    results = {"empty": measured(folder), "full": measured(folder)}
    results["full"]["cache_bytes"] = size(folder)
    if os.geteuid() != 0:
        set_writable(folder, writable=False)
        try:
            results["read-only, full"] = measured(folder)
        finally:
            set_writable(folder, writable=True)
    return results


def main() -> None:
    """Measure all states of the kernel cache, print a table, and write the JSON file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="file for the result")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = states(Path(folder))
    for state, result in results.items():
        print(f"cache {state} ({result['backend']})")
        for name, milliseconds in result["milliseconds"].items():
            print(f"  {name:24}{milliseconds:10.2f} ms")
        for name, count in result["resident_bytes"].items():
            print(f"  {name:24}{count / 1e6:10.1f} MB resident")
    print(f"size of the cache: {results['full']['cache_bytes'] / 1e6:.1f} MB")
    if arguments.json:
        machine.write(arguments.json, {"machine": machine.describe(), "states": results})


if __name__ == "__main__":
    main()
