"""Provide matrices for the tests of `PyGPU.linalg`, and compare results with NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

import PyGPU


def sample_matrix(dtype: str, *shape: int) -> np.ndarray:
    generator = np.random.default_rng(list(map(int, shape)))
    made = generator.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        made = made + 1j * generator.normal(size=shape)
    return made.astype(dtype)


def hermitian(dtype: str, *shape: int) -> np.ndarray:
    a = sample_matrix(dtype, *shape)
    return a @ np.swapaxes(a.conj(), -1, -2) + np.eye(shape[-1], dtype=dtype)


def adjoint(a: np.ndarray) -> np.ndarray:
    return np.swapaxes(a.conj(), -1, -2)


def close(ours: Any, numpys: Any) -> None:
    """Assert equal shapes and dtypes, and equal values within the precision of the dtype."""
    values = ours.get() if isinstance(ours, PyGPU.GPUArray) else np.asarray(ours)
    numpys = np.asarray(numpys)
    assert (values.shape, values.dtype) == (numpys.shape, numpys.dtype)
    tolerance = 2e-3 if values.dtype.name in ("float32", "complex64") else 1e-9
    np.testing.assert_allclose(values, numpys, rtol=tolerance, atol=tolerance)
