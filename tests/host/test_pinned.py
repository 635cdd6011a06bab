"""Test the functions that return ndarrays in pinned memory."""

import gc
import pickle
import weakref

import numpy as np
import pytest

import PyGPU

BACKEND = PyGPU.backend_name()


def memory_of(array: np.ndarray) -> PyGPU._core.PinnedMemory:
    """Return the block of pinned memory that an ndarray, or the base array of a view, uses."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.base


@pytest.mark.parametrize("make", [PyGPU.empty_pinned, PyGPU.zeros_pinned])
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ((), None),
        (3, np.float32),
        (np.int64(3), "i2"),
        ((3,), np.complex128),
        ([2, 3], bool),
        ((2, 3, 4), [("a", "f4"), ("b", "i1")]),
        ((0,), np.float32),
        ((3, 0, 2), None),
        (np.array([2, 2]), "i2"),
    ],
)
def test_pinned_array_is_ndarray_of_requested_shape_and_dtype(make, shape, dtype) -> None:
    array = make(shape, dtype)
    like = np.empty(shape, dtype)
    assert type(array) is np.ndarray
    assert (array.shape, array.dtype, array.strides) == (like.shape, like.dtype, like.strides)
    assert array.flags.writeable
    assert array.flags.aligned == like.flags.aligned
    assert array.flags.c_contiguous
    memory = memory_of(array)
    assert memory.nbytes == array.nbytes
    assert memory.device == PyGPU.Device()
    assert memory.ptr == (array.ctypes.data if array.nbytes else 0)
    array[...] = np.zeros((), array.dtype)
    assert array.tobytes() == bytes(array.nbytes)


def test_zeros_pinned_contains_zeros() -> None:
    for _ in range(3):
        array = PyGPU.zeros_pinned(1000, np.int32)
        assert not array.any()
        array[:] = 5


@pytest.mark.parametrize("order", ["C", "F", "c", "f", None])
def test_pinned_memory_order_matches_numpy(order: str | None) -> None:
    assert PyGPU.empty_pinned((2, 3, 4), order=order).strides == np.empty((2, 3, 4), order=order or "C").strides
    assert PyGPU.zeros_pinned((2, 3), "f4", order).strides == np.empty((2, 3), "f4", order or "C").strides


@pytest.mark.parametrize("flags", [{"portable": True}, {"mapped": True}, {"write_combined": True}, {"device": "cpu"}])
def test_pinned_arrays_with_each_allocation_flag_are_writable(flags: dict) -> None:
    for array in (
        PyGPU.empty_pinned(5, **flags),
        PyGPU.zeros_pinned(5, **flags),
        PyGPU.empty_like_pinned(np.zeros(5), **flags),
    ):
        array[:] = range(5)
        assert array.sum() == 10


@pytest.mark.parametrize(
    "like",
    [
        np.zeros((2, 3)),
        np.zeros((2, 3), order="F"),
        np.zeros((2, 3, 4)).transpose(1, 2, 0),
        np.zeros((4, 6))[::2, ::-1],
        np.zeros((0, 3), np.int8),
        np.float32(1),
    ],
    ids=["C", "F", "transposed", "strided", "empty", "scalar"],
)
def test_empty_like_pinned_returns_same_shape_dtype_and_memory_order(like) -> None:
    array = PyGPU.empty_like_pinned(like)
    assert (array.shape, array.dtype) == (like.shape, like.dtype)
    assert memory_of(array).nbytes == like.size * like.dtype.itemsize
    if isinstance(like, np.ndarray) and like.size:
        assert array.strides == np.empty_like(abs(like)).strides


def test_empty_like_pinned_accepts_device_array() -> None:
    array = PyGPU.empty_like_pinned(PyGPU.zeros((2, 3), np.int16))
    assert (array.shape, array.dtype) == ((2, 3), np.int16)


def test_pinned_memory_is_freed_after_last_view_is_dropped() -> None:
    array = PyGPU.zeros_pinned((4, 4))
    memory = weakref.ref(array.base)
    view = array[1:, ::2].T
    del array
    gc.collect()
    assert memory() is not None
    view[:] = 1
    assert view.sum() == 6
    del view
    gc.collect()
    assert memory() is None


def test_pinned_array_is_pickled_by_value() -> None:
    array = PyGPU.zeros_pinned(4)
    array[:] = range(4)
    again = pickle.loads(pickle.dumps(array))
    assert again.tolist() == [0, 1, 2, 3]


def test_arrays_are_copied_to_and_from_pinned_memory() -> None:
    source = PyGPU.zeros_pinned(100, np.float32)
    source[:] = range(100)
    array = PyGPU.to_gpu(source)
    result = PyGPU.empty_like_pinned(source)
    array.get(result)
    assert (result == source).all()


def test_get_with_pagelocked_returns_pinned_memory() -> None:
    array = PyGPU.to_gpu(np.arange(6.0).reshape(2, 3))
    result = array.get(pagelocked=True)
    assert isinstance(memory_of(result), PyGPU._core.PinnedMemory)
    assert (result == np.arange(6.0).reshape(2, 3)).all()


@pytest.mark.parametrize("make", [PyGPU.empty_pinned, PyGPU.zeros_pinned])
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"shape": -1}, ValueError),
        ({"shape": (2, -1)}, ValueError),
        ({"shape": (2**40, 2**40)}, ValueError),
        ({"shape": (2**62,)}, ValueError),
        ({"shape": 1.5}, TypeError),
        ({"shape": "3"}, TypeError),
        ({"shape": None}, TypeError),
        ({"shape": (1,) * 65}, ValueError),
        ({"shape": 3, "dtype": object}, TypeError),
        ({"shape": 3, "dtype": "no such"}, TypeError),
        ({"shape": 3, "dtype": ">i4"}, TypeError),
        ({"shape": 3, "order": "A"}, ValueError),
        ({"shape": 3, "order": 1}, TypeError),
        ({"shape": 3, "portable": 1}, TypeError),
        ({"shape": 3, "device": 63}, ValueError),
        ({"shape": 3, "device": 0.5}, TypeError),
        ({"shape": 2**58, "dtype": "u1"}, MemoryError),
    ],
)
def test_pinned_allocation_rejects_wrong_arguments(make, arguments: dict, error: type) -> None:
    with pytest.raises(error):
        make(**arguments)


@pytest.mark.parametrize("like", [None, 3, "text", [1, 2], object()])
def test_empty_like_pinned_rejects_non_arrays(like: object) -> None:
    with pytest.raises(TypeError, match="an ndarray or a GPUArray"):
        PyGPU.empty_like_pinned(like)


def test_allocation_flags_of_empty_pinned_are_keyword_only() -> None:
    with pytest.raises(TypeError):
        PyGPU.empty_pinned(3, None, "C", True)
