"""Test that type checkers find exactly the public names. `make check` runs mypy over this file, which is not executed.

Mypy must reject each name in the list `wrong`. If mypy accepts a name, mypy reports that the comment `type: ignore`
after the name is unused.
"""

from typing import assert_type

import PyGPU
import PyGPU.backend
import PyGPU.driver as drv
from PyGPU import compiler, device_array, gpuarray, runtime, tools

wrong = [
    PyGPU.zeross,  # type: ignore[attr-defined]
    PyGPU.cudaMallocc,  # type: ignore[attr-defined]
    PyGPU.DeviceArray_float16,  # type: ignore[attr-defined]
    PyGPU.backend.cudaMallocc,  # type: ignore[attr-defined]
    PyGPU.driver.no_such_name,  # type: ignore[attr-defined]
    drv.boxes,  # type: ignore[attr-defined]
    compiler.no_such_name,  # type: ignore[attr-defined]
    device_array.DeviceArray_float16,  # type: ignore[attr-defined]
    gpuarray.no_such_name,  # type: ignore[attr-defined]
    runtime.no_such_name,  # type: ignore[attr-defined]
    tools.no_such_name,  # type: ignore[attr-defined]
]

assert_type(PyGPU.zeros(3), PyGPU.GPUArray)
assert_type(PyGPU.cudaMalloc(3), tuple[int, PyGPU.cudaError_t])
assert_type(PyGPU.DeviceArray_float32(3), device_array.DeviceArray_float32)
assert_type(PyGPU.DeviceArray_float32(3).nbytes(), int)
assert_type(PyGPU.ptr_wrapper_int64().is_safe(), bool)
assert_type(PyGPU.PagelockedAllocator_complex64().allocate(3), PyGPU.cudaError_t)
assert_type(PyGPU.driver.Device(0), drv.Device)
assert_type(PyGPU.compiler.SourceModule(""), compiler.SourceModule)
assert_type(PyGPU.autoinit.context, drv.Context)
assert_type(drv.CUDA_DEBUGGING, bool)
assert_type(PyGPU.use_hip, bool)
assert_type(PyGPU.cudaMemcpyDefault, int)
assert_type(PyGPU.Allocator, type[gpuarray.Allocator])
