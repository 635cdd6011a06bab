"""Functions that create views with given strides, as in `numpy.lib.stride_tricks`.

A view that extends beyond the array's memory raises an error.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU import _core
from PyGPU._core import broadcast_to
from PyGPU._functions.array_arguments import array, normalize_axis
from PyGPU._functions.shapes import broadcast_arrays, broadcast_shapes
from PyGPU._names import public_modules as _public_modules

if TYPE_CHECKING:
    from PyGPU.typing import ShapeLike

__all__ = ["as_strided", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "sliding_window_view"]


def as_strided(
    x: _core.GPUArray,
    shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    subok: bool = False,
    writeable: bool = True,
    *,
    check_bounds: bool | None = None,
) -> _core.GPUArray:
    """Create a view with a given shape and strides; unlike in NumPy, it cannot extend beyond the memory block.

    Parameters
    ----------
    x : GPUArray
        The array, whose first element is the first element of the view.
    shape : sequence of int, optional
        Lengths of the axes; defaults to the shape of `x`.
    strides : sequence of int, optional
        Number of bytes between adjacent elements along each axis. Defaults to C order if `x` is contiguous, otherwise
        to the strides of `x`.
    subok : bool, optional
        Accepted for compatibility with NumPy.
    writeable : bool, optional
        False: the view rejects writes. True: the view accepts writes if `x` does. Writes to elements that share memory
        are in no particular order.
    check_bounds : bool, optional
        Accepted for compatibility with NumPy 2.5; it has no effect, because the bounds are always checked.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        If an element of the view is outside the memory that was allocated for `x` and for the arrays of which `x` is a
        view, for negative lengths, or if `shape` and `strides` differ in length.

    Notes
    -----
    Views of another library's memory are not checked, because the size of this memory is unknown.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.lib.stride_tricks.as_strided(PyGPU.arange(5), (3, 2), (8, 16)).tolist()
    [[0, 2], [1, 3], [2, 4]]
    """
    x = array(x, "as_strided")
    lengths = x.shape if shape is None else tuple(operator.index(length) for length in shape)
    steps = _default_strides(x, lengths) if strides is None else tuple(operator.index(step) for step in strides)
    if len(lengths) != len(steps):
        raise ValueError(f"mismatch in length of strides and shape: shape {lengths}, strides {steps}")
    # `broadcast_to` returns a read-only view, and every view of a read-only view is read-only, too.
    memory = x if writeable else broadcast_to(x, x.shape)
    return _core.GPUArray(lengths, x.dtype, gpudata=memory, strides=steps)


def _default_strides(x: _core.GPUArray, lengths: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides that NumPy uses by default."""
    if lengths == x.shape or not x.flags.c_contiguous:
        return x.strides
    return tuple(x.itemsize * math.prod(lengths[axis + 1 :]) for axis in range(len(lengths)))


def sliding_window_view(
    x: _core.GPUArray,
    window_shape: ShapeLike,
    axis: ShapeLike | None = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> _core.GPUArray:
    """Return a view of all windows of an array; the last axes of the view are the axes of a window.

    Parameters
    ----------
    x : GPUArray
        The array.
    window_shape : int or sequence of int
        Length of the window along each axis in `axis`.
    axis : int or sequence of int, optional
        Axes along which the window moves; defaults to all axes. An axis may be repeated.
    subok : bool, optional
        Accepted for compatibility with NumPy.
    writeable : bool, optional
        Whether the view accepts writes. A write to a window also changes the windows that overlap it.

    Returns
    -------
    GPUArray
        View whose first axes are the positions of the window, and whose last axes have the lengths `window_shape`.

    Raises
    ------
    ValueError
        For a window that is longer than the array, for a negative length, or for a wrong number of lengths.
    AxisError
        For an axis that is out of range.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.lib.stride_tricks.sliding_window_view(PyGPU.arange(5), 3).tolist()
    [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    """
    x = array(x, "sliding_window_view")
    window: tuple[Any, ...] = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    if any(length < 0 for length in window):
        raise ValueError(f"`window_shape` cannot contain negative values, but it is {window}")
    axes = _window_axes(x, window, axis)
    positions = list(x.shape)
    for window_axis, length in zip(axes, window, strict=True):
        if positions[window_axis] < length:
            raise ValueError(
                f"window shape cannot be larger than input array shape: window {window} along axes {axes} of an array "
                f"of shape {x.shape}"
            )
        positions[window_axis] -= length - 1
    strides = x.strides + tuple(x.strides[window_axis] for window_axis in axes)
    return as_strided(x, (*positions, *window), strides, writeable=writeable)


def _window_axes(x: _core.GPUArray, window: tuple[Any, ...], axis: ShapeLike | None) -> tuple[int, ...]:
    """Return the array axis for each length in a window's shape."""
    if axis is None:
        if len(window) != x.ndim:
            raise ValueError(
                "Since axis is `None`, must provide window_shape for all dimensions of `x`; got "
                f"{len(window)} window_shape elements and `x.ndim` is {x.ndim}."
            )
        return tuple(range(x.ndim))
    unchecked = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(normalize_axis(one, x.ndim) for one in unchecked)
    if len(window) != len(axes):
        raise ValueError(
            f"Must provide matching length window_shape and axis; got {len(window)} window_shape elements and "
            f"{len(axes)} axes elements."
        )
    return axes


_public_modules.publish(globals())
