"""Test that memory of Python objects, array values in place of addresses, and impossible sizes are rejected."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy
from PyGPU import _core, driver, tools
from support import on_cpu

gpu_only = pytest.mark.skipif(on_cpu(), reason="the interface is a device's")

OBJECTS = [
    np.array([{}, []], dtype=object),
    np.zeros(2, dtype=[("a", "i8"), ("b", object)]),
    np.array(["1970", "2026"], "M8[Y]").astype(object),
]


@pytest.mark.parametrize("ary", OBJECTS, ids=["objects", "a field", "dates"])
def test_every_function_rejects_memory_of_python_objects(ary: np.ndarray) -> None:
    """Test that ndarrays of Python objects are rejected as memory.

    Earlier defect: `cudaMemcpy` wrote into an ndarray of objects.
    """
    a = PyGPU.zeros(ary.nbytes, "u1")
    before, counts = ary.copy(), [sys.getrefcount(item) for item in ary.ravel()]
    for use in (
        lambda: PyGPU.cudaMemcpy(ary, a.ptr, ary.nbytes),
        lambda: PyGPU.cudaMemcpy(a.ptr, ary, ary.nbytes),
        lambda: PyGPU.cudaMemcpyAsync(ary, a.ptr, ary.nbytes, stream=PyGPU.cudaStream_t()),
        lambda: PyGPU.cudaMemset(ary, 0, ary.nbytes),
        lambda: PyGPU.cudaHostRegister(ary, ary.nbytes),
        lambda: driver.memcpy_htod(a, ary),
        lambda: driver.memcpy_dtoh(ary, a),
        lambda: driver.memcpy_htod_async(a, ary),
        lambda: driver.memcpy_dtoh_async(ary, a),
        lambda: driver.to_device(ary),
        lambda: driver.register_host_memory(ary),
        lambda: a.get(ary),
        lambda: a.get_async(ary=ary),
        lambda: a.set(ary),
        lambda: a.set_async(ary),
        lambda: PyGPU.to_gpu(ary),
        lambda: PyGPU.asarray(ary),
        lambda: PyGPU.GPUArray(ary),
        lambda: PyGPU.GPUArray((1,), ary.dtype),
        lambda: PyGPU.empty_pinned(2, ary.dtype),
    ):
        with pytest.raises((TypeError, ValueError)):
            use()
    np.testing.assert_array_equal(ary, before)
    assert [sys.getrefcount(item) for item in ary.ravel()] == counts
    assert a.get().sum() == 0


NO_ADDRESSES = {
    "a masked value": np.ma.array([1.0]),
    "a masked integer": np.ma.array(4096),
    "an array of one float": np.array([1.0]),
    "an array of one integer": np.array([4096]),
    "an ndarray": np.arange(4),
    "a float": 4096.0,
    "a float of NumPy": np.float64(4096),
    "a bool": True,
    # Before version 2.3, NumPy accepts its bool as an integer.
    **({"a bool of NumPy": np.True_} if is_numpy("2.3") else {}),
    "a text": "4096",
    "a complex": 4096j,
    "nothing": None,
    "an int of ctypes": ctypes.c_int64(4096),
    "a list": [4096],
}


@pytest.mark.parametrize("value", NO_ADDRESSES.values(), ids=NO_ADDRESSES)
def test_driver_functions_reject_array_value_as_address(value: Any) -> None:
    """Test that an array's value is not accepted as an address.

    Earlier defect: `memcpy_dtod(m, np.ma.array([1.0]), 8)` used the value of the array as an address.
    """
    a = PyGPU.zeros(2)
    for use in (
        lambda: driver.memcpy_dtod(a, value, 8),
        lambda: driver.memcpy_dtod(value, a, 8),
        lambda: driver.memcpy_dtoh(bytearray(8), value),
        lambda: driver.memcpy_htod(value, b"12345678"),
        lambda: driver.memset_d8(value, 0, 8),
        lambda: _core.array_at(value, 1, "f8"),
        lambda: _core.address_range(value),
    ):
        with pytest.raises(TypeError):
            use()
    if value is not None:
        with pytest.raises(TypeError):
            PyGPU.GPUArray((1,), "f8", gpudata=value)


@gpu_only
def test_object_with_cuda_array_interface_is_accepted_as_address() -> None:
    """Test that an object with an interface dictionary is accepted as an address, and that its size and read-only flag
    are checked."""

    class Foreign:
        def __init__(self, array: PyGPU.GPUArray, readonly: bool) -> None:
            self.array, self.readonly = array, readonly

        @property
        def __cuda_array_interface__(self) -> dict[str, Any]:
            said = self.array.__cuda_array_interface__
            return said | {"data": (said["data"][0], self.readonly)}

    a = PyGPU.arange(4.0)
    shown = PyGPU.GPUArray((2, 2), "f8", gpudata=Foreign(a, False))
    assert shown.tolist() == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="has 32"):
        PyGPU.GPUArray((5,), "f8", gpudata=Foreign(a, False))
    with pytest.raises(ValueError, match="read-only"):
        driver.memset_d8(Foreign(a, True), 0, 8)


# Tests of impossible sizes.


@pytest.mark.parametrize("pool", [tools.DeviceMemoryPool, tools.PageLockedMemoryPool])
def test_pools_reject_impossible_bins_and_sizes_before_computing(pool: Any) -> None:
    """Test that a pool rejects impossible bins and sizes before it computes with them.

    Earlier defect: `alloc_size(2**40)` computed a number of 2**36 bits.
    """
    for bin in (1024, 2**31, 2**40, 2**200, -1):
        with pytest.raises(ValueError, match="no bin"):
            pool.alloc_size(bin)
    for size in (2**64, 2**1000, -1):
        with pytest.raises(ValueError, match="no number of bytes"):
            pool.bin_number(size)
        with pytest.raises(ValueError, match=r"no number of bytes|dimension"):
            pool().allocate(size) if pool is tools.DeviceMemoryPool else pool().allocate((size,), "u1")
    assert pool.alloc_size(1023) == 2**64 - 1
    assert pool.bin_number(2**64 - 1) == 1023


def test_every_bin_size_of_pool_matches_pycuda() -> None:
    """Test that the sizes of pool bins are those of PyCUDA's algorithm, computed in 64 bits."""
    for bin in range(1024):
        exponent, mantissa = bin >> 4, bin & 15
        shift = exponent - 4
        head = (16 | mantissa) << shift if shift >= 0 else (16 | mantissa) >> -shift
        ones = (1 << shift) - 1 if shift >= 0 else 0
        assert tools.DeviceMemoryPool.alloc_size(bin) == head | ones < 2**64
