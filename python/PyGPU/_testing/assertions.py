"""Assertions of `numpy.testing` that also accept device arrays, which they copy to the host."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from numpy import testing as _numpys
from numpy.testing import assert_raises, assert_raises_regex, assert_string_equal, assert_warns

from PyGPU import _core

__all__ = [
    "assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal",
    "assert_array_almost_equal_nulp", "assert_array_equal", "assert_array_less", "assert_array_max_ulp", "assert_equal",
    "assert_raises", "assert_raises_regex", "assert_string_equal", "assert_warns", "on_host",
]  # fmt: skip

_Function = TypeVar("_Function", bound=Callable[..., Any])


def on_host(argument: Any) -> Any:
    """Replace device arrays by copies on the host, also in lists, tuples and dicts."""
    if isinstance(argument, _core.GPUArray):
        return argument.get()
    if type(argument) in (list, tuple):
        return type(argument)(on_host(element) for element in argument)
    if type(argument) is dict:
        return {key: on_host(element) for key, element in argument.items()}
    return argument


def _fetching(function: _Function) -> _Function:
    """Wrap an assertion of `numpy.testing` so that it also accepts device arrays."""

    @functools.wraps(function)
    def compare(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True  # pytest then shows the failing line of the test instead of this function.
        return function(*on_host(args), **on_host(kwargs))

    compare.__module__ = "PyGPU.testing"  # `help` shows `PyGPU.testing` as the function's module.
    compare.__doc__ = f"{_summary(function)}\n\n    As `numpy.testing.{function.__name__}`; device arrays are fetched."
    return compare  # type: ignore[return-value]


def _summary(function: Callable[..., Any]) -> str:
    """Return the first sentence of a docstring."""
    return " ".join((function.__doc__ or "").strip().partition("\n\n")[0].split())


assert_allclose = _fetching(_numpys.assert_allclose)
assert_almost_equal = _fetching(_numpys.assert_almost_equal)
assert_approx_equal = _fetching(_numpys.assert_approx_equal)
assert_array_almost_equal = _fetching(_numpys.assert_array_almost_equal)
assert_array_almost_equal_nulp = _fetching(_numpys.assert_array_almost_equal_nulp)
assert_array_equal = _fetching(_numpys.assert_array_equal)
assert_array_less = _fetching(_numpys.assert_array_less)
assert_array_max_ulp = _fetching(_numpys.assert_array_max_ulp)
assert_equal = _fetching(_numpys.assert_equal)
