"""Functions that create arrays from functions of the indices, or as grids of coordinates."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from PyGPU import _core
from PyGPU._functions.grids import indices
from PyGPU._functions.joining import stack
from PyGPU._names.public import public, public_values

if TYPE_CHECKING:
    from PyGPU.typing import DeviceLike

_Result = TypeVar("_Result")


@public("Making arrays")
def fromfunction(
    function: Callable[..., _Result], shape: Any, *, dtype: DTypeLike = float, device: DeviceLike = None, **kwargs: Any
) -> _Result:
    """Call a function with the index arrays of a shape, and return its result.

    Parameters
    ----------
    function : callable
        Function that is called once, with one array of indices for each axis.
    shape : sequence of int
        Lengths of the axes.
    dtype : dtype-like, optional
        Type of the indices.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.
    **kwargs
        Keyword arguments of the function.

    Returns
    -------
    object
        The function's result.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fromfunction(lambda i, j: i + j, (2, 2), dtype="int64").tolist()
    [[0, 1], [1, 2]]
    """
    return function(*indices(shape, dtype, device=device), **kwargs)


class _Grid:
    """Class of `mgrid` and `ogrid`: indexing with slices returns the coordinates of a grid."""

    def __init__(self, is_open: bool, meaning: str) -> None:
        self._is_open = is_open
        self.__doc__ = meaning

    def __getitem__(self, key: Any) -> Any:
        # The dtype depends on the slices of all axes, so NumPy creates the numbers along each axis on the host.
        host_grid: Any = np.ogrid[tuple(map(_host_slice, key)) if isinstance(key, tuple) else _host_slice(key)]
        if isinstance(host_grid, np.ndarray):
            return _core.asarray(host_grid)
        axes = [_core.asarray(coordinates) for coordinates in host_grid]
        if self._is_open:
            return tuple(axes)
        common_shape = np.broadcast_shapes(*(coordinates.shape for coordinates in host_grid))
        # `out` makes `stack` return C order, as in NumPy; otherwise the zero strides of the inputs would determine the
        # order.
        grid = _core.empty((len(axes), *common_shape), axes[0].dtype)
        return stack([_core.broadcast_to(coordinates, common_shape) for coordinates in axes], out=grid)

    def __repr__(self) -> str:
        return f"PyGPU.{'ogrid' if self._is_open else 'mgrid'}"


def _host_slice(part: Any) -> Any:
    """Copy a slice's bounds from a device to the host, because the bounds determine the size of the result."""
    if not isinstance(part, slice):
        return part
    ends = (part.start, part.stop, part.step)
    return slice(*(end.get()[()] if isinstance(end, _core.GPUArray) and end.ndim == 0 else end for end in ends))


mgrid = _Grid(
    False,
    "Coordinates of all points of a grid: ``mgrid[0:2, 0:3]`` has an array for each axis; waits for device ends.",
)
ogrid = _Grid(True, "Coordinates along each axis of a grid, which suffice for broadcasting: ``ogrid[0:2, 0:3]``.")

public_values("Matrices and grids", "mgrid", "ogrid")
