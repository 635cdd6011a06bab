"""PyCUDA's exceptions: names of the classes that the core raises, by the driver's code.

``except driver.Error`` takes whatever PyGPU itself raises; what Python or NumPy would raise too (`TypeError`,
`ValueError`, `IndexError`) stays theirs.
"""

from __future__ import annotations

from PyGPU._core import CompileError as CompileError
from PyGPU._core import DriverRuntimeError as RuntimeError
from PyGPU._core import Error as Error
from PyGPU._core import LaunchError as LaunchError
from PyGPU._core import LogicError as LogicError
from PyGPU._core import OutOfMemoryError as MemoryError

__all__ = ["CompileError", "Error", "LaunchError", "LogicError", "MemoryError", "RuntimeError"]

INVALID_CONTEXT = 201
NOT_FOUND = 500


def logic_error(operation: str, code: int, name: str, text: str) -> LogicError:
    """Return the error for a call that a driver would refuse, and that does not get that far."""
    error = LogicError(f"{operation} failed: {name} ({code}): {text}")
    error.operation, error.code, error.name, error.text = operation, code, name, text
    return error
