"""Compare matrix products with torch and CuPy, in TFLOP/s; products with a vector in GB/s.

    python benches/python/products.py [--bytes N] [--rounds 5] [--json FILE]

A float32 matrix that is multiplied with a vector has N / 4 bytes. Times are measured between two events over 20 calls.
The time of 3 x 3 matrices is measured on the host until the call returns; each result is deleted at once. PyGPU
computes large products of floats by cuBLAS if it is installed; with PYGPU_BLAS=own, by its own kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from timing import Library, host_seconds, measure


def large(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return the timed functions, each with the call's thousands of operations, or with the bytes that it must move."""
    import numpy as np

    random = np.random.default_rng(0)

    def square(side: int, dtype: Any, batch: int = 0) -> Any:
        shape = (batch, side, side) if batch else (side, side)
        host = random.random(shape, dtype=np.float32) - np.float32(0.5)
        return library.array(host.astype(dtype))

    calls: dict[str, tuple[Callable[[], Any], int]] = {}

    def product(name: str, a: Any, b: Any) -> None:
        batch = a.shape[0] if len(a.shape) == 3 else 1
        flops = 2 * batch * a.shape[-2] * a.shape[-1] * b.shape[-1]
        calls[f"TFLOP, {name}"] = (lambda: a @ b, flops // 1000)

    for dtype, side in ((np.float32, 8192), (np.float16, 8192), (np.float64, 4096), (np.complex64, 4096)):
        a, b = square(side, dtype), square(side, dtype)
        product(f"{side}^3 {dtype.__name__}", a, b)
        if dtype is np.float32:
            product(f"{side}^3 float32, a.T @ b", a.T, b)
            product(f"{side}^3 float32, a @ b.T", a, b.T)
            product("1000 x 8192 x 1000 float32", a[:1000], b[:, :1000])
    for side, batch in ((64, 4096), (16, 65536), (256, 256)):
        product(f"{batch} x {side}^3 float32", square(side, np.float32, batch), square(side, np.float32, batch))
    if library.name != "torch":
        whole = library.cast(square(2048, np.float32) * 9, np.int32)
        product("2048^3 int32", whole, whole)
    rows = int((count // 4) ** 0.5)
    for dtype in (np.float32, np.float16):
        matrix, vector = square(rows, dtype), library.array(random.random(rows, dtype=np.float32).astype(dtype))
        moved = rows * rows * np.dtype(dtype).itemsize
        calls[f"GB, matrix @ vector {dtype.__name__}"] = (lambda a=matrix, x=vector: a @ x, moved)
        calls[f"GB, vector @ matrix {dtype.__name__}"] = (lambda a=matrix, x=vector: x @ a, moved)
        flat = matrix.reshape(-1)
        calls[f"GB, vector @ vector {dtype.__name__}"] = (lambda x=flat: x @ x, moved)
    return calls


def from_the_left(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return products of a row vector (1-d or 2-d) with a square matrix, each with the bytes of the matrix."""
    import ml_dtypes
    import numpy as np

    random = np.random.default_rng(0)
    side = int((count // 4) ** 0.5)
    host = random.random((side, side), dtype=np.float32) - np.float32(0.5)
    whole, row = library.array(host), library.array(host[0].copy())
    calls: dict[str, tuple[Callable[[], Any], int]] = {}
    for dtype in (np.float32, np.float16, ml_dtypes.bfloat16):
        matrix, vector = library.cast(whole, dtype), library.cast(row, dtype)
        moved = side * side * np.dtype(dtype).itemsize
        for form, operand in (("n", vector), ("1 x n", vector.reshape(1, side))):
            calls[f"{form} by n x n {dtype.__name__}"] = (lambda a=matrix, x=operand: x @ a, moved)
    return calls


def small(library: Library) -> dict[str, float]:
    """Return the host seconds until a call of each small product returns; each result is deleted at once."""
    import numpy as np

    a = library.array(np.eye(3, dtype=np.float32))
    x = library.array(np.ones(3, np.float32))
    return {
        "3 x 3 @": host_seconds(library, lambda: a @ a),
        "3 x 3 @ vector": host_seconds(library, lambda: a @ x),
        "a + a": host_seconds(library, lambda: a + a),
    }


if __name__ == "__main__":
    measure(__doc__, "products", large, small, unit="a second")
