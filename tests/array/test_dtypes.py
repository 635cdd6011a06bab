"""Test that arrays of each supported dtype have correct values, item size and dtype name, and that the error for any
other dtype contains a reason."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import PyGPU
from support import ALL_DTYPES, ML_DTYPES, NUMPYS_OWN, OPAQUE, PADDED, RECORD, assert_same, values


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_values_of_every_dtype_are_unchanged_after_upload_and_download(dtype: np.dtype) -> None:
    host = values((3, 4), dtype)
    device = PyGPU.to_gpu(host)
    assert device.dtype == dtype
    assert isinstance(device.dtype, np.dtype)
    assert device.itemsize == dtype.itemsize
    assert device.nbytes == host.nbytes
    for ours, numpys in ((device, host), (device.T, host.T), (device[::-1, 1::2], host[::-1, 1::2])):
        assert_same(ours, numpys)
        assert_same(ours.copy(), numpys)


@pytest.mark.parametrize("dtype", [np.dtype(name) for name in NUMPYS_OWN], ids=str)
def test_every_bit_pattern_is_unchanged_after_upload_and_download(dtype: np.dtype) -> None:
    patterns = np.arange(256, dtype=np.uint8)
    host = np.repeat(patterns & 1 if dtype.kind == "b" else patterns, 16).view(dtype)
    device = PyGPU.to_gpu(host)
    assert device.get().tobytes() == host.tobytes()
    assert device[::-1].copy().get().tobytes() == host[::-1].tobytes()
    again = PyGPU.zeros_like(device)
    again[...] = device
    assert again.get().tobytes() == host.tobytes()


@pytest.mark.parametrize("name", NUMPYS_OWN)
def test_numpy_dtypes_are_accepted_in_every_spelling(name: str) -> None:
    dtype = np.dtype(name)
    for spelling in (
        name,
        dtype,
        dtype.type,
        dtype.str,
        dtype.char,
        dtype.newbyteorder("="),
        np.dtype(name, metadata={}),
    ):
        made = PyGPU.empty(2, spelling)
        assert made.dtype == dtype
        assert made.dtype.isnative
    assert PyGPU.empty(2, np.zeros(1, name)[0].dtype).dtype is dtype


@pytest.mark.parametrize("spelling", [bool, int, float, complex, "d", "longlong", np.intp, "q", "L", np.uint], ids=repr)
def test_python_and_c_type_names_match_numpy(spelling: Any) -> None:
    assert PyGPU.empty(2, spelling).dtype == np.dtype(spelling)


def test_dtype_none_is_float64() -> None:
    assert PyGPU.empty(2).dtype == PyGPU.empty(2, None).dtype == PyGPU.GPUArray(2, None).dtype == np.float64


@pytest.mark.parametrize("name", ML_DTYPES)
def test_ml_dtypes_are_accepted_by_name_and_class(name: str) -> None:
    expected = np.dtype(getattr(ml_dtypes, name))
    for spelling in (name, getattr(ml_dtypes, name), expected):
        assert PyGPU.empty(2, spelling).dtype == expected
    bits = np.arange(256, dtype=np.uint8).repeat(expected.itemsize).view(expected)
    assert PyGPU.to_gpu(bits).get().tobytes() == bits.tobytes()
    assert PyGPU.to_gpu(bits)[3:5].copy().dtype == expected


@pytest.mark.parametrize("name", ["int4", "uint4", "float4_e2m1fn", "int2"])
def test_narrow_ml_dtypes_are_stored_as_bytes(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name))
    host = np.array([0, 1, 1], np.int8).astype(dtype)
    device = PyGPU.to_gpu(host)
    assert device.dtype == dtype
    assert device.get().tobytes() == host.tobytes()


STRUCTURED = [
    *OPAQUE,
    np.dtype([("a", "i1"), ("b", "f8")]),
    np.dtype([("a", "i1"), ("b", "f8")], align=True),
    np.dtype([("in", [("x", "f4"), ("y", "f4")]), ("v", "V3")]),
    np.dtype([("m", "c16", (3, 3))]),
    np.dtype([("b", ml_dtypes.bfloat16), ("e", "float16")]),
    np.dtype([(("a title", "a"), "i4")]),
    np.dtype("V1"),
    np.dtype("V17"),
    np.dtype("V1000"),
]


@pytest.mark.parametrize("dtype", STRUCTURED, ids=repr)
def test_structured_and_void_items_are_copied_whole(dtype: np.dtype) -> None:
    raw = (np.arange(6 * dtype.itemsize) % 2).astype(np.uint8)
    host = raw.view(dtype).reshape(2, 3)
    device = PyGPU.to_gpu(host)
    assert device.dtype == dtype
    for ours, numpys in ((device, host), (device.T, host.T), (device[:, ::-2], host[:, ::-2])):
        assert ours.get().dtype == dtype
        assert repr(ours.tolist()) == repr(numpys.tolist())
    device[0] = device[1]
    host[0] = host[1]
    assert_same(device, host)


def test_equal_structured_dtypes_are_interchangeable() -> None:
    again = np.dtype(RECORD.descr)
    assert again is not RECORD
    device = PyGPU.empty(2, again)
    device.set(np.zeros(2, RECORD))
    assert device.dtype == RECORD


def test_structured_dtypes_of_equal_size_are_distinct() -> None:
    device = PyGPU.zeros(2, [("a", "i4")])
    with pytest.raises(ValueError, match="dtype"):
        device.set(np.ones(2, [("b", "i4")]))
    with pytest.raises(TypeError, match="dtype"):
        device.get(np.ones(2, "V4"))


def test_view_of_structured_items_as_bytes_and_back_has_same_values() -> None:
    host = values((3,), PADDED)
    device = PyGPU.to_gpu(host)
    assert device.view("uint8").shape == (3 * PADDED.itemsize,)
    assert_same(device.view("uint8").view(PADDED), host)


REFUSED = [
    object,
    "O",
    "U3",
    "S3",
    str,
    bytes,
    "U",
    "S",
    "M8[s]",
    "m8[s]",
    ">i4",
    ">f8",
    ">c8",
    np.dtype("i4").newbyteorder(),
    np.longdouble,
    np.clongdouble,
    "(2,)f4",
    np.dtype(("i4", (2, 2))),
    [("a", object)],
    [("a", ">i4")],
    [("a", [("b", ">f4")])],
    np.dtype("V0"),
    np.dtype([]),
    np.dtypes.StringDType() if hasattr(np.dtypes, "StringDType") else object,
]


@pytest.mark.parametrize("dtype", REFUSED, ids=repr)
def test_unsupported_dtype_raises_type_error_with_reason(dtype: Any) -> None:
    for call in (
        lambda: PyGPU.empty(2, dtype),
        lambda: PyGPU.zeros(2, dtype),
        lambda: PyGPU.GPUArray(2, dtype),
        lambda: PyGPU.zeros(8, "uint8").view(dtype),
        lambda: PyGPU.empty_like(PyGPU.zeros(2), dtype),
        lambda: PyGPU.full(2, 0, dtype),
        lambda: PyGPU.arange(2, dtype=dtype),
    ):
        with pytest.raises(TypeError) as refusal:
            call()
        assert len(str(refusal.value)) > 10


@pytest.mark.parametrize(
    "host",
    [
        np.array(["a"]),
        np.array([b"a"]),
        np.array([None]),
        np.zeros(2, ">f4"),
        np.zeros(2, "M8[s]"),
        np.zeros(2, "longdouble"),
    ],
    ids=repr,
)
def test_ndarray_of_unsupported_dtype_raises_type_error(host: np.ndarray) -> None:
    for call in (PyGPU.to_gpu, PyGPU.to_gpu_async, PyGPU.GPUArray, PyGPU.zeros_like, PyGPU.zeros(2).set):
        with pytest.raises(TypeError) as refusal:
            call(host)
        assert len(str(refusal.value)) > 10


def test_error_for_foreign_byte_order_suggests_conversion() -> None:
    with pytest.raises(TypeError, match="newbyteorder"):
        PyGPU.to_gpu(np.zeros(2, ">i4"))


@pytest.mark.parametrize("dtype", ["nonsense", "f5", 7, 1.5, (), {}, [1], b"\xff", [("a",)], "i4,>i4"], ids=repr)
def test_object_that_is_no_dtype_raises_type_or_value_error(dtype: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        PyGPU.empty(2, dtype)


def test_object_with_dtype_attribute_is_converted_and_not_kept_alive() -> None:
    import gc
    import weakref

    class Holder:
        def __init__(self, dtype: Any) -> None:
            self.dtype = np.dtype(dtype)

    holder = Holder("int16")
    assert PyGPU.empty(2, holder).dtype == np.int16
    holder.dtype = np.dtype("float64")
    assert PyGPU.empty(2, holder).dtype == np.float64
    reference = weakref.ref(holder)
    del holder
    gc.collect()
    assert reference() is None


def test_nearly_600_structured_dtypes_can_be_used_in_one_program() -> None:
    for size in range(1, 300):
        assert PyGPU.empty(1, f"V{size}").itemsize == size
        assert PyGPU.empty(1, [(f"f{size}", "i4")]).dtype.names == (f"f{size}",)


def test_error_for_bfloat16_without_ml_dtypes_contains_package_name() -> None:
    program = """
import sys
sys.modules["ml_dtypes"] = None
import PyGPU
assert PyGPU.zeros(2, "float16").tolist() == [0, 0]
try:
    PyGPU.empty(2, "bfloat16")
except ImportError as error:
    assert "pip install ml_dtypes" in str(error), error
else:
    raise SystemExit("bfloat16 without ml_dtypes")
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_error_for_list_of_unsupported_values_contains_dtype() -> None:
    with pytest.raises(TypeError, match=r"the list's elements: dtype\('<U1'\) has no place in device memory"):
        PyGPU.array(["a"])
    with pytest.raises(TypeError, match=r"the tuple's elements: dtype\('O'\) has no place in device memory"):
        PyGPU.asarray((object(),))
    with pytest.raises(TypeError, match="a dict of length 0; expected an array, a number, or a list of numbers"):
        PyGPU.array({})
