"""Compare Fourier transforms with torch and CuPy, alternating between them.

    python benches/python/transforms.py [--bytes N] [--rounds 5] [--json FILE]

The unit is gigabytes per second of necessary traffic: the operand read once and the result written once, although a
transform may need several passes. Times are measured between two events over 20 calls. The time of a small transform is
measured on the host until the call returns; each result is deleted at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from timing import Library, host_seconds, measure


def large(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return the timed functions, each with the number of bytes that a call must move.

    The arrays have `count // 2` complex numbers or fewer, because a complex number has the size of two elements.
    """
    import numpy as np

    random = np.random.default_rng(0)
    points = 1 << ((count // 2).bit_length() - 1)
    side = 1 << ((points.bit_length() - 1) // 2)
    host = (random.random(points, dtype=np.float32) - np.float32(0.5)).astype(np.complex64)
    line = library.array(host)
    plane = line[: side * side].reshape(side, side)
    edge = 1 << ((points.bit_length() - 1) // 3)
    box = line[: edge**3].reshape(edge, edge, edge)
    rows, middle = line.reshape(-1, 256), line.reshape(-1, 64, 32)
    real = library.array(host.real[: side * side].reshape(side, side).copy())
    fft = library.module.fft
    both, of_plane = 2 * host.nbytes, 16 * side * side
    return {
        f"fft of {points}": (lambda: fft.fft(line), both),
        f"ifft of {points}": (lambda: fft.ifft(line), both),
        f"fft2 of {side}^2": (lambda: fft.fft2(plane), of_plane),
        "fft of rows of 256": (lambda: fft.fft(rows), both),
        "fft of columns": (lambda: fft.fft(plane, None, 0), of_plane),
        "fft of an axis between": (lambda: fft.fft(middle, None, 1), both),
        f"rfft of {side}^2": (lambda: fft.rfft(real), of_plane // 2),
        f"rfft2 of {side}^2": (lambda: fft.rfft2(real), of_plane // 2),
        f"fftn of {edge}^3": (lambda: fft.fftn(box), 16 * edge**3),
    }


def small(library: Library) -> dict[str, float]:
    """Return the seconds until the call of a small transform returns; each result is deleted at once."""
    import numpy as np

    few = library.array(np.ones(64, np.complex64))
    return {"fft of 64": host_seconds(library, lambda: library.module.fft.fft(few))}


if __name__ == "__main__":
    measure(__doc__, "transforms", large, small)
