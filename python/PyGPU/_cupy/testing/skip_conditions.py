"""Decorators that skip or mark tests under conditions, or seed the random numbers of tests."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.metadata
import inspect
import os
import random
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from PyGPU._cupy.functions import random_numbers
from PyGPU._cupy.public_lookup import public_module

__all__ = [
    "NumpyAliasBasicTestBase", "NumpyAliasValuesTestBase", "fix_random", "generate_seed", "installed", "multi_gpu",
    "numpy_satisfies", "slow", "with_requires",
]  # fmt: skip

_seeded = 0
"""Number of blocks with fixed random numbers that have begun and not ended."""


def installed(*specifiers: str) -> bool:
    """Return whether packages are installed in versions that satisfy requirements.

    Parameters
    ----------
    *specifiers : str
        Requirements such as ``numpy>=2.0``.

    Returns
    -------
    bool

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.testing.installed("numpy>=1.20")
    True
    """
    from packaging.requirements import Requirement

    for specifier in specifiers:
        requirement = Requirement(specifier)
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            return False
        if not requirement.specifier.contains(version, prereleases=True):
            return False
    return True


def numpy_satisfies(version_range: str) -> bool:
    """Return whether the version of NumPy satisfies a requirement.

    Parameters
    ----------
    version_range : str
        Range such as ``>=2.0``.

    Returns
    -------
    bool

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.testing.numpy_satisfies("<1.0")
    False
    """
    return installed(f"numpy{version_range}")


def with_requires(*requirements: str) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that skips a test unless installed packages satisfy requirements.

    Parameters
    ----------
    *requirements : str
        Requirements such as ``scipy>=1.14``.

    Returns
    -------
    function

    Examples
    --------
    >>> from PyGPU import cupy
    >>> @cupy.testing.with_requires("numpy>=1.20")
    ... def test_sum(): ...
    """
    import pytest

    return pytest.mark.skipif(not installed(*requirements), reason=f"requires: {','.join(requirements)}")


def slow(*args: Any, **kwargs: Any) -> Any:
    """Mark a test as slow, by ``pytest.mark.slow``.

    Parameters
    ----------
    *args, **kwargs : object
        Arguments of ``pytest.mark.slow``.

    Returns
    -------
    function
    """
    import pytest

    return pytest.mark.slow(*args, **kwargs)


def multi_gpu(gpu_num: int) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that marks a test by the number of devices that it needs.

    Parameters
    ----------
    gpu_num : int
        Number of devices, at least 2. The test is skipped if the environment variable ``CUPY_TEST_GPU_LIMIT`` is lower
        than this number.

    Returns
    -------
    function
    """
    import pytest

    if gpu_num < 2:
        raise ValueError(f"multi_gpu: {gpu_num} devices are no several devices; pass at least 2")
    text = os.environ.get("CUPY_TEST_GPU_LIMIT", "-1")
    try:
        limit = int(text)
    except ValueError:
        raise ValueError(f"CUPY_TEST_GPU_LIMIT is {text!r}; write a number of devices, as 2") from None
    skip = pytest.mark.skipif(0 <= limit < gpu_num, reason=f"{gpu_num} GPUs required")
    return lambda test: skip(pytest.mark.multi_gpu(test))


@contextlib.contextmanager
def _fixed_seeds() -> Iterator[None]:
    """Seed Python's, NumPy's and the devices' random numbers inside a ``with`` block; a nested block has no effect."""
    global _seeded
    _seeded += 1
    if _seeded > 1:
        try:
            yield
        finally:
            _seeded -= 1
        return
    python, numpys, devices = random.getstate(), np.random.get_state(), dict(random_numbers._states)
    random_numbers.reset_states()
    is_free = os.environ.get("CUPY_TEST_RANDOM_NONDETERMINISTIC", "0") != "0"
    random.seed(None if is_free else 99)
    np.random.seed(None if is_free else 100)
    random_numbers.seed(None if is_free else 101)
    try:
        yield
    finally:
        _seeded -= 1
        random.setstate(python)
        np.random.set_state(numpys)
        random_numbers.reset_states()
        random_numbers._states.update(devices)


def generate_seed() -> int:
    """Return a random seed; the calling test must be decorated by `fix_random`.

    Returns
    -------
    int
    """
    if not _seeded:
        raise AssertionError("generate_seed is called in a test that cupy.testing.fix_random decorates")
    return int(np.random.randint(0x7FFFFFFF))


def fix_random() -> Callable[[Any], Any]:
    """Return a decorator that seeds the random numbers of a test, so that they are the same in every run.

    Returns
    -------
    function

    Examples
    --------
    >>> from PyGPU import cupy
    >>> @cupy.testing.fix_random()
    ... def test_seed():
    ...     return cupy.testing.generate_seed()
    >>> test_seed() == test_seed()
    True
    """

    def decorate(test: Any) -> Any:
        if inspect.isfunction(test):

            @functools.wraps(test)
            def run(*args: Any, **kwargs: Any) -> Any:
                with _fixed_seeds():
                    return test(*args, **kwargs)

            return run
        if not (isinstance(test, type) and issubclass(test, unittest.TestCase)):
            raise ValueError(f"fix_random decorates a test function or a unittest.TestCase, not {test!r}")
        set_up = test.setUp

        def seeded_set_up(self: unittest.TestCase) -> None:
            block = _fixed_seeds()
            block.__enter__()
            self.addCleanup(block.__exit__, None, None, None)
            set_up(self)

        test.setUp = seeded_set_up  # type: ignore[method-assign]
        return test

    return decorate


class _NumpyAlias(unittest.TestCase):
    """Base class of tests that compare the function ``self.func`` of `cupy` with NumPy's function of this name."""

    func: str

    @property
    def cupy_func(self) -> Any:
        """The tested function of `cupy`."""
        return getattr(public_module("cupy"), self.func)

    @property
    def numpy_func(self) -> Any:
        """NumPy's function of the same name."""
        return getattr(np, self.func)


class NumpyAliasBasicTestBase(_NumpyAlias):
    """Base class, with parameters as `unittest.TestCase`, of tests of a function's parameters and docstring."""

    def test_argspec(self) -> None:
        """Compare the parameters of both functions."""
        assert inspect.signature(self.cupy_func) == inspect.signature(self.numpy_func)

    def test_docstring(self) -> None:
        """Require that the function of `cupy` has a docstring."""
        assert self.cupy_func.__doc__


class NumpyAliasValuesTestBase(_NumpyAlias):
    """Base class, with parameters as `unittest.TestCase`, of tests that a function of `cupy` returns NumPy's value."""

    args: tuple[Any, ...]

    def test_values(self) -> None:
        """Compare the values that both functions return."""
        assert self.cupy_func(*self.args) == self.numpy_func(*self.args)
