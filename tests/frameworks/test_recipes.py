"""Test the recipes of docs/howto/frameworks.md for xarray, Zarr, KvikIO and Ray, if these are installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import PyGPU

pytestmark = [pytest.mark.enough_on("cpu", "cuda"), pytest.mark.filterwarnings("default")]


@pytest.fixture
def host() -> np.ndarray:
    return np.arange(12.0).reshape(3, 4)


def test_data_of_xarray_operations_stay_on_device(host: np.ndarray) -> None:
    xr = pytest.importorskip("xarray")

    def labelled(values: Any) -> Any:
        return xr.DataArray(values, dims=("time", "place"), coords={"time": [1, 2, 2]})

    calls = {
        "arithmetic": lambda a: a - a.mean("time"),
        "skipna": lambda a: a.mean("place", skipna=True),
        "a slice": lambda a: a.isel(time=slice(None, None, -1)) + 1,
        "labels": lambda a: a.sel(time=1) * 2,
        "where": lambda a: a.where(a > 3, 0.0),
        "groups": lambda a: a.groupby("time").sum(),
        "joined": lambda a: xr.concat([a, a], "time"),
        "applied": lambda a: xr.apply_ufunc(np.sqrt, a),
    }
    for name, call in calls.items():
        got, expected = call(labelled(PyGPU.to_gpu(host))), call(labelled(host))
        assert type(got.data) is PyGPU.GPUArray, name
        np.testing.assert_allclose(got.data.get(), expected.data, err_msg=name)


def test_data_of_xarray_with_dask_chunks_stay_on_device(host: np.ndarray) -> None:
    xr = pytest.importorskip("xarray")
    pytest.importorskip("dask.array")
    a = xr.DataArray(PyGPU.to_gpu(host), dims=("time", "place")).chunk({"place": 2})
    mean = (a + 1).mean("time").compute(scheduler="synchronous")
    assert type(mean.data) is PyGPU.GPUArray
    np.testing.assert_allclose(mean.data.get(), (host + 1).mean(0))


def test_part_of_zarr_array_is_uploaded_and_written_back(host: np.ndarray) -> None:
    zarr = pytest.importorskip("zarr")
    z = zarr.create_array(store={}, shape=host.shape, chunks=(1, 4), dtype=host.dtype)
    z[:] = host
    part = PyGPU.to_gpu(np.asarray(z[1:3]))
    z[1:3] = (part * 2).get()
    assert (np.asarray(z[:]) == host * [[1], [2], [2]]).all()


@pytest.mark.gpu
def test_kvikio_reads_file_into_array_and_writes_array_to_file(tmp_path: Path) -> None:
    kvikio = pytest.importorskip("kvikio")
    if PyGPU.backend_name() == "cpu" or importlib.util.find_spec("cupy") is None:
        pytest.skip("kvikio needs a GPU and CuPy")
    a = PyGPU.arange(1000.0)
    a.synchronize()
    with kvikio.CuFile(tmp_path / "values.bin", "w") as file:
        assert file.write(a) == a.nbytes
    b = PyGPU.zeros_like(a)
    b.synchronize()
    with kvikio.CuFile(tmp_path / "values.bin", "r") as file:
        assert file.pread(b[500:], size=4000, file_offset=800).get() == 4000
    assert (b.get()[500:] == np.arange(100.0, 600.0)).all()


def test_ray_serialization_returns_equal_array() -> None:
    serialization = pytest.importorskip("ray.cloudpickle")
    a = PyGPU.arange(6.0)[::2]
    assert serialization.loads(serialization.dumps(a)).get().tolist() == [0, 2, 4]
