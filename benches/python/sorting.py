"""Compare sorting with torch and CuPy, in billions of keys per second.

    python benches/python/sorting.py [--bytes N] [--rounds 5] [--json FILE]

Each key is counted once, regardless of how often a sort reads it; `unique` gets a quarter of the keys. Times of large
arrays are measured between two events over 20 calls. The time of a small array is measured on the host until the call
returns; each result is deleted at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from timing import Library, host_seconds, measure


def of_module(library: Library, name: str) -> Callable[..., Any]:
    """Return the function `name` of a library's Python module. The `sort` of torch also returns indices."""
    function: Callable[..., Any] = getattr(library.module, name)
    return function


def large(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return the timed functions, each with the number of keys that it sorts."""
    import numpy as np

    random = np.random.default_rng(0)
    floats = library.array(random.standard_normal(count, dtype=np.float32))
    whole = random.integers(-(2**31), 2**31, count, dtype=np.int32)
    ints, quarter = library.array(whole), library.array(whole[: count // 4].copy())
    few, long = library.array(whole % 100), library.array(whole.view(np.int64))
    rows = floats.reshape(-1, 256)
    sort, argsort = of_module(library, "sort"), of_module(library, "argsort")
    calls: dict[str, tuple[Callable[[], Any], int]] = {
        "sort, float32": (lambda: sort(floats), count),
        "sort, int32": (lambda: sort(ints), count),
        "sort, int32 below 100": (lambda: sort(few), count),
        "sort, int64": (lambda: sort(long), count // 2),
        "sort, rows of 256": (lambda: sort(rows), count),
        "argsort, float32": (lambda: argsort(floats), count),
        "argsort, int64": (lambda: argsort(long), count // 2),
        "sort, 2^20 int32": (lambda: sort(ints[: 1 << 20]), 1 << 20),
    }
    if hasattr(library.module, "unique"):
        unique = of_module(library, "unique")
        calls["unique, int32"] = (lambda: unique(quarter), count // 4)
    return calls


def small(library: Library) -> dict[str, float]:
    """Return the seconds until a call that sorts sixteen elements returns; each result is deleted at once."""
    import numpy as np

    s = library.array(np.ones(16, np.float32))
    sort = of_module(library, "sort")
    return {"sort of 16": host_seconds(library, lambda: sort(s))}


if __name__ == "__main__":
    measure(__doc__, "sorting", large, small, "Gkey/s")
