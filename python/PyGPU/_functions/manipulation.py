"""Functions that rotate, reverse, roll and repeat arrays."""

from __future__ import annotations

import builtins
import itertools
import math
import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array, normalize_axis
from PyGPU._names.public import public

if TYPE_CHECKING:
    from PyGPU.typing import OrderACFK, ShapeLike


@public("Moving and repeating elements")
def rot90(m: _core.GPUArray, k: int = 1, axes: tuple[int, int] = (0, 1)) -> _core.GPUArray:
    """Rotate an array by 90 degrees in the plane of two axes.

    Parameters
    ----------
    m : GPUArray
        Array with two or more axes.
    k : int, optional
        Number of rotations by 90 degrees, from the first of `axes` towards the second.
    axes : tuple of two ints, optional
        Axes of the plane.

    Returns
    -------
    GPUArray
        View of the array.

    Raises
    ------
    ValueError
        If `axes` are not two different axes of the array.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.rot90(PyGPU.to_gpu([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """
    m = array(m, "rot90")
    axes = tuple(axes)  # type: ignore[assignment]
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    if abs(axes[0] - axes[1]) in (0, m.ndim):
        raise ValueError("Axes must be different.")
    if any(not -m.ndim <= axis < m.ndim for axis in axes):
        raise ValueError(f"Axes={axes} out of range for array of ndim={m.ndim}.")
    first, second = (axis % m.ndim for axis in axes)
    turns = k % 4
    if turns == 0:
        return m[...]
    if turns == 2:
        return _core.flip(m, (first, second))
    order = list(range(m.ndim))
    order[first], order[second] = second, first
    if turns == 1:
        return _core.flip(m, second).transpose(order)
    return _core.flip(m.transpose(order), second)


@public("Moving and repeating elements")
def flipud(m: _core.GPUArray) -> _core.GPUArray:
    """Reverse the elements along the first axis.

    Parameters
    ----------
    m : GPUArray
        Array with one or more axes.

    Returns
    -------
    GPUArray
        View of the array.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.flipud(PyGPU.to_gpu([[1, 2], [3, 4]])).tolist()
    [[3, 4], [1, 2]]
    """
    m = array(m, "flipud")
    if m.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return m[::-1]


@public("Moving and repeating elements")
def fliplr(m: _core.GPUArray) -> _core.GPUArray:
    """Reverse the elements along the second axis.

    Parameters
    ----------
    m : GPUArray
        Array with two or more axes.

    Returns
    -------
    GPUArray
        View of the array.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fliplr(PyGPU.to_gpu([[1, 2], [3, 4]])).tolist()
    [[2, 1], [4, 3]]
    """
    m = array(m, "fliplr")
    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return m[:, ::-1]


@public("Moving and repeating elements")
def copy(a: Any, order: OrderACFK = "K", subok: bool = False) -> _core.GPUArray:
    """Return a new array with the same elements.

    Parameters
    ----------
    a : GPUArray or number
        Array to copy.
    order : {'K', 'C', 'F', 'A'}, optional
        Memory order of the copy.
    subok : bool, optional
        Ignored: the copy has the class of the copied array.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.arange(3)
    >>> b = PyGPU.copy(a)
    >>> b[0] = 7
    >>> a.tolist()
    [0, 1, 2]
    """
    return array(a, "copy").copy(order)


def _halves(length: int, shift: int) -> list[tuple[slice, slice]]:
    """Return the source and target slices of a cyclic shift along an axis.

    The elements move in two parts. One part does not pass the end of the axis; the other part wraps around to the
    beginning of the axis.
    """
    shift = shift % length if length else 0
    if not shift:
        return [(slice(None), slice(None))]
    return [(slice(None, length - shift), slice(shift, None)), (slice(length - shift, None), slice(None, shift))]


@public("Moving and repeating elements")
def roll(a: _core.GPUArray, shift: Any, axis: Any = None) -> _core.GPUArray:
    """Shift elements cyclically along axes.

    Parameters
    ----------
    a : GPUArray
        The array.
    shift : int or sequence of int
        Number of positions by which elements are shifted, for each axis.
    axis : int or sequence of int, optional
        Axes of the shift; by default the flattened array is shifted and its shape restored.

    Returns
    -------
    GPUArray
        A new array.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.roll(PyGPU.arange(5), 2).tolist()
    [3, 4, 0, 1, 2]
    """
    a = array(a, "roll")
    if axis is None:
        return roll(a.ravel(), shift, 0).reshape(a.shape)
    pairs = np.broadcast(shift, [normalize_axis(index, a.ndim) for index in (axis if np.iterable(axis) else (axis,))])
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    shifts = [0] * a.ndim
    for step, axis_index in pairs:
        shifts[axis_index] += int(step)
    if a.flags.c_contiguous and not builtins.any(shifts[1:]) and a.ndim and a.shape[0]:
        begin = -shifts[0] % a.shape[0]
        joined = _core._joined([a[begin:], a[:begin]], 0)
        if joined is not None:
            return joined
    result = _core.empty_like(a)
    for parts in itertools.product(*(_halves(length, step) for length, step in zip(a.shape, shifts, strict=True))):
        result[tuple(target for _, target in parts)] = a[tuple(source for source, _ in parts)]
    return result


@public("Moving and repeating elements", host=("reps",))
def tile(A: Any, reps: Any) -> _core.GPUArray:
    """Repeat a whole array along axes.

    Parameters
    ----------
    A : GPUArray
        The array.
    reps : int or sequence of int
        Number of repetitions along each axis; the last number belongs to the last axis.

    Returns
    -------
    GPUArray
        A new array.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.tile(PyGPU.arange(2), (2, 2)).tolist()
    [[0, 1, 0, 1], [0, 1, 0, 1]]
    """
    source = array(A, "tile")
    times = tuple(map(operator.index, reps if np.iterable(reps) else (reps,)))
    ndim = max(source.ndim, len(times))
    times = (1,) * (ndim - len(times)) + times
    lengths = (1,) * (ndim - source.ndim) + source.shape
    result = _core.empty_like(source, None, "C", shape=tuple(map(operator.mul, times, lengths)))
    if result.size:
        # Split each axis of the result into two: one for the repetitions, one for the elements of the source.
        source_shape = [1 if index % 2 == 0 else lengths[index // 2] for index in range(2 * ndim)]
        split_shape = [axis for pair in zip(times, lengths, strict=True) for axis in pair]
        result.reshape(split_shape)[...] = source.reshape(source_shape)
    return result


@public("Moving and repeating elements")
def resize(a: Any, new_shape: ShapeLike) -> _core.GPUArray:
    """Return an array of a given shape that repeats the elements of another array in C order.

    Parameters
    ----------
    a : GPUArray
        The array.
    new_shape : int or sequence of int
        Shape of the result.

    Returns
    -------
    GPUArray
        A new array.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.resize(PyGPU.arange(3), (2, 2)).tolist()
    [[0, 1], [2, 0]]
    """
    source = array(a, "resize").ravel()
    shape = tuple(map(operator.index, new_shape if isinstance(new_shape, Iterable) else (new_shape,)))
    if builtins.any(length < 0 for length in shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    size = math.prod(shape)
    if not source.size or not size:
        return _core.zeros_like(source, shape=shape)
    result = _core.empty_like(source, shape=(size,))
    tiled_size = size - size % source.size
    result[:tiled_size].reshape(-1, source.size)[...] = source
    result[tiled_size:] = source[: size - tiled_size]
    return result.reshape(shape)
