"""Functions of `cupy` that report the environment or select a module, such as `show_config` and `get_array_module`."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._cupy.public_lookup import public_module
from PyGPU._cupy.version import VERSION

__all__ = [
    "get_array_module", "get_default_memory_pool", "get_default_pinned_memory_pool", "get_runtime_info",
    "get_scipy_module", "is_available", "show_config",
]  # fmt: skip


def get_array_module(*args: Any) -> ModuleType:
    """Return `cupy` if any argument is a device array, otherwise `numpy`.

    Parameters
    ----------
    *args : object
        Objects to test, such as the operands of a function.

    Returns
    -------
    module

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.get_array_module(cupy.zeros(3), 2) is cupy
    True
    """
    return public_module("cupy") if _has_array(args) else np


def get_scipy_module(*args: Any) -> ModuleType:
    """Return `cupyx.scipy` if any argument is a device array, otherwise `scipy`.

    Parameters
    ----------
    *args : object
        Objects to test.

    Returns
    -------
    module

    Examples
    --------
    >>> from PyGPU import cupy, cupyx
    >>> cupyx.scipy.get_array_module(cupy.zeros(3)) is cupyx.scipy
    True
    """
    return public_module("cupyx.scipy") if _has_array(args) else importlib.import_module("scipy")


def _has_array(args: tuple[Any, ...]) -> bool:
    return any(isinstance(element, _core.GPUArray) for element in args)


def is_available() -> bool:
    """Return whether arrays can be created: True, because PyGPU uses the CPU on a machine without a GPU.

    Returns
    -------
    bool

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.is_available()
    True
    """
    try:
        return _core.device_count() > 0
    except (ValueError, _core.BackendUnavailableError):
        return False


def get_runtime_info(*, full: bool = True) -> str:
    """Return the text that `show_config` prints.

    Parameters
    ----------
    full : bool, optional
        Accepted for compatibility with CuPy; it has no effect.

    Returns
    -------
    str

    Examples
    --------
    >>> from PyGPU import cupyx
    >>> print(cupyx.get_runtime_info().splitlines()[0][:34])
    cupy is PyGPU's facade of CuPy 14.
    """
    import contextlib
    import io

    del full
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        _core.show_config()
    return f"cupy is PyGPU's facade of CuPy {VERSION}; it is not CuPy\n{text.getvalue()}"


def show_config(*, _full: bool = False) -> None:
    """Print that `cupy` is PyGPU, the version of CuPy's interface, and PyGPU's configuration.

    Parameters
    ----------
    _full : bool, optional
        Accepted for compatibility with CuPy; it has no effect.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.show_config()  # doctest: +ELLIPSIS
    cupy is PyGPU's facade of CuPy 14.1.0; it is not CuPy
    ...
    """
    sys.stdout.write(get_runtime_info(full=_full))


def get_default_memory_pool() -> Any:
    """Return the pool that allocates device memory by default.

    Returns
    -------
    MemoryPool

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.get_default_memory_pool().used_bytes() >= 0
    True
    """
    return public_module("cupy.cuda.memory").get_default_memory_pool()


def get_default_pinned_memory_pool() -> Any:
    """Return the pool that allocates pinned host memory by default.

    Returns
    -------
    PinnedMemoryPool

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.get_default_pinned_memory_pool().n_free_blocks() >= 0
    True
    """
    return public_module("cupy.cuda.pinned_memory").get_default_pinned_memory_pool()
