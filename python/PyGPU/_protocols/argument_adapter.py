"""Calls of PyGPU's functions with the arguments of NumPy's."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._protocols import function_table as table

__all__: list[str] = []

_Function = Callable[..., Any]
_SEVERAL = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def signature_of(function: _Function) -> inspect.Signature | None:
    """Return the signature of a function; None if it is unknown, or accepts any number of arguments."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    if any(parameter.kind in _SEVERAL for parameter in found.parameters.values()) and function is not np.clip:
        return None
    return found


class Adapted:
    """Adapter of a PyGPU function to the signature of NumPy's; the signatures are compared once."""

    __slots__ = ("_aligned", "_named", "_own", "_path", "_theirs")

    def __init__(self, path: str, func: _Function, own: _Function) -> None:
        self._path, self._own, self._theirs = path, own, signature_of(func)
        alone, by_name = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.KEYWORD_ONLY
        try:
            parameters = inspect.signature(own).parameters
        except (TypeError, ValueError):
            parameters = inspect.Signature().parameters
        # Called objects have no useful signature in Python; reductions handle NumPy's defaults themselves.
        if isinstance(own, _core.Reduction) or all(one.kind in _SEVERAL for one in parameters.values()):
            self._theirs = None  # PyGPU's function checks its arguments itself
        self._named = {name for name, one in parameters.items() if one.kind is not alone}
        self._aligned = self._count_aligned([name for name, one in parameters.items() if one.kind is not by_name])

    def _count_aligned(self, places: list[str]) -> int:
        """Count the parameters that both have at the same positions; the first may have any name."""
        count = 0
        for name, parameter in self._theirs.parameters.items() if self._theirs else ():
            is_same = count < len(places) and table.OTHER_NAMES.get(name, name) == places[count]
            is_first = count == 0 and bool(places)
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY or not (is_same or is_first):
                break
            count += 1
        return count

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Call PyGPU's function with its parameter names, without arguments equal to their defaults."""
        theirs = self._theirs
        if theirs is None or (len(args) <= self._aligned and self._named.issuperset(kwargs)):
            return self._own(*args, **kwargs)
        places: list[Any] = []
        named: dict[str, Any] = {}
        order = {name: number for number, name in enumerate(theirs.parameters)}
        for name, value in theirs.bind(*args, **kwargs).arguments.items():
            wanted = table.OTHER_NAMES.get(name, name)
            if name == "kwargs":
                named |= value
            elif len(places) == order[name] < self._aligned:
                places.append(value)
            elif wanted in self._named:
                named[wanted] = value
            elif name not in table.WITHOUT_EFFECT and not _is_default(theirs.parameters[name].default, value):
                raise TypeError(
                    f"numpy.{self._path}: PyGPU's function has no parameter {name}, given {value!r}; leave it out, or "
                    "take the values to the host by .get()"
                )
        return self._own(*places, **named)


def _is_default(default: Any, value: Any) -> bool:
    return value is default or (isinstance(value, (bool, int, str)) and bool(value == default))
