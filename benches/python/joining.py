"""Compare joining, rolling and repeating with torch and CuPy, in gigabytes per second read and written.

    python benches/python/joining.py [--bytes N] [--rounds 5] [--json FILE]

The number of gigabytes is the size of the operands, read once, plus the size of the results, written once. Times of
large arrays are measured between two events over 20 calls. The time of a call on small arrays is measured on the host
until the call returns; each result is deleted at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from timing import Library, host_seconds, measure


def large(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return the timed functions, each with the number of bytes that a call must read and write."""
    import numpy as np

    module = library.module
    random = np.random.default_rng(0)
    side = int(count**0.5) // 64 * 64
    count = side * side
    flat = library.array(random.random(count, dtype=np.float32))
    first, second = flat[: count // 2], flat[count // 2 :]
    square = flat.reshape(side, side)
    left, right = square[:, : side // 2], square[:, side // 2 :]
    both, quarter = 8 * count, 4 * (count // 4)
    concatenate = module.cat if library.name == "torch" else module.concatenate
    repeat = module.tile
    return {
        "concatenate": (lambda: concatenate([first, second]), both),
        "concatenate, axis 1": (lambda: concatenate([left, right], 1), both),
        "roll": (lambda: module.roll(flat, 12345), both),
        "roll, axis 1 of a square": (lambda: module.roll(square, 321, 1), both),
        "roll, both axes": (lambda: module.roll(square, (321, 123), (0, 1)), both),
        "tile, 4 x": (lambda: repeat(flat[: count // 4], (4,)), quarter + 4 * quarter),
        "tile, 4 x, a square": (lambda: repeat(square[: side // 2, : side // 2], (2, 2)), both // 8 + both // 2),
        "stack, last axis": (lambda: module.stack([first, second], -1), both),
        "tril": (lambda: module.tril(square), both),
    }


def small(library: Library) -> dict[str, float]:
    """Return the seconds until a call on small arrays returns; each result is deleted at once."""
    import numpy as np

    module = library.module
    s = library.array(np.ones(16, np.float32))
    concatenate = module.cat if library.name == "torch" else module.concatenate
    calls = {
        "concatenate of 2 x 16": lambda: concatenate([s, s]),
        "concatenate of 16 x 16": lambda: concatenate([s] * 16),
        "stack of 2 x 16": lambda: module.stack([s, s]),
        "roll of 16": lambda: module.roll(s, 3),
        "tile of 16": lambda: module.tile(s, (4,)),
    }
    return {name: host_seconds(library, call) for name, call in calls.items()}


if __name__ == "__main__":
    measure(__doc__, "joining", large, small)
