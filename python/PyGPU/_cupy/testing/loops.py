"""Decorators that run a test once for each of several dtypes, memory orders or axes."""

from __future__ import annotations

import functools
import inspect
import itertools
import os
import random
import unittest
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from PyGPU._names.docstrings import documented_like

__all__ = [
    "for_CF_orders", "for_all_dtypes", "for_all_dtypes_combination", "for_complex_dtypes", "for_contiguous_axes",
    "for_dtypes", "for_dtypes_combination", "for_float_dtypes", "for_int_dtypes", "for_int_dtypes_combination",
    "for_orders", "for_signed_dtypes", "for_signed_dtypes_combination", "for_unsigned_dtypes",
    "for_unsigned_dtypes_combination", "skip_classes", "without_parameters",
]  # fmt: skip

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

COMPLEX: tuple[type, ...] = (np.complex64, np.complex128)
FLOATS: tuple[type, ...] = (np.float64, np.float32, np.float16)
SIGNED: tuple[type, ...] = tuple(np.dtype(character).type for character in "bhilq")
UNSIGNED: tuple[type, ...] = tuple(np.dtype(character).type for character in "BHILQ")


def skip_classes() -> tuple[type[BaseException], ...]:
    """Return the exception classes by which unittest and pytest skip a test."""
    try:
        from _pytest.outcomes import Skipped
    except ImportError:
        return (unittest.SkipTest,)
    return (unittest.SkipTest, Skipped)


def without_parameters(test: Callable[..., Any], run: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """Copy a test's metadata to a function, except for parameters that pytest would take for fixtures."""
    run = functools.wraps(test)(run)
    signature = inspect.signature(test)
    remaining = [parameter for name, parameter in signature.parameters.items() if name not in names]
    run.__signature__ = signature.replace(parameters=remaining)  # type: ignore[attr-defined]
    return run


def _for_each(cases: Sequence[dict[str, Any]], names: Iterable[str]) -> _Decorator:
    """Return a decorator that runs a test once for each set of keyword arguments; errors name the failing set."""

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        skipped = skip_classes()

        def run(*args: Any, **kwargs: Any) -> None:
            for case in cases:
                try:
                    test(*args, **{**kwargs, **case})
                except skipped as reason:
                    print(f"skipped for {_text(case)}: {reason}")
                except Exception as error:
                    error.add_note(f"for {_text(case)}")
                    raise

        return without_parameters(test, run, *names)

    return decorate


def _text(case: dict[str, Any]) -> str:
    return ", ".join(f"{name}={getattr(value, '__name__', value)}" for name, value in case.items())


def for_dtypes(dtypes: Iterable[Any], name: str = "dtype") -> _Decorator:
    """Return a decorator that runs a test once for each dtype.

    Parameters
    ----------
    dtypes : iterable of dtypes
        The dtypes.
    name : str, optional
        Parameter of the test that receives the dtype's class.

    Returns
    -------
    function

    Examples
    --------
    >>> from PyGPU import cupy
    >>> @cupy.testing.for_dtypes("fd")
    ... def test_names(dtype):
    ...     print(dtype.__name__)
    >>> test_names()
    float32
    float64
    """
    return _for_each([{name: np.dtype(dtype).type} for dtype in dtypes], [name])


def _all(no_float16: bool, no_bool: bool, no_complex: bool) -> tuple[type, ...]:
    floats = FLOATS[:2] if no_float16 else FLOATS
    return floats + SIGNED + UNSIGNED + (() if no_bool else (np.bool_,)) + (() if no_complex else COMPLEX)


def for_all_dtypes(
    name: str = "dtype", no_float16: bool = False, no_bool: bool = False, no_complex: bool = False
) -> _Decorator:
    """Return a decorator that runs a test once for each dtype of numbers.

    Parameters
    ----------
    name : str, optional
        Parameter of the test that receives the dtype's class.
    no_float16, no_bool, no_complex : bool, optional
        Whether to omit float16, bool, or the complex dtypes.

    Returns
    -------
    function
    """
    return for_dtypes(_all(no_float16, no_bool, no_complex), name)


def for_float_dtypes(name: str = "dtype", no_float16: bool = False) -> _Decorator:
    """Return a decorator that runs a test once for each real floating-point dtype.

    Parameters
    ----------
    name : str, optional
        Parameter of the test that receives the dtype's class.
    no_float16 : bool, optional
        Whether to omit float16.

    Returns
    -------
    function
    """
    return for_dtypes(FLOATS[:2] if no_float16 else FLOATS, name)


def for_signed_dtypes(name: str = "dtype") -> _Decorator:
    """Return a decorator that runs a test once for each signed integer dtype.

    Parameters
    ----------
    name : str, optional
        Parameter of the test that receives the dtype's class.

    Returns
    -------
    function
    """
    return for_dtypes(SIGNED, name)


def for_unsigned_dtypes(name: str = "dtype") -> _Decorator:
    """Return a decorator that runs a test once for each unsigned integer dtype.

    Parameters
    ----------
    name : str, optional
        Parameter of the test that receives the dtype's class.

    Returns
    -------
    function
    """
    return for_dtypes(UNSIGNED, name)


def for_int_dtypes(name: str = "dtype", no_bool: bool = False) -> _Decorator:
    """Return a decorator that runs a test once for each integer dtype, and bool.

    Parameters
    ----------
    name : str, optional
        Parameter of the test that receives the dtype's class.
    no_bool : bool, optional
        Whether to omit bool.

    Returns
    -------
    function
    """
    return for_dtypes(SIGNED + UNSIGNED + (() if no_bool else (np.bool_,)), name)


def for_complex_dtypes(name: str = "dtype") -> _Decorator:
    """Return a decorator that runs a test for complex64 and complex128.

    Parameters
    ----------
    name : str, optional
        Parameter of the test that receives the dtype's class.

    Returns
    -------
    function
    """
    return for_dtypes(COMPLEX, name)


def for_dtypes_combination(
    types: Iterable[Any], names: Sequence[str] = ("dtype",), full: bool | None = None
) -> _Decorator:
    """Return a decorator that runs a test for combinations of dtypes.

    Parameters
    ----------
    types : iterable of dtypes
        The dtypes.
    names : sequence of str, optional
        Parameters of the test that receive the dtypes' classes.
    full : bool, optional
        True tests all combinations; False tests combinations of equal dtypes and one random pairing. By default the
        environment variable ``CUPY_TEST_FULL_COMBINATION`` decides.

    Returns
    -------
    function

    Examples
    --------
    >>> from PyGPU import cupy
    >>> @cupy.testing.for_dtypes_combination("fd", names=("x", "y"), full=True)
    ... def test_names(x, y):
    ...     print(x.__name__, y.__name__)
    >>> test_names()
    float32 float32
    float32 float64
    float64 float32
    float64 float64
    """
    types = [np.dtype(dtype).type for dtype in types]
    if full is None:
        full = os.environ.get("CUPY_TEST_FULL_COMBINATION", "0") != "0"
    if full or len(names) == 1:
        combinations: Iterable[tuple[Any, ...]] = itertools.product(types, repeat=len(names))
    else:
        shuffled = [random.sample(types, len(types)) for _ in names]
        pairings = [*zip(*[types] * len(names), strict=True), *zip(*shuffled, strict=True)]
        combinations = dict.fromkeys(pairings)
    return _for_each([dict(zip(names, dtypes, strict=True)) for dtypes in combinations], names)


def for_all_dtypes_combination(
    names: Sequence[str] = ("dtyes",),
    no_float16: bool = False,
    no_bool: bool = False,
    full: bool | None = None,
    no_complex: bool = False,
) -> _Decorator:
    """Return a decorator that runs a test for combinations of all dtypes of numbers.

    Parameters
    ----------
    names : sequence of str, optional
        Parameters of the test that receive the dtypes' classes.
    no_float16, no_bool, no_complex : bool, optional
        Whether to omit float16, bool, or the complex dtypes.
    full : bool, optional
        As for `for_dtypes_combination`.

    Returns
    -------
    function
    """
    return for_dtypes_combination(_all(no_float16, no_bool, no_complex), names, full)


def for_signed_dtypes_combination(names: Sequence[str] = ("dtype",), full: bool | None = None) -> _Decorator:
    """Return a decorator that runs a test for combinations of signed integer dtypes.

    Parameters
    ----------
    names : sequence of str, optional
        Parameters of the test that receive the dtypes' classes.
    full : bool, optional
        As for `for_dtypes_combination`.

    Returns
    -------
    function
    """
    return for_dtypes_combination(SIGNED, names, full)


@documented_like(for_signed_dtypes_combination)
def for_unsigned_dtypes_combination(names: Sequence[str] = ("dtype",), full: bool | None = None) -> _Decorator:
    """Return a decorator that runs a test for combinations of unsigned integer dtypes."""
    return for_dtypes_combination(UNSIGNED, names, full)


def for_int_dtypes_combination(
    names: Sequence[str] = ("dtype",), no_bool: bool = False, full: bool | None = None
) -> _Decorator:
    """Return a decorator that runs a test for combinations of integer dtypes, and bool.

    Parameters
    ----------
    names : sequence of str, optional
        Parameters of the test that receive the dtypes' classes.
    no_bool : bool, optional
        Whether to omit bool.
    full : bool, optional
        As for `for_dtypes_combination`.

    Returns
    -------
    function
    """
    return for_dtypes_combination(SIGNED + UNSIGNED + (() if no_bool else (np.bool_,)), names, full)


def for_orders(orders: Iterable[Any], name: str = "order") -> _Decorator:
    """Return a decorator that runs a test once for each memory order.

    Parameters
    ----------
    orders : iterable
        The memory orders.
    name : str, optional
        Parameter of the test that receives the order.

    Returns
    -------
    function
    """
    return _for_each([{name: order} for order in orders], [name])


def for_CF_orders(name: str = "order") -> _Decorator:
    """Return a decorator that runs a test for the orders None, 'C', 'F', 'c' and 'f'.

    Parameters
    ----------
    name : str, optional
        Parameter of the test that receives the order.

    Returns
    -------
    function
    """
    return for_orders((None, "C", "F", "c", "f"), name)


def for_contiguous_axes(name: str = "axis") -> _Decorator:
    """Return a decorator that runs a test once for each tuple of axes that are contiguous in memory.

    Parameters
    ----------
    name : str, optional
        Parameter of the test that receives the axes. The test also has the parameters `shape` and `order`.

    Returns
    -------
    function
    """

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> None:
            for axes in _contiguous_axes(len(kwargs["shape"]), kwargs["order"]):
                try:
                    test(*args, **{**kwargs, name: axes})
                except Exception as error:
                    error.add_note(f"for {name}={axes}, shape={kwargs['shape']}, order={kwargs['order']}")
                    raise

        return without_parameters(test, run, name)

    return decorate


def _contiguous_axes(ndim: int, order: str) -> Iterator[tuple[int, ...]]:
    if order not in ("C", "c", "F", "f"):
        raise ValueError(f"for_contiguous_axes: order={order!r} is neither 'C' nor 'F'")
    for number in range(ndim):
        yield tuple(range(number, ndim)) if order in "Cc" else tuple(range(number + 1))
