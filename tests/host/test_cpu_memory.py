"""Test the address of a CPU array: C functions and `ctypes` read and write the elements at this address."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import PyGPU
from support import ALL_DTYPES, dtypes, examples, on_cpu, orders, pair, shapes, values


@pytest.fixture(autouse=True)
def only_on_the_cpu() -> None:
    if not on_cpu():
        pytest.skip("the address of a device array is not the host's to read")


def read(device: PyGPU.GPUArray) -> bytes:
    """Return the bytes at the address of a contiguous array."""
    return ctypes.string_at(device.ptr, device.nbytes)


@examples(100)
@given(shapes, dtypes, orders)
def test_address_of_cpu_array_points_to_its_values(shape: tuple[int, ...], dtype: Any, order: str) -> None:
    host, device = pair(shape, dtype, order)
    if host.size:
        assert np.frombuffer(read(device), "u1").tolist() == np.frombuffer(host.tobytes(order), "u1").tolist()


def test_array_contains_values_written_by_c() -> None:
    device = PyGPU.zeros((2, 3), "float32")
    numbers = (ctypes.c_float * 6).from_address(device.ptr)
    numbers[:] = [1, 2, 3, 4, 5, 6]
    assert device.tolist() == [[1, 2, 3], [4, 5, 6]]
    device[1, 2] = 9
    assert numbers[5] == 9


def test_c_functions_read_and_write_at_address_of_array() -> None:
    _, device = pair((10,), "uint8")
    ctypes.memset(device.ptr, 7, 5)
    assert device.tolist() == [7] * 5 + [6, 7, 8, 9, 10]
    other = PyGPU.zeros(10, "uint8")
    ctypes.memmove(ctypes.c_void_p(other.ptr), ctypes.c_void_p(device.ptr), device.nbytes)
    assert other.tolist() == device.tolist()


def test_address_of_cpu_view_points_to_its_first_element() -> None:
    host, device = pair((4, 5), "int32")
    for key in ((1, 2), (slice(None, None, -1), slice(2, None)), (-1, slice(None, None, -2)), (..., 3)):
        assert device[key].ptr == device.ptr + int(host[key].flat[0] - host[0, 0]) * 4
        assert ctypes.c_int32.from_address(device[key].ptr).value == host[key].flat[0]


def test_array_of_existing_host_memory_makes_no_copy() -> None:
    host = values((3, 4), "int16", "F")
    device = PyGPU.GPUArray(host.shape, host.dtype, gpudata=host.ctypes.data, strides=host.strides, base=host)
    assert device.ptr == host.ctypes.data
    assert device.base is host
    device[1:, ::2] = -1
    assert (host[1:, ::2] == -1).all()
    host[0, 0] = 99
    assert device[0, 0].item() == 99
    backwards = PyGPU.GPUArray((3,), host.dtype, gpudata=host[:, 0][::-1].ctypes.data, strides=(-2,), base=host)
    assert backwards.tolist() == host[::-1, 0].tolist()


def test_copy_between_overlapping_arrays_in_ndarray_memory_matches_numpy() -> None:
    host = np.arange(20, dtype="int32")
    first = PyGPU.GPUArray((15,), host.dtype, gpudata=host.ctypes.data, base=host)
    second = PyGPU.GPUArray((15,), host.dtype, gpudata=host.ctypes.data + 20, base=host)
    second[...] = first
    assert host.tolist() == [0, 1, 2, 3, 4, *range(15)]


def test_copy_between_array_and_reversed_ndarray_of_same_memory_is_correct() -> None:
    for assign in (lambda a, h: a.__setitem__(..., h), lambda a, h: a.set(h)):
        host = np.arange(10, dtype="int32")
        device = PyGPU.GPUArray((10,), host.dtype, gpudata=host.ctypes.data, base=host)
        assign(device, host[::-1])
        assert host.tolist() == list(range(10))[::-1]
    host = np.arange(10, dtype="int32")
    device = PyGPU.GPUArray((10,), host.dtype, gpudata=host.ctypes.data, base=host)
    device.get(host[::-1])
    assert host.tolist() == list(range(10))[::-1]


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_memory_of_array_is_aligned_for_its_dtype(dtype: Any) -> None:
    for count in (1, 3, 100, 100_000):
        assert PyGPU.empty(count, dtype).ptr % max(dtype.alignment, 16) == 0


def test_address_of_cpu_array_is_same_at_each_access() -> None:
    _, device = pair((1000,))
    before = device.ptr
    device.get(), device.copy(), device.fill(3), device.set(np.zeros(1000)), device[::2]
    assert device.ptr == before
