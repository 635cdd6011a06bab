"""PyCUDA's names for PyGPU's exceptions, and for kernel arguments that copy host arrays."""

from __future__ import annotations

from PyGPU._core import (
    CompileError,
    DriverRuntimeError as RuntimeError,
    Error,
    LaunchError,
    LogicError,
    OutOfMemoryError as MemoryError,
)
from PyGPU._native.host_arguments import ArgumentHandler, In, InOut, Out

__all__ = [
    "ArgumentHandler",
    "CompileError",
    "Error",
    "In",
    "InOut",
    "LaunchError",
    "LogicError",
    "MemoryError",
    "Out",
    "RuntimeError",
]
