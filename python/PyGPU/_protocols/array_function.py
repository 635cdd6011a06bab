"""NumPy's functions on arrays of a device (NEP 18): ours is found in the table, and given what NumPy's was given."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._protocols import function_table as table

__all__: list[str] = []

_Function = Callable[..., Any]

_TOP = "numpy"


def call(
    array: _core.GPUArray, func: _Function, types: Iterable[type], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Compute a function of NumPy's where the arrays are; `array` is the one that NumPy asked."""
    kinds = tuple(types)
    known = all(issubclass(kind, (_core.GPUArray, np.ndarray)) for kind in kinds)
    path = _path(func)
    if path in table.ON_HOST:
        return func(*_on_host(args), **_on_host(dict(kwargs)))
    found = _ours(path) if known else None
    if found is None:
        if not known:
            return NotImplemented
        raise TypeError(
            f"{_TOP}.{path}: PyGPU does not compute this yet; write an ElementwiseKernel, hand the array to a library "
            "that computes by DLPack (its from_dlpack), or take the values to the host by .get()"
        )
    if any(issubclass(kind, np.ndarray) for kind in kinds):
        if path in table.WITH_HOST_ARRAYS:
            return func(*_on_host(args), **_on_host(dict(kwargs)))
        _refuse_host_arrays(path, func, args, kwargs)
    own, is_like = found
    if is_like:
        return own(array, *args, **kwargs)
    return _adapted(path, func, own, args, kwargs)


@functools.cache
def _path(func: _Function) -> str:
    """Return the name of a function below ``numpy``: ``sum``, ``linalg.norm``."""
    module = getattr(func, "__module__", None) or ""
    name: str = func.__name__
    if module == _TOP:
        return name
    return f"{module.removeprefix(_TOP + '.')}.{name}"


def _ours(path: str) -> tuple[_Function, bool] | None:
    """Return our function, and whether it wants the array of ``like=`` first."""
    module, _, name = path.rpartition(".")
    if module in table.SUBMODULES:
        namespace = getattr(importlib.import_module("PyGPU"), module, None)
        own = getattr(namespace, name, None)
        return None if own is None else (own, False)
    if module:
        return None
    if (home := table.module_of(name)) is not None:
        return getattr(importlib.import_module(f"PyGPU.{home}"), name), home.endswith(".like")
    if table.has(name):
        return getattr(importlib.import_module("PyGPU"), name), False
    return None


def _on_host(given: Any) -> Any:
    """Return what was given with the values of our arrays in place of these."""
    if isinstance(given, _core.GPUArray):
        return given.get()
    if isinstance(given, (list, tuple)):
        return type(given)(_on_host(one) for one in given)
    if isinstance(given, dict):
        return {name: _on_host(one) for name, one in given.items()}
    return given


def _refuse_host_arrays(path: str, func: _Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Refuse arrays in host memory, as the operators do; a number is one as an ndarray too."""
    allowed = table.HOST_PARAMETERS.get(path, frozenset())
    signature = _signature(func)
    bound = dict(signature.bind(*args, **kwargs).arguments) if signature else dict(enumerate(args)) | dict(kwargs)
    for name, value in bound.items():
        several = value if isinstance(value, (list, tuple)) else (value,)
        for one in several:
            if isinstance(one, np.ndarray) and one.ndim and name not in allowed:
                raise TypeError(
                    f"{_TOP}.{path}: the ndarray of shape {one.shape} is in host memory; copy it to the device of the "
                    "other arrays first, with PyGPU.to_gpu(x)"
                )


@functools.cache
def _signature(function: _Function) -> inspect.Signature | None:
    """Return what a function can be given; None if nobody can tell, or if it takes any number of arguments."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    if any(parameter.kind in several for parameter in found.parameters.values()) and function is not np.clip:
        return None
    return found


@functools.cache
def _parameters(function: _Function) -> dict[str, bool] | None:
    """Return the names of a function's parameters, and whether each can be given by its position only."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    alone = inspect.Parameter.POSITIONAL_ONLY
    return {name: parameter.kind is alone for name, parameter in found.parameters.items()}


@functools.cache
def _aligned(theirs: inspect.Signature, own: _Function) -> int:
    """Count the parameters that NumPy's function and ours have at the same places; the first may have any name."""
    keyword_only = inspect.Parameter.KEYWORD_ONLY
    positions = [name for name, one in inspect.signature(own).parameters.items() if one.kind is not keyword_only]
    count = 0
    for name, parameter in theirs.parameters.items():
        is_same = count < len(positions) and table.OTHER_NAMES.get(name, name) == positions[count]
        if parameter.kind is keyword_only or not (is_same or (count == 0 and positions)):
            break
        count += 1
    return count


def _adapted(path: str, func: _Function, own: _Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Call ours with what NumPy's was given: by the names of ours, without what is as if it had not been given."""
    parameters, theirs = _parameters(own), _signature(func)
    if parameters is None or theirs is None:
        return own(*args, **kwargs)
    aligned = _aligned(theirs, own)
    if len(args) <= aligned and not kwargs:
        return own(*args)
    places: list[Any] = []
    named: dict[str, Any] = {}
    order = {name: number for number, name in enumerate(theirs.parameters)}
    for name, value in theirs.bind(*args, **kwargs).arguments.items():
        wanted = table.OTHER_NAMES.get(name, name)
        if name == "kwargs":
            named |= value
        elif len(places) == order[name] < aligned:
            places.append(value)
        elif not parameters.get(wanted, True):
            named[wanted] = value
        elif name not in table.WITHOUT_EFFECT and not _is_default(theirs.parameters[name].default, value):
            raise TypeError(
                f"{_TOP}.{path}: PyGPU's function has no parameter {name}, given {value!r}; leave it out, or take the "
                "values to the host by .get()"
            )
    return own(*places, **named)


def _is_default(default: Any, value: Any) -> bool:
    return value is default or (isinstance(value, (bool, int, str)) and bool(value == default))
