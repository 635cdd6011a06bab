"""Test array creation: every form of `GPUArray(...)`, `empty` and similar functions, `arange`, `to_gpu`.

Results and errors match NumPy.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import PyGPU
from installed.numpy_version import is_numpy
from support import (
    ALL_DTYPES,
    NUMPYS_OWN,
    RECORD,
    VOID,
    assert_same,
    assert_same_refusal,
    dtypes,
    examples,
    host_views,
    orders,
    outcome,
    pair,
    shapes,
    stable_repr,
    values,
)

ZEROS_ONES = ["zeros", "ones"]


@examples(100)
@given(shapes, dtypes, orders)
def test_new_array_layout_matches_numpy(shape: tuple[int, ...], dtype: Any, order: str) -> None:
    host = np.empty(shape, dtype, order)
    for device in (PyGPU.GPUArray(shape, dtype, order=order), PyGPU.empty(shape, dtype, order)):
        assert (device.shape, device.dtype, device.size, device.nbytes) == (shape, dtype, host.size, host.nbytes)
        assert device.flags.c_contiguous == host.flags.c_contiguous
        assert device.flags.f_contiguous == host.flags.f_contiguous
        assert device.flags.owndata
        assert device.flags.writeable
        assert device.base is None
        if host.size:
            assert device.strides == host.strides
            assert device.ptr
            assert device.gpudata == device.ptr
        else:
            assert device.ptr == 0
            assert device.gpudata is None


@pytest.mark.parametrize("name", ZEROS_ONES)
@examples(100)
@given(shapes, dtypes.filter(lambda dtype: dtype != VOID), orders)
def test_zeros_and_ones_match_numpy(name: str, shape: tuple[int, ...], dtype: Any, order: str) -> None:
    numpys = outcome(lambda: getattr(np, name)(shape, dtype, order))
    ours = outcome(lambda: getattr(PyGPU, name)(shape, dtype, order))
    if numpys[0] == "error":
        assert_same_refusal(ours, numpys)
        return
    assert_same(ours[1], numpys[1])
    assert ours[1].flags.f_contiguous == numpys[1].flags.f_contiguous


@examples(100)
@given(shapes, dtypes, st.sampled_from([None, "C", "F"]))
def test_full_matches_numpy(shape: tuple[int, ...], dtype: Any, order: Any) -> None:
    item = values((1,), dtype, start=42)[0]
    for arguments in ((shape, item), (shape, item, dtype)):
        assert_same(PyGPU.full(*arguments, order=order), np.full(*arguments, order=order or "C"))


def test_full_broadcasts_an_array_value() -> None:
    row, device_row = pair((3,), "int32")
    assert_same(PyGPU.full((2, 3), row), np.full((2, 3), row))
    assert_same(PyGPU.full((2, 3), device_row), np.full((2, 3), row))
    assert_same(PyGPU.full((2, 3), [1.5, 2, 3], "float32"), np.full((2, 3), [1.5, 2, 3], "float32"))
    with pytest.raises(ValueError, match="broadcast"):
        PyGPU.full((2, 4), row)


@examples(150)
@given(host_views(), st.sampled_from(["C", "F", "A", "K", None]), st.none() | dtypes, st.none() | shapes)
def test_zeros_like_and_empty_like_preserve_memory_order(host: np.ndarray, order: Any, dtype: Any, shape: Any) -> None:
    device = PyGPU.to_gpu(host)
    # Give the NumPy array the strides of the device array. The stride of an axis of length 1 affects no address, but
    # NumPy derives the axis order of some results from this stride.
    host = np.ndarray(device.shape, device.dtype, bytearray(device.nbytes), 0, device.strides)
    expected = np.zeros_like(host, dtype, order or "K", shape=shape)
    for source in (device, host):
        ours = PyGPU.zeros_like(source, dtype, order, shape=shape)
        assert_same(ours, expected)
        if expected.size:
            long = [axis for axis, length in enumerate(expected.shape) if length > 1]
            assert [ours.strides[axis] for axis in long] == [expected.strides[axis] for axis in long]
    assert PyGPU.empty_like(device, dtype, order, shape=shape).shape == expected.shape


@pytest.mark.parametrize("shape", [(4, 3, 2), (2, 3), (1, 2, 3, 4), (0, 3, 4), 5, ()], ids=repr)
@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)], ids=repr)
def test_empty_like_with_shape_has_same_strides_as_numpy(shape: Any, axes: Any) -> None:
    host = values((2, 3, 4)).transpose(axes)
    device = PyGPU.to_gpu(host)
    ours, numpys = PyGPU.empty_like(device, "int16", shape=shape), np.empty_like(host, "int16", shape=shape)
    assert ours.shape == numpys.shape
    assert numpys.size == 0 or ours.strides == numpys.strides


def test_ones_like_and_full_like_match_numpy() -> None:
    host, device = pair((2, 3), "int16", "F")
    for source in (host, device, device[::-1, 1:], host.tolist(), 5):
        expected = np.asarray(source.get() if source is not host and hasattr(source, "get") else source)
        assert_same(PyGPU.ones_like(source), np.ones_like(expected))
        assert_same(PyGPU.full_like(source, 7), np.full_like(expected, 7))
        assert_same(PyGPU.full_like(source, 2.5, "float64"), np.full_like(expected, 2.5, "float64"))
    assert_same(PyGPU.full_like(device, [1, 2, 3]), np.full_like(host, [1, 2, 3]))
    # Before version 2.1, NumPy truncates a value out of range instead of raising an error.
    if is_numpy("2.1"):
        assert_same_refusal(outcome(lambda: PyGPU.full_like(device, 2**40)), outcome(lambda: np.full_like(host, 2**40)))


ARANGES = [
    (5,),
    (0,),
    (-3,),
    (2, 8),
    (2, 8, 3),
    (8, 2, -1),
    (5.0,),
    (0.0, 1.0, 0.1),
    (np.int8(5),),
    (np.float32(0), np.float32(2), np.float32(0.5)),
    (1j,),
    (),
    (1, 2, 0),
    ("a",),
    (1, 2, 3, 4, 5),
    (None,),
    (10**30,),
]


@pytest.mark.parametrize("arguments", ARANGES, ids=repr)
@pytest.mark.parametrize("keywords", [{}, {"dtype": "float32"}, {"dtype": np.int16}, {"dtype": None}], ids=repr)
def test_arange_matches_numpy(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    numpys, ours = (
        outcome(lambda: np.arange(*arguments, **keywords)),
        outcome(lambda: PyGPU.arange(*arguments, **keywords)),
    )
    if numpys[0] == "value" and numpys[1].dtype == object:
        with pytest.raises(TypeError):
            PyGPU.arange(*arguments, **keywords)
    elif numpys[0] == "error":
        assert_same_refusal(ours, numpys)
    else:
        assert_same(ours[1], numpys[1])


def test_arange_accepts_trailing_dtype_like_pycuda() -> None:
    for dtype in (np.float32, np.dtype("int8")):
        assert_same(PyGPU.arange(5, dtype), np.arange(5, dtype=dtype))
        assert_same(PyGPU.arange(1, 7, 2, dtype), np.arange(1, 7, 2, dtype=dtype))
    assert_same(PyGPU.arange(start=1, stop=4), np.arange(start=1, stop=4))


@examples(100)
@given(host_views())
def test_to_gpu_preserves_values_and_memory_order(host: np.ndarray) -> None:
    for device in (PyGPU.to_gpu(host), PyGPU.to_gpu_async(host)):
        assert_same(device, host)
        expected = host.copy(order="K")
        if host.size:
            long = [axis for axis, length in enumerate(host.shape) if length > 1]
            assert [device.strides[axis] for axis in long] == [expected.strides[axis] for axis in long]


def test_to_gpu_result_shares_no_memory_with_ndarray() -> None:
    host = values((2, 3))
    device = PyGPU.to_gpu(host)
    again = PyGPU.to_gpu(device)
    host[...] = 0
    assert_same(device, values((2, 3)))
    device[...] = 5
    assert_same(again, values((2, 3)))


@pytest.mark.parametrize(
    "source", [5, 1.5, 1j, True, [1, 2], [[1.0], [2.0]], (), [], range(3), b"", np.float32(3)], ids=repr
)
def test_to_gpu_converts_scalars_and_sequences_like_numpy(source: Any) -> None:
    if isinstance(source, bytes):
        with pytest.raises(TypeError):
            PyGPU.to_gpu(source)
    else:
        assert_same(PyGPU.to_gpu(source), np.asarray(source))


def test_to_gpu_accepts_masked_readonly_and_unaligned_ndarrays() -> None:
    host = values((5,))
    host.flags.writeable = False
    assert_same(PyGPU.to_gpu(host), host)
    assert PyGPU.to_gpu(host).flags.writeable
    raw = np.zeros(33, np.uint8)
    unaligned = raw[1:].view("float64")
    unaligned[...] = [1, 2, 3, 4]
    assert_same(PyGPU.to_gpu(unaligned), unaligned)
    assert_same(PyGPU.to_gpu(np.broadcast_to(host, (3, 5))), np.broadcast_to(host, (3, 5)))


# Tests of the constructor `GPUArray(...)`.


def test_array_constructor_accepts_every_spelling_of_shape() -> None:
    for shape in (6, np.int64(6), (6,), [6], np.array([6]), range(6, 7)):
        assert PyGPU.GPUArray(shape, "float32").shape == (6,)
    for shape in ((2, 3), [2, 3], np.array([2, 3]), (np.int8(2), 3)):
        assert PyGPU.GPUArray(shape, "float32").shape == (2, 3)
    assert PyGPU.GPUArray(()).shape == ()
    assert PyGPU.GPUArray((2, 3)).dtype == np.float64
    assert PyGPU.GPUArray(shape=(2,), dtype=np.int8).dtype == np.int8
    assert PyGPU.GPUArray(np.array(4), np.int8).shape == (4,)


def test_array_constructor_accepts_memory_order_as_third_argument() -> None:
    assert PyGPU.GPUArray((2, 3), np.float32, "F").strides == (4, 8)
    assert PyGPU.GPUArray((2, 3), np.float32, order="F").strides == (4, 8)
    assert PyGPU.GPUArray((2, 3), np.float32, None, None, None, None, "F").strides == (4, 8)


def test_user_allocator_gets_byte_count_and_provides_memory() -> None:
    calls: list[int] = []
    backing = PyGPU.empty(100, np.uint8)

    class Memory:
        def __int__(self) -> int:
            return backing.ptr

    def allocate(nbytes: int) -> Memory:
        calls.append(nbytes)
        return Memory()

    device = PyGPU.GPUArray((2, 3), np.float32, allocate)
    assert calls == [24]
    assert device.ptr == backing.ptr
    assert device.flags.owndata
    device.fill(1)
    assert backing[:24].view(np.float32).tolist() == [1.0] * 6
    assert_same(PyGPU.to_gpu(values((2, 3)), allocate), values((2, 3)))
    assert calls == [24, 48]
    assert PyGPU.GPUArray((0,), np.float32, allocate).size == 0


def test_error_of_user_allocator_is_raised() -> None:
    def broken(nbytes: int) -> int:
        raise ZeroDivisionError(nbytes)

    with pytest.raises(ZeroDivisionError):
        PyGPU.GPUArray(3, np.float32, broken)
    for result in (None, "text", 1.5j, []):
        with pytest.raises((TypeError, ValueError)):
            PyGPU.GPUArray(3, np.float32, lambda nbytes, result=result: result)


def test_array_constructor_accepts_existing_memory_with_any_strides() -> None:
    host, owner = pair((4, 6), "int32")
    device = PyGPU.GPUArray((3, 2), np.int32, base=owner, gpudata=owner.ptr + 4, strides=(24, 8))
    assert_same(device, host[:3, 1:5:2])
    assert device.base is owner
    assert not device.flags.owndata
    reverse = PyGPU.GPUArray((4, 6), "int32", gpudata=owner.ptr + 23 * 4, strides=(-24, -4))
    assert_same(reverse, host[::-1, ::-1])
    assert reverse.base is None
    fortran = PyGPU.GPUArray((6, 4), "int32", gpudata=owner.ptr, order="F")
    assert_same(fortran, host.T)
    device[...] = reverse[:3, :2] = -1
    assert owner.get()[0, 1] == -1


def test_gpudata_argument_accepts_object_with_address() -> None:
    host, owner = pair((3,))
    for gpudata in (owner.ptr, np.int64(owner.ptr), SimpleNamespace(ptr=owner.ptr), owner):
        assert_same(PyGPU.GPUArray((3,), gpudata=gpudata), host)


def test_constructor_accepts_array_description_in_place_of_allocator() -> None:
    host, owner = pair((2, 3), "float32")
    described = SimpleNamespace(shape=[2, 3], dtype=np.float32, device_ptr=owner.ptr)
    assert_same(PyGPU.GPUArray(allocator=described), host)
    described.strides = (4, 8)
    assert PyGPU.GPUArray(allocator=described).strides == (4, 8)
    with pytest.raises(RuntimeError, match="dtype"):
        PyGPU.GPUArray(allocator=described, dtype="float32")
    with pytest.raises(TypeError, match="device_ptr"):
        PyGPU.GPUArray(allocator=SimpleNamespace())


WRONG_SHAPES = [-1, (2, -1), 1.5, (1.5,), "3", ("3",), None, (None,), 2**63, (2**32, 2**32), (2**62, 4), (0, 2**63)]
WRONG_SHAPES += [
    (1,) * 65,
    {2, 3},
    {2: 3},
    object(),
    ((2, 3),),
    np.array([1.5]),
    np.array([[2, 3]]),
    2**100,
    1j,
    (2, "a"),
]


@pytest.mark.parametrize("shape", WRONG_SHAPES, ids=lambda shape: stable_repr(shape)[:30])
@pytest.mark.parametrize("name", ["empty", *ZEROS_ONES])
def test_array_creation_rejects_invalid_shape_like_numpy(name: str, shape: Any) -> None:
    if shape is None and not is_numpy("2.3"):
        pytest.skip("deprecated before NumPy 2.3")
    numpys = outcome(lambda: getattr(np, name)(shape))
    if numpys[0] == "value":
        assert_same_refusal(outcome(lambda: getattr(PyGPU, name)(shape)), ("error", TypeError()))
        return
    assert_same_refusal(outcome(lambda: getattr(PyGPU, name)(shape)), numpys)
    if name == "empty" and not isinstance(shape, np.ndarray):
        assert_same_refusal(outcome(lambda: PyGPU.GPUArray(shape)), numpys)


@pytest.mark.parametrize("order", ["X", "", "CF", 1, object()], ids=lambda order: repr(order)[:12])
def test_array_creation_rejects_unknown_memory_order_like_numpy(order: Any) -> None:
    numpys = outcome(lambda: np.empty(3, "f4", order))
    ours = (lambda: PyGPU.empty(3, "f4", order), lambda: PyGPU.GPUArray(3, "f4", order=order))
    for call in (*ours, lambda: PyGPU.empty_like([1], order=order), lambda: PyGPU.zeros(3).copy(order)):
        assert_same_refusal(outcome(call), numpys)
    for call in (lambda: PyGPU.empty(3, "f4", "K"), lambda: PyGPU.empty(3, "f4", "A")):
        assert_same_refusal(outcome(call), outcome(lambda: np.empty(3, "f4", "K")))


@pytest.mark.parametrize(
    ("arguments", "keywords"),
    [
        ((), {}),
        ((), {"dtype": "f4"}),
        ((), {"gpudata": 16}),
        ((3,), {"strides": (16,)}),
        ((3,), {"gpudata": -1}),
        ((3,), {"gpudata": "text"}),
        ((3,), {"gpudata": "64"}),
        ((3,), {"gpudata": 64.0}),
        ((3,), {"gpudata": np.float32(64)}),
        ((3,), {"gpudata": 2**64}),
        ((3,), {"gpudata": 64, "strides": (8, 8)}),
        ((3,), {"gpudata": 64, "strides": "a"}),
        ((3,), {"gpudata": 64, "strides": (2**62,)}),
        ((3, "f4", 5), {}),
        ((3,), {"unknown": 1}),
        ((3, "f4", None, None, None, None, "C", None), {}),
    ],
    ids=repr,
)
def test_array_constructor_rejects_wrong_arguments(arguments: Any, keywords: Any) -> None:
    with pytest.raises((TypeError, ValueError)) as refusal:
        PyGPU.GPUArray(*arguments, **keywords)
    assert str(refusal.value)


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_zeros_and_to_gpu_accept_empty_shapes_for_every_dtype(dtype: Any) -> None:
    for shape in ((), (0,), (3, 0), (1,), (2, 3)):
        host = np.zeros(shape, dtype)
        assert_same(PyGPU.zeros(shape, dtype), host)
        assert_same(PyGPU.to_gpu(host), host)


def test_too_large_allocation_raises_memory_error() -> None:
    with pytest.raises(MemoryError):
        PyGPU.empty(2**60, "uint8")


def test_ones_of_structured_dtype_match_numpy() -> None:
    assert_same(PyGPU.ones(2, RECORD), np.ones(2, RECORD))
    assert set(NUMPYS_OWN) <= {dtype.name for dtype in ALL_DTYPES}
