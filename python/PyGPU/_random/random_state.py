"""The class `RandomState`, NumPy's older generator, which draws from a `Generator` of PyGPU."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random.generator import Generator, default_rng

__all__ = ["RandomState"]


def _method(name: str) -> Callable[..., Any]:
    """Return a method of `RandomState` that calls the method of `Generator` with the same name."""
    own = getattr(Generator, name)

    @functools.wraps(own)
    def method(self: RandomState, *arguments: Any, **keywords: Any) -> Any:
        return getattr(self._generator, name)(*arguments, **keywords)

    method.__doc__ = (inspect.getdoc(own) or "").replace("default_rng(1)", "RandomState(1)")
    method.__qualname__ = f"RandomState.{name}"
    method.__module__ = __name__
    return method


class RandomState:
    """Generator of random numbers with the methods of NumPy's `RandomState`.

    Parameters
    ----------
    seed : int, array_like of ints or numpy.random.Philox, optional
        Seed; by default unpredictable.
    device : Device, str or int, optional
        Device of new arrays; defaults to the current one.

    Notes
    -----
    The numbers come from Philox and not from MT19937, so they differ from NumPy's numbers for the same seed. They equal
    the numbers of `default_rng` with the same seed.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.random.RandomState(5).randint(1, 7, size=3).dtype
    dtype('int64')
    """

    def __init__(self, seed: Any = None, device: Any = None) -> None:
        self._generator = default_rng(_checked_seed(seed), device)

    @property
    def device(self) -> _core.Device:
        """Device of new arrays."""
        return self._generator.device

    def __repr__(self) -> str:
        return f"RandomState(Philox) on {self.device}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._generator.bit_generator,)

    def seed(self, seed: Any = None) -> None:
        """Restart the generator with another seed.

        Parameters
        ----------
        seed : int or array_like of ints, optional
            Seed; by default unpredictable.

        Examples
        --------
        >>> import PyGPU
        >>> rng = PyGPU.random.RandomState()
        >>> rng.seed(3)
        >>> bool(rng.rand() == PyGPU.random.RandomState(3).rand())
        True
        """
        self._generator.state = np.random.Philox(_checked_seed(seed)).state

    def get_state(self, legacy: bool = True) -> dict[str, Any]:
        """Return the position in the stream in the format of `numpy.random.Philox`.

        Parameters
        ----------
        legacy : bool, optional
            Accepted for compatibility with NumPy; it has no effect, because the state of a Philox is never a tuple.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.RandomState(1).get_state()["bit_generator"]
        'Philox'
        """
        return self._generator.state

    def set_state(self, state: Any) -> None:
        """Set the position in the stream.

        Parameters
        ----------
        state : dict
            A result of `get_state`, or the state of a `numpy.random.Philox`.

        Examples
        --------
        >>> import PyGPU
        >>> rng = PyGPU.random.RandomState(1)
        >>> state = rng.get_state()
        >>> first = rng.rand()
        >>> rng.set_state(state)
        >>> bool(rng.rand() == first)
        True
        """
        if not isinstance(state, dict):
            raise TypeError(f"state is the dict of a Philox, not a {type(state).__name__}")
        self._generator.state = state

    def rand(self, *args: int) -> _core.GPUArray:
        """Draw uniform numbers in [0, 1).

        Parameters
        ----------
        *args : int
            Lengths of the axes.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.RandomState(1).rand(2, 3).shape
        (2, 3)
        """
        return self._generator.random(args)

    def randn(self, *args: int) -> _core.GPUArray:
        """Draw standard normal numbers.

        Parameters
        ----------
        *args : int
            Lengths of the axes.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.RandomState(1).randn(2, 3).shape
        (2, 3)
        """
        return self._generator.standard_normal(args)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> _core.GPUArray:
        """Draw uniform integers from `low` (inclusive) to `high` (exclusive).

        Parameters
        ----------
        low, high : int or array_like of ints
            Bounds of the range; if `high` is omitted, the range is from 0 to `low`.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the shape of the bounds.
        dtype : data-type, optional
            Integer type or bool.

        Examples
        --------
        >>> import PyGPU
        >>> bool((PyGPU.random.RandomState(1).randint(6, size=9) < 6).all())
        True
        """
        return self._generator.integers(low, high, size, dtype)

    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> _core.GPUArray:
        """Draw uniform integers from `low` to `high`, both inclusive; deprecated as in NumPy.

        Parameters
        ----------
        low, high : int
            Bounds of the range; if `high` is omitted, the range is from 1 to `low`.
        size : int or tuple of ints, optional
            Shape of the result; defaults to (), a single number.

        Examples
        --------
        >>> import PyGPU, warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     print(PyGPU.random.RandomState(1).random_integers(5, size=3).shape)
        (3,)
        """
        warnings.warn("random_integers is deprecated: call randint(low, high + 1)", DeprecationWarning, stacklevel=2)
        if high is None:
            low, high = 1, low
        return self._generator.integers(low, high, size, endpoint=True)

    def random_sample(self, size: Any = None) -> _core.GPUArray:
        """Draw uniform numbers in [0, 1).

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape of the result; defaults to (), a single number.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.RandomState(1).random_sample(3).shape
        (3,)
        """
        return self._generator.random(size)

    def random(self, size: Any = None) -> _core.GPUArray:
        """Draw uniform numbers in [0, 1).

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape of the result; defaults to (), a single number.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.RandomState(1).random(3).shape
        (3,)
        """
        return self._generator.random(size)

    def tomaxint(self, size: Any = None) -> _core.GPUArray:
        """Draw uniform integers from 0 to the greatest int64.

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape of the result; defaults to (), a single number.

        Examples
        --------
        >>> import PyGPU
        >>> bool((PyGPU.random.RandomState(1).tomaxint(3) >= 0).all())
        True
        """
        return self._generator.integers(0, np.iinfo(np.int64).max, size, endpoint=True)

    def standard_normal(self, size: Any = None) -> _core.GPUArray:
        """Draw standard normal numbers.

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape of the result; defaults to (), a single number.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.RandomState(1).standard_normal(3).shape
        (3,)
        """
        return self._generator.standard_normal(size)

    def standard_exponential(self, size: Any = None) -> _core.GPUArray:
        """Draw exponentially distributed numbers of mean 1.

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape of the result; defaults to (), a single number.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.RandomState(1).standard_exponential(3).shape
        (3,)
        """
        return self._generator.standard_exponential(size)

    def standard_gamma(self, shape: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the gamma distribution with scale 1.

        Parameters
        ----------
        shape : number or array_like
            Shape parameter, 0 or more.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the shape of the array `shape`.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.RandomState(1).standard_gamma(2.0, 3).shape
        (3,)
        """
        return self._generator.standard_gamma(shape, size)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> _core.GPUArray:
        """Draw a sample of the numbers below `a`, or of the elements of an array.

        Parameters
        ----------
        a : int or array_like
            Array with one axis.
        size : int or tuple of ints, optional
            Size of the sample; defaults to one element.
        replace : bool, optional
            Whether to draw with replacement.
        p : array_like, optional
            Probabilities; uniform by default.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.RandomState(1).choice(5, 3, replace=False).size
        3
        """
        if np.ndim(a) > 1:
            raise ValueError("a must be 1-dimensional")
        return self._generator.choice(a, size, replace, p)

    def permutation(self, x: Any) -> _core.GPUArray:
        """Permute the numbers below `x`, or the elements of an array along the first axis.

        Parameters
        ----------
        x : int or array_like

        Examples
        --------
        >>> import PyGPU
        >>> sorted(PyGPU.random.RandomState(1).permutation(4).tolist())
        [0, 1, 2, 3]
        """
        return self._generator.permutation(x)

    def shuffle(self, x: _core.GPUArray) -> None:
        """Shuffle the elements of an array along the first axis in place.

        Parameters
        ----------
        x : GPUArray

        Examples
        --------
        >>> import PyGPU
        >>> a = PyGPU.arange(4)
        >>> PyGPU.random.RandomState(1).shuffle(a)
        >>> sorted(a.tolist())
        [0, 1, 2, 3]
        """
        self._generator.shuffle(x)

    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: str = "warn", tol: float = 1e-8
    ) -> _core.GPUArray:
        """Draw from the multivariate normal distribution.

        Parameters
        ----------
        mean, cov, size, check_valid, tol
            As for `Generator.multivariate_normal`, with the factorization 'svd'.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.RandomState(1).multivariate_normal([0, 1], [[2, 1], [1, 2]], size=3).shape
        (3, 2)
        """
        return self._generator.multivariate_normal(mean, cov, size, check_valid, tol)

    beta = _method("beta")
    binomial = _method("binomial")
    bytes = _method("bytes")
    chisquare = _method("chisquare")
    dirichlet = _method("dirichlet")
    exponential = _method("exponential")
    f = _method("f")
    gamma = _method("gamma")
    geometric = _method("geometric")
    gumbel = _method("gumbel")
    hypergeometric = _method("hypergeometric")
    laplace = _method("laplace")
    logistic = _method("logistic")
    lognormal = _method("lognormal")
    logseries = _method("logseries")
    multinomial = _method("multinomial")
    negative_binomial = _method("negative_binomial")
    noncentral_chisquare = _method("noncentral_chisquare")
    noncentral_f = _method("noncentral_f")
    normal = _method("normal")
    pareto = _method("pareto")
    poisson = _method("poisson")
    power = _method("power")
    rayleigh = _method("rayleigh")
    standard_cauchy = _method("standard_cauchy")
    standard_t = _method("standard_t")
    triangular = _method("triangular")
    uniform = _method("uniform")
    vonmises = _method("vonmises")
    wald = _method("wald")
    weibull = _method("weibull")
    zipf = _method("zipf")


def _checked_seed(seed: Any) -> Any:
    """Check a seed by the rules of NumPy's older functions; raise NumPy's error for invalid seeds."""
    if seed is None or isinstance(seed, np.random.BitGenerator):
        return seed
    legacy: Any = np.random.MT19937(0)
    legacy._legacy_seeding(seed)
    return np.asarray(seed).ravel() if np.ndim(seed) else int(seed)
