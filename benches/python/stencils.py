"""Compare stencils of slices, and functions of many instructions, with torch and CuPy.

    python benches/python/stencils.py [--bytes N] [--rounds 5] [--json FILE]

The unit is gigabytes per second of necessary traffic. A stencil combines each element with its neighbours. The traffic
of a stencil is the plane or cube, read once, and the result, written once; the traffic of a function is its operands
and its result. All libraries evaluate the same NumPy expressions. PyGPU defers the operations of a stencil and computes
them by one kernel, which an explicit flush launches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from timing import Library, measure


def five(u: Any) -> Any:
    """Combine each inner element of a plane with its four neighbours."""
    return (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) * 3 - u[1:-1, 1:-1]


def nine(u: Any) -> Any:
    """Combine each inner element of a plane with its eight neighbours."""
    crosses = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    return crosses + u[:-2, :-2] + u[2:, 2:] + u[:-2, 2:] + u[2:, :-2] - u[1:-1, 1:-1]


def seven(u: Any) -> Any:
    """Combine each inner element of a cube with its six neighbours."""
    planes = u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1]
    rows = u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
    return u[1:-1, 1:-1, 1:-1] * 6 - planes - rows - u[1:-1, 1:-1, 2:] - u[1:-1, 1:-1, :-2]


def large(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return the timed functions, each with the number of bytes that a call must read and write."""
    import numpy as np

    random = np.random.default_rng(0)
    calls: dict[str, tuple[Callable[[], Any], int]] = {}
    for dtype in ("float32", "float64", "int16"):
        itemsize = np.dtype(dtype).itemsize
        side, edge = int((count * 2 // itemsize) ** 0.5), int((count * 2 // itemsize) ** (1 / 3))
        plane = library.array(random.integers(0, 9, (side, side), np.int8).astype(dtype))
        cube = library.array(random.integers(0, 9, (edge, edge, edge), np.int8).astype(dtype))
        for what, stencil, u in (("five", five, plane), ("nine", nine, plane), ("seven", seven, cube)):
            nbytes = 2 * itemsize * (side**2 if u is plane else edge**3)
            calls[f"{what} points, {dtype}"] = (library.launched(stencil, u), nbytes)
    x, y = (library.array(random.random(count // 2, dtype=np.float32) * 5) for _ in range(2))
    for name in ("pow", "logaddexp", "arctan2"):
        function = getattr(library.module, "power" if name == "pow" and library.name == "cupy" else name)
        calls[f"{name}(x, y)"] = (library.launched(function, x, y), 6 * count)
    return calls


def small(library: Library) -> dict[str, float]:
    """Return no functions on small arrays, because these cases measure memory traffic only."""
    return {}


if __name__ == "__main__":
    measure(__doc__, "stencils", large, small, deferred=True)
