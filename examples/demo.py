"""The main job on a real file
===========================

Upload, slice on the device, share, pass a pointer to C, download.

Runs on any device; without a GPU on the CPU backend, on which a device pointer is a host address.
"""

import ctypes
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import PyGPU as gpuarray

DATA = Path(__file__).parent / "data" / "timezones.csv"
DLPACK_CPU, DLPACK_CUDA = 1, 2


@contextmanager
def step(what: str) -> Iterator[None]:
    """Print the step and its duration."""
    start = time.perf_counter()
    yield
    print(f"{what:<72} {(time.perf_counter() - start) * 1e6:10.1f} us")


def sort_in_c(array: gpuarray.GPUArray) -> None:
    """Sort a contiguous float64 array in place with libc's qsort, which is independent of Python."""
    compare_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double))
    compare = compare_type(lambda a, b: (a[0] > b[0]) - (a[0] < b[0]))
    qsort = ctypes.CDLL(None).qsort
    qsort.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, compare_type]
    qsort.restype = None
    qsort(array.ptr, array.size, array.itemsize, compare)


def read_with_driver(array: gpuarray.GPUArray) -> np.ndarray:
    """Read a contiguous array through NVIDIA's driver, which receives only the pointer."""
    copy = ctypes.CDLL("libcuda.so.1").cuMemcpyDtoH_v2
    copy.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t]
    host = np.empty(array.shape, array.dtype)
    status = copy(host.ctypes.data, array.ptr, array.nbytes)
    if status != 0:
        raise RuntimeError(f"cuMemcpyDtoH returned {status}")
    return host


def main() -> None:
    """Run each step, and compare each result with NumPy's."""
    gpuarray.show_config()
    print()

    table = np.loadtxt(DATA, delimiter=",", skiprows=4, usecols=(0, 1))
    print(f"{DATA.name}: latitude and longitude of {len(table)} places, {table.nbytes} bytes of {table.dtype}\n")

    with step("the first array: the backend is opened here"):
        gpuarray.to_gpu(table[:1])
    with step("to_gpu(table): upload"):
        a = gpuarray.to_gpu(table)
    with step("a[:, 1], a[::2], a[::-1]: views on the device, nothing is copied"):
        longitude, every_second, reversed_rows = a[:, 1], a[::2], a[::-1]
    print(f"    device {a.device}, pointer {a.ptr:#x}; a[:, 1] starts {longitude.ptr - a.ptr} bytes behind it\n")

    with step("get(): download of the three views"):
        downloads = longitude.get(), every_second.get(), reversed_rows.get()
    for ours, numpys in zip(downloads, (table[:, 1], table[::2], table[::-1]), strict=True):
        np.testing.assert_array_equal(ours, numpys)

    kind = a.__dlpack_device__()[0]
    if kind == DLPACK_CPU:
        with step("numpy.from_dlpack(a[:, 1]): NumPy sees the same memory"):
            shared = np.from_dlpack(longitude)
        assert shared.ctypes.data == longitude.ptr
    else:
        with step("numpy.from_dlpack(a[:, 1], device='cpu'): a copy that was asked for"):
            shared = np.from_dlpack(longitude, device="cpu")
    np.testing.assert_array_equal(shared, table[:, 1])

    latitude = gpuarray.to_gpu(np.ascontiguousarray(table[:, 0]))
    if kind == DLPACK_CPU:
        with step("qsort(latitude.ptr, ...): a C function sorts the array in place"):
            sort_in_c(latitude)
        np.testing.assert_array_equal(latitude.get(), np.sort(table[:, 0]))
    elif kind == DLPACK_CUDA:
        with step("cuMemcpyDtoH(host, latitude.ptr, ...): a C library reads the array"):
            read = read_with_driver(latitude)
        np.testing.assert_array_equal(read, table[:, 0])

    print("\nevery result is equal to NumPy's")


if __name__ == "__main__":
    main()
