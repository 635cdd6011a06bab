"""Test array-api-compat and array-api-extra with PyGPU arrays: results match those with NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy
from support import of_few

compat = pytest.importorskip("array_api_compat")
extra = pytest.importorskip("array_api_extra")

HOST: dict[str, Any] = {
    "a": np.arange(6.0).reshape(2, 3) - 2.5,
    "b": np.array([[0.5, np.nan, 2.0], [1.0, 2.0, 0.0]]),
    "c": np.array([1 + 2j, -3j, 4]),
    "i": np.array([2, 0, 1, 2, 5]),
    "m": np.array([[True, False, True], [False, False, True]]),
    "v": np.array([0.0, 1.0, 4.0, 9.0]),
}

# Calls of array-api-extra, separated by `;`. A function takes the namespace from its arrays or from the argument `xp`.
CALLS = """
angle(c); angle(c, deg=True)
apply_where(m, a, lambda x: x * 2, lambda x: -x); apply_where(m, (a, a + 1), lambda x, y: x * y, fill_value=7.0)
argpartition(v, 1)[1]; partition(v, 2)[2]
at(a)[0, 0].set(5.0); at(a)[:, 1].add(2.0); at(a)[m].multiply(-1.0); at(i)[1:3].max(1); at(a, 0).min(xp.asarray(-2.0))
atleast_nd(v, ndim=3); atleast_nd(xp.asarray(3.0), ndim=1)
broadcast_shapes((2, 1), (3,)); cov(a); cov(v); create_diagonal(v); create_diagonal(a, offset=-1)
default_dtype(xp); default_dtype(xp, "integral"); deg2rad(v); rad2deg(a); expand_dims(a, axis=(0, 2))
diag_indices(3, xp=xp)
isclose(a, a + 1e-9); isclose(b, b, equal_nan=True); isclose(i, 2); isin(i, i[:2]); kron(a, v)
lazy_apply(lambda x: x + 1, a)
nan_to_num(b); nan_to_num(b, fill_value=3.0); nanmax(b); nanmin(b, axis=0); nanmean(b, axis=1); nansum(b)
nunique(i); one_hot(i, 6); one_hot(i, 6, dtype=xp.float32); pad(a, 1); pad(a, ((1, 0), (0, 2)), constant_values=7.0)
searchsorted(v, a); searchsorted(v, v, side="right"); setdiff1d(i, i[:2]); union1d(i, i[1:]); sinc(a)
tril_indices(3, xp=xp); triu_indices(3, offset=1, xp=xp); unravel_index(i, (2, 3))
"""
FEW = (
    "apply_where(m, a, lambda x: x * 2, lambda x: -x)", "at(a)[m].multiply(-1.0)", "atleast_nd(v, ndim=3)",
    "create_diagonal(a, offset=-1)", "nunique(i)", "one_hot(i, 6)", "pad(a, 1)", "lazy_apply(lambda x: x + 1, a)",
)  # fmt: skip
ALL = [one.strip() for one in CALLS.replace("\n", ";").split(";") if one.strip()]


def compute(call: str, xp: Any) -> Any:
    arrays = {name: value.copy() for name, value in HOST.items()}
    if xp is PyGPU:
        arrays = {name: PyGPU.to_gpu(value) for name, value in arrays.items()}
    functions = {name: getattr(extra, name) for name in dir(extra) if not name.startswith("_")}
    return eval(call, functions | arrays | {"np": np, "xp": xp})


def same(ours: Any, numpys: Any) -> None:
    if isinstance(numpys, tuple) and not isinstance(ours, PyGPU.GPUArray):
        assert len(ours) == len(numpys)
        for one, other in zip(ours, numpys, strict=True):
            same(one, other)
    elif isinstance(numpys, (np.ndarray, np.generic)):
        assert isinstance(ours, PyGPU.GPUArray), type(ours)
        assert (ours.shape, ours.dtype) == (numpys.shape, numpys.dtype)
        np.testing.assert_allclose(ours.get(), numpys, rtol=1e-14, atol=1e-14)
    else:
        assert ours == numpys


@pytest.mark.filterwarnings("ignore:.*is deprecated and will be removed:DeprecationWarning")
@pytest.mark.parametrize("call", [call for call in of_few(ALL, FEW) if "default_dtype" not in call or is_numpy("2.1")])
def test_array_api_extra_function_matches_numpy(call: str) -> None:
    same(compute(call, PyGPU), compute(call, np))


def test_array_api_compat_recognizes_arrays() -> None:
    array = PyGPU.arange(6.0).reshape(2, 3)
    assert compat.is_array_api_obj(array)
    assert compat.is_array_api_strict_namespace(PyGPU) is False
    assert not compat.is_lazy_array(array)
    assert compat.is_writeable_array(array)
    assert compat.array_namespace(array, array, None, 3.0) is PyGPU
    assert compat.array_namespace(array, api_version="2023.12") is PyGPU
    assert compat.size(array) == 6
    assert compat.device(array) == array.device
    assert compat.to_device(array, array.device) is array
    host = compat.to_device(array, PyGPU.Device("cpu"))
    assert (host.device.kind, host.tolist()) == ("cpu", array.tolist())
    with pytest.raises(TypeError, match="Multiple namespaces"):
        compat.array_namespace(array, np.zeros(3))


def test_lazy_apply_of_numpy_function_raises_instead_of_copying_to_host() -> None:
    with pytest.raises(TypeError, match=r"use \.get\(\)"):
        extra.lazy_apply(np.cumsum, PyGPU.arange(3.0), as_numpy=True)
