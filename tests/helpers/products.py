"""Provide values for tests of matrix products, and the tolerance of the comparison with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU

TOLERANCE = {"float16": 4e-3, "float32": 1e-5, "complex64": 1e-5, "float64": 1e-13, "complex128": 1e-13}


def numbers(dtype: str, *shape: int) -> np.ndarray:
    random = np.random.default_rng(hash(shape) % 1000)
    if dtype == "bool":
        return random.random(shape) < 0.2
    if np.dtype(dtype).kind in "iu":
        return random.integers(0, 100, shape).astype(dtype)
    real = random.random(shape) - 0.3
    return (real + 1j * random.random(shape) if np.dtype(dtype).kind == "c" else real).astype(dtype)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return NumPy's product; float16 operands are multiplied in float32."""
    if a.dtype == np.float16:
        return (a.astype("float32") @ b.astype("float32")).astype("float16")
    return np.asarray(a @ b)


def check(ours: PyGPU.GPUArray, expected: Any) -> None:
    assert isinstance(ours, PyGPU.GPUArray)
    assert ours.dtype == expected.dtype
    assert ours.shape == expected.shape
    near = TOLERANCE.get(expected.dtype.name, 0)
    scale = float(np.abs(expected).max()) if expected.size and near else 0
    np.testing.assert_allclose(ours.get(), expected, rtol=near, atol=near * scale)


def check_bfloat16(*shapes: tuple[int, int]) -> None:
    """Compare a product of two bfloat16 matrices with the product in float32."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a, b = (numbers("float32", *shape).astype(ml_dtypes.bfloat16) for shape in shapes)
    ours = (PyGPU.to_gpu(a) @ PyGPU.to_gpu(b)).get()
    assert ours.dtype == a.dtype
    exact = a.astype("float32") @ b.astype("float32")
    np.testing.assert_allclose(ours.astype("float32"), exact, rtol=1e-2, atol=1e-2)
