"""Test the operations of xarray's page "Quick overview": each operation gives NumPy's result and returns an array on
the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU import _core

xr = pytest.importorskip("xarray")
pytestmark = [pytest.mark.enough_on("cpu", "cuda"), pytest.mark.filterwarnings("default")]

HOST = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]])


def labels() -> Any:
    return xr.DataArray(["E", "F", "E"], dims="y", name="labels")


def dataset(x: Any) -> Any:
    return xr.Dataset({"foo": x, "bar": ("x", x.data[:, 0]), "baz": np.pi})


def tree(x: Any) -> Any:
    return xr.DataTree.from_dict({"/": dataset(x), "/simulation": xr.Dataset({"foo": x * 2})})


INDEXING: dict[str, Callable[[Any], Any]] = {
    "position": lambda x: x[0, :],
    "loc": lambda x: x.loc[10],
    "isel": lambda x: x.isel(x=0),
    "sel": lambda x: x.sel(x=10),
    "isel, list": lambda x: x.isel(y=[0, 2]),
    "sel, list": lambda x: x.sel(x=[20, 10]),
    "sel, slice": lambda x: x.sel(x=slice(10, 20)),
    "mask of an axis": lambda x: x[:, np.array([True, False, True])],
    "where": lambda x: x.where(x > 0),
    "where, replacement": lambda x: x.where(x > 0, 0.0),
    "fillna": lambda x: x.where(x > 0).fillna(1.0),
    "reindex": lambda x: x.reindex(x=[10, 15, 20]),
    "assignment": lambda x: assigned(x.copy()),
}
COMPUTATION: dict[str, Callable[[Any], Any]] = {
    "sum with a number": lambda x: x + 10,
    "NumPy's function": lambda x: np.sin(x),
    "transposed": lambda x: x.T,
    "sum": lambda x: x.sum(),
    "mean of an axis": lambda x: x.mean(dim="x"),
    "maximum skipping NaN": lambda x: x.where(x > 0).max("y"),
    "median": lambda x: x.median("y"),
    "quantile": lambda x: x.quantile(0.25, "y"),
    "broadcasting by name": lambda x: x[0].drop_vars("x") + x[:, 0].drop_vars("x"),
    "alignment by name": lambda x: x - x.T,
    "alignment by label": lambda x: x[:-1] - x[:1],
    "dot": lambda x: xr.dot(x, x, dim="y"),
    "concat": lambda x: xr.concat([x, x], "z"),
    "stack and unstack": lambda x: x.stack(z=("x", "y")).unstack("z"),
    "rolling": lambda x: x.rolling(y=2).mean(),
    "apply_ufunc": lambda x: xr.apply_ufunc(np.square, x),
}
GROUPING: dict[str, Callable[[Any], Any]] = {
    "mean of groups": lambda x: x.groupby(labels()).mean("y"),
    "map of groups": lambda x: x.groupby(labels()).map(lambda group: group - group.min()),
    "arithmetic of groups": lambda x: x.groupby(labels()) - x.groupby(labels()).mean("y"),
    "bins": lambda x: x.assign_coords(y=[1, 2, 3]).groupby_bins("y", [0, 1.5, 4]).sum(),
}
DATASETS: dict[str, Callable[[Any], Any]] = {
    "variable": lambda x: dataset(x)["foo"],
    "variable without coordinates": lambda x: dataset(x).bar,
    "arithmetic": lambda x: (dataset(x) * 2).foo,
    "reduction": lambda x: dataset(x).mean("x").foo,
    "selection": lambda x: dataset(x).sel(x=10).foo,
    "merge": lambda x: xr.merge([x.rename("a"), x.rename("b")]).b,
    "tree": lambda x: tree(x)["simulation/foo"],
    "reduction of a tree": lambda x: tree(x).mean(dim="x")["simulation/foo"],
}
OPERATIONS = INDEXING | COMPUTATION | GROUPING | DATASETS


def assigned(x: Any) -> Any:
    x[0, 1] = 7.0
    x.loc[{"x": 20}] = 1.0
    return x


def labelled(values: Any) -> Any:
    return xr.DataArray(values, dims=("x", "y"), coords={"x": [10, 20]})


@pytest.mark.parametrize("name", OPERATIONS)
def test_xarray_operation_matches_numpy_and_stays_on_device(name: str) -> None:
    got = OPERATIONS[name](labelled(PyGPU.to_gpu(HOST)))
    expected = OPERATIONS[name](labelled(HOST.copy()))
    assert type(got.data) is PyGPU.GPUArray
    assert (got.dims, got.shape, got.dtype) == (expected.dims, expected.shape, expected.dtype)
    np.testing.assert_allclose(got.data.get(), expected.data, rtol=1e-12, atol=1e-12)


def test_xarray_attributes_and_repr_work_with_device_data() -> None:
    x = labelled(PyGPU.to_gpu(HOST))
    x.attrs["units"] = "metres"
    assert x.copy().attrs == {"units": "metres"}
    assert x.dims == ("x", "y")
    assert x.coords["x"].values.tolist() == [10, 20]
    assert "GPUArray" in repr(x)
    assert x.equals(x.copy())
    assert not x.identical(x + 1)


@pytest.mark.reads_in_place  # The marker's fixture restores the strict mode setting.
def test_xarray_implicit_conversion_to_numpy_and_pandas_raises() -> None:
    _core._set_strict(True)
    x = labelled(PyGPU.to_gpu(HOST))
    with pytest.raises(TypeError, match=r"use \.get\(\)"):
        x.values  # noqa: B018 (a property)
    with pytest.raises(TypeError, match=r"use \.get\(\)"):
        x.to_series()
    assert x.copy(data=x.data.get()).to_series().tolist() == HOST.ravel().tolist()
