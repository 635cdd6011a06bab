"""Adapters that call a PyGPU function with arguments that a program passed to the NumPy function of the same name."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._protocols import function_table as table

__all__: list[str] = []

_Function = Callable[..., Any]
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def signature_of(function: _Function) -> inspect.Signature | None:
    """Return the signature of a function; None if the signature is unknown or has a parameter such as ``*args``."""
    if isinstance(function, ArgumentAdapter):
        function = function.function
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    if any(parameter.kind in _VARIADIC for parameter in signature.parameters.values()) and function is not np.clip:
        return None
    return signature


class ArgumentAdapter:
    """Callable that receives the arguments of a NumPy function and calls the corresponding PyGPU function.

    The constructor compares the signatures of both functions.
    """

    __slots__ = ("_aligned_count", "_first_name", "_keyword_names", "_numpy_signature", "_path", "function")

    def __init__(self, path: str, func: _Function, function: _Function) -> None:
        self._path, self.function, self._numpy_signature = path, function, signature_of(func)
        self._first_name = next(iter(self._numpy_signature.parameters), "") if self._numpy_signature else ""
        positional_only, keyword_only = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.KEYWORD_ONLY
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):
            parameters = inspect.Signature().parameters
        # A signature of only `*args` and `**kwargs` cannot be compared with NumPy's.
        # Reductions are not compared, because they handle NumPy's default values themselves.
        if isinstance(function, _core.Reduction) or all(
            parameter.kind in _VARIADIC for parameter in parameters.values()
        ):
            self._numpy_signature = None  # `__call__` then passes all arguments unchanged
        self._keyword_names = {name for name, parameter in parameters.items() if parameter.kind is not positional_only}
        self._aligned_count = self._count_aligned(
            [name for name, parameter in parameters.items() if parameter.kind is not keyword_only]
        )

    @property
    def direct_count(self) -> int:
        """Maximum number of positional arguments that need no adaptation, in a call without keywords."""
        return sys.maxsize if self._numpy_signature is None else self._aligned_count

    def _count_aligned(self, names: list[str]) -> int:
        """Count the leading parameters that PyGPU's and NumPy's function share; the name of the first may differ."""
        count = 0
        for name, parameter in self._numpy_signature.parameters.items() if self._numpy_signature else ():
            is_same = count < len(names) and table.OTHER_NAMES.get(name, name) == names[count]
            is_first = count == 0 and bool(names)
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY or not (is_same or is_first):
                break
            count += 1
        return count

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Call PyGPU's function with its own parameter names; omit arguments that equal NumPy's default values."""
        numpy_signature = self._numpy_signature
        if numpy_signature is None or (len(args) <= self._aligned_count and self._keyword_names.issuperset(kwargs)):
            # The first argument may be passed by NumPy's name, as in `np.sum(a=x)`.
            if numpy_signature is None and not args and self._first_name in kwargs:
                args, kwargs = (kwargs[self._first_name],), _without(kwargs, self._first_name)
            return self.function(*args, **kwargs)
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        order = {name: position for position, name in enumerate(numpy_signature.parameters)}
        for name, value in numpy_signature.bind(*args, **kwargs).arguments.items():
            own_name = table.OTHER_NAMES.get(name, name)
            if name == "kwargs":
                keywords |= value
            elif len(positional) == order[name] < self._aligned_count:
                positional.append(value)
            elif own_name in self._keyword_names:
                keywords[own_name] = value
            elif name not in table.WITHOUT_EFFECT and not _is_default(numpy_signature.parameters[name].default, value):
                raise TypeError(
                    f"numpy.{self._path}: PyGPU's function has no parameter {name}, given {value!r}; leave it out, or "
                    "take the values to the host by .get()"
                )
        return self.function(*positional, **keywords)


class ClipAdapter(ArgumentAdapter):
    """Adapter of `clip`: NumPy rejects `a_min` without `a_max`, and vice versa; the array API accepts one limit."""

    __slots__ = ()

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Call `clip`; raise NumPy's errors for one limit without the other and for limits under two names."""
        limits = {"a_min", "a_max"} & {*kwargs, *("a", "a_min", "a_max")[: len(args)]}
        if len(limits) == 1:
            missing = "a_max" if "a_min" in limits else "a_min"
            raise TypeError(f"clip() missing 1 required positional argument: {missing!r}")
        if limits and not {"min", "max"}.isdisjoint(kwargs):
            raise ValueError(
                "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden."
            )
        return super().__call__(args, kwargs)


def _without(arguments: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {other: value for other, value in arguments.items() if other != name}


def _is_default(default: Any, value: Any) -> bool:
    return value is default or (isinstance(value, (bool, int, str)) and bool(value == default))
