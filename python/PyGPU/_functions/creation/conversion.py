"""Functions that create arrays from given values, and convert arrays."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from PyGPU import _core
from PyGPU._names.public import public

if TYPE_CHECKING:
    from PyGPU.typing import DeviceLike, OrderACFK


@public("Making arrays")
def array(
    object: Any,
    dtype: DTypeLike | None = None,
    *,
    copy: bool | None = True,
    order: OrderACFK = "K",
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int | None = None,
    like: _core.GPUArray | None = None,
    device: DeviceLike = None,
) -> _core.GPUArray:
    """Create an array from values.

    Parameters
    ----------
    object : array_like
        The values: an array of any library, or nested lists, which may contain device arrays.
    dtype : dtype-like, optional
        Type of the elements; defaults to the type of the values.
    copy : bool or None, optional
        True: always copy. None: copy only if needed. False: raise ValueError if a copy is needed.
    order : {'K', 'A', 'C', 'F'}, optional
        Memory order; defaults to the order of the values.
    subok : bool, optional
        Accepted for compatibility with NumPy; it has no effect, because the result is always a GPUArray.
    ndmin : int, optional
        Minimum number of axes; missing axes are prepended with length 1.
    ndmax : int, optional
        Maximum number of axes created from lists; unlimited by default.
    like : GPUArray, optional
        Array whose device is used if `device` is not given.
    device : int, str or Device, optional
        Device of the array; defaults to the device of `object` if it is a device array, otherwise to the current
        device.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        If lists have more axes than `ndmax`, if `ndmax` is not between 0 and 64, and if `copy` is False but a copy is
        needed.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.array([1, 2], dtype="float32", ndmin=2).shape
    (1, 2)
    """
    ndmin = operator.index(ndmin)
    if device is None and like is not None:
        device = like.device
    result = _core.asarray(object, dtype, order, device=device, copy=copy)
    if ndmax is not None:
        _check_axes_of_lists(object, result.ndim, operator.index(ndmax))
    return result.reshape((1,) * (ndmin - result.ndim) + result.shape) if result.ndim < ndmin else result


def _check_axes_of_lists(values: Any, ndim: int, ndmax: int) -> None:
    """Raise NumPy's error for lists with more axes than allowed; arrays may have any number of axes."""
    if not 0 <= ndmax <= 64:
        raise ValueError(f"ndmax must be in the range [0, 64], not {ndmax}")
    if isinstance(values, (list, tuple)) and ndim > ndmax:
        raise ValueError(
            f"setting an array element with a sequence: the values have {ndim} axes, and the maximum is {ndmax}"
        )


@public("Making arrays")
def asanyarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: OrderACFK = None,
    *,
    device: DeviceLike = None,
    copy: bool | None = None,
) -> _core.GPUArray:
    """Convert values to an array, exactly like `asarray`.

    Parameters
    ----------
    a : array_like
        The values.
    dtype : dtype-like, optional
        Type of the elements; defaults to the type of the values.
    order : {'K', 'A', 'C', 'F'}, optional
        Memory order of the elements.
    device : int, str or Device, optional
        Device of the array.
    copy : bool, optional
        As for `asarray`.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.asanyarray([1, 2]).tolist()
    [1, 2]
    """
    return _core.asarray(a, dtype, order, device=device, copy=copy)


@public("Making arrays")
def asarray_chkfinite(
    a: Any, dtype: DTypeLike | None = None, order: OrderACFK = None, *, device: DeviceLike = None
) -> _core.GPUArray:
    """Convert values to an array and raise an error for NaN and infinity; the host waits for the check.

    Parameters
    ----------
    a : array_like
        The values.
    dtype : dtype-like, optional
        Type of the elements; defaults to the type of the values.
    order : {'K', 'A', 'C', 'F'}, optional
        Memory order of the elements.
    device : int, str or Device, optional
        Device of the array.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        If an element is not finite.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.asarray_chkfinite([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    result = _core.asarray(a, dtype, order, device=device)
    if result.dtype.kind in "fc" and not _core.isfinite(result).all():
        raise ValueError("array must not contain infs or NaNs")
    return result


@public("Making arrays")
def ascontiguousarray(a: Any, dtype: DTypeLike | None = None, *, device: DeviceLike = None) -> _core.GPUArray:
    """Convert values to an array in C order with at least one axis.

    Parameters
    ----------
    a : array_like
        The values; an array with this layout is returned unchanged.
    dtype : dtype-like, optional
        Type of the elements; defaults to the type of the values.
    device : int, str or Device, optional
        Device of the array.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.ascontiguousarray(PyGPU.zeros((2, 3)).T).flags.c_contiguous
    True
    """
    return array(a, dtype, copy=None, order="C", ndmin=1, device=device)


@public("Making arrays")
def asfortranarray(a: Any, dtype: DTypeLike | None = None, *, device: DeviceLike = None) -> _core.GPUArray:
    """Convert values to an array in Fortran order with at least one axis.

    Parameters
    ----------
    a : array_like
        The values; an array with this layout is returned unchanged.
    dtype : dtype-like, optional
        Type of the elements; defaults to the type of the values.
    device : int, str or Device, optional
        Device of the array.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.asfortranarray(PyGPU.zeros((2, 3))).flags.f_contiguous
    True
    """
    return array(a, dtype, copy=None, order="F", ndmin=1, device=device)


_REQUIREMENTS = {
    name: name[0]
    for name in ("C", "C_CONTIGUOUS", "CONTIGUOUS", "F", "F_CONTIGUOUS", "FORTRAN", "A", "ALIGNED", "W", "WRITEABLE",
                 "O", "OWNDATA", "E", "ENSUREARRAY")
}  # fmt: skip
"""Names of requirements in NumPy's `require`, and their first letters."""


@public("Making arrays")
def require(
    a: Any, dtype: DTypeLike | None = None, requirements: Any = None, *, device: DeviceLike = None
) -> _core.GPUArray:
    """Convert values to an array with the required layout.

    Parameters
    ----------
    a : array_like
        The values.
    dtype : dtype-like, optional
        Type of the elements; defaults to the type of the values.
    requirements : str or sequence of str, optional
        ``'C'`` or ``'F'`` for that memory order; ``'W'`` for a writable array; ``'O'`` for an array that is no view;
        ``'A'`` for an aligned array, which every array is.
    device : int, str or Device, optional
        Device of the array.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        If both memory orders are required.
    KeyError
        For an unknown requirement.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.require(PyGPU.zeros((2, 3)), requirements="F").flags.f_contiguous
    True
    """
    required = {_REQUIREMENTS[requirement.upper()] for requirement in requirements or ()}
    if {"C", "F"} <= required:
        raise ValueError('Cannot specify both "C" and "F" order')
    order: OrderACFK = "F" if "F" in required else "C" if "C" in required else None
    result = _core.asarray(a, dtype, order, device=device)
    needs_copy = ("W" in required and not result.flags.writeable) or ("O" in required and result.base is not None)
    return result.copy("K" if order is None else order) if needs_copy else result


@public("Making arrays")
def asnumpy(a: Any, stream: Any = None, order: OrderACFK = "C", out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Copy an array to the host and wait; the name is CuPy's.

    Parameters
    ----------
    a : array_like
        A device array, or any input that `numpy.asarray` accepts.
    stream : Stream, optional
        Stream on which the values are copied; defaults to the thread's current stream.
    order : {'C', 'F', 'A', 'K'}, optional
        Memory order on the host.
    out : ndarray, optional
        Output array.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.asnumpy(PyGPU.arange(3))
    array([0, 1, 2])
    """
    if not isinstance(a, _core.GPUArray):
        result = np.asarray(a, order=order)
    elif stream is None:
        result = np.asarray(a.get(), order=order) if out is None else a.get(out)
    else:
        with stream:
            return asnumpy(a, None, order, out)
    if out is not None and result is not out:
        out[...] = result
    return result if out is None else out
