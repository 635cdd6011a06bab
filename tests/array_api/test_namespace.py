"""Test parts of the array API namespace that the standard's own test suite (`make array-api`) does not cover."""

from __future__ import annotations

import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import PyGPU
from support import assert_same


def test_array_namespace_of_array_is_package_pygpu() -> None:
    array = PyGPU.zeros(3)
    assert array.__array_namespace__() is PyGPU
    for version in ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12", None):
        assert array.__array_namespace__(api_version=version) is PyGPU
    with pytest.raises(ValueError, match=r"'2030.12' of the array API is not supported; there are 2021.12"):
        array.__array_namespace__(api_version="2030.12")
    assert PyGPU.__array_api_version__ == "2025.12"


def test_namespace_has_dtypes_and_constants_of_numpy() -> None:
    for name in ("float32", "complex128", "int8", "uint64", "bool", "e", "inf", "newaxis", "pi"):
        assert getattr(PyGPU, name) is getattr(np, name)
    assert np.isnan(PyGPU.nan)
    assert PyGPU.zeros(3, PyGPU.float32).dtype == PyGPU.float32


def test_namespace_info_reports_capabilities() -> None:
    info = PyGPU.__array_namespace_info__()
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert PyGPU.zeros(()).reshape((1,) * 64).ndim == 64
    assert info.default_device() in info.devices()
    assert PyGPU.Device("cpu") in info.devices()
    # The standard requires that `devices` returns a tuple, but SciPy 1.17 joins the result with a list, so PyGPU
    # returns a list.
    assert isinstance(info.devices(), list)
    defaults = info.default_dtypes(device=PyGPU.zeros(0).device)
    assert defaults["real floating"] == PyGPU.zeros(1).dtype
    assert defaults["integral"] == defaults["indexing"] == PyGPU.arange(1).dtype
    assert set(info.dtypes(kind=("bool", "real floating"))) == {"bool", "float32", "float64"}
    assert len(info.dtypes(kind="integral")) == 8
    assert len(info.dtypes()) == 13
    with pytest.raises(ValueError, match="no kind 'text'; there are bool"):
        info.dtypes(kind="text")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex128, "f8"])
def test_finfo_values_are_python_floats(dtype: Any) -> None:
    ours, numpys = PyGPU.finfo(dtype), np.finfo(dtype)
    for name in ("eps", "max", "min", "smallest_normal"):
        assert type(getattr(ours, name)) is float
        assert getattr(ours, name) == getattr(numpys, name)
    assert (ours.bits, ours.dtype, ours.tiny) == (numpys.bits, numpys.dtype, numpys.tiny)
    assert PyGPU.finfo(PyGPU.zeros(1, dtype)).dtype == ours.dtype


def test_finfo_and_iinfo_support_bfloat16_and_integers() -> None:
    assert PyGPU.finfo(ml_dtypes.bfloat16).eps == 2**-7
    assert PyGPU.iinfo(PyGPU.zeros(1, "i2")).max == 2**15 - 1
    with pytest.raises(ValueError, match=r"not inexact|not compatible with finfo"):
        PyGPU.finfo("i4")


def test_isdtype_accepts_kinds_and_dtypes_and_rejects_unknown_kind() -> None:
    assert PyGPU.isdtype(np.dtype("f4"), "real floating")
    assert PyGPU.isdtype(PyGPU.int8, ("bool", "signed integer"))
    assert not PyGPU.isdtype(PyGPU.bool, "numeric")
    assert PyGPU.isdtype(PyGPU.uint8, PyGPU.uint8)
    assert PyGPU.isdtype(ml_dtypes.bfloat16, "real floating")
    assert not PyGPU.isdtype(ml_dtypes.bfloat16, ("integral", PyGPU.float32))
    with pytest.raises(ValueError, match=r"not a known kind|unrecognized"):
        PyGPU.isdtype(PyGPU.uint8, "text")


def test_to_device_returns_array_itself_or_copy_on_other_device() -> None:
    array = PyGPU.arange(6).reshape(2, 3)[:, ::2]
    assert array.to_device(array.device) is array
    assert array.to_device(array.device, stream=PyGPU.current_stream()) is array
    there = array.to_device("cpu")
    assert there.device == PyGPU.Device("cpu")
    assert there.tolist() == [[0, 2], [3, 5]]
    back = there.to_device(array.device, stream=PyGPU.current_stream())
    assert (back.device, back.tolist()) == (array.device, [[0, 2], [3, 5]])
    with pytest.raises((ValueError, PyGPU.BackendUnavailableError)):
        array.to_device("nowhere")


def test_to_device_without_arguments_uploads_host_array() -> None:
    host = np.zeros(3)
    array = PyGPU.GPUArray(host)
    host[1] = 5
    assert array.to_device() is None
    assert array.tolist() == [0, 5, 0]
    with pytest.raises(TypeError, match="a stream goes with a device"):
        array.to_device(stream=PyGPU.current_stream())  # type: ignore[call-overload]
    with pytest.raises(ValueError, match=r"to_device\('cuda:1'\)"):
        PyGPU.zeros(3).to_device()


def test_asarray_of_nested_device_arrays_gives_array_on_device() -> None:
    host = np.arange(6.0, dtype="f4").reshape(2, 3)
    array = PyGPU.to_gpu(host)
    joined = PyGPU.asarray([[array[0, 0], array[1, 2]], [array[1, 1], 7]])
    assert joined.device == array.device
    assert joined.tolist() == [[0.0, 5.0], [4.0, 7.0]]
    assert_same(PyGPU.asarray((array, array), dtype="f8"), np.asarray((host, host), dtype="f8"))
    with pytest.raises(ValueError, match="same shape"):
        PyGPU.asarray([array, array[:1]])
    with pytest.raises(ValueError, match="copy=False"):
        PyGPU.asarray([array, array], copy=False)


def test_where_function_accepts_arrays_without_elements() -> None:
    # On the CPU, `where` calls NumPy's copyto, which reads one byte of the result array even if that array is empty.
    mask, empty = PyGPU.zeros((2, 1), bool), PyGPU.zeros((1, 0), np.int8)
    assert PyGPU.where(mask, empty, np.uint8(1)).shape == (2, 0)
    whole = PyGPU.zeros(3, np.int8)
    assert PyGPU.where(mask, whole[3:], np.uint8(1)).shape == (2, 0)


def test_namespace_info_returns_new_dicts() -> None:
    info = PyGPU.__array_namespace_info__()
    info.dtypes().clear()
    assert len(info.dtypes()) == 13
    info.devices().clear()
    assert info.devices()
    assert pickle.loads(pickle.dumps(info)).capabilities() == info.capabilities()
