"""Creation of arrays from ranges of numbers, and from functions of the indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from PyGPU import _core
from PyGPU._functions.array_arguments import arrays
from PyGPU._functions.grids import indices
from PyGPU._functions.joining import stack
from PyGPU._names.public import public, public_values

if TYPE_CHECKING:
    from PyGPU.typing import DeviceLike

_Result = TypeVar("_Result")


@public("Making arrays")
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
) -> _core.GPUArray:
    """Return numbers that are evenly spaced on a logarithmic scale.

    They are computed on the host if `start`, `stop` and `base` are host values, and otherwise on the device.

    Parameters
    ----------
    start, stop : array_like
        Logarithms of the first and the last number.
    num : int, optional
        Number of elements.
    endpoint : bool, optional
        Whether `stop` is the last number. If False, the sequence ends one step before `stop`.
    base : array_like, optional
        Base of the logarithms.
    dtype : dtype-like, optional
        Type of the numbers.
    axis : int, optional
        Axis of the result along which the numbers vary, if `start` or `stop` is an array.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.logspace(0, 2, 3).tolist()
    [1.0, 10.0, 100.0]
    """
    ends = (start, stop, base)
    if any(isinstance(end, _core.GPUArray) for end in ends):
        return _logspace_between_arrays(ends, num, endpoint, dtype, axis)
    return _core.asarray(np.logspace(start, stop, num, endpoint, base, dtype, axis), device=device)


def _logspace_between_arrays(
    ends: tuple[Any, Any, Any], num: int, endpoint: bool, dtype: DTypeLike | None, axis: int
) -> _core.GPUArray:
    """Raise an array of bases to powers that are evenly spaced between two arrays."""
    start, stop, base = arrays(ends, "logspace")
    base_factor: Any = base
    # NumPy's rule: Python numbers do not determine the dtype, unless the bases are an array with axes.
    end_types = [end.dtype for end in (start, stop)] if base.ndim else [getattr(end, "dtype", end) for end in ends[:2]]
    if not base.ndim and isinstance(ends[2], (int, float, complex)):
        base_factor = ends[2]
    shape = np.broadcast_shapes(start.shape, stop.shape, base.shape)
    end_dtype = np.result_type(*end_types, 0.0)
    start, stop = (_core.broadcast_to(end.astype(end_dtype), shape) for end in (start, stop))
    exponents = _spaced(start, stop, num, endpoint)
    powers = _core.power(base_factor, exponents)
    return _core.moveaxis(powers if dtype is None else powers.astype(dtype), 0, axis)


def _spaced(start: _core.GPUArray, stop: _core.GPUArray, num: int, endpoint: bool) -> _core.GPUArray:
    """Return numbers along a new first axis that are evenly spaced between two arrays of one shape and dtype."""
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    intervals = num - 1 if endpoint else num
    indices_along_axis = _core.arange(num, dtype=np.float64, device=start.device).astype(start.dtype)
    multiples = indices_along_axis.reshape((-1,) + (1,) * start.ndim)
    step = (stop - start) / intervals if intervals > 0 else stop - start
    result = multiples * step + start
    if endpoint and num > 1:
        result[-1] = stop
    return result


@public("Making arrays")
def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
) -> _core.GPUArray:
    """Return a geometric sequence, computed on the host.

    Parameters
    ----------
    start, stop : array_like
        The first and the last number.
    num : int, optional
        Number of elements.
    endpoint : bool, optional
        Whether `stop` is the last number. If False, the sequence ends one step before `stop`.
    dtype : dtype-like, optional
        Type of the numbers.
    axis : int, optional
        Axis of the result along which the numbers vary, if `start` or `stop` is an array.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Raises
    ------
    TypeError
        For device arrays as `start` or `stop`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.geomspace(1, 8, 4).tolist()
    [1.0, 2.0, 4.0, 8.0]
    """
    if isinstance(start, _core.GPUArray) or isinstance(stop, _core.GPUArray):
        raise TypeError(
            "geomspace: start and stop are host values, not device arrays; "
            "write logspace(log10(start), log10(stop), num) for positive arrays"
        )
    return _core.asarray(np.geomspace(start, stop, num, endpoint, dtype, axis), device=device)


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
        # NumPy creates the numbers along each axis, because their dtype depends on the slices of all axes.
        host_grid: Any = np.ogrid[tuple(map(_host_slice, key)) if isinstance(key, tuple) else _host_slice(key)]
        if isinstance(host_grid, np.ndarray):
            return _core.asarray(host_grid)
        axes = [_core.asarray(coordinates) for coordinates in host_grid]
        if self._is_open:
            return tuple(axes)
        common_shape = np.broadcast_shapes(*(coordinates.shape for coordinates in host_grid))
        return stack([_core.broadcast_to(coordinates, common_shape) for coordinates in axes])

    def __repr__(self) -> str:
        return f"PyGPU.{'ogrid' if self._is_open else 'mgrid'}"


def _host_slice(part: Any) -> Any:
    """Read the ends of a slice that are device arrays without axes; the host waits, because they determine a size."""
    if not isinstance(part, slice):
        return part
    ends = (part.start, part.stop, part.step)
    return slice(*(end.get()[()] if isinstance(end, _core.GPUArray) and end.ndim == 0 else end for end in ends))


mgrid = _Grid(
    False,
    "Coordinates of all points of a grid: ``mgrid[0:2, 0:3]`` has an array for each axis; waits for device ends.",
)
ogrid = _Grid(True, "Coordinates along each axis of a grid, which broadcasting needs alone: ``ogrid[0:2, 0:3]``.")

public_values("Matrices and grids", "mgrid", "ogrid")
