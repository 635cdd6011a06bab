"""Compare arithmetic with torch, CuPy, JAX and hand-written kernels, alternating between them.

    python benches/python/arithmetic.py [--bytes N] [--rounds 5] [--json FILE]

The table shows microseconds of calls on small arrays, and gigabytes per second of calls on large arrays. Gigabytes
count the necessary traffic: operands read once and results written once. Times of large arrays are measured between two
events over 20 calls. The time of a call on small arrays is measured on the host until the call returns; each result is
deleted at once. In the column of hand-written kernels, the time of a small call is the time of the driver's launch
alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

from timing import Column, Library, found, host_seconds, measure


def beside(x: Any, y: Any) -> Callable[[], Any]:
    """Return a function that adds `x[1:]` and `y[:-1]`. The address of `x[1:]` is not aligned for vector loads."""
    return lambda: x[1:] + y[:-1]


def across_one_another(x: Any, y: Any) -> Callable[[], Any]:
    """Return a function that adds the transposed array `x.T` and `y`."""
    return lambda: x.T + y


def large(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return the timed functions on large arrays, each with the number of bytes that a call must move."""
    import numpy as np

    random = np.random.default_rng(0)
    side = int(count**0.5)
    count = side * side
    host = random.random(count, dtype=np.float32).reshape(side, side)
    x, y = library.array(host), library.array(host + 1)
    row, column = library.array(host[0].copy()), library.array(host[:, :1].copy())
    odd = library.array(host.reshape(-1)[: (side - 3) * (side + 3)].reshape(side - 3, side + 3))
    across = library.array(host.reshape(-1)[: (side - 3) * (side + 3)].reshape(side + 3, side - 3))
    flat, other = x.reshape(-1), y.reshape(-1)
    nbytes = 4 * count
    calls: dict[str, tuple[Callable[[], Any], int]] = {
        "x + y": (lambda: x + y, 3 * nbytes),
        "2 * x": (lambda: 2 * x, 2 * nbytes),
        "m + row": (lambda: x + row, 2 * nbytes),
        "m + column": (lambda: x + column, 2 * nbytes),
        "x.T + y": (lambda: x.T + y, 3 * nbytes),
        "x.T + y, odd lengths": (lambda: across.T + odd, 3 * 4 * (side - 3) * (side + 3)),
        "x[:, 1:] + y[:, :-1]": (lambda: x[:, 1:] + y[:, :-1], 3 * nbytes),
        "x[1:] + y[:-1]": (lambda: flat[1:] + other[:-1], 3 * nbytes),
        "x[::2] + y[::2]": (lambda: flat[::2] + other[::2], 3 * nbytes // 2),
        "x > y": (lambda: x > y, 2 * nbytes + count),
        "float32 -> float16": (lambda: library.cast(x, np.float16), nbytes + 2 * count),
    } | library.where(x > y, x, y, 3 * nbytes + count)
    if library.name != "torch":  # torch does not support negative strides.
        calls["x[::-1] + y"] = (lambda: flat[::-1] + other, 3 * nbytes)
    for dtype in ("int8", "float16"):
        small_host = (random.random(count, dtype=np.float32) * 100).astype(dtype)
        a, b = library.array(small_host), library.array(small_host)
        calls[f"x[1:] + y[:-1], {dtype}"] = (beside(a, b), 3 * small_host.nbytes)
        plane, straight = a.reshape(side, side), b.reshape(side, side)
        calls[f"x.T + y, {dtype}"] = (across_one_another(plane, straight), 3 * small_host.nbytes)
    return calls


def small(library: Library) -> dict[str, float]:
    """Return the seconds on the host until a call on small arrays returns; each result is deleted at once."""
    import numpy as np

    s, t = library.array(np.ones(5, np.float32)), library.array(np.ones(5, np.float32))
    few = library.array(np.ones(16, np.float32))
    calls = {"s + t": lambda: s + t, "astype of 16": lambda: library.cast(few, np.float64)}
    for name, (choose, _) in library.where(few > 0, few, few, 0).items():
        calls[f"{name} of 16"] = choose
    return {name: host_seconds(library, call) for name, call in calls.items()}


def more(count: int) -> list[Column]:
    """Return additional columns of the table: JAX, if installed, and hand-written kernels on the CUDA backend."""
    import PyGPU

    columns = [Column("jax", jax, large(jax, count), partial(small, jax)) for jax in found(("jax",))]
    if PyGPU.backend_name() == "cuda":
        import handwritten_kernels

        columns.append(handwritten_kernels.column(count))
    return columns


if __name__ == "__main__":
    # Without XLA_PYTHON_CLIENT_PREALLOCATE=false, JAX reserves most of the device's memory.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    measure(__doc__, "arithmetic", large, small, more=more)
