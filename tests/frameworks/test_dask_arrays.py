"""Test Dask arrays whose chunks are device arrays: results match those of NumPy chunks and the results stay on the
device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

Operation = Callable[[Any], Any]

# Common operations of Dask arrays. Each operation must return a GPUArray, not an ndarray.
CORE: dict[str, Operation] = {
    "compute": lambda x: x,
    "a number is added": lambda x: x + 1,
    "it is taken from a number": lambda x: 2 - x,
    "product": lambda x: x * x,
    "quotient": lambda x: x / 2,
    "power": lambda x: x**2,
    "root": da.sqrt,
    "equal": lambda x: x == 3,
    "less": lambda x: x < 3,
    "greater": lambda x: x > 3,
    "sum": lambda x: x.sum(),
    "sum of an axis": lambda x: x.sum(axis=0),
    "mean": lambda x: x.mean(),
    "mean of an axis": lambda x: x.mean(axis=0),
    "min": lambda x: x.min(axis=0),
    "max": lambda x: x.max(),
    "std": lambda x: x.std(axis=0),
    "argmin": lambda x: x.argmin(axis=0),
    "argmax": lambda x: x.argmax(axis=0),
    "cumsum": lambda x: x.cumsum(axis=0),
    "rechunk": lambda x: x.rechunk((2, 8)),
    "slice": lambda x: x[1:5, ::-2],
    "a list of rows": lambda x: x[[0, 2, 5]],
    "transpose": lambda x: x.T,
    "matmul": lambda x: x @ x.T,
    "dot": lambda x: x.dot(x.T),
    "map_blocks": lambda x: x.map_blocks(lambda chunk: chunk * 2),
    "map_overlap": lambda x: x.map_overlap(lambda chunk: chunk + 1, depth=1, boundary="reflect"),
    "map_overlap, zeros around": lambda x: x.map_overlap(lambda chunk: chunk + 1, depth=1, boundary=0),
    "concatenate": lambda x: da.concatenate([x, x + 1]),
    "stack": lambda x: da.stack([x, x]),
    "where": lambda x: da.where(x > 3, x, 0),
    "astype": lambda x: x.astype("f4"),
    "zeros_like": da.zeros_like,
    "full_like": lambda x: da.full_like(x, 3),
}

# Rare operations of Dask arrays. Simulated GPUs omit these tests, because they would compile many kernels.
MORE: dict[str, Operation] = {
    "mean, axes kept": lambda x: x.mean(axis=-1, keepdims=True),
    "prod": lambda x: (x / 4).prod(axis=0),
    "any": lambda x: (x > 6).any(),
    "all": lambda x: (x > 0).all(axis=0),
    "var": lambda x: x.var(axis=1),
    "nansum": lambda x: da.nansum(x, axis=0),
    "nanmean": da.nanmean,
    "nanstd": da.nanstd,
    "isnan": da.isnan,
    "invert": lambda x: ~(x > 2),
    "cumprod": lambda x: x.cumprod(axis=1),
    "ones_like": lambda x: da.ones_like(x) + x,
    "take": lambda x: da.take(x, [1, 0], axis=1),
    "round": lambda x: x.round(1),
    "broadcast_to": lambda x: da.broadcast_to(x, (2, 6, 8)),
    "tensordot": lambda x: da.tensordot(x, x, axes=([1], [1])),
    "einsum": lambda x: da.einsum("ij,kj->ik", x, x),
    "vdot": lambda x: da.vdot(x[0], x[1]),
    "outer": lambda x: da.outer(x[0], x[1]),
    "median": lambda x: da.median(x, axis=1),
    "percentile": lambda x: da.percentile(x.ravel(), [25, 50.0, 90]),
    "one percentile": lambda x: da.percentile(x.ravel(), 50),
    "percentile, lower": lambda x: da.percentile(x.ravel(), [25, 90], method="lower"),
    "percentile, nearest": lambda x: da.percentile(x.ravel(), [25, 90], method="nearest"),
    "percentile, midpoint": lambda x: da.percentile(x.ravel(), [25, 90], method="midpoint"),
    "percentile of integers": lambda x: da.percentile(x.ravel().astype("i4"), [25, 90], method="higher"),
    "histogram": lambda x: da.histogram(x, bins=4, range=(0, 8))[0],
    "histogram of edges": lambda x: da.histogram(x, bins=np.array([0.0, 3.0, 8.0]))[0],
    "bincount": lambda x: da.bincount(x.ravel().astype("i8"), minlength=8),
    "digitize": lambda x: da.digitize(x, np.array([2.0, 4.0])),
    "topk": lambda x: da.topk(x, 2, axis=1),
    "qr": lambda x: abs(da.linalg.qr(x.rechunk((2, 8)).T[:, :2].rechunk((4, 2)))[1]),
    "svd": lambda x: da.linalg.svd(x.rechunk((3, 8)))[1],
    "norm": da.linalg.norm,
    "cov": da.cov,
    "fft": lambda x: da.fft.fft(x.rechunk((3, 8)), axis=1),
    "flip": lambda x: da.flip(x, 0),
    "roll": lambda x: da.roll(x, 1, 0),
    "reshape": lambda x: x.reshape(48),
    "diff": lambda x: da.diff(x, axis=0),
    "clip": lambda x: da.clip(x, 2, 4),
    "pad": lambda x: da.pad(x, 1),
    "tril": da.tril,
    "a mask": lambda x: x[x > 3],
    "NumPy's names": lambda x: np.add(np.sum(x, axis=0), np.max(x)),
}


@pytest.fixture(autouse=True)
def synchronous_scheduler() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def host() -> np.ndarray:
    return np.arange(48.0).reshape(6, 8) % 7 + 1


def assert_same(operation: Operation, host: np.ndarray) -> None:
    x = da.from_array(PyGPU.to_gpu(host), chunks=(3, 4))
    got = operation(x).compute()
    expected = operation(da.from_array(host, chunks=(3, 4))).compute()
    assert type(got) is PyGPU.GPUArray
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    np.testing.assert_allclose(got.get(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.enough_on("cpu", "cuda")
@pytest.mark.parametrize("name", CORE)
def test_dask_operation_matches_numpy_and_stays_on_device(name: str, host: np.ndarray) -> None:
    assert_same(CORE[name], host)


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize("name", MORE)
def test_rare_dask_operation_matches_numpy_and_stays_on_device(name: str, host: np.ndarray) -> None:
    assert_same(MORE[name], host)


@pytest.mark.enough_on("cpu", "cuda")
def test_sum_of_dask_array_and_gpu_array_is_correct_in_either_order(host: np.ndarray) -> None:
    a = PyGPU.to_gpu(host)
    x = da.from_array(a, chunks=(3, 4))
    for both in (x + a, a + x, np.add(a, x)):
        assert isinstance(both, da.Array)
        assert type(both.compute()) is PyGPU.GPUArray
        assert (both.compute().get() == host + host).all()


@pytest.mark.enough_on("cpu", "cuda")
def test_sum_of_host_and_device_chunks_raises_type_error(host: np.ndarray) -> None:
    x = da.from_array(PyGPU.to_gpu(host), chunks=(3, 4))
    with pytest.raises(TypeError, match="in host memory"):
        (da.from_array(host, chunks=(3, 4)) + x).compute()


@pytest.mark.enough_on("cpu", "cuda")
def test_chunks_of_file_array_are_uploaded_by_map_blocks(host: np.ndarray, tmp_path: Any) -> None:
    np.save(tmp_path / "values.npy", host)
    x = da.from_array(np.load(tmp_path / "values.npy", mmap_mode="r"), chunks=(3, 4))
    meta = PyGPU.empty((0, 0), host.dtype)
    mean = x.map_blocks(PyGPU.to_gpu, meta=meta, dtype=host.dtype).mean(axis=0).compute()
    assert type(mean) is PyGPU.GPUArray
    np.testing.assert_allclose(mean.get(), host.mean(axis=0))


@pytest.mark.enough_on("cpu", "cuda")
def test_dask_threads_scheduler_gives_correct_sum(host: np.ndarray) -> None:
    x = da.from_array(PyGPU.to_gpu(host), chunks=(2, 2))
    total = (x * x).sum().compute(scheduler="threads", num_workers=4)
    assert type(total) is PyGPU.GPUArray
    assert float(total) == float((host * host).sum())


@pytest.mark.enough_on("cpu", "cuda")
def test_dask_to_backend_moves_chunks_to_device_and_back(host: np.ndarray) -> None:
    x = da.from_array(host, chunks=(3, 4)).to_backend("pygpu")
    assert type(x._meta) is PyGPU.GPUArray
    assert x.to_backend("pygpu") is x
    assert type(x.compute()) is PyGPU.GPUArray
    back = x.to_backend("numpy").compute()
    assert type(back) is np.ndarray
    assert (back == host).all()


@pytest.mark.enough_on("cpu", "cuda")
def test_dask_backend_pygpu_creates_arrays_on_device() -> None:
    with dask.config.set({"array.backend": "pygpu"}):
        made = {
            "ones": da.ones((3, 4), chunks=2),
            "zeros": da.zeros((3, 4), chunks=2, dtype="i4"),
            "full": da.full((3, 4), 7, chunks=2),
            "arange": da.arange(1, 9, 2, chunks=3),
            "no axes": da.ones((), dtype="f4"),
        }
        empty = da.empty((3, 4), chunks=2, dtype="f4")
    expected = {
        "ones": np.ones((3, 4)),
        "zeros": np.zeros((3, 4), "i4"),
        "full": np.full((3, 4), 7),
        "arange": np.arange(1, 9, 2),
        "no axes": np.ones((), "f4"),
    }
    for name, array in made.items():
        got = array.compute()
        assert type(got) is PyGPU.GPUArray, name
        assert got.dtype == expected[name].dtype, name
        assert got.get().tolist() == expected[name].tolist(), name
    assert type(empty._meta) is type(empty.compute()) is PyGPU.GPUArray


@pytest.mark.enough_on("cpu", "cuda")
def test_arrays_created_by_dask_backend_are_writeable() -> None:
    def count_up(chunk: PyGPU.GPUArray) -> PyGPU.GPUArray:
        chunk[0, 0] = 5
        return chunk

    with dask.config.set({"array.backend": "pygpu"}):
        written = da.zeros((2, 2), chunks=2).map_blocks(count_up).compute()
    assert written.get().tolist() == [[5, 0], [0, 0]]


@pytest.mark.enough_on("cpu", "cuda")
def test_dask_random_numbers_are_drawn_on_device() -> None:
    with dask.config.set({"array.backend": "pygpu"}):
        a, b = (da.random.default_rng(3).random((4, 6), chunks=(2, 3)).compute() for _ in range(2))
        old = da.random.RandomState(3).random_sample((4, 6), chunks=(2, 3)).compute()
        whole = da.random.RandomState(3).randint(0, 5, size=6, chunks=3).compute()
    assert all(type(one) is PyGPU.GPUArray for one in (a, b, old, whole))
    assert (a.get() == b.get()).all()
    assert len(np.unique(a.get())) == 24
    assert ((old.get() >= 0) & (old.get() < 1)).all()
    assert ((whole.get() >= 0) & (whole.get() < 5)).all()
