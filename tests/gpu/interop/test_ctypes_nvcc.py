"""Test kernels of a library that nvcc builds without PyGPU: ctypes calls pass `array.ptr` and `stream.handle`."""

from __future__ import annotations

import ctypes

import numpy
import pytest

import PyGPU
from gpu import support
from gpu.kernel_library import Kernels

support.require_gpu()

COUNT = 100_003


def test_nvcc_kernel_computes_in_memory_of_pygpu_arrays(kernels: Kernels) -> None:
    x, y = numpy.arange(COUNT, dtype=numpy.float32), numpy.ones(COUNT, numpy.float32)
    on_x, on_y = PyGPU.to_gpu(x), PyGPU.to_gpu(y)
    kernels.axpy(on_y.ptr, on_x.ptr, 2.0, COUNT)
    support.same(on_y.get(), y + 2 * x)
    support.same(on_x.get(), x)


def test_pointer_of_array_can_be_passed_to_ctypes(kernels: Kernels) -> None:
    array = PyGPU.zeros(4, "float32")
    assert type(array.ptr) is int
    assert array.gpudata == array.ptr
    assert ctypes.c_void_p(array.ptr).value == array.ptr
    kernels.fill(array.ptr, 3.0, 4)
    assert array.tolist() == [3.0] * 4


def test_empty_array_has_no_pointer() -> None:
    assert PyGPU.empty((0, 3), "float32").ptr == 0


def test_nvcc_kernel_runs_on_pygpu_stream(kernels: Kernels, slow: PyGPU.Stream) -> None:
    with slow:
        x, y = PyGPU.full(COUNT, 2, "float32"), PyGPU.full(COUNT, 3, "float32")
        kernels.spin(support.SECONDS, slow.handle)
        kernels.axpy(y.ptr, x.ptr, 4.0, COUNT, slow.handle)
        # `get` needs no synchronization, because `get` copies on the current stream `slow`, on which the kernel also
        # runs.
        assert (y.get() == 11).all()


@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_nvcc_kernel_reads_view_by_pointer_and_stride(kernels: Kernels, step: int) -> None:
    host = numpy.arange(1000, dtype=numpy.float32)
    view = PyGPU.to_gpu(host)[::step]
    result = PyGPU.zeros(len(view), "float32")
    kernels.read(result.ptr, view.ptr, len(view), stride=view.strides[0])
    support.same(result.get(), host[::step])


def test_nvcc_kernel_writes_into_view(kernels: Kernels) -> None:
    array = PyGPU.zeros((10, 100), "float32")
    kernels.fill(array[3].ptr, 5.0, 100)
    expected = numpy.zeros((10, 100), numpy.float32)
    expected[3] = 5
    support.same(array.get(), expected)


def test_array_of_existing_address_shares_memory_with_nvcc_kernel(kernels: Kernels) -> None:
    owner = PyGPU.zeros(12, "float32")
    shared = PyGPU.GPUArray((3, 4), "float32", gpudata=owner.ptr, base=owner)
    assert shared.ptr == owner.ptr
    assert shared.base is owner
    kernels.fill(owner.ptr, 7.0, 12)
    assert (shared.get() == 7).all()


@pytest.mark.starts_processes
def test_dlpack_deleter_runs_in_foreign_thread_without_gil(kernels: Kernels) -> None:
    # The deleter runs in a thread that Python did not create, while this thread holds the GIL in a `PyDLL` call.
    # A deleter that requests the GIL would hang, so the script runs in a separate process.
    script = """
        import ctypes, sys
        import PyGPU
        library = ctypes.PyDLL(sys.argv[1])
        library.guest_delete_in_thread.argtypes = [ctypes.c_void_p]
        api = ctypes.pythonapi
        api.PyCapsule_GetPointer.restype = ctypes.c_void_p
        api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
        used = ctypes.c_char_p(b"used_dltensor")
        for turn in range(100):
            array = PyGPU.zeros(1000)
            capsule = array.__dlpack__()
            managed = api.PyCapsule_GetPointer(capsule, b"dltensor")
            api.PyCapsule_SetName(capsule, used)
            del array, capsule
            assert library.guest_delete_in_thread(managed) == 0
        assert PyGPU.zeros(3).tolist() == [0, 0, 0]
        print("ended")
    """
    assert support.ended_well(support.run_script(script, str(kernels.path))) == "ended"
