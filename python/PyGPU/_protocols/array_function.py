"""Implementation of ``__array_function__`` (NEP 18), which passes calls of NumPy's functions to PyGPU's functions."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import invalid_array_error
from PyGPU._names import index
from PyGPU._protocols import function_table as table
from PyGPU._protocols.argument_adapter import ArgumentAdapter, ClipAdapter, signature_of
from PyGPU._protocols.like_argument import with_like

__all__: list[str] = []

_Function = Callable[..., Any]

_NUMPY = "numpy"

direct_functions: dict[_Function, tuple[_Function, int]] = {}
"""PyGPU's function for a NumPy function, and the number of positional arguments that it takes as NumPy's does.

``__array_function__`` calls these functions without `call`. A function enters the table at its first call."""


def call(
    array: _core.GPUArray, func: _Function, types: Iterable[type], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Call PyGPU's function for a NumPy function; `array` is the array whose ``__array_function__`` NumPy called."""
    foreign_types = [kind for kind in types if kind is not _core.GPUArray and not issubclass(kind, _core.GPUArray)]
    path, function = _find_function(func)
    if path in table.ON_HOST:
        return func(*_on_host(args), **_on_host(dict(kwargs)))
    if not all(issubclass(kind, np.ndarray) for kind in foreign_types):
        return NotImplemented
    if function is None:
        raise TypeError(
            f"{_NUMPY}.{path}: PyGPU does not compute this yet; write an ElementwiseKernel, hand the array to a "
            "library that computes by DLPack (its from_dlpack), or take the values to the host by .get()"
        )
    if foreign_types:
        if path in table.WITH_HOST_ARRAYS:
            return func(*_on_host(args), **_on_host(dict(kwargs)))
        _check_host_arrays(path, (func, function), args, kwargs)
    if isinstance(function, ArgumentAdapter):
        return function(args, kwargs)
    return function(array, *args, **kwargs)


@functools.cache
def _find_function(func: _Function) -> tuple[str, ArgumentAdapter | _Function | None]:
    """Return a NumPy function's name, such as ``linalg.norm``, and PyGPU's function for it."""
    source = table.OTHER_MODULES.get(func.__module__, func.__module__) or ""
    name: str = func.__name__
    path = name if source == _NUMPY else f"{source.removeprefix(_NUMPY + '.')}.{name}"
    module = path.rpartition(".")[0]
    if not module and not table.is_dispatched(func) and table.has(name):
        return path, with_like(name)
    if module in table.SUBMODULES:
        function = getattr(importlib.import_module(f"PyGPU.{module}"), name, None)
    else:
        function = getattr(importlib.import_module("PyGPU"), name) if not module and table.has(name) else None
    if function is None:
        return path, None
    if path == "clip":
        return path, ClipAdapter(path, func, function)
    adapter = ArgumentAdapter(path, func, function)
    if path not in table.ON_HOST:
        direct_functions[func] = (function, adapter.direct_count)
    return path, adapter


def _on_host(argument: Any) -> Any:
    """Replace the device arrays among arguments by host copies."""
    if isinstance(argument, _core.GPUArray):
        return argument.get()
    if isinstance(argument, (list, tuple)):
        return type(argument)(_on_host(element) for element in argument)
    if isinstance(argument, dict):
        return {name: _on_host(element) for name, element in argument.items()}
    return argument


def _check_host_arrays(
    path: str, functions: tuple[_Function, _Function], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """Raise an error if an argument is a host array of at least one axis; PyGPU's operators raise the same error.

    The signature of NumPy's function names the parameters. Before NumPy 2.4, functions in C have no signature, and the
    signature of PyGPU's function is used instead.
    """
    allowed = index.HOST.get(path, ())
    signature = next(filter(None, map(signature_of, functions)), None)
    bound = dict(signature.bind(*args, **kwargs).arguments) if signature else dict(enumerate(args)) | dict(kwargs)
    for name, value in bound.items():
        for element in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(element, np.ndarray) and element.ndim and name not in allowed:
                raise invalid_array_error(element, f"{_NUMPY}.{path}")
