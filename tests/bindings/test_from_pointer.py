"""Test `from_pointer`, which makes arrays from memory that C code allocated: values, errors, and exactly one deleter
call."""

import ctypes
import gc
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import PyGPU

DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class RecordingDeleter:
    """Provide a C deleter, and record the addresses with which it was called."""

    def __init__(self) -> None:
        self.addresses: list[int] = []
        self.function = DELETER(self.record)

    def record(self, address: int) -> None:
        self.addresses.append(address)


@pytest.fixture
def memory() -> PyGPU.GPUArray:
    return PyGPU.arange(24.0)


def test_array_of_from_pointer_shares_memory_with_any_strides(memory: PyGPU.GPUArray) -> None:
    a = PyGPU.from_pointer(memory.ptr, (2, 3), "float64", owner=memory)
    assert (a.ptr, a.shape, a.base is memory) == (memory.ptr, (2, 3), True)
    a += 1
    assert memory[:6].tolist() == [1, 2, 3, 4, 5, 6]
    reverse = PyGPU.from_pointer(memory[23].ptr, (3, 2), strides=(-64, -8), owner=memory)
    np.testing.assert_array_equal(reverse.get(), memory.get()[::-1].reshape(3, 8)[:, :2])
    assert PyGPU.from_pointer(memory.ptr, (), "int64").ndim == 0
    assert PyGPU.from_pointer(0, (0, 3)).size == 0


def test_owner_of_from_pointer_stays_alive_until_last_view_is_dropped() -> None:
    class Owner:
        def __init__(self) -> None:
            self.memory = PyGPU.arange(4.0)
            self.ends = ends

        def __del__(self) -> None:
            self.ends.append(1)

    ends: list[int] = []
    owner: Any = Owner()
    a = PyGPU.from_pointer(owner.memory.ptr, 4, "float64", owner=owner)
    del owner
    view = a[1:]
    del a
    gc.collect()
    assert not ends
    assert view.tolist() == [1, 2, 3]
    del view
    gc.collect()
    assert ends == [1]


def test_c_deleter_is_called_once_with_address_of_array(memory: PyGPU.GPUArray) -> None:
    ended = RecordingDeleter()
    a = PyGPU.from_pointer(memory.ptr, 4, "float64", owner=ended.function)
    view, shared = a[::2], PyGPU.from_dlpack(a)
    del a
    gc.collect()
    assert not ended.addresses
    del view, shared
    gc.collect()
    assert ended.addresses == [memory.ptr]


def test_reference_to_python_object_as_deleter_is_released_once(memory: PyGPU.GPUArray) -> None:
    ended = RecordingDeleter()
    held = sys.getrefcount(ended.function)
    a = PyGPU.from_pointer(memory.ptr, 4, owner=ended.function)
    while_used = sys.getrefcount(ended.function)
    del a
    gc.collect()
    afterwards = sys.getrefcount(ended.function)
    assert (while_used, afterwards) == (held + 1, held)

    # The array has the only reference to the deleter, so PyGPU must not drop that reference before it calls the
    # deleter.
    a = PyGPU.from_pointer(memory.ptr, 4, owner=ended.function)
    function = weakref.ref(ended.function)
    del ended.function
    gc.collect()
    assert function() is not None
    del a
    gc.collect()
    assert function() is None
    assert ended.addresses == [memory.ptr] * 2


def test_arrays_dropped_by_several_threads_call_deleter_once_each(memory: PyGPU.GPUArray) -> None:
    ended = RecordingDeleter()
    held = [PyGPU.from_pointer(memory.ptr, 4, owner=ended.function) for _ in range(50)]

    def let_go() -> None:
        while True:
            try:
                held.pop()
            except IndexError:
                return

    threads = [threading.Thread(target=let_go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert ended.addresses == [memory.ptr] * 50


def test_capsule_as_owner_is_released_when_array_is_dropped(memory: PyGPU.GPUArray) -> None:
    ends = []
    destructor = DELETER(ends.append)
    api = ctypes.pythonapi
    api.PyCapsule_New.restype = ctypes.py_object
    api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = api.PyCapsule_New(memory.ptr, None, ctypes.cast(destructor, ctypes.c_void_p))
    a = PyGPU.from_pointer(memory.ptr, 4, owner=capsule)
    del capsule
    gc.collect()
    assert not ends
    del a
    gc.collect()
    assert len(ends) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"address": 0}, "address 0"),
        ({"shape": (-1,)}, "negative"),
        ({"shape": 10**9}, "bytes are needed"),
        ({"strides": (8, 8)}, "strides"),
        ({"dtype": "O"}, "no place in device memory"),
        ({"device": "cpu"}, "not on device=cpu"),
        ({"stream": "now"}, "stream"),
        ({"address": 1.5}, "no address"),
    ],
)
def test_from_pointer_call_that_raises_does_not_call_deleter(
    memory: PyGPU.GPUArray, change: dict[str, Any], words: str
) -> None:
    if change == {"device": "cpu"} and PyGPU.backend_name() == "cpu":
        pytest.skip("all memory is on the device 'cpu'")
    ended = RecordingDeleter()
    arguments: dict[str, Any] = {"address": memory.ptr, "shape": 4, "owner": ended.function, **change}
    with pytest.raises((ValueError, TypeError), match=words):
        PyGPU.from_pointer(arguments.pop("address"), arguments.pop("shape"), **arguments)
    gc.collect()
    assert not ended.addresses


def test_from_pointer_rejects_address_of_freed_memory() -> None:
    from PyGPU import driver

    block = driver.mem_alloc(64)
    address = block.ptr
    block.free()
    with pytest.raises(PyGPU.CudaError, match="freed"):
        PyGPU.from_pointer(address, 4)


def test_null_function_as_deleter_raises_value_error(memory: PyGPU.GPUArray) -> None:
    with pytest.raises(ValueError, match="null function pointer"):
        PyGPU.from_pointer(memory.ptr, 4, owner=DELETER())


@pytest.mark.parametrize("kind", ["function", "method", "builtin"])
def test_from_pointer_rejects_python_function_as_owner(memory: PyGPU.GPUArray, kind: str) -> None:
    # A Python function would be kept alive and never called, so the memory would leak.
    ended = RecordingDeleter()
    owner = {"function": lambda _: None, "method": ended.record, "builtin": ended.addresses.append}[kind]
    with pytest.raises(TypeError, match=r"never called: give ctypes\.CFUNCTYPE\(None, ctypes\.c_void_p\)"):
        PyGPU.from_pointer(memory.ptr, 4, owner=owner)


def test_from_pointer_keeps_callable_object_as_owner(memory: PyGPU.GPUArray) -> None:
    class Library:
        def __call__(self) -> None: ...

    owner = Library()
    assert PyGPU.from_pointer(memory.ptr, 4, owner=owner).base is owner


def test_write_to_readonly_array_of_from_pointer_raises(memory: PyGPU.GPUArray) -> None:
    a = PyGPU.from_pointer(memory.ptr, 4, owner=memory, readonly=True)
    with pytest.raises(ValueError, match="read-only"):
        a.fill(1.0)
    assert a.tolist() == [0, 1, 2, 3]


def test_work_on_array_of_from_pointer_waits_for_stream_argument(memory: PyGPU.GPUArray) -> None:
    stream = PyGPU.Stream(non_blocking=True)
    ended = RecordingDeleter()
    with stream:
        made = PyGPU.full(1000, 3.0)
    a = PyGPU.from_pointer(made.ptr, 1000, "float64", owner=ended.function, stream=stream, device=made.device)
    assert (a + 1).get()[999] == 4.0
    del a
    gc.collect()
    assert ended.addresses == [made.ptr]
