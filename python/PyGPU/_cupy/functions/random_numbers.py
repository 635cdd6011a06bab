"""CuPy's random number generators, whose methods accept the parameter `dtype`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random.random_state import RandomState as _RandomState

__all__ = [
    "XORWOW",
    "BitGenerator",
    "MRG32k3a",
    "Philox4x3210",
    "RandomState",
    "function",
    "get_random_state",
    "reset_states",
    "seed",
    "set_random_state",
]  # fmt: skip

_DISTRIBUTIONS = (
    "beta", "binomial", "chisquare", "dirichlet", "exponential", "f", "gamma", "geometric", "gumbel", "hypergeometric",
    "laplace", "logistic", "lognormal", "logseries", "multivariate_normal", "negative_binomial",
    "noncentral_chisquare", "noncentral_f", "normal", "pareto", "poisson", "power", "random_sample", "rayleigh",
    "standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal", "standard_t", "triangular",
    "uniform", "vonmises", "wald", "weibull", "zipf",
)  # fmt: skip
"""Methods whose last positional parameter in CuPy is `dtype`."""


def _with_dtype(name: str) -> Callable[..., Any]:
    """Wrap a method of `RandomState`, and append the parameter `dtype` to its parameters."""
    own = getattr(_RandomState, name)
    parameters = list(inspect.signature(own).parameters.values())
    count = len(parameters) - 1

    @functools.wraps(own)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        dtype = kwargs.pop("dtype", None)
        if len(args) == count + 1 and dtype is None:
            *args, dtype = args  # type: ignore[assignment]
        result = own(self, *args, **kwargs)
        return result if dtype is None else result.astype(_checked(name, dtype), copy=False)

    method.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*parameters, inspect.Parameter("dtype", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)]
    )
    return method


_FLOATS = ("random_sample", "uniform", "normal", "standard_normal", "lognormal", "multivariate_normal")
"""Methods whose numbers are drawn in float32 or float64, and are not converted to integers."""


def _checked(name: str, dtype: Any) -> np.dtype[Any]:
    """Convert the argument `dtype` of the method `name`; raise TypeError for a dtype that the method cannot return."""
    checked: np.dtype[Any] = np.dtype(dtype)
    if checked.kind not in ("f" if name in _FLOATS else "biuf"):
        expected = "float32 or float64" if name in _FLOATS else "a real one"
        raise TypeError(f"{name}: random numbers cannot have the dtype {checked}; pass {expected}")
    return checked


class RandomState(_RandomState):
    """Generator of random numbers with the methods of CuPy's `RandomState`.

    Parameters
    ----------
    seed : int or array_like of ints, optional
        Seed; by default unpredictable.
    method : int, optional
        cuRAND's number of a generator, accepted for compatibility with CuPy. It has no effect, because all numbers come
        from Philox.

    Notes
    -----
    For the same seed, the numbers differ from CuPy's numbers; their distributions are equal.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.random.RandomState(1).uniform(0, 1, 3, "f4").dtype
    dtype('float32')
    """

    def __init__(self, seed: Any = None, method: Any = None) -> None:
        del method
        super().__init__(seed)

    def rand(self, *size: int, dtype: Any = float) -> Any:
        """Draw uniformly distributed numbers between 0 and 1; each argument is the length of an axis of the result.

        Parameters
        ----------
        *size : int
            Lengths of the axes.
        dtype : dtype, optional
            float32 or float64.

        Examples
        --------
        >>> from PyGPU import cupy
        >>> cupy.random.RandomState(1).rand(2, 3, dtype="f4").shape
        (2, 3)
        """
        return self.random_sample(size or None, dtype)  # type: ignore[call-arg]  # `_with_dtype` adds it

    def randn(self, *size: int, dtype: Any = float) -> Any:
        """Draw numbers of the standard normal distribution; each argument is the length of an axis of the result.

        Parameters
        ----------
        *size : int
            Lengths of the axes.
        dtype : dtype, optional
            float32 or float64.

        Examples
        --------
        >>> from PyGPU import cupy
        >>> cupy.random.RandomState(1).randn(2, dtype="f4").dtype
        dtype('float32')
        """
        return self.standard_normal(size or None, dtype)  # type: ignore[call-arg]  # `_with_dtype` adds it


for _name in _DISTRIBUTIONS:
    setattr(RandomState, _name, _with_dtype(_name))


class BitGenerator(np.random.Philox):
    """Bit generator for `Generator`; all bit generators of CuPy use the algorithm Philox in PyGPU.

    Parameters
    ----------
    seed : int, array_like of ints or numpy.random.SeedSequence, optional
        Seed; by default unpredictable.
    size : int, optional
        cuRAND's number of states, accepted for compatibility with CuPy; it has no effect.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.random.Generator(cupy.random.XORWOW(1)).random(2).shape
    (2,)
    """

    def __init__(self, seed: Any = None, *, size: int = -1) -> None:
        del size
        super().__init__(seed)

    @property
    def state(self) -> Any:
        """State of the generator in the format of `numpy.random.Philox`, which subclasses use, too."""
        return {**super().state, "bit_generator": "Philox"}

    @state.setter
    def state(self, value: Any) -> None:
        # NumPy's setter requires that the state names the class of this object. The setter is called directly, because
        # `super()` cannot call the setter of a property.
        np.random.Philox.state.__set__(self, {**value, "bit_generator": type(self).__name__})  # type: ignore[attr-defined]


class XORWOW(BitGenerator):
    """The Philox generator under the name of CuPy's default generator; parameters as for `BitGenerator`."""


class MRG32k3a(BitGenerator):
    """The Philox generator under the name of CuPy's generator MRG32k3a; parameters as for `BitGenerator`."""


class Philox4x3210(BitGenerator):
    """The Philox generator under CuPy's name `Philox4x3210`; parameters as for `BitGenerator`."""


_states: dict[Any, RandomState] = {}


def get_random_state() -> RandomState:
    """Return the current device's `RandomState`, from which functions such as `cupy.random.rand` draw.

    Returns
    -------
    RandomState

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.random.get_random_state() is cupy.random.get_random_state()
    True
    """
    device = _core.current_device()
    # If two threads create a device's `RandomState` at once, `setdefault` makes both threads use the first one.
    return _states.get(device) or _states.setdefault(device, RandomState())


def set_random_state(rs: RandomState) -> None:
    """Set the `RandomState` of the current device.

    Parameters
    ----------
    rs : RandomState
        `RandomState` from which the functions of `cupy.random` draw.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.random.set_random_state(cupy.random.RandomState(3))
    """
    if not isinstance(rs, RandomState):
        raise TypeError(f"set_random_state takes a cupy.random.RandomState, not {type(rs).__name__}")
    _states[_core.current_device()] = rs


def reset_states() -> None:
    """Drop the `RandomState` of each device; later numbers come from unpredictable seeds.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.random.reset_states()
    """
    _states.clear()


def seed(seed: Any = None) -> None:
    """Seed the current device's `RandomState`.

    Parameters
    ----------
    seed : int or array_like of ints, optional
        Seed; by default unpredictable.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.random.seed(1)
    """
    get_random_state().seed(seed)


@functools.cache
def function(name: str) -> Callable[..., Any]:
    """Return the function that calls the method `name` of the current device's `RandomState`."""
    own = getattr(RandomState, name)

    @functools.wraps(own)
    def draw(*args: Any, **kwargs: Any) -> Any:
        return getattr(get_random_state(), name)(*args, **kwargs)

    draw.__module__, draw.__qualname__ = "PyGPU.cupy.random", name
    parameters = list(inspect.signature(own).parameters.values())[1:]
    draw.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return draw
