"""Test the attribute `gpudata`, which represents the memory of an array as an object, as in programs of PyCUDA."""

from __future__ import annotations

import ctypes
import gc
import weakref

import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from installed.numpy_version import since_numpy
from PyGPU.tools import DeviceMemoryPool

VALUES = np.arange(8, dtype=np.float32)


@pytest.fixture
def x() -> PyGPU.GPUArray:
    return PyGPU.to_gpu(VALUES)


@pytest.fixture(scope="module")
def twice() -> drv.Function:
    from PyGPU.compiler import SourceModule

    source = "__global__ void twice(float *x, const float *y) { x[threadIdx.x] = 2 * y[threadIdx.x]; }"
    return SourceModule(source).get_function("twice")


def test_gpudata_is_same_object_at_each_access_and_not_an_integer(x):
    memory = x.gpudata
    assert x.gpudata is memory is x.gpudata
    assert isinstance(memory, drv.DeviceAllocation)
    assert not isinstance(memory, int)
    assert int(memory) == memory.__index__() == memory.ptr == x.ptr
    assert memory == x.ptr
    assert hash(memory) == hash(x.ptr)
    assert memory != x.ptr + 1
    assert memory != "text"


def test_empty_array_has_no_gpudata():
    assert PyGPU.zeros(0).gpudata is None


def test_gpudata_of_view_starts_at_element_zero(x):
    for view in (x[2:], x[::-1], x.reshape(2, 4)[1]):
        assert int(view.gpudata) == view.ptr
        assert view.gpudata is not x.gpudata
    assert x[2:].gpudata.nbytes == 24
    assert x[:].gpudata == x.gpudata


def test_kernel_accepts_gpudata_as_memory(x, twice):
    out = PyGPU.zeros_like(x)
    twice(out.gpudata, x.gpudata, block=(8, 1, 1))
    assert (out.get() == 2 * VALUES).all()
    twice.prepare("PP").prepared_call((1, 1), (4, 1, 1), out[4:].gpudata, x[::2].gpudata)
    assert out.get().tolist() == [0, 2, 4, 6, 0, 2, 4, 6]
    kernel = PyGPU.Kernel("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }")
    kernel[1, 8](x.gpudata)
    assert (x.get() == 2 * VALUES).all()


def test_copy_functions_accept_gpudata_as_address(x):
    out = np.zeros_like(VALUES)
    drv.memcpy_dtoh(out, x.gpudata)
    assert (out == VALUES).all()
    drv.memcpy_htod(x.gpudata, 3 * VALUES)
    other = drv.mem_alloc(x.nbytes)
    drv.memcpy_dtod(other, x.gpudata, x.nbytes)
    assert (drv.from_device_like(other, VALUES) == 3 * VALUES).all()
    drv.memset_d32(x[4:].gpudata, 0, 4)
    assert x.get().tolist() == [0, 3, 6, 9, 0, 0, 0, 0]


def test_struct_accepts_address_of_gpudata(x, twice):
    address = np.array([int(x.gpudata)], np.uintp).tobytes()
    assert int.from_bytes(address, "little") == x.ptr


def test_array_over_gpudata_shares_memory_and_gpudata_object(x):
    over = PyGPU.GPUArray((4,), np.float32, gpudata=x.gpudata)
    over.fill(7)
    assert x.get().tolist() == [7, 7, 7, 7, 4, 5, 6, 7]
    assert over.gpudata is x.gpudata
    with pytest.raises(ValueError, match="memory there has 8"):
        PyGPU.GPUArray((4,), np.float32, gpudata=x[6:].gpudata)


def test_gpudata_attribute_is_object_passed_to_constructor():
    memory = drv.mem_alloc(32)
    pooled = DeviceMemoryPool().allocate(32)
    for owner in (memory, pooled):
        assert PyGPU.GPUArray((8,), np.float32, gpudata=owner).gpudata is owner


def test_gpudata_of_array_is_memory_object_that_allocator_returned():
    pool, made = DeviceMemoryPool(), []

    def allocate(nbytes: int) -> object:
        made.append(pool.allocate(nbytes))
        return made[-1]

    x = PyGPU.to_gpu(VALUES, allocator=allocate)
    assert x.gpudata is made[0]
    assert int(x[1:].gpudata) == x.ptr + 4
    assert PyGPU.zeros(8, np.float32, allocator=drv.mem_alloc).gpudata.nbytes == 32


def test_gpudata_keeps_memory_allocated_after_array_is_dropped(x):
    memory = x.gpudata
    del x
    assert (drv.from_device_like(memory, VALUES) == VALUES).all()


def test_freed_gpudata_rejects_use_but_array_over_it_stays_valid(x):
    memory = x.gpudata
    memory.free()
    assert x.gpudata is memory
    for use in (memory.free, memory.__int__, lambda: drv.memcpy_dtoh(np.zeros(8, "f4"), memory)):
        with pytest.raises(drv.LogicError, match="freed already"):
            use()
    assert memory != x.ptr
    assert memory == memory
    assert (x.get() == VALUES).all()


def test_free_of_gpudata_frees_memory_passed_to_constructor():
    memory = drv.mem_alloc(32)
    x = PyGPU.GPUArray((8,), np.float32, gpudata=memory)
    x.gpudata.free()
    with pytest.raises(drv.LogicError, match="freed already"):
        int(memory)


@since_numpy("2.1", "exports of read-only arrays")
def test_gpudata_of_readonly_array_rejects_writes(twice):
    x = PyGPU.from_dlpack(_read_only())
    out = PyGPU.zeros(8, np.float32)
    twice(out.gpudata, x.gpudata, block=(8, 1, 1))
    assert (out.get() == 2 * VALUES).all()
    with pytest.raises(ValueError, match="read-only"):
        twice(x.gpudata, out.gpudata, block=(8, 1, 1))
    with pytest.raises(ValueError, match="read-only"):
        PyGPU.GPUArray((8,), np.float32, gpudata=x.gpudata).fill(1)


def _read_only() -> object:
    """Return an array that PyGPU imported from read-only memory."""
    x = PyGPU.to_gpu(VALUES)
    flagged = {**x.__cuda_array_interface__} if hasattr(x, "__cuda_array_interface__") else None
    if flagged is None:
        host = VALUES.copy()
        host.flags.writeable = False
        return host
    flagged["data"] = (x.ptr, True)

    class Lender:
        __cuda_array_interface__ = flagged
        owner = x

    return PyGPU.asarray(Lender())


def test_use_of_gpudata_as_object_does_not_let_address_escape(x):
    """Test the use of `gpudata` only as an object.

    Such a use does not look up the block by its address, and the address does not escape.
    """
    address = x.ptr
    y = PyGPU.to_gpu(VALUES)
    memory = y.gpudata
    assert repr(memory).startswith("<DeviceAllocation of 32 bytes at 0x")
    assert int(memory) == y.ptr != address
    assert PyGPU.GPUArray((8,), np.float32, gpudata=int(memory)).get().tolist() == VALUES.tolist()


def test_ctypes_accepts_array_and_gpudata(x):
    for one in (x, x.gpudata, drv.mem_alloc(8)):
        parameter = one._as_parameter_
        # PyGPU must not pass a plain integer, because ctypes would truncate it.
        assert not isinstance(parameter, int)
        assert ctypes.cast(parameter, ctypes.c_void_p).value == one.ptr
        assert ctypes.cast(ctypes.c_void_p.from_param(one), ctypes.c_void_p).value == one.ptr


def test_ctypes_passes_array_to_c_function():
    x = PyGPU.arange(4.0)
    take = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p)(lambda address: address)
    assert take(x) == x.ptr


class Lender:
    """Own the object `inner`, in whose memory a test creates another array."""

    def __init__(self) -> None:
        self.inner = PyGPU.arange(4.0)
        self.ptr = self.inner.ptr


def test_cycle_of_array_and_owner_is_collected_after_gpudata_was_read():
    lender = Lender()
    lender.array = PyGPU.GPUArray((4,), "f8", gpudata=lender)
    assert int(lender.array.gpudata) == lender.ptr
    gone = weakref.ref(lender)
    del lender
    gc.collect()
    assert gone() is None


def test_reference_to_gpudata_keeps_owner_of_memory_alive():
    lender = Lender()
    lender.array = PyGPU.GPUArray((4,), "f8", gpudata=lender)
    memory = lender.array.gpudata
    gone = weakref.ref(lender)
    del lender
    gc.collect()
    assert gone() is not None
    assert drv.from_device(memory, 4, "f8").tolist() == [0, 1, 2, 3]


def test_long_chains_of_gpudata_objects_are_dropped_without_overflow():
    x = PyGPU.zeros(3)
    for _ in range(30_000):
        x = PyGPU.GPUArray((3,), "f8", gpudata=x[:].gpudata, base=x)
    del x
    gc.collect()
