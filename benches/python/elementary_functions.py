"""Compare functions of one and two numbers with torch, CuPy and JAX, in gigabytes per second read and written.

    python benches/python/elementary_functions.py [--bytes N] [--rounds 5] [--json FILE]

Each operand has N bytes, 1 GiB by default, of float32 and then of float64. Operands are uniform in the range that
`OPERANDS` lists for the function. Times are measured between two events over 20 calls; each result is deleted at once.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from special_functions import POSITIVE, WIDE, function_of
from timing import Library, host_seconds, measure

EXPONENT = (-3.0, 3.0)
OPERANDS: dict[str, tuple[tuple[float, float], ...]] = {
    "pow": (POSITIVE, EXPONENT),
    "logaddexp": (WIDE, WIDE),
    "arctan2": (WIDE, WIDE),
    "tan": (WIDE,),
    "exp": (WIDE,),
    "erf": (WIDE,),
}
"""The functions, with the range of each operand."""


def named(library: Library, name: str) -> Callable[..., Any]:
    """Return a library's function by its name in the array API standard, or `erf` by its name in SciPy."""
    if name == "erf":
        function = function_of(library, name)
        if function is None:
            raise NotImplementedError(f"{library.name} has no erf")
        return function
    own = "power" if name == "pow" and library.name == "cupy" else name
    return getattr(library.module, own)


def large(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return the timed functions, each with the number of bytes that a call must read and write."""
    random = np.random.default_rng(3)
    calls: dict[str, tuple[Callable[[], Any], int]] = {}
    uniform = [library.array(random.random(count, dtype=np.float32)) for _ in range(2)]
    for dtype in (np.float32, np.float64):
        itemsize = np.dtype(dtype).itemsize
        number = count * 4 // itemsize
        units = [library.cast(one[:number], dtype) for one in uniform]
        scaled = functools.cache(lambda k, low, high, units=units: units[k] * (high - low) + low)
        for name, ranges in OPERANDS.items():
            operands = [scaled(k, *one) for k, one in enumerate(ranges)]
            call = functools.partial(named(library, name), *operands)
            calls[f"{name} {np.dtype(dtype).name}"] = (call, (len(operands) + 1) * number * itemsize)
    return calls


def small(library: Library) -> dict[str, float]:
    """Return the seconds until a call on sixteen elements returns."""
    x = library.array(np.linspace(0.1, 0.9, 16, dtype=np.float32))
    exp = named(library, "exp")
    return {"exp of 16": host_seconds(library, lambda: exp(x))}


if __name__ == "__main__":
    # Without XLA_PYTHON_CLIENT_PREALLOCATE=false, JAX reserves most of the device's memory.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    os.environ.setdefault("JAX_ENABLE_X64", "1")
    measure(__doc__, "elementary_functions", large, small, names=("PyGPU", "torch", "cupy", "jax"))
