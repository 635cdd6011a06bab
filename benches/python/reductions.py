"""Compare reductions with torch and CuPy, in gigabytes per second read.

    python benches/python/reductions.py [--bytes N] [--rounds 5] [--json FILE]

The number of gigabytes is the size of the operands, read once, plus the size of the results, written once. Times of
large arrays are measured between two events over 20 calls. The time of a small array is measured on the host until the
call returns; each result is deleted at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from timing import Library, host_seconds, measure


def along(library: Library, x: Any, name: str, axis: Any) -> Callable[[], Any]:
    """Return a function that calls an array's method `name` and passes the axis as `axis`, or as `dim` to torch."""
    method = getattr(x, name)
    if axis is None:
        return method
    return (lambda: method(dim=axis)) if library.name == "torch" else (lambda: method(axis=axis))


def large(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return the timed functions, each with the number of bytes that a call must read and write."""
    import numpy as np

    random = np.random.default_rng(0)
    side = int(count**0.5)
    count = side * side
    flat = library.array(random.random(count, dtype=np.float32))
    square = flat.reshape(side, side)
    middle = flat[: count // (1 << 18) * (1 << 18)].reshape(256, 1024, -1)
    quarter = count // 4
    rows, columns = flat[: 4 * quarter].reshape(quarter, 4), flat[: 4 * quarter].reshape(4, quarter)
    read, written = 4 * count, 4 * side
    calls: dict[str, tuple[Callable[[], Any], int]] = {
        "sum": (along(library, flat, "sum", None), read),
        "sum, axis 0 of a square": (along(library, square, "sum", 0), read + written),
        "sum, axis 1 of a square": (along(library, square, "sum", 1), read + written),
        "sum, middle axis": (along(library, middle, "sum", 1), read),
        "sum, axis 1 of (n, 4)": (along(library, rows, "sum", 1), read + 4 * quarter),
        "sum, axis 0 of (4, n)": (along(library, columns, "sum", 0), read + 4 * quarter),
        "max": (along(library, flat, "max", None), read),
        "argmax": (along(library, flat, "argmax", None), read),
        "mean": (along(library, flat, "mean", None), read),
        "var": (along(library, flat, "var", None), read),
    }
    return calls


def small(library: Library) -> dict[str, float]:
    """Return the seconds until a sum of sixteen elements returns; each result is deleted at once."""
    import numpy as np

    s = library.array(np.ones(16, np.float32))
    return {"sum of 16": host_seconds(library, lambda: s.sum())}


if __name__ == "__main__":
    measure(__doc__, "reductions", large, small)
