"""Test arrays, memory, streams and events as arguments of ctypes functions: addresses, checks of types, and errors."""

import ctypes

import numpy as np
import pytest

import PyGPU
from PyGPU import driver

MEMSET = ctypes.CDLL(None).memset
IDENTITY = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda address: address)


def address_of(parameter: object) -> int:
    return ctypes.cast(parameter, ctypes.c_void_p).value or 0


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "float32", "float64", "complex64"])
def test_array_as_ctypes_argument_is_passed_as_64_bit_address(dtype: str) -> None:
    a = PyGPU.zeros((4, 3), dtype)
    for view in (a, a[1:, ::-1], a[:0]):
        assert address_of(view._as_parameter_) == view.ptr
        assert (IDENTITY(view) or 0) == view.ptr
        assert view.data_ptr() == view.ptr


def test_typed_ctypes_pointer_accepts_array_of_same_dtype_only() -> None:
    a = PyGPU.zeros(3, "float32")
    take = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.POINTER(ctypes.c_float))(lambda p: address_of(p))
    assert take(a) == a.ptr
    with pytest.raises(ctypes.ArgumentError, match="LP_c_float"):
        take(PyGPU.zeros(3, "int32"))


def test_ctypes_receives_memory_address_stream_handle_and_event_handle() -> None:
    memory = driver.mem_alloc(64)
    assert IDENTITY(memory) == memory.ptr
    memory.free()
    with pytest.raises((ctypes.ArgumentError, PyGPU.CudaError), match="freed"):
        IDENTITY(memory)
    pinned = PyGPU.empty_pinned(4)
    assert IDENTITY(pinned.base) == pinned.ctypes.data
    pointer = PyGPU.ptr_wrapper_int64()
    pointer.create(2)
    assert IDENTITY(pointer) == int(pointer) == address_of(pointer._as_parameter_)
    stream, event = PyGPU.Stream(), PyGPU.Event()
    assert (IDENTITY(stream) or 0) == stream.handle
    assert (IDENTITY(event) or 0) == event.handle


def test_ctypes_receives_current_address_of_subclass_array() -> None:
    class Own(PyGPU.GPUArray):
        def __init__(self, shape: int) -> None:
            super().__init__((shape,), "float32")

    own = Own(4)
    assert IDENTITY(own) == own.ptr == address_of(own._as_parameter_)


@pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="the C library follows host pointers only")
def test_c_function_with_as_argtype_writes_into_array() -> None:
    a = PyGPU.ones(8, "uint8")
    MEMSET.argtypes = [PyGPU.as_argtype("uint8", ndim=1, flags="C,W"), ctypes.c_int, ctypes.c_size_t]
    try:
        MEMSET(a[2:6], 7, 4)
    finally:
        MEMSET.argtypes = None
    assert a.tolist() == [1, 1, 7, 7, 7, 7, 1, 1]


def message_of_rejected_argument(argtype: object, value: object) -> str:
    called = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(called.append)
    pointer = ctypes.cast(function, ctypes.c_void_p)
    checked = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(pointer.value)
    checked.argtypes = [argtype]
    with pytest.raises(ctypes.ArgumentError) as error:
        checked(value)
    assert not called
    return str(error.value)


def test_array_rejected_by_as_argtype_raises_argument_error_with_value() -> None:
    a = PyGPU.zeros((2, 3), "float32")
    locked = PyGPU.from_pointer(a.ptr, (2, 3), "float32", owner=a, readonly=True)
    for argtype, value, words in (
        (PyGPU.as_argtype("float64"), a, ("dtype float64", "float32", "(2, 3)", str(a.device))),
        (PyGPU.as_argtype(ndim=1), a, ("1 dimension is needed", "(2, 3)")),
        (PyGPU.as_argtype(shape=(2, None)), a.T, ("shape (2, None)", "(3, 2)")),
        (PyGPU.as_argtype(flags="C_CONTIGUOUS"), a[:, ::2], ("C-contiguous", "(12, 8)")),
        (PyGPU.as_argtype(flags=["F_CONTIGUOUS"]), a, ("F-contiguous",)),
        (PyGPU.as_argtype(flags="WRITEABLE"), locked, ("writeable", "read-only")),
        (PyGPU.as_argtype("float32"), np.zeros(3, "float32"), ("GPUArray of float32", "ndarray")),
        (PyGPU.as_argtype(), None, ("GPUArray", "NoneType")),
        (PyGPU.as_argtype(), a.ptr, ("GPUArray", "int")),
    ):
        text = message_of_rejected_argument(argtype, value)
        assert "argument 1" in text
        assert not [word for word in words if word not in text], text
    if PyGPU.backend_name() != "cpu":
        assert "device" in message_of_rejected_argument(PyGPU.as_argtype(device="cpu"), a)


def test_as_argtype_returns_same_object_for_equal_arguments() -> None:
    assert PyGPU.as_argtype("f4", 2, "C,W") is PyGPU.as_argtype(np.float32, ndim=2, flags=["C_CONTIGUOUS", "writeable"])
    assert PyGPU.as_argtype("f4") is not PyGPU.as_argtype("f8")


def test_name_of_as_argtype_contains_each_requirement() -> None:
    argtype = PyGPU.as_argtype("f4", 1, "C,W", shape=(None,), device=PyGPU.Device())
    assert argtype.__name__ == (
        f"as_argtype(float32, ndim=1, shape=(None,), flags=('c_contiguous', 'writeable'), device={PyGPU.Device()})"
    )
    assert PyGPU.as_argtype().__name__ == "as_argtype(any)"


def test_as_argtype_rejects_unknown_flag() -> None:
    with pytest.raises(ValueError, match="'ALINGED' is no flag"):
        PyGPU.as_argtype(flags="ALINGED")
