"""Convert the `cuda*` functions, which return a status code, to functions that raise an exception."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from PyGPU._cupy.cuda.errors import error_of
from PyGPU._pybindgpu.status import cudaError_t, cudaGetLastError

__all__ = ["check", "raising"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


def check(status: cudaError_t) -> None:
    """Raise an exception if a status code is an error, and clear the thread's last error."""
    if status:
        cudaGetLastError()
        raise error_of(int(status))


@overload
def raising(function: Callable[_P, cudaError_t]) -> Callable[_P, None]: ...
@overload
def raising(function: Callable[_P, tuple[_T, cudaError_t]]) -> Callable[_P, _T]: ...
def raising(function: Callable[..., Any]) -> Callable[..., Any]:
    """Convert a `cuda*` function to CuPy's form: a function that raises an error status and returns no status."""

    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        value, status = result if isinstance(result, tuple) else (None, result)
        check(status)
        return value

    stem = function.__name__.removeprefix("cuda")
    call.__name__ = call.__qualname__ = stem[0].lower() + stem[1:]
    summary = (inspect.getdoc(function) or "").partition("\n")[0]
    call.__doc__ = f"{summary}\n\n`PyGPU.{function.__name__}`, whose status is raised as a `CUDARuntimeError`.\n"
    call.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return call
