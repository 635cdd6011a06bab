"""Export PyGPU's exception classes under CuPy's names, and convert status codes to exceptions."""

from __future__ import annotations

from PyGPU import _core
from PyGPU._core import CompileError as CompileException, CudaError as CUDARuntimeError, OutOfMemoryError
from PyGPU._pybindgpu.status import cudaGetErrorName, cudaGetErrorString

__all__ = ["CUDADriverError", "CUDARuntimeError", "CompileException", "NVRTCError", "OutOfMemoryError", "error_of"]

CUDADriverError = CUDARuntimeError
"""Errors of the driver; PyGPU does not distinguish them from errors of the runtime."""
NVRTCError = CompileException
"""Errors of the compiler."""

_MEMORY_ALLOCATION = 2


def error_of(status: int) -> _core.CudaError:
    """Return the exception for a status code of CUDA's runtime; its message is CuPy's."""
    name, text = cudaGetErrorName(status), cudaGetErrorString(status)
    class_of_error = OutOfMemoryError if status == _MEMORY_ALLOCATION else CUDARuntimeError
    error = class_of_error(f"{name}: {text}")
    error.code = error.status = status
    error.name, error.text = name, text
    return error
