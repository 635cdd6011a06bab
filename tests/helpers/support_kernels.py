"""Provide shared code of the tests of generated kernels: checks for a compiler, seeds, and random views."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import PyGPU


def _has_kernels() -> bool:
    try:
        PyGPU.Module("__global__ void nothing(int *x) { *x = 1; }")
    except (PyGPU.BackendUnavailableError, PyGPU.NotSupportedError):
        return False
    return True


def module_or_skip(source: str, **options: Any) -> PyGPU.Module:
    """Compile a module, or skip the test if the backend has no kernels or no compiler for them."""
    try:
        return PyGPU.Module(source, **options)
    except (PyGPU.BackendUnavailableError, PyGPU.NotSupportedError) as error:
        pytest.skip(f"no kernels: {error}")


needs_kernels = pytest.mark.skipif(not _has_kernels(), reason="this backend has no kernels, or no compiler for them")


def random_seed() -> int:
    """Return a new seed and print it, so that pytest shows it for a failing test."""
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    return seed


def random_view(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, *, broadcast: bool = False
) -> tuple[np.ndarray, PyGPU.GPUArray]:
    """Return an ndarray of small integers and an equal device array.

    Both arrays are views with steps, negative strides and axes in any order. With `broadcast`, their shape can differ
    from `shape` but broadcasts to `shape`.
    """
    if broadcast and shape:
        shape = tuple(1 if rng.random() < 0.25 else length for length in shape)
        shape = shape[int(rng.integers(0, len(shape) + 1)) if rng.random() < 0.3 else 0 :]
    order = rng.permutation(len(shape))
    steps = [int(rng.choice([1, 1, 1, 2, -1, -2])) for _ in shape]
    whole = [shape[axis] * abs(steps[axis]) for axis in order]
    host = rng.integers(0, 50, whole).astype(dtype)
    device = PyGPU.to_gpu(host)
    key = tuple(slice(None, None, steps[axis]) for axis in order)
    axes = tuple(int(axis) for axis in np.argsort(order))
    # With an ellipsis in the key, NumPy returns a 0-d array instead of a scalar.
    return host[(*key, ...)].transpose(axes), device[(*key, ...)].transpose(axes)
