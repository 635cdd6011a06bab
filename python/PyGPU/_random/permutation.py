"""Permutations and samples: random keys are sorted, and cumulative probabilities searched."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU import _core

if TYPE_CHECKING:
    from PyGPU._random.generator import Generator


def _order(rng: Generator, count: int) -> _core.GPUArray:
    """Return the numbers below one in random order; the probability of equal keys is negligible."""
    return rng.random_raw(count).argsort()


def _is_count(x: Any) -> bool:
    return not isinstance(x, _core.GPUArray) and np.ndim(x) == 0


def _moved(rng: Generator, x: Any) -> _core.GPUArray:
    return x if isinstance(x, _core.GPUArray) else _core.asarray(x, device=rng.device)


def permutation(rng: Generator, x: Any, axis: int) -> _core.GPUArray:
    """Permute numbers or elements randomly."""
    if (numpys := rng._source.numpys()) is not None:
        return rng._wrap(numpys.permutation(x.get() if isinstance(x, _core.GPUArray) else x, axis))
    if _is_count(x):
        return _order(rng, operator.index(x))
    array = _moved(rng, x)
    return array.take(_order(rng, array.shape[axis]), axis)


def shuffle(rng: Generator, x: _core.GPUArray, axis: int) -> None:
    """Shuffle elements in place."""
    if not isinstance(x, _core.GPUArray):
        raise TypeError(f"shuffle() changes a GPUArray, and cannot change a {type(x).__name__}")
    if x.ndim == 0:
        raise TypeError("shuffle(): an array without axes has no order")
    x[...] = permutation(rng, x, axis)


def choice(rng: Generator, a: Any, size: Any, replace: bool, p: Any, axis: int, shuffle: bool) -> _core.GPUArray:
    """Draw a sample."""
    if (numpys := rng._source.numpys()) is not None:
        given = [one.get() if isinstance(one, _core.GPUArray) else one for one in (a, p)]
        return rng._wrap(numpys.choice(given[0], size, replace, given[1], axis, shuffle))
    array = None if _is_count(a) else _moved(rng, a)
    several = operator.index(a) if array is None else array.shape[axis]
    count = 1 if size is None else math.prod(np.broadcast_shapes(size))
    if several <= 0 and count:
        raise ValueError("a must be a positive integer unless no samples are taken")
    if not replace and count > several:
        raise ValueError("Cannot take a larger sample than population when replace is False")
    chances = None if p is None else _chances(p, several)
    places = _with(rng, several, chances, size) if replace else _without(rng, several, chances, count, size)
    return places if array is None else array.take(places, axis)


def _chances(p: Any, several: int) -> np.ndarray[Any, Any]:
    chances: np.ndarray[Any, Any] = np.asarray(p.get() if isinstance(p, _core.GPUArray) else p, np.float64)
    if chances.ndim != 1:
        raise ValueError("p must be 1-dimensional")
    if chances.size != several:
        raise ValueError("a and p must have same size")
    if np.isnan(chances).any():
        raise ValueError("Probabilities contain NaN")
    if (chances < 0).any():
        raise ValueError("Probabilities are not non-negative")
    if abs(math.fsum(chances) - 1) > 1e-8:
        raise ValueError("Probabilities do not sum to 1. See Notes section of docstring for more information.")
    return chances


def _with(rng: Generator, several: int, chances: np.ndarray[Any, Any] | None, size: Any) -> _core.GPUArray:
    if chances is None:
        return rng.integers(several, size=size)
    sums = chances.cumsum()
    sums /= sums[-1]
    drawn = rng.random(size)
    places: _core.GPUArray = _core.asarray(sums, device=rng.device).searchsorted(drawn, side="right")
    return places


def _without(
    rng: Generator, several: int, chances: np.ndarray[Any, Any] | None, count: int, size: Any
) -> _core.GPUArray:
    if chances is None:
        order = _order(rng, several)
    else:
        if count > np.count_nonzero(chances):
            raise ValueError("Fewer non-zero entries in p than size")
        # The first in a race of exponential times at these rates (Efraimidis and Spirakis).
        with np.errstate(divide="ignore"):
            waits = _core.asarray(1 / chances, device=rng.device)
        order = (rng.standard_exponential(several) * waits).argsort()
    return order[:count].reshape(() if size is None else size)
