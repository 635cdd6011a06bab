"""Compute permutations and samples by sorting random keys, or by searching cumulative probabilities."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU import _core
from PyGPU._arguments.argument_errors import target_error
from PyGPU._functions.selection import take_along_axis

if TYPE_CHECKING:
    from PyGPU._random.generator import Generator


def _order(rng: Generator, count: int) -> _core.GPUArray:
    """Return the numbers from 0 to `count - 1` in random order, by sorting random 64-bit keys."""
    return rng.random_raw(count).argsort(stable=True)


def _is_count(x: Any) -> bool:
    return not isinstance(x, _core.GPUArray) and np.ndim(x) == 0


def _on_device(rng: Generator, x: Any) -> _core.GPUArray:
    return x if isinstance(x, _core.GPUArray) else _core.asarray(x, device=rng.device)


def permutation(rng: Generator, x: Any, axis: int) -> _core.GPUArray:
    """Return the numbers below `x`, or the elements of an array, in random order."""
    if _is_count(x):
        if not hasattr(x, "__index__"):
            raise np.exceptions.AxisError(axis, 0)
        return _order(rng, max(operator.index(x), 0))
    array = _on_device(rng, x)
    return array.take(_order(rng, array.shape[axis]), axis)


def shuffle(rng: Generator, x: _core.GPUArray, axis: int) -> None:
    """Shuffle the elements of an array in place."""
    if not isinstance(x, _core.GPUArray):
        raise target_error("random.shuffle", x)
    if x.ndim == 0:
        raise TypeError("shuffle(): an array without axes has no order")
    x[...] = permutation(rng, x, axis)


def permuted(rng: Generator, x: Any, axis: int | None, out: _core.GPUArray | None) -> _core.GPUArray:
    """Permute elements along an axis, independently for each row or column."""
    if _is_count(x):
        raise TypeError(f"permuted() permutes an array, and {x!r} has no axes")
    array = _on_device(rng, x)
    if out is not None and np.shape(out) != array.shape:
        raise ValueError(f"out must have the same shape as x, {array.shape}, and is {out!r}")
    if axis is None:
        result = array.reshape(-1).take(_order(rng, array.size)).reshape(array.shape)
    else:
        if not -array.ndim <= axis < array.ndim:
            raise np.exceptions.AxisError(axis, array.ndim)
        order = rng.random_raw(array.shape).argsort(axis, stable=True)
        result = take_along_axis(array, order, axis)
    if out is None:
        return result
    out[...] = result
    return out


def choice(rng: Generator, a: Any, size: Any, replace: bool, p: Any, axis: int, shuffle: bool) -> _core.GPUArray:
    """Draw a sample of numbers below `a` or of elements of `a`: the implementation of `Generator.choice`."""
    array = None if _is_count(a) else _on_device(rng, a)
    if array is None and not hasattr(a, "__index__"):
        raise ValueError(f"a must be a sequence or an integer, not {type(a)}")
    population = operator.index(a) if array is None else array.shape[axis]
    count = 1 if size is None else math.prod(np.broadcast_shapes(size))
    if population <= 0 and count:
        raise ValueError("a must be a positive integer unless no samples are taken")
    if not replace and count > population:
        raise ValueError("Cannot take a larger sample than population when replace is False")
    probabilities = None if p is None else _probabilities(p, population)
    indices = (
        _with_replacement(rng, population, probabilities, size)
        if replace
        else _without_replacement(rng, population, probabilities, count, size)
    )
    return indices if array is None else array.take(indices, axis)


def _probabilities(p: Any, population: int) -> np.ndarray[Any, Any]:
    probabilities: np.ndarray[Any, Any] = np.asarray(p.get() if isinstance(p, _core.GPUArray) else p, np.float64)
    if probabilities.ndim != 1:
        raise ValueError("p must be 1-dimensional")
    if probabilities.size != population:
        raise ValueError("a and p must have same size")
    if np.isnan(probabilities).any():
        raise ValueError("Probabilities contain NaN")
    if (probabilities < 0).any():
        raise ValueError("Probabilities are not non-negative")
    if abs(math.fsum(probabilities) - 1) > 1e-8:
        raise ValueError("Probabilities do not sum to 1. See Notes section of docstring for more information.")
    return probabilities


def _with_replacement(
    rng: Generator, population: int, probabilities: np.ndarray[Any, Any] | None, size: Any
) -> _core.GPUArray:
    if probabilities is None:
        return rng.integers(population, size=size)
    sums = probabilities.cumsum()
    sums /= sums[-1]
    drawn = rng.random(size)
    indices: _core.GPUArray = _core.asarray(sums, device=rng.device).searchsorted(drawn, side="right")
    return indices


def _without_replacement(
    rng: Generator, population: int, probabilities: np.ndarray[Any, Any] | None, count: int, size: Any
) -> _core.GPUArray:
    if probabilities is None:
        order = _order(rng, population)
    else:
        if count > np.count_nonzero(probabilities):
            raise ValueError("Fewer non-zero entries in p than size")
        # Method of Efraimidis and Spirakis: the sample consists of the elements with the shortest random times.
        # Each time is drawn from an exponential distribution, whose rate is the element's probability.
        with np.errstate(divide="ignore"):
            mean_times = _core.asarray(1 / probabilities, device=rng.device)
        order = (rng.standard_exponential(population) * mean_times).argsort(stable=True)
    return order[:count].reshape(() if size is None else size)
