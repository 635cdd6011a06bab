"""Coordinates of the points of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from PyGPU import _core
from PyGPU._functions.arrays import arrays

if TYPE_CHECKING:
    from PyGPU.typing import DeviceLike

__all__ = ["indices", "meshgrid"]


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[_core.GPUArray, ...]:
    """Return the coordinates of the points of a grid.

    Parameters
    ----------
    *xi : GPUArray
        The places along each axis.
    copy : bool, optional
        False: views of these.
    sparse : bool, optional
        True: each has one axis that is longer than 1.
    indexing : {'xy', 'ij'}, optional
        Whether the second axis of the result is that of the first array, or the first is.

    Returns
    -------
    tuple of GPUArray

    Raises
    ------
    ValueError
        For another `indexing`.

    Examples
    --------
    >>> import PyGPU
    >>> x, y = PyGPU.meshgrid(PyGPU.arange(2), PyGPU.arange(3))
    >>> x.tolist(), y.tolist()
    ([[0, 1], [0, 1], [0, 1]], [[0, 0], [1, 1], [2, 2]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    given = arrays(xi, "meshgrid")
    ndim = len(given)
    axes = [1, 0, *range(2, ndim)] if indexing == "xy" and ndim > 1 else list(range(ndim))
    made = []
    for one, axis in zip(given, axes, strict=True):
        made.append(one.reshape((1,) * axis + (-1,) + (1,) * (ndim - axis - 1)))
    if not sparse:
        together = np.broadcast_shapes(*(one.shape for one in made))
        made = [_core.broadcast_to(one, together) for one in made]
    return tuple(one.copy("C") for one in made) if copy else tuple(made)


def indices(
    dimensions: Any, dtype: DTypeLike = int, sparse: bool = False, *, device: DeviceLike = None
) -> _core.GPUArray | tuple[_core.GPUArray, ...]:
    """Return the indices of the elements of an array.

    Parameters
    ----------
    dimensions : sequence of int
        The lengths of its axes.
    dtype : dtype-like, optional
        Of the indices.
    sparse : bool, optional
        True: an array for each axis, which is longer than 1 along it alone.
    device : int, str or Device, optional
        Where; the current device by default.

    Returns
    -------
    GPUArray, or tuple of GPUArray
        Along its first axis an array for each axis.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.indices((2, 2)).tolist()
    [[[0, 0], [1, 1]], [[0, 1], [0, 1]]]
    """
    lengths = tuple(dimensions)
    made = _core.empty((0 if sparse else len(lengths), *lengths), dtype, device=device)
    parts = []
    for axis, length in enumerate(lengths):
        shape = (1,) * axis + (length,) + (1,) * (len(lengths) - axis - 1)
        places = _core.arange(length, dtype=dtype, device=made.device).reshape(shape)
        if sparse:
            parts.append(places)
        else:
            made[axis] = places
    return tuple(parts) if sparse else made
