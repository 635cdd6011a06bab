"""CuPy's decorator `memoize`, which stores the results of a function, optionally for each device."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from PyGPU import _core

__all__ = ["clear_memo", "memoize"]

_stored: list[dict[Any, Any]] = []


def memoize(for_each_device: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that stores the results of a function, and returns a stored result for equal arguments.

    Parameters
    ----------
    for_each_device : bool, optional
        Whether results are stored separately for each device.

    Returns
    -------
    function
        Decorator. The arguments of the decorated function must be hashable.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> @cupy.memoize()
    ... def doubled(n):
    ...     print("computed")
    ...     return 2 * n
    >>> doubled(2) + doubled(2)
    computed
    8
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        results: dict[Any, Any] = {}
        _stored.append(results)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            device = _core.current_device() if for_each_device else None
            key = (device, args, frozenset(kwargs.items()))
            try:
                return results[key]
            except KeyError:
                # If two threads compute the same result at once, both threads return the result that was stored first.
                return results.setdefault(key, function(*args, **kwargs))

        return call

    return decorate


def clear_memo() -> None:
    """Drop the stored results of all functions that `memoize` has decorated.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.clear_memo()
    """
    for results in _stored:
        results.clear()
