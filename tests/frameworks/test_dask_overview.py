"""Test the operations of Dask's pages "10 minutes to Dask" and "Array" on device chunks; results match NumPy chunks.

Functions that combine a device array with an array of Dask, such as an index, run with Dask's backend ``pygpu``.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.enough_on("cpu", "cuda")

HOST = np.arange(600.0).reshape(20, 30) * 7 % 23
Operation = Callable[[Any], Any]

OVERVIEW: dict[str, Operation] = {
    "blocks": lambda x: x.blocks[1, 1],
    "rechunk": lambda x: x.rechunk((5, 30)),
    "slice": lambda x: x[:5, 20],
    "list of indices": lambda x: x[[0, 3, 5]],
    "array of indices": lambda x: x[:, np.array([0, 3, 5])],
    "mask": lambda x: x[x > 11],
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "sum of an axis": lambda x: x.sum(axis=0),
    "standard deviation": lambda x: x.std(axis=1),
    "NumPy's function": lambda x: np.sin(x),
    "number": lambda x: 2 * x + 1,
    "transposed": lambda x: x.T,
    "chain": lambda x: (x.max(axis=1)[::-1] + 10)[:10],
    "map_blocks": lambda x: x.map_blocks(lambda chunk: chunk * 2),
    "matrix product": lambda x: x @ x.T,
    "tensordot": lambda x: da.tensordot(x, x, axes=([0], [0])),
    "reshape": lambda x: x.reshape(-1),
    "persist": lambda x: (x + 1).persist(),
}
SETS: dict[str, Operation] = {
    "unique": lambda x: da.unique(x),
    "indices": lambda x: da.unique(x, return_index=True)[1],
    "inverse": lambda x: da.unique(x, return_inverse=True)[1],
    "counts": lambda x: da.unique(x, return_counts=True)[1],
    "values of all four": lambda x: da.unique(x, return_index=True, return_inverse=True, return_counts=True)[0],
    "counts of all four": lambda x: da.unique(x, return_index=True, return_inverse=True, return_counts=True)[3],
    "unique integers": lambda x: da.unique(x.astype("i4")),
    "union1d": lambda x: da.union1d(x[0], x[1]),
    "isin": lambda x: da.isin(x, x[0, :5]),
    "isin, inverted": lambda x: da.isin(x, x[0, :5], invert=True),
}
WITH_BACKEND: dict[str, Operation] = {
    "argtopk": lambda x: da.argtopk(x[:, :20].rechunk((10, 10)), 1, axis=1),
    "argtopk, smallest": lambda x: da.argtopk(x[:, :20].rechunk((10, 10)), -1, axis=1),
    "nonzero": lambda x: da.nonzero(x > 11)[0],
    "argwhere": lambda x: da.argwhere(x > 11),
    "triu": lambda x: da.triu(x[:, :20]),
    "zeros_like in Fortran's order": lambda x: da.zeros_like(x, order="F"),
    "ones_like": lambda x: da.ones_like(x, order="F"),
    "full_like": lambda x: da.full_like(x, 2, order="F"),
}


def assert_same(operation: Operation, backend: str = "numpy") -> None:
    with dask.config.set({"scheduler": "synchronous", "array.backend": backend}):
        got = operation(da.from_array(PyGPU.to_gpu(HOST), chunks=(10, 15))).compute()
    with dask.config.set(scheduler="synchronous"):
        expected = operation(da.from_array(HOST, chunks=(10, 15))).compute()
    assert type(got) is PyGPU.GPUArray
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(got.get(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", OVERVIEW)
def test_dask_overview_operation_stays_on_device(name: str) -> None:
    assert_same(OVERVIEW[name])


@pytest.mark.parametrize("name", SETS)
def test_dask_set_function_stays_on_device(name: str) -> None:
    assert_same(SETS[name])


@pytest.mark.parametrize("name", WITH_BACKEND)
def test_dask_function_stays_on_device_with_backend_pygpu(name: str) -> None:
    assert_same(WITH_BACKEND[name], "pygpu")


def test_dask_isin_accepts_device_array_as_test_elements() -> None:
    with dask.config.set(scheduler="synchronous"):
        got = da.isin(da.from_array(PyGPU.to_gpu(HOST), chunks=10), PyGPU.to_gpu(np.array([1.0, 2.0]))).compute()
    assert type(got) is PyGPU.GPUArray
    assert (got.get() == np.isin(HOST, [1, 2])).all()


def test_dask_unique_with_nan_and_empty_chunks_matches_numpy() -> None:
    host = np.array([np.nan, 1.0, np.nan, 1.0])
    with dask.config.set(scheduler="synchronous"):
        x = da.from_array(PyGPU.to_gpu(host), chunks=2)
        values, counts = dask.compute(*da.unique(x, return_counts=True))
        empty = da.unique(x[x > 2]).compute()
    np.testing.assert_array_equal(values.get(), [1.0, np.nan])
    assert counts.get().tolist() == [2, 2]
    assert (type(empty), empty.shape) == (PyGPU.GPUArray, (0,))


def test_dask_unique_of_host_chunks_is_unchanged() -> None:
    values, inverse = da.unique(da.from_array(HOST, chunks=10), return_inverse=True)
    assert type(values.compute()) is np.ndarray
    assert (values.compute()[inverse.compute()] == HOST).all()


def test_dask_function_replaced_by_pygpu_is_pickled_by_its_dask_name() -> None:
    from dask.array import routines

    text = pickle.dumps(routines._unique_internal)
    assert b"PyGPU" not in text
    assert pickle.loads(text) is routines._unique_internal
