"""Compare scans with torch and CuPy, in gigabytes per second read and written.

    python benches/python/scans.py [--bytes N] [--rounds 5] [--json FILE]
    python benches/python/scans.py repeat

A scan reads N / 2 bytes, by default 2^27 elements, and writes N / 2 bytes. Times of large arrays are measured between
two events over 20 calls. The time of a small array is measured on the host until the call returns; each result is
deleted at once. `repeat` compares the bits of PyGPU's scans over a hundred calls.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from timing import Library, host_seconds, measure


def along(library: Library, x: Any, name: str, axis: int) -> Callable[[], Any]:
    """Return a function that calls an array's method `name` and passes the axis as `axis`, or as `dim` to torch."""
    method = getattr(x, name)
    return (lambda: method(dim=axis)) if library.name == "torch" else (lambda: method(axis=axis))


def large(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return the timed functions, each with the number of bytes that a call must read and write."""
    import numpy as np

    random = np.random.default_rng(0)
    side = int(count**0.5)
    square = library.array(random.random(side * side, dtype=np.float32).reshape(side, side))
    count = max(side * side // 2 // 65536, 1) * 65536
    flat = square.reshape(-1)[:count]
    wide = library.cast(flat[: count // 2], np.float64)
    whole = library.cast(flat * 8, np.int32)
    few, short = flat.reshape(-1, 8), flat.reshape(-1, 4)
    middle, rows = flat.reshape(count // 1024 // 64, 64, -1), flat.reshape(8, -1)
    moved = 8 * count
    return {
        "copy": (flat.clone if library.name == "torch" else flat.copy, moved),
        "cumsum": (along(library, flat, "cumsum", 0), moved),
        "cumsum, one place on": (along(library, flat[1:], "cumsum", 0), moved),
        "cumprod": (along(library, flat, "cumprod", 0), moved),
        "cumsum of float64": (along(library, wide, "cumsum", 0), moved),
        "cumsum of int32": (along(library, whole, "cumsum", 0), 12 * count),
        "cumsum of 2^20": (along(library, flat[: 1 << 20], "cumsum", 0), 8 << 20),
        "cumsum, axis 0 of a square": (along(library, square, "cumsum", 0), 8 * side * side),
        "cumsum, axis 1 of a square": (along(library, square, "cumsum", 1), 8 * side * side),
        "cumsum, middle axis": (along(library, middle, "cumsum", 1), moved),
        "cumsum, axis 0 of (n, 8)": (along(library, few, "cumsum", 0), moved),
        "cumsum, axis 1 of (n, 4)": (along(library, short, "cumsum", 1), moved),
        "cumsum, axis 1 of (8, n)": (along(library, rows, "cumsum", 1), moved),
    }


def small(library: Library) -> dict[str, float]:
    """Return the seconds until a scan of sixteen elements returns; each result is deleted at once."""
    import numpy as np

    s = library.array(np.ones(16, np.float32))
    return {"cumsum of 16": host_seconds(library, along(library, s, "cumsum", 0))}


def repeat() -> None:
    """Run PyGPU's scans a hundred times, and report those whose results are not bitwise reproducible."""
    for name, (call, _) in large(Library("PyGPU"), 1 << 28).items():
        first = call().view("uint8")
        is_same = all(bool((call().view("uint8") == first).all()) for _ in range(100))
        print(f"{name:32}{'the same bits' if is_same else 'OTHER BITS'} 100 times")


if __name__ == "__main__":
    if sys.argv[1:] == ["repeat"]:
        repeat()
    else:
        measure(__doc__, "scans", large, small)
