"""Functions that return coordinates and indices of grid points."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from PyGPU import _core
from PyGPU._functions.array_arguments import arrays
from PyGPU._names.public import public

if TYPE_CHECKING:
    from PyGPU.typing import DeviceLike

_CLIP_MODES = ("clip", "wrap", "raise")


@public("Matrices and grids")
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[_core.GPUArray, ...]:
    """Return coordinate arrays of the points of a grid.

    Parameters
    ----------
    *xi : GPUArray
        Coordinates along each axis, one-dimensional.
    copy : bool, optional
        Whether to return copies; False returns views of `xi`.
    sparse : bool, optional
        Whether to return open grids: each result has length 1 along all axes except the axis of its coordinates.
    indexing : {'xy', 'ij'}, optional
        ``'xy'``: the first result varies along the second axis. ``'ij'``: the first result varies along the first axis.

    Returns
    -------
    tuple of GPUArray

    Raises
    ------
    ValueError
        For an unknown `indexing`.

    Examples
    --------
    >>> import PyGPU
    >>> x, y = PyGPU.meshgrid(PyGPU.arange(2), PyGPU.arange(3))
    >>> x.tolist(), y.tolist()
    ([[0, 1], [0, 1], [0, 1]], [[0, 0], [1, 1], [2, 2]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    coordinates = arrays(xi, "meshgrid")
    ndim = len(coordinates)
    axes = [1, 0, *range(2, ndim)] if indexing == "xy" and ndim > 1 else list(range(ndim))
    result = []
    for values, axis in zip(coordinates, axes, strict=True):
        result.append(values.reshape((1,) * axis + (-1,) + (1,) * (ndim - axis - 1)))
    if not sparse:
        common_shape = np.broadcast_shapes(*(values.shape for values in result))
        result = [_core.broadcast_to(values, common_shape) for values in result]
    return tuple(values.copy("C") for values in result) if copy else tuple(result)


@public("Matrices and grids")
def indices(
    dimensions: Any, dtype: DTypeLike = int, sparse: bool = False, *, device: DeviceLike = None
) -> _core.GPUArray | tuple[_core.GPUArray, ...]:
    """Return the indices of all elements of an array with a given shape.

    Parameters
    ----------
    dimensions : sequence of int
        Lengths of the axes.
    dtype : dtype-like, optional
        Type of the indices.
    sparse : bool, optional
        Whether to return a tuple with one array for each axis, which has length 1 along all other axes.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray, or tuple of GPUArray
        The indices along axis i are element i of the result.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.indices((2, 2)).tolist()
    [[[0, 0], [1, 1]], [[0, 1], [0, 1]]]
    """
    lengths = tuple(dimensions)
    result = _core.empty((0 if sparse else len(lengths), *lengths), dtype, device=device)
    parts = []
    for axis, length in enumerate(lengths):
        shape = (1,) * axis + (length,) + (1,) * (len(lengths) - axis - 1)
        axis_indices = _core.arange(length, dtype=dtype, device=result.device).reshape(shape)
        if sparse:
            parts.append(axis_indices)
        else:
            result[axis] = axis_indices
    return tuple(parts) if sparse else result


@public("Matrices and grids")
def unravel_index(indices: _core.GPUArray | int, shape: Any, order: str | None = "C") -> tuple[_core.GPUArray, ...]:
    """Convert flat indices to indices along each axis.

    Parameters
    ----------
    indices : GPUArray of int, or int
        Flat indices. A Python number out of range raises ValueError. Indices out of range in a device array are not
        detected, because detection would require synchronization.
    shape : int or sequence of int
        Shape of the array to which the indices belong.
    order : {'C', 'F'} or None, optional
        Order of the flat indices: ``'C'`` or None varies the last axis fastest, ``'F'`` the first.

    Returns
    -------
    tuple of GPUArray
        One array of indices for each axis.

    Raises
    ------
    TypeError
        For indices that are neither integers nor bools, and for an order that is no string.
    ValueError
        For an unknown order, and for a Python number out of range.

    Examples
    --------
    >>> import PyGPU
    >>> [axis.tolist() for axis in PyGPU.unravel_index(PyGPU.to_gpu([5, 0]), (2, 3))]
    [[1, 0], [2, 0]]
    """
    quotient = _as_int64(indices, "unravel_index")
    result: list[Any] = []
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    if isinstance(indices, (int, np.integer)) and not 0 <= indices < math.prod(lengths):
        raise ValueError(f"index {indices} is out of bounds for array with size {math.prod(lengths)}")
    for length in _ordered_lengths(lengths, order, "unravel_index"):
        quotient, axis_indices = divmod(quotient, length)
        result.append(axis_indices)
    return tuple(result if order == "F" else result[::-1])


@public("Matrices and grids")
def ravel_multi_index(
    multi_index: Any, dims: Any, mode: str | tuple[str, ...] = "raise", order: str | None = "C"
) -> _core.GPUArray:
    """Convert indices along each axis to flat indices.

    Parameters
    ----------
    multi_index : sequence of GPUArray of int
        Indices along each axis.
    dims : sequence of int
        Shape of the array to which the indices belong.
    mode : {'raise', 'wrap', 'clip'} or tuple of these, optional
        Handling of indices out of range; for 'raise' the host waits for the check.
    order : {'C', 'F'} or None, optional
        Order of the flat indices: ``'C'`` or None varies the last axis fastest, ``'F'`` the first.

    Returns
    -------
    GPUArray of int

    Raises
    ------
    TypeError
        For indices that are neither integers nor bools, and for an order that is no string.
    ValueError
        For an index out of range, an unknown mode or order, and a wrong number of axes.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.ravel_multi_index((PyGPU.to_gpu([1, 0]), PyGPU.to_gpu([2, 0])), (2, 3)).tolist()
    [5, 0]
    """
    index_arrays, lengths = arrays(multi_index, "ravel_multi_index"), tuple(map(operator.index, dims))
    modes = tuple(map(_clip_mode, mode if isinstance(mode, (list, tuple)) else (mode,) * len(lengths)))
    if len(index_arrays) != len(lengths) or len(modes) != len(lengths):
        raise ValueError(
            f"ravel_multi_index: {len(index_arrays)} index arrays and {len(modes)} modes for a shape of "
            f"{len(lengths)} axes"
        )
    valid_indices = [
        _indices_in_range(axis_indices, length, kind)
        for axis_indices, length, kind in zip(index_arrays, lengths, modes, strict=True)
    ]
    flat_indices: Any = 0
    step = 1
    in_flat_order = valid_indices if order == "F" else valid_indices[::-1]
    for length, axis_indices in zip(_ordered_lengths(lengths, order, "ravel_multi_index"), in_flat_order, strict=True):
        flat_indices = axis_indices * step + flat_indices
        step *= length
    return _core.asarray(flat_indices)


def _as_int64(indices: Any, function: str) -> Any:
    converted = arrays([indices], function)[0]
    if converted.dtype.kind not in "biu":
        raise TypeError(f"{function}: indices are integers, not {converted.dtype}")
    return converted.astype(np.int64, copy=False)


def _ordered_lengths(lengths: tuple[int, ...], order: str | None, function: str) -> tuple[int, ...]:
    """Return the lengths of the axes, beginning with the axis whose index varies fastest in the given memory order."""
    if not isinstance(order, (str, type(None))):
        raise TypeError(f"{function}: order must be str, not {type(order).__name__}")
    if order not in ("C", "F", None):
        raise ValueError(f"{function}: only 'C' or 'F' order is permitted, not {order!r}")
    return lengths if order == "F" else lengths[::-1]


def _clip_mode(mode: Any) -> str:
    """Convert a mode to its name; a mode may also be NumPy's number of the mode, and None means ``'raise'``."""
    if mode is None:
        return "raise"
    if isinstance(mode, int) and 0 <= mode < len(_CLIP_MODES):
        return _CLIP_MODES[mode]
    if not isinstance(mode, (int, str)):
        raise TypeError(f"ravel_multi_index: mode must be a str, not {type(mode).__name__}")
    if mode not in _CLIP_MODES:
        raise ValueError(f"ravel_multi_index: mode must be one of 'raise', 'wrap' or 'clip', not {mode!r}")
    return str(mode)


def _indices_in_range(indices: Any, length: int, mode: str) -> Any:
    """Check, wrap or clip indices to the length of an axis, depending on the mode."""
    converted = _as_int64(indices, "ravel_multi_index")
    if mode == "wrap":
        return converted % length
    if mode == "clip":
        return _core.clip(converted, 0, length - 1)
    if bool(_core.any((converted < 0) | (converted >= length))):
        raise ValueError("invalid entry in coordinates array")
    return converted
