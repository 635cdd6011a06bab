"""What PyCUDA's driver and PyGPU itself have in common: exceptions, and the copies around a launch."""

from __future__ import annotations

from PyGPU._core import (
    CompileError,
    DriverRuntimeError as RuntimeError,
    Error,
    HostArgument as ArgumentHandler,
    In,
    InOut,
    LaunchError,
    LogicError,
    Out,
    OutOfMemoryError as MemoryError,
)

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
