"""Compare linear algebra with torch and CuPy, alternating between them.

    python benches/python/factorizations.py [--bytes N] [--rounds 5] [--json FILE]

The unit is calls per second, measured between two events. In each library, a call that reports a singular matrix waits
for the device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from timing import Library, host_seconds, measure

CALLS_A_SECOND = 10**9


def large(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return the timed functions on matrices with the given number of elements, and on batches of small matrices."""
    import numpy as np

    random = np.random.default_rng(0)
    side = min(4096, int(count**0.5))

    def general(*shape: int) -> Any:
        host = random.random(shape, dtype=np.float32) - np.float32(0.5)
        return library.array(host + shape[-1] * np.eye(shape[-1], dtype=np.float32))

    def definite(*shape: int) -> Any:
        host = random.random(shape, dtype=np.float32) - np.float32(0.5)
        return library.array(host + np.swapaxes(host, -1, -2) + 2 * shape[-1] * np.eye(shape[-1], dtype=np.float32))

    matrix, symmetric, right = general(side, side), definite(side, side), library.array(np.ones((side, 1), np.float32))
    quarter, many, many_symmetric = general(side // 4, side // 4), general(1000, 16, 16), definite(1000, 16, 16)
    rights = library.array(np.ones((1000, 16, 1), np.float32))
    linalg = library.module.linalg
    calls = {
        f"solve of {side}": lambda: linalg.solve(matrix, right),
        f"inv of {side}": lambda: linalg.inv(matrix),
        f"cholesky of {side}": lambda: linalg.cholesky(symmetric),
        f"qr of {side}": lambda: linalg.qr(matrix),
        f"eigh of {side // 4}": lambda: linalg.eigh(symmetric[: side // 4, : side // 4]),
        f"svd of {side // 4}": lambda: linalg.svd(quarter),
        "solve of 1000 x 16": lambda: linalg.solve(many, rights),
        "inv of 1000 x 16": lambda: linalg.inv(many),
        "cholesky of 1000 x 16": lambda: linalg.cholesky(many_symmetric),
    }
    return {name: (call, CALLS_A_SECOND) for name, call in calls.items()}


def of_side(library: Library, side: int, dtype: Any, batch: int = 0) -> dict[str, Callable[[], Any]]:
    """Return the timed functions on one square matrix of the given side and dtype, or on a batch of such matrices."""
    import numpy as np

    shape = (batch, side, side) if batch else (side, side)
    host = np.random.default_rng(0).random(shape, dtype=np.float32).astype(dtype) - dtype(0.5)
    shift = 2 * side * np.eye(side, dtype=dtype)
    matrix, symmetric = library.array(host + shift), library.array(host + np.swapaxes(host, -1, -2) + shift)
    right = library.array(np.ones((*shape[:-1], 1), dtype))
    linalg = library.module.linalg
    return {
        "cholesky": lambda: linalg.cholesky(symmetric),
        "solve": lambda: linalg.solve(matrix, right),
        "inv": lambda: linalg.inv(matrix),
        "eigh": lambda: linalg.eigh(symmetric),
        "svd": lambda: linalg.svd(matrix),
    }


def small(library: Library) -> dict[str, float]:
    """Return functions that measure the seconds until a call on a small matrix returns."""
    import numpy as np

    matrix, right = library.array(np.eye(3)), library.array(np.ones((3, 1)))
    return {"solve of 3": host_seconds(library, lambda: library.module.linalg.solve(matrix, right))}


if __name__ == "__main__":
    measure(__doc__, "factorizations", large, small, unit="calls/s")
