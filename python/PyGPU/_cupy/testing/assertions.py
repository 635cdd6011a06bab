"""Assertions of `cupy.testing` that NumPy lacks, or whose parameters differ from NumPy's."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any
from unittest import mock

from PyGPU._testing import assertions

__all__ = ["AssertFunctionIsCalled", "assert_array_equal", "assert_array_list_equal", "assert_warns"]


def assert_array_equal(
    actual: Any,
    desired: Any,
    err_msg: str = "",
    verbose: bool = True,
    *,
    strict: bool = False,
    strides_check: bool = False,
) -> None:
    """Raise an error unless two arrays are equal.

    Parameters
    ----------
    actual, desired : array_like
        Device or host arrays.
    err_msg : str, optional
        Text that precedes the differences.
    verbose : bool, optional
        Whether the message contains the values.
    strict : bool, optional
        Whether the shapes and dtypes of both arrays must be equal.
    strides_check : bool, optional
        Whether the strides of both arrays must be equal.

    Raises
    ------
    AssertionError
        If the arrays differ.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.testing.assert_array_equal(cupy.arange(3), [0, 1, 2])
    """
    __tracebackhide__ = True
    assertions.assert_array_equal(actual, desired, err_msg=err_msg, verbose=verbose, strict=strict)
    if strides_check and actual.strides != desired.strides:
        raise AssertionError(f"the strides are {actual.strides} and {desired.strides}; {err_msg}".rstrip("; "))


def assert_array_list_equal(xlist: Any, ylist: Any, err_msg: str = "", verbose: bool = True) -> None:
    """Raise an error unless the arrays of two lists, or of two tuples, are equal.

    Parameters
    ----------
    xlist, ylist : list or tuple
        Device or host arrays.
    err_msg : str, optional
        Text that precedes the differences.
    verbose : bool, optional
        Whether the message contains the values.

    Raises
    ------
    AssertionError
        If the types or lengths of the lists differ, or if two arrays differ.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.testing.assert_array_list_equal([cupy.arange(2)], [cupy.arange(2)])
    """
    __tracebackhide__ = True
    if type(xlist) is not type(ylist) or not isinstance(xlist, list | tuple):
        raise AssertionError(f"two lists or two tuples are compared, not {type(xlist)} and {type(ylist)}")
    if len(xlist) != len(ylist):
        raise AssertionError(f"the lists have {len(xlist)} and {len(ylist)} arrays")
    for x, y in zip(xlist, ylist, strict=True):
        assertions.assert_array_equal(x, y, err_msg=err_msg, verbose=verbose)


@contextlib.contextmanager
def assert_warns(expected: type[Warning]) -> Iterator[None]:
    """Raise an error unless the ``with`` block emits a warning of a class.

    Parameters
    ----------
    expected : type
        Class of the warning.

    Raises
    ------
    AssertionError
        If no such warning is emitted.

    Examples
    --------
    >>> import warnings
    >>> from PyGPU import cupy
    >>> with cupy.testing.assert_warns(UserWarning):
    ...     warnings.warn("a text")
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    if not any(isinstance(warning.message, expected) for warning in caught):
        raise AssertionError(f"no {expected.__name__} was emitted")


@contextlib.contextmanager
def AssertFunctionIsCalled(*args: Any, times_called: int = 1, **kwargs: Any) -> Iterator[None]:
    """Raise an error unless the ``with`` block calls a function a given number of times; a mock replaces the function.

    Parameters
    ----------
    *args, **kwargs : object
        As for `unittest.mock.patch`.
    times_called : int, optional
        Expected number of calls.

    Raises
    ------
    AssertionError
        If the number of calls differs.

    Examples
    --------
    >>> import os
    >>> from PyGPU import cupy
    >>> with cupy.testing.AssertFunctionIsCalled("os.getcwd"):
    ...     _ = os.getcwd()
    """
    with mock.patch(*args, **kwargs) as replaced:
        yield
        if replaced.call_count != times_called:
            raise AssertionError(f"{args} was called {replaced.call_count} times, not {times_called}")
