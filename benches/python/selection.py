"""Compare selection with torch and CuPy, in gigabytes per second read and written.

    python benches/python/selection.py [--bytes N] [--rounds 5] [--json FILE]

The number of gigabytes is the size of the mask and the operands, read once, plus the size of the results, written once.
A copied row counts twice, because it is read and written. Times of large arrays are measured between two events over 20
calls. The time of a small array is measured on the host until the call returns; each result is deleted at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from timing import Library, host_seconds, measure

ROW = 256


def put(target: Any, key: Any, values: Any) -> Callable[[], None]:
    """Return a function that assigns values to a part of an array."""

    def call() -> None:
        target[key] = values

    return call


def find(library: Library, mask: Any) -> Callable[[], Any]:
    """Return a function that calls the library's `nonzero` and gets an index array for each axis."""
    return (lambda: mask.nonzero(as_tuple=True)) if library.name == "torch" else mask.nonzero


def take_rows(library: Library, table: Any, index: Any) -> Callable[[], Any]:
    """Return a function that takes rows of a table by index."""
    if library.name == "torch":
        return lambda: table.index_select(0, index)
    return lambda: table.take(index, 0)


def large(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return the timed functions, each with the number of bytes that a call must read and write."""
    import numpy as np

    random = np.random.default_rng(0)
    rows = count // ROW
    count = rows * ROW
    host = random.random(count, dtype=np.float32)
    chosen = host < 0.5
    half = int(chosen.sum())
    x, mask = library.array(host), library.array(chosen)
    values = library.array(host[:half].copy())
    table, index = x.reshape(rows, ROW), library.array(random.integers(0, rows, rows))
    order = library.array(random.permutation(rows))
    target, source = library.array(host), library.array(host.reshape(rows, ROW) + 1)
    plane = target.reshape(rows, ROW)
    return {
        "x[mask]": (lambda: x[mask], 5 * count + 4 * half),
        "x[mask] = values": (put(target, mask, values), count + 8 * half),
        "x[mask] = 0": (put(target, mask, 0.0), count + 4 * half),
        "nonzero": (find(library, mask), count + 8 * half),
        "take rows": (take_rows(library, table, index), 8 * count),
        "x[indices]": (lambda: table[index], 8 * count),
        "put rows": (put(plane, index, source), 8 * count),
        "put rows, each once": (put(plane, order, source), 8 * count),
        "take elements": (lambda: x[index], 16 * rows),
    }


def small(library: Library) -> dict[str, float]:
    """Return the seconds until a selection by a mask of sixteen elements returns; each result is deleted at once."""
    import numpy as np

    s = library.array(np.arange(16, dtype=np.float32))
    mask = s > 3
    calls = {"s[s > 3] of 16": lambda: s[s > 3], "s[mask] of 16": lambda: s[mask]}
    if library.name in ("PyGPU", "cupy"):
        calls["numpy.where(mask, s, s) of 16"] = lambda: np.where(mask, s, s)
    return {name: host_seconds(library, call) for name, call in calls.items()}


if __name__ == "__main__":
    measure(__doc__, "selection", large, small)
