"""PyCUDA's tools for contexts: create the default context, cache results for each context, and set up tests."""

from __future__ import annotations

import functools
import gc
import os
import warnings
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from PyGPU import _core
from PyGPU._pycuda.driver.context import Context
from PyGPU._pycuda.driver.device import Device, init

__all__ = [
    "clear_context_caches",
    "context_dependent_memoize",
    "context_dependent_memoized_functions",
    "get_default_device",
    "init_cuda_context_fixture",
    "make_default_context",
    "mark_cuda_test",
]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def _device_setting() -> int | None:
    """Return the device number from ``CUDA_DEVICE`` or ``~/.cuda_device``, or None."""
    text = os.environ.get("CUDA_DEVICE")
    if text is None:
        try:
            text = (Path.home() / ".cuda_device").read_text()
        except (OSError, RuntimeError):
            return None
    try:
        return int(text.strip())
    except ValueError as error:
        raise RuntimeError(
            f"CUDA_DEVICE and ~/.cuda_device name a device by its number, not by {text.strip()!r}"
        ) from error


def make_default_context(ctx_maker: Callable[[Device], Context] | None = None) -> Context:
    """Create a context of the default device and make it current.

    Parameters
    ----------
    ctx_maker : callable, optional
        Function that creates the context of a `driver.Device`; defaults to the device's method `make_context`.

    Returns
    -------
    driver.Context
        Context of the device that ``CUDA_DEVICE`` or the file ``~/.cuda_device`` names, otherwise of the first usable
        device.

    Raises
    ------
    RuntimeError
        If no device is usable.

    Examples
    --------
    >>> from PyGPU.tools import make_default_context
    >>> context = make_default_context()
    >>> context.pop()
    """
    create = ctx_maker or (lambda device: device.make_context())
    configured = _device_setting()
    if configured is not None:
        try:
            return create(Device(configured))
        except _core.Error as error:
            raise RuntimeError(f"device {configured}, which CUDA_DEVICE or ~/.cuda_device name: {error}") from error
    failures = []
    for ordinal in range(Device.count()):
        try:
            return create(Device(ordinal))
        except _core.Error as error:
            failures.append(str(error))
    raise RuntimeError(f"make_default_context(): no device works: {'; '.join(failures)}")


def get_default_device(default: int = 0) -> Device:
    """Return the default device; deprecated in PyCUDA.

    Parameters
    ----------
    default : int, optional
        Device number that is used if neither ``CUDA_DEVICE`` nor ``~/.cuda_device`` names a device.

    Returns
    -------
    driver.Device

    Examples
    --------
    >>> import warnings
    >>> from PyGPU.tools import get_default_device
    >>> with warnings.catch_warnings(action='ignore'):
    ...     device = get_default_device()
    """
    warnings.warn("get_default_device() is deprecated; use make_default_context()", DeprecationWarning, stacklevel=2)
    ordinal = _device_setting()
    return Device(default if ordinal is None else ordinal)


context_dependent_memoized_functions: list[dict[Hashable, Any]] = []
"""Caches of the functions that `context_dependent_memoize` returned."""


def context_dependent_memoize(func: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Cache the results of a function for each device.

    Parameters
    ----------
    func : callable
        Function whose arguments are hashable.

    Returns
    -------
    callable

    Examples
    --------
    >>> from PyGPU.tools import context_dependent_memoize
    >>> @context_dependent_memoize
    ... def square(x):
    ...     return x * x
    >>> square(3)
    9
    """
    cache: dict[Hashable, Any] = {}
    context_dependent_memoized_functions.append(cache)

    @functools.wraps(func)
    def cached(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        key = (_core.current_device(), args, frozenset(kwargs.items()))
        try:
            return cast(Result, cache[key])
        except KeyError:
            # If two threads compute a result at once, `setdefault` keeps one result.
            return cast(Result, cache.setdefault(key, func(*args, **kwargs)))

    return cached


def clear_context_caches() -> None:
    """Clear the caches of `context_dependent_memoize`.

    Examples
    --------
    >>> from PyGPU.tools import clear_context_caches
    >>> clear_context_caches()
    """
    for cache in context_dependent_memoized_functions:
        cache.clear()


def init_cuda_context_fixture() -> Iterator[None]:
    """Open a context before a test and close the context afterwards; for ``yield from`` in a pytest fixture.

    Yields
    ------
    None
        While the context is current.

    Examples
    --------
    >>> from PyGPU.tools import init_cuda_context_fixture
    >>> for _ in init_cuda_context_fixture():
    ...     pass
    """
    init()
    context = make_default_context()
    try:
        device = context.get_device()
        assert isinstance(device.name(), str)
        assert isinstance(device.compute_capability(), tuple)
        assert isinstance(device.get_attributes(), dict)
        yield
    finally:
        context.pop()
        clear_context_caches()
        gc.collect()


def mark_cuda_test(func: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Decorate a test function so that each call runs with a separate context.

    Parameters
    ----------
    func : callable
        Test function.

    Returns
    -------
    callable

    Examples
    --------
    >>> from PyGPU.tools import mark_cuda_test
    >>> @mark_cuda_test
    ... def test_nothing():
    ...     return 'done'
    >>> test_nothing()
    'done'
    """

    @functools.wraps(func)
    def wrapper(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        steps = init_cuda_context_fixture()
        next(steps)
        try:
            return func(*args, **kwargs)
        finally:
            for _ in steps:
                pass

    return wrapper
