"""PyCUDA's names for PyGPU's exceptions."""

from __future__ import annotations

from PyGPU._core import (
    CompileError,
    DriverRuntimeError as RuntimeError,
    Error,
    LaunchError,
    LogicError,
    OutOfMemoryError as MemoryError,
)

__all__ = [
    "CompileError",
    "Error",
    "LaunchError",
    "LogicError",
    "MemoryError",
    "RuntimeError",
]
