"""PyCUDA's tools around contexts: choosing a device, caches for each context, tests that need one."""

from __future__ import annotations

import functools
import gc
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, SupportsIndex, TypeVar

from PyGPU import _core, driver

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = [
    "clear_context_caches",
    "context_dependent_memoize",
    "context_dependent_memoized_functions",
    "get_default_device",
    "init_cuda_context_fixture",
    "make_default_context",
    "mark_cuda_test",
]

P = ParamSpec("P")
T = TypeVar("T")

context_dependent_memoized_functions: list[Callable[..., Any]] = []
"""The functions that `context_dependent_memoize` made."""
_caches: list[dict[Any, Any]] = []


def _chosen_device() -> int | None:
    """Return the number that ``CUDA_DEVICE`` or the file ``~/.cuda_device`` says."""
    said = os.environ.get("CUDA_DEVICE")
    if said is None:
        try:
            said = (Path.home() / ".cuda_device").read_text()
        except (OSError, RuntimeError):
            return None
    try:
        return int(said)
    except ValueError:
        raise RuntimeError(f"CUDA_DEVICE or ~/.cuda_device is {said.strip()!r}: no number of a device") from None


def make_default_context(ctx_maker: Callable[[driver.Device], driver.Context] | None = None) -> driver.Context:
    """Make the context of a device current: that which ``CUDA_DEVICE`` or ``~/.cuda_device`` names, else the first.

    Parameters
    ----------
    ctx_maker : callable, optional
        Makes the context of a device; ``Device.make_context`` by default.

    Returns
    -------
    Context

    Raises
    ------
    RuntimeError
        If no device gives one.

    Examples
    --------
    >>> from PyGPU.tools import make_default_context
    >>> context = make_default_context()
    >>> context.pop()
    """
    make = driver.Device.make_context if ctx_maker is None else ctx_maker
    chosen = _chosen_device()
    if chosen is not None:
        return make(driver.Device(chosen))
    failures = []
    for number in range(driver.Device.count()):
        try:
            return make(driver.Device(number))
        except driver.Error as error:
            failures.append(f"\n  {number}: {error}")
    raise RuntimeError(f"no device gives a context:{''.join(failures)}")


def get_default_device(default: SupportsIndex = 0) -> driver.Device:
    """Return the device that ``CUDA_DEVICE`` or ``~/.cuda_device`` names.

    Parameters
    ----------
    default : int, optional
        The number for when none is named.

    Returns
    -------
    Device

    Warns
    -----
    DeprecationWarning
        Always: `make_default_context` is the newer way.

    Examples
    --------
    >>> import warnings
    >>> from PyGPU.tools import get_default_device
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     device = get_default_device()
    """
    warnings.warn("get_default_device() is deprecated: make_default_context()", DeprecationWarning, stacklevel=2)
    chosen = _chosen_device()
    return driver.Device(default if chosen is None else chosen)


def context_dependent_memoize(func: Callable[P, T]) -> Callable[P, T]:
    """Keep what a function returns, for each device and each set of arguments.

    Parameters
    ----------
    func : callable
        Its arguments must be hashable.

    Returns
    -------
    callable

    Examples
    --------
    >>> from PyGPU.tools import context_dependent_memoize
    >>> @context_dependent_memoize
    ... def name(number):
    ...     print("made")
    ...     return str(number)
    >>> name(1), name(1)
    made
    ('1', '1')
    """
    cache: dict[Any, T] = {}

    @functools.wraps(func)
    def memoized(*args: P.args, **kwargs: P.kwargs) -> T:
        key = (_core.current_device(), args, frozenset(kwargs.items()))
        try:
            return cache[key]
        except KeyError:
            result = cache[key] = func(*args, **kwargs)
            return result

    context_dependent_memoized_functions.append(memoized)
    _caches.append(cache)
    return memoized


def clear_context_caches() -> None:
    """Forget what the functions of `context_dependent_memoize` returned.

    Examples
    --------
    >>> from PyGPU.tools import clear_context_caches
    >>> clear_context_caches()
    """
    for cache in _caches:
        cache.clear()


def init_cuda_context_fixture() -> Generator[None, None, None]:
    """Make a context current, and pop it afterwards: for ``yield from`` in a fixture of pytest.

    Yields
    ------
    None

    Examples
    --------
    >>> from PyGPU.tools import init_cuda_context_fixture
    >>> for _ in init_cuda_context_fixture():
    ...     pass
    """
    driver.init()
    context = make_default_context()
    try:
        device = context.get_device()
        assert isinstance(device.name(), str)
        assert isinstance(device.compute_capability(), tuple)
        assert isinstance(device.get_attributes(), dict)
        yield
    finally:
        if driver.Context.get_current() is context:
            context.pop()
        clear_context_caches()
        gc.collect()


def mark_cuda_test(inner_f: Callable[P, T]) -> Callable[P, T]:
    """Run a function in a context of its own.

    Parameters
    ----------
    inner_f : callable
        The function, most often a test.

    Returns
    -------
    callable

    Examples
    --------
    >>> from PyGPU import driver
    >>> from PyGPU.tools import mark_cuda_test
    >>> @mark_cuda_test
    ... def has_context():
    ...     return driver.Context.get_current() is not None
    >>> has_context()
    True
    """

    @functools.wraps(inner_f)
    def in_context(*args: P.args, **kwargs: P.kwargs) -> T:
        steps = init_cuda_context_fixture()
        next(steps)
        try:
            return inner_f(*args, **kwargs)
        finally:
            steps.close()

    return in_context
