"""Measure the first call of each function, which compiles the function's kernel, with an empty kernel cache.

    python benches/python/first_calls.py [--json FILE]

Each function runs on 1000 elements of float32, or of int32 if the function has no loop for float32. Functions of
`PyGPU.special` run on float32 and on float64. A time is measured from the start of the first call until its result is
computed. The driver's own kernel cache is off, too. Times of the second call, which compiles nothing, are below 0.1 ms.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import machine

CHILD = "--measure"


def calls() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield a name and a call for each elementwise function, reduction, scan, sort and product."""
    import numpy as np

    import PyGPU

    floats = PyGPU.to_gpu(np.linspace(0.1, 0.9, 1000, dtype=np.float32))
    integers = PyGPU.to_gpu(np.arange(1000, dtype=np.int32) % 7)
    matrix = floats[:900].reshape(30, 30).copy()
    for name in sorted(PyGPU.__all__):
        function = getattr(PyGPU, name)
        if not isinstance(function, PyGPU.Ufunc) or function.__name__ != name:
            continue
        yield name, lambda function=function: of_first_type(function, floats, integers)
    for name, dtype in itertools.product(PyGPU.special.__all__, ("float32", "float64")):
        if isinstance(function := getattr(PyGPU.special, name), PyGPU.Ufunc):
            operands = [floats.astype(dtype)] * function.nin
            yield f"special.{name} {dtype}", lambda function=function, operands=operands: function(*operands)
    for name in (
        "sum", "prod", "max", "argmax", "any", "mean", "var", "cumsum", "cumprod", "sort", "argsort", "unique",
    ):  # fmt: skip
        yield name, lambda name=name: getattr(PyGPU, name)(floats)
    yield "sum of rows", lambda: matrix.sum(1)
    yield "matmul", lambda: matrix @ matrix
    yield "take", lambda: floats[integers]
    yield "where", lambda: PyGPU.where(floats > 0.5, floats, 0)


def of_first_type(function: Any, *operands: Any) -> Any:
    """Call a ufunc with the first of several operands whose dtype the ufunc accepts."""
    *preferred, last = operands
    for operand in preferred:
        with contextlib.suppress(TypeError):
            return function(*[operand] * function.nin)
    return function(*[last] * function.nin)


def measure() -> dict[str, float]:
    """Return the seconds of the first call of each function in this process."""
    import PyGPU

    PyGPU.zeros(1).get()
    seconds = {}
    with PyGPU.fusion("off"):
        for name, call in calls():
            start = time.perf_counter()
            call()
            PyGPU.synchronize()
            seconds[name] = time.perf_counter() - start
    return seconds


def main() -> None:
    """Measure the first calls in a new process with an empty cache, and print the slowest functions and the median."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(CHILD, action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure()))
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PYGPU_CACHE_DIR": folder, "CUDA_CACHE_DISABLE": "1"}
        done = subprocess.run([sys.executable, __file__, CHILD], env=environment, check=True, stdout=subprocess.PIPE)
    milliseconds = {name: round(1e3 * seconds, 1) for name, seconds in json.loads(done.stdout).items()}
    for name in sorted(milliseconds, key=milliseconds.__getitem__, reverse=True)[:20]:
        print(f"{name:20} {milliseconds[name]:7.1f} ms")
    print(f"median of {len(milliseconds)} functions: {statistics.median(milliseconds.values()):.1f} ms")
    if arguments.json:
        arguments.json.write_text(
            machine.to_text({"machine": machine.describe(), "first_call_ms": milliseconds}) + "\n"
        )


if __name__ == "__main__":
    main()
