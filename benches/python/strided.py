"""Measure copies within a device, by layout and element size, in GB/s read and written.

    python benches/python/strided.py [--bytes 1073741824] [--only transposed] [--variants "" tiles flat] [--json FILE]

A variant is a value of PYGPU_STRIDED_COPY, which PyGPU reads once per process, so each variant has a separate process.
With the first variant, "", PyGPU chooses the kernel of each copy. The case "memcpy", a copy of adjacent bytes, is the
reference.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import machine
import numpy

DTYPES = {1: "uint8", 2: "uint16", 4: "float32", 8: "float64", 16: "complex128"}
VARIANTS = [
    "",
    "group=1",
    "group=4",
    "group=8",
    "group=32",
    "group=64",
    "turns=2",
    "lanes=4",
    "lanes=16",
    "tiles",
    "flat",
]
REPEATS = 7

Case = tuple[str, Callable[[], Any], int]


def cube(size: int, itemsize: int) -> tuple[int, int, int]:
    """Return three equal multiples of 64, the side lengths of a cube of about the given number of bytes."""
    side = max(64, round((size / itemsize) ** (1 / 3) / 64) * 64)
    return side, side, side


def square(size: int, itemsize: int) -> tuple[int, int]:
    """Return the side lengths of a square: two equal powers of two, the worst case for caches and memory banks."""
    side = 1 << max(6, round(numpy.log2(size / itemsize) / 2))
    return side, side


def assign(target: Any, source: Any) -> Callable[[], Any]:
    return lambda: target.__setitem__(..., source)


def of_planes(itemsize: int, size: int) -> Iterator[Case]:
    """Yield the cases of two-axis arrays: a name, the call, and the number of bytes that it must move."""
    import PyGPU

    plane = square(size, itemsize)
    a, out = PyGPU.zeros(plane, DTYPES[itemsize]), PyGPU.empty(plane, DTYPES[itemsize])
    both = 2 * a.nbytes
    yield "memcpy", lambda: a.copy("C"), both
    yield "transposed", assign(out, a.T), both
    yield "transposed copy", lambda: a.T.copy("C"), both
    yield "transposed, odd place", assign(out[3:, 1:], a[1:, 3:].T), 2 * a[1:, 3:].nbytes
    yield "every second column", assign(out[:, : plane[1] // 2], a[:, ::2]), a.nbytes
    yield "every second row", assign(out[: plane[0] // 2], a[::2]), a.nbytes
    yield "columns reversed", assign(out, a[:, ::-1]), both
    yield "rows reversed", assign(out, a[::-1]), both
    yield "a row repeated", assign(out, a[0]), a.nbytes
    yield "a column repeated", assign(out, a[:, :1]), a.nbytes
    yield "inner rectangle", assign(out[:-7, :-5], a[7:, 5:]), 2 * a[7:, 5:].nbytes
    yield "columns of 32 of 64", assign(out.reshape(-1, 64)[:, :32], a.reshape(-1, 64)[:, 32:]), a.nbytes
    yield "of four columns, transposed", assign(out.reshape(4, -1), a.reshape(-1, 4).T), both
    yield "to four columns, transposed", assign(out.reshape(-1, 4), a.reshape(4, -1).T), both
    rows = numpy.random.default_rng(1).permutation(plane[0])
    index = PyGPU.to_gpu(rows)
    yield "gather of rows, index on the host", lambda: a[rows], both
    yield "gather of rows, index on the device", lambda: a[index], both
    yield "scatter of rows, index on the device", lambda: a.__setitem__(index, out), both
    few = PyGPU.to_gpu(numpy.random.default_rng(2).integers(0, a.size, 1 << 24))
    flat = a.reshape(-1)
    yield "gather of 2^24 elements", lambda: flat[few], (1 << 24) * (8 + 2 * itemsize)


def of_boxes(itemsize: int, size: int) -> Iterator[Case]:
    """Yield the cases of three-axis arrays: a name, the call, and the number of bytes that it must move."""
    import PyGPU

    box = cube(size, itemsize)
    a, out = PyGPU.zeros(box, DTYPES[itemsize]), PyGPU.empty(box, DTYPES[itemsize])
    for axes in [(0, 2, 1), (2, 1, 0), (1, 0, 2), (1, 2, 0), (2, 0, 1)]:
        yield f"transpose{axes}", assign(out, a.transpose(axes)), 2 * a.nbytes


def seconds(work: Callable[[], Any]) -> float:
    """Return the median device time of a call, over consecutive calls."""
    import PyGPU

    work()
    PyGPU.synchronize()
    times = []
    for _ in range(REPEATS):
        calls = 4
        start, end = PyGPU.Event(), PyGPU.Event()
        start.record()
        for _ in range(calls):
            work()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3 / calls)
    return statistics.median(times)


def measure(size: int, only: str, sizes: list[int]) -> None:
    """Measure all cases in this process, and print one JSON object for each case."""
    import PyGPU

    for itemsize in sizes:
        for name, work, moved in itertools.chain(of_planes(itemsize, size), of_boxes(itemsize, size)):
            if only not in name and name != "memcpy":
                continue
            try:
                gigabytes = round(moved / seconds(work) / 1e9, 1)
            except (PyGPU.CudaError, PyGPU.CompileError, PyGPU.NotSupportedError) as error:
                print(json.dumps({"itemsize": itemsize, "case": name, "error": str(error)}), flush=True)
                continue
            print(json.dumps({"itemsize": itemsize, "case": name, "GB/s": gigabytes}), flush=True)


def main() -> None:
    """Measure each variant in a separate process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=1 << 30, help="of the source (default 1 GiB)")
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--itemsizes", type=int, nargs="*", default=list(DTYPES), choices=list(DTYPES))
    parser.add_argument("--variants", nargs="*", default=[""], help=f"for example {VARIANTS}; 'all' is these")
    parser.add_argument("--json", help="a file for all results")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        measure(arguments.bytes, arguments.only, arguments.itemsizes)
        return
    results: list[dict[str, Any]] = []
    for variant in VARIANTS if arguments.variants == ["all"] else arguments.variants:
        command = [sys.executable, __file__, "--worker", "--bytes", str(arguments.bytes), "--only", arguments.only]
        command += ["--itemsizes", *map(str, arguments.itemsizes)]
        environment = {**os.environ, "PYGPU_STRIDED_COPY": variant}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            results.append({"variant": variant or "chosen", **json.loads(line)})
            print(json.dumps(results[-1]), flush=True)
        if process.wait() != 0:
            results.append({"variant": variant or "chosen", "error": f"the process ended with {process.returncode}"})
            print(json.dumps(results[-1]), flush=True)
    if arguments.json:
        machine.write(arguments.json, {"results": results})


if __name__ == "__main__":
    main()
