"""Export PyGPU's exception classes under CuPy's names, and convert status codes to exceptions."""

from __future__ import annotations

from typing import TextIO

from PyGPU import _core
from PyGPU._core import CompileError as CompileException, CudaError as CUDARuntimeError, OutOfMemoryError
from PyGPU._pybindgpu.status import cudaGetErrorName, cudaGetErrorString

__all__ = ["CUDADriverError", "CUDARuntimeError", "CompileException", "NVRTCError", "OutOfMemoryError", "error_of"]

CUDADriverError = CUDARuntimeError
"""Errors of the driver; PyGPU does not distinguish them from errors of the runtime."""
NVRTCError = CompileException
"""Errors of the compiler."""

_MEMORY_ALLOCATION = 2


def get_message(self: CompileException) -> str:
    """Return the text of the exception."""
    return str(self)


def dump(self: CompileException, f: TextIO) -> None:
    """Write the compiler's output, its options and the source with line numbers to a file.

    Parameters
    ----------
    f : file
        File in text mode.
    """
    lines = self.source.split("\n")
    width = len(str(len(lines)))
    f.write(f"{self.compiler} compilation error: {self.log}\n-----\n")
    f.write(f"Options: {' '.join(self.options)}\nCUDA source:\n")
    f.writelines(f"{number:0{width}} {line.rstrip()}\n" for number, line in enumerate(lines, 1))
    f.write("-----\n")


# The native module raises `PyGPU.CompileError`. The class gets CuPy's methods here, because a program that names
# `CompileException` imports this module before it handles the exception.
for _method in (get_message, dump):
    setattr(CompileException, _method.__name__, _method)


def error_of(status: int) -> _core.CudaError:
    """Return the exception for a status code of CUDA's runtime; its message is CuPy's."""
    name, text = cudaGetErrorName(status), cudaGetErrorString(status)
    class_of_error = OutOfMemoryError if status == _MEMORY_ALLOCATION else CUDARuntimeError
    error = class_of_error(f"{name}: {text}")
    error.code = error.status = status
    error.name, error.text = name, text
    return error
