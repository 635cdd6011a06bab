"""Plan a launch of a `ReductionKernel`: its loop nests, and the number of threads for each result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

__all__ = ["Nest", "Threads", "combine_axes", "kept_shape", "plan_threads", "reduced_axes"]

# Number of adjacent threads that reduce adjacent columns of a matrix, so that their memory reads are contiguous.
_COLUMNS = 32
# Fewer threads compute each result if a thread would process fewer than `_ELEMENTS` elements, as long as the launch has
# more than `_BUSY` threads.
_ELEMENTS = 16
_BUSY = 1 << 18


def reduced_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes that the argument `axis` selects, in ascending order.

    Parameters
    ----------
    axis : None, int or sequence of int
        The argument of a reduction; None for all axes.
    ndim : int
        Number of axes.

    Returns
    -------
    tuple of int

    Raises
    ------
    AxisError
        If an axis does not exist.
    ValueError
        If an axis occurs twice.

    Examples
    --------
    >>> from PyGPU._cupy.kernels.reduction_plan import reduced_axes
    >>> reduced_axes((-1, 0), 3)
    (0, 2)
    """
    return tuple(range(ndim)) if axis is None else tuple(sorted(normalize_axis_tuple(axis, ndim)))


def kept_shape(shape: Sequence[int], reduced: Sequence[int], keepdims: bool) -> tuple[int, ...]:
    """Return the shape of a reduction's result from the shape of the input and the reduced axes."""
    if keepdims:
        return tuple(1 if axis in reduced else length for axis, length in enumerate(shape))
    return tuple(length for axis, length in enumerate(shape) if axis not in reduced)


@dataclass(frozen=True)
class Nest:
    """Loop nest over several arrays: the lengths of the axes, and the strides in bytes of each array."""

    lengths: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """Number of points of the iteration space."""
        return int(np.prod(self.lengths, dtype=np.int64))

    def parameter(self) -> np.void:
        """Return the loop nest as a kernel argument of the C++ type `pygpu_cupy::nest`."""
        numbers = [*self.lengths, *(stride for one in self.strides for stride in one)]
        value: np.void = np.array(numbers, np.int64).view([("numbers", np.int64, (len(numbers),))])[0]
        return value


def combine_axes(lengths: Sequence[int], strides: Sequence[Sequence[int]]) -> Nest:
    """Return a loop nest with as few axes as possible: adjacent axes are merged if the strides of all arrays permit.

    Parameters
    ----------
    lengths : sequence of int
        Lengths of the axes.
    strides : sequence of sequence of int
        Strides in bytes along these axes, for each array.

    Returns
    -------
    Nest

    Examples
    --------
    >>> from PyGPU._cupy.kernels.reduction_plan import combine_axes
    >>> combine_axes((2, 3, 1), [(12, 4, 4)])
    Nest(lengths=(6,), strides=((4,),))
    """
    axes: list[tuple[int, list[int]]] = []
    for axis, length in enumerate(lengths):
        steps = [one[axis] for one in strides]
        if length == 1:
            continue
        if axes and all(outer == step * length for outer, step in zip(axes[-1][1], steps, strict=True)):
            axes[-1] = (axes[-1][0] * length, steps)
        else:
            axes.append((length, steps))
    axes = axes or [(1, [0] * len(strides))]
    by_array = zip(*(steps for _, steps in axes), strict=True)
    return Nest(tuple(length for length, _ in axes), tuple(by_array))


@dataclass(frozen=True)
class Threads:
    """Division of a block's threads: the block computes `results` results, each by `lanes` threads."""

    results: int
    lanes: int
    along: bool
    """Whether adjacent threads read elements of one result."""


def _power_of_two(number: int) -> int:
    """Return the smallest power of two that is at least `number`."""
    return 1 << max(0, number - 1).bit_length()


def plan_threads(kept: Nest, reduced: Nest, threads: int) -> Threads:
    """Choose how many results a block computes, and how many threads compute each result.

    Parameters
    ----------
    kept, reduced : Nest
        Loop nest over the results, and loop nest over the elements that one result combines; their first array is the
        first input.
    threads : int
        Maximum number of threads of a block, a power of two.

    Returns
    -------
    Threads

    Examples
    --------
    >>> from PyGPU._cupy.kernels.reduction_plan import combine_axes, plan_threads
    >>> plan_threads(combine_axes((100,), [(4000,)]), combine_axes((1000,), [(4,)]), 512)
    Threads(results=1, lanes=512, along=True)
    """
    most_lanes = min(threads, _power_of_two(reduced.size))
    along = kept.size == 1 or (reduced.size > 1 and abs(reduced.strides[0][-1]) <= abs(kept.strides[0][-1]))
    if along:
        while most_lanes > _COLUMNS and most_lanes * _ELEMENTS > reduced.size and kept.size * most_lanes > _BUSY:
            most_lanes //= 2
        return Threads(max(1, min(threads // most_lanes, _power_of_two(kept.size))), most_lanes, True)
    results = min(threads, _power_of_two(kept.size))
    if reduced.size >= 2 * _COLUMNS:
        results = min(results, _COLUMNS)
    return Threads(results, min(most_lanes, threads // results), False)
