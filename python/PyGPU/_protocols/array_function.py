"""NumPy's functions on device arrays (NEP 18): look PyGPU's function up in the table and pass the arguments."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import refusal
from PyGPU._names import index
from PyGPU._protocols import function_table as table
from PyGPU._protocols.argument_adapter import Adapted, signature_of
from PyGPU._protocols.like import beside

__all__: list[str] = []

_Function = Callable[..., Any]

_TOP = "numpy"


def call(
    array: _core.GPUArray, func: _Function, types: Iterable[type], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Compute a NumPy function on the device of the arrays; `array` is the one that NumPy selected."""
    others = [kind for kind in types if kind is not _core.GPUArray and not issubclass(kind, _core.GPUArray)]
    path, found = _found(func)
    if path in table.ON_HOST:
        return func(*_on_host(args), **_on_host(dict(kwargs)))
    if not all(issubclass(kind, np.ndarray) for kind in others):
        return NotImplemented
    if found is None:
        raise TypeError(
            f"{_TOP}.{path}: PyGPU does not compute this yet; write an ElementwiseKernel, hand the array to a library "
            "that computes by DLPack (its from_dlpack), or take the values to the host by .get()"
        )
    if others:
        if path in table.WITH_HOST_ARRAYS:
            return func(*_on_host(args), **_on_host(dict(kwargs)))
        _refuse_host_arrays(path, func, args, kwargs)
    if isinstance(found, Adapted):
        return found(args, kwargs)
    return found(array, *args, **kwargs)


@functools.cache
def _found(func: _Function) -> tuple[str, Adapted | _Function | None]:
    """Return a name below ``numpy``, such as ``linalg.norm``, and PyGPU's function, which may take `like` first."""
    source = getattr(func, "__module__", None) or ""
    name: str = func.__name__
    path = name if source == _TOP else f"{source.removeprefix(_TOP + '.')}.{name}"
    module = path.rpartition(".")[0]
    if not module and not table.is_dispatched(func) and table.has(name):
        return path, beside(name)
    if module in table.SUBMODULES:
        own = getattr(getattr(importlib.import_module("PyGPU"), module, None), name, None)
    else:
        own = getattr(importlib.import_module("PyGPU"), name) if not module and table.has(name) else None
    return path, None if own is None else Adapted(path, func, own)


def _on_host(given: Any) -> Any:
    """Return the arguments with host copies in place of device arrays."""
    if isinstance(given, _core.GPUArray):
        return given.get()
    if isinstance(given, (list, tuple)):
        return type(given)(_on_host(one) for one in given)
    if isinstance(given, dict):
        return {name: _on_host(one) for name, one in given.items()}
    return given


def _refuse_host_arrays(path: str, func: _Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Reject host arrays, as the operators do; a number is accepted as an ndarray too."""
    allowed = index.HOST.get(path, ())
    signature = signature_of(func)
    bound = dict(signature.bind(*args, **kwargs).arguments) if signature else dict(enumerate(args)) | dict(kwargs)
    for name, value in bound.items():
        for one in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(one, np.ndarray) and one.ndim and name not in allowed:
                raise refusal(one, f"{_TOP}.{path}")
