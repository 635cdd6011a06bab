"""Test functions that Dask's arrays call on their chunks: each returns a GPUArray on every backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from support import assert_same

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "concatenate": lambda a: np.concatenate([a, a[::-1]], axis=0),
    "stack": lambda a: np.stack([a, a], axis=1),
    "transpose": lambda a: np.transpose(a, (1, 0)),
    "where": lambda a: np.where(a > 3, a, 0.0),
    "sum": lambda a: np.sum(a, axis=(0,), keepdims=True),
    "min": lambda a: np.min(a, axis=1, keepdims=True),
    "max": lambda a: np.max(a, axis=0),
    "argmin": lambda a: np.argmin(a, axis=1),
    "argmax": lambda a: np.argmax(a, axis=0),
    "cumsum": lambda a: np.cumsum(a, axis=1),
    "full_like": lambda a: np.full_like(a, 2, shape=(2,)),
    "zeros_like": lambda a: np.zeros_like(a, shape=(0, 3)),
    "empty_like": lambda a: np.empty_like(a, shape=(0, 0)),
    "asarray": lambda a: np.asarray([1.0, 2.0], like=a),
    "array": lambda a: np.array([[1, 2]], like=a),
}
UFUNCS: dict[str, Callable[[Any], Any]] = {
    "add": lambda a: np.add(a, a),
    "subtract": lambda a: 1.0 - a,
    "multiply": lambda a: np.multiply(2.0, a),
    "divide": lambda a: np.divide(a, 2.0),
    "power": lambda a: np.power(a, 2),
    "sqrt": lambda a: np.sqrt(a),
    "equal": lambda a: np.equal(a, a[:1]),
    "less": lambda a: np.less(a, 3),
    "greater": lambda a: np.greater(a, 3),
    "matmul": lambda a: np.matmul(a, a.T),
}
METHODS: dict[str, Callable[[Any], Any]] = {
    "astype": lambda a: a.astype("f4", copy=False),
    "sum": lambda a: a.sum(axis=1, dtype="f8", keepdims=True),
}
ALL = {
    f"{kind}.{name}": call
    for kind, calls in (("np", FUNCTIONS), ("ufunc", UFUNCS), ("method", METHODS))
    for name, call in calls.items()
}


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("name", ALL)
def test_dask_functions_return_array_on_same_device(name: str) -> None:
    host = np.array([[4.0, 1.0, 2.0], [0.0, 5.0, 3.0]])
    array = PyGPU.to_gpu(host)
    made = ALL[name](array)
    assert type(made) is PyGPU.GPUArray
    assert made.device == array.device
    assert_same(made, ALL[name](host))


def test_table_of_dask_functions_has_27_entries() -> None:
    assert len(ALL) == 27


def test_empty_slice_of_array_for_dask_meta_has_same_shape_and_dtype() -> None:
    array = PyGPU.to_gpu(np.ones((2, 3), "f4"))
    part = array[:0, None]
    assert (part.shape, part.dtype, part.ndim, part.nbytes) == ((0, 1, 3), np.dtype("f4"), 3, 0)
    assert array.__array_priority__ == 100
