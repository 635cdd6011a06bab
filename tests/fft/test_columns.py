"""Test transforms along an axis that is not the last in memory, which PyGPU's kernels compute."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest

import PyGPU
import simulated_driver
from PyGPU import _core
from support import of_few, on_cpu

PyGPU.device_count()
pytestmark = pytest.mark.skipif(on_cpu(), reason="NumPy transforms arrays in host memory")
# Size in bytes of a piece of a long transform, so that the tests' arrays have several pieces.
PIECE = 1 << 20


@pytest.fixture(autouse=True)
def kernels_for_small_arrays() -> Iterator[None]:
    _core._limit_fft_columns(1, PIECE)
    yield
    _core._limit_fft_columns()


def numbers(dtype: str, *shape: int) -> np.ndarray:
    rng = np.random.default_rng(5)
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def same(got: PyGPU.GPUArray, expected: np.ndarray, most: float = 1e-15) -> None:
    assert got.shape == expected.shape
    difference = np.linalg.norm(got.get() - expected) / np.linalg.norm(expected)
    assert difference < (4e-7 if got.dtype == "complex64" else most)


def compare(host: np.ndarray, axis: int, inverse: bool = False, norm: str | None = None) -> None:
    name = "ifft" if inverse else "fft"
    got = getattr(PyGPU.fft, name)(PyGPU.to_gpu(host), axis=axis, norm=norm)
    assert got.flags.c_contiguous
    same(got, getattr(np.fft, name)(host.astype("complex128"), axis=axis, norm=norm))


@pytest.mark.parametrize("bits", of_few(range(1, 12), [1, 4, 5, 10]))
def test_fft_of_columns_matches_numpy(bits: int) -> None:
    for inner in (8, 9, 700 >> bits // 2):
        if inner >= 8:
            compare(numbers("complex64", 1 << bits, inner), 0)
            compare(numbers("complex64", 3, 1 << bits, inner), 1, inverse=True)


@pytest.mark.parametrize("bits", of_few(range(1, 12), [3]))
def test_fft_of_complex128_columns_matches_numpy(bits: int) -> None:
    compare(numbers("complex128", 3, 1 << bits, 5), 1)
    compare(numbers("complex128", 1 << bits, 33), 0, True, "ortho")


def test_fft_of_long_columns_in_two_passes_matches_numpy() -> None:
    compare(numbers("complex64", 8192, 37), 0)  # Three pieces of the columns.
    compare(numbers("complex64", 3, 8192, 8), 1, inverse=True)  # Two matrices, and one.
    compare(numbers("complex128", 4096, 17), 0, True, "forward")


def test_fft_of_columns_accepts_strides_and_out_array() -> None:
    host = numbers("complex64", 6, 32, 24)
    array = PyGPU.to_gpu(host)
    expected = np.fft.fft(host, axis=1)
    same(PyGPU.fft.fft(array[::2], axis=1), expected[::2])
    same(PyGPU.fft.fft(array[:, :, 3:20], axis=1), expected[:, :, 3:20])
    same(PyGPU.fft.fft(array.transpose(1, 0, 2), axis=0), expected.transpose(1, 0, 2))
    same(
        PyGPU.fft.fft(PyGPU.to_gpu(host.reshape(2, 3, 32, 24))[:, :2, :, ::-1], axis=2).reshape(4, 32, 24),
        np.fft.fft(host.reshape(2, 3, 32, 24)[:, :2, :, ::-1], axis=2).reshape(4, 32, 24),
    )
    four = PyGPU.to_gpu(host.reshape(2, 3, 32, 24))[:, :2, :, :16]
    same(PyGPU.fft.fft(four, axis=2), np.fft.fft(four.get(), axis=2))
    out = PyGPU.zeros((6, 65, 30), "complex64")
    PyGPU.fft.fft(array, axis=1, out=out[:, 1::2, 2:26])
    same(out[:, 1::2, 2:26], expected)
    assert not out[:, ::2].get().any()
    assert not out[:, :, 26:].get().any()
    assert PyGPU.fft.fft(array, axis=1, out=array) is array
    same(array, expected)
    real = PyGPU.to_gpu(host.real.copy())
    same(PyGPU.fft.fft(real, axis=1), np.fft.fft(host.real, axis=1))


def test_fft_of_long_columns_accepts_strides_and_out_array() -> None:
    host = numbers("complex64", 3, 8192, 40)
    array = PyGPU.to_gpu(host)
    expected = np.fft.fft(host, axis=1)
    same(PyGPU.fft.fft(array[::2, :, 1:33], axis=1), expected[::2, :, 1:33])
    same(PyGPU.fft.fft(array[:2], axis=1, out=array[:2]), expected[:2])
    np.testing.assert_array_equal(array[2].get(), host[2])
    out = PyGPU.zeros((8192, 3, 40), "complex64").transpose(1, 0, 2)
    same(PyGPU.fft.fft(PyGPU.to_gpu(host), axis=1, out=out), expected)


def test_fft_of_long_columns_of_other_lengths_matches_numpy() -> None:
    # Copies of the columns are transformed by the library, whose simulation is less accurate.
    host = numbers("complex128", 2049, 4)
    same(PyGPU.fft.fft(PyGPU.to_gpu(host), axis=0), np.fft.fft(host, axis=0), most=1e-14)


def test_graph_with_fft_of_columns_transforms_values_present_at_launch() -> None:
    array, out = PyGPU.zeros((8192, 24), "complex64"), PyGPU.empty((8192, 24), "complex64")
    PyGPU.fft.fft(array, axis=0, out=out)
    stream = PyGPU.Stream()
    with stream:
        stream.begin_capture()
        PyGPU.fft.fft(array, axis=0, out=out)
        graph = stream.end_capture()
    host = numbers("complex64", 8192, 24)
    array.set(host)
    graph.launch(stream)
    stream.synchronize()
    same(out, np.fft.fft(host, axis=0))


@pytest.mark.skipif(simulated_driver.driver() is None, reason="needs a simulated library, which counts calls")
def test_fft_of_columns_calls_library_only_where_kernels_are_slower() -> None:
    PyGPU.fft.fft(PyGPU.ones(2, "complex64"))
    is_cuda = PyGPU.backend_name() == "cuda"
    library = ctypes.CDLL("libcufft.so.11" if is_cuda else "libhipfft.so.0")
    library.sim_library_calls.restype = ctypes.c_uint64

    def calls(array: PyGPU.GPUArray, axis: int) -> int:
        function = b"cufftExecC2C" if is_cuda else b"hipfftExecC2C"
        before = library.sim_library_calls(function)
        PyGPU.fft.fft(array, axis=axis)
        return int(library.sim_library_calls(function) - before)

    array = PyGPU.ones((16, 16), "complex64")
    assert [calls(array, 0), calls(array, 1), calls(array.T, 1)] == [0, 1, 0]
    assert calls(PyGPU.ones((8192, 8), "complex64"), 0) == 0
    assert calls(PyGPU.ones((16, 7), "complex64"), 0) == 1  # Rows of less than 64 bytes.
    assert calls(PyGPU.ones((12, 16), "complex64"), 0) == 1
    _core._limit_fft_columns()
    assert calls(array, 0) == 1
