"""The decorator `parameterize`, which runs a test class once for each set of attributes."""

from __future__ import annotations

import itertools
import sys
import unittest
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

__all__ = ["parameterize", "product", "product_dict"]

_MAX_VALUE, _MAX_NAME = 100, 5000
"""Number of characters of one value and of all values in the name of a class."""


def product(parameter: dict[str, Iterable[Any]]) -> list[dict[str, Any]]:
    """Return one dict for each combination of the values of all names.

    Parameters
    ----------
    parameter : dict
        Iterable of values for each name.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.testing.product({"a": [1, 2], "b": [3]})
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    names = sorted(parameter)
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*(parameter[name] for name in names))]


def product_dict(*parameters: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one merged dict for each combination of dicts, one from each iterable.

    Parameters
    ----------
    *parameters : iterable of dict
        Iterables, each of which contains alternative dicts.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.testing.product_dict([{"a": 1}, {"a": 2}], [{"b": 3}])
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    return [{key: value for one in dicts for key, value in one.items()} for dicts in itertools.product(*parameters)]


def parameterize(*params: dict[str, Any], _ids: bool = True) -> Callable[[type], Any]:
    """Return a decorator that runs a test class once for each set of attributes.

    Parameters
    ----------
    *params : dict
        Set of attributes for the instances of the class.
    _ids : bool, optional
        Whether pytest shows the attributes in the names of tests, instead of the index of each set.

    Returns
    -------
    function
        Decorator. For a `unittest.TestCase`, it adds one class per set to the module and returns None. For another
        class, it uses ``pytest.mark.parametrize``.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> @cupy.testing.parameterize({"n": 1}, {"n": 2})
    ... class TestNumber:
    ...     def test_is_positive(self):
    ...         assert self.n > 0
    """

    def decorate(cls: type) -> Any:
        if issubclass(cls, unittest.TestCase):
            return _into_module(cls, params)
        return _by_pytest(cls, params, _ids)

    return decorate


def _shortened(text: str, limit: int) -> str:
    half = (limit - 3) // 2
    return text if len(text) <= limit else f"{text[:half]}...{text[half + 3 - limit :]}"


def _class_name(base: str, number: int, parameters: dict[str, Any]) -> str:
    texts = []
    for name, value in sorted(parameters.items()):
        label = getattr(value, "__name__", None)
        texts.append(f"{name}={_shortened(label if isinstance(label, str) else repr(value), _MAX_VALUE)}")
    return f"{base}_param_{number}_{{{_shortened(', '.join(texts), _MAX_NAME)}}}"


def _attribute(value: Any) -> Any:
    """Convert a value to an attribute of a class; a function becomes a static method, to be called without `self`."""
    return staticmethod(value) if isinstance(value, FunctionType) else value


def _into_module(cls: type, params: tuple[dict[str, Any], ...]) -> None:
    module = sys.modules[cls.__module__]
    for number, parameters in enumerate(params):
        members = {name: _attribute(value) for name, value in parameters.items()}
        # The tests are copied into each class, because pytest collects a class's own attributes first.
        tests = {name: getattr(cls, name) for name in dir(cls) if name.startswith("test_")}
        name = _class_name(cls.__name__, number, parameters)
        setattr(module, name, type(name, (cls,), {**tests, **members, "__module__": cls.__module__}))


def _by_pytest(cls: type, params: tuple[dict[str, Any], ...], with_names: bool) -> type:
    import pytest

    class Parameterized(cls):  # type: ignore[misc]
        @pytest.fixture(autouse=True)
        def _cupy_testing_parameterize(self, _cupy_testing_param: dict[str, Any]) -> None:
            self.__dict__.update(_cupy_testing_param)

    Parameterized.__name__, Parameterized.__qualname__, Parameterized.__module__ = (
        cls.__name__, cls.__qualname__, cls.__module__,
    )  # fmt: skip
    cases = [
        pytest.param(one, id=_class_name("", number, one) if with_names else str(number))
        for number, one in enumerate(params)
    ]
    return pytest.mark.parametrize("_cupy_testing_param", cases)(Parameterized)
