"""Arrays made of values that are somewhere else, or here in another form."""

from __future__ import annotations

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
    """Make an array of values.

    Parameters
    ----------
    object : array_like
        The values: of an array of any library, or in lists, which may have arrays of a device in them.
    dtype : dtype-like, optional
        Of the elements; that of the values by default.
    copy : bool or None, optional
        True: new memory whatever is given. None: only where it is needed. False: never, or ValueError.
    order : {'K', 'A', 'C', 'F'}, optional
        How the elements lie; as those of the values by default.
    subok : bool, optional
        Taken as NumPy takes it; the result is a GPUArray.
    ndmin : int, optional
        How many axes there are at least; those that lack come first, with length 1.
    ndmax : int, optional
        How many axes of lists become axes at most.
    like : GPUArray, optional
        Where the result is, if `device` is not given.
    device : int, str or Device, optional
        Where; of an array of a device that one by default, and of other values the current one.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.array([1, 2], dtype="float32", ndmin=2).shape
    (1, 2)
    """
    if ndmax not in (None, 0):
        object = np.array(object, dtype, ndmax=ndmax)
    if device is None and like is not None:
        device = like.device
    made = _core.asarray(object, dtype, order, device=device, copy=copy)
    return made.reshape((1,) * (ndmin - made.ndim) + made.shape) if made.ndim < ndmin else made


@public("Making arrays")
def asanyarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: OrderACFK = None,
    *,
    device: DeviceLike = None,
    copy: bool | None = None,
) -> _core.GPUArray:
    """Give values as an array: `asarray` under the name of NumPy's function for subclasses.

    Parameters
    ----------
    a : array_like
        The values.
    dtype : dtype-like, optional
        Of the elements; that of the values by default.
    order : {'K', 'A', 'C', 'F'}, optional
        How the elements lie.
    device : int, str or Device, optional
        Where.
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
    """Give values as an array, and refuse NaN and infinities, for which the host waits.

    Parameters
    ----------
    a : array_like
        The values.
    dtype : dtype-like, optional
        Of the elements; that of the values by default.
    order : {'K', 'A', 'C', 'F'}, optional
        How the elements lie.
    device : int, str or Device, optional
        Where.

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
    made = _core.asarray(a, dtype, order, device=device)
    if made.dtype.kind in "fc" and not _core.isfinite(made).all():
        raise ValueError("array must not contain infs or NaNs")
    return made


@public("Making arrays")
def ascontiguousarray(a: Any, dtype: DTypeLike | None = None, *, device: DeviceLike = None) -> _core.GPUArray:
    """Give values as an array in C order with at least one axis.

    Parameters
    ----------
    a : array_like
        The values; an array that lies so is returned itself.
    dtype : dtype-like, optional
        Of the elements; that of the values by default.
    device : int, str or Device, optional
        Where.

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
    """Give values as an array in F order with at least one axis.

    Parameters
    ----------
    a : array_like
        The values; an array that lies so is returned itself.
    dtype : dtype-like, optional
        Of the elements; that of the values by default.
    device : int, str or Device, optional
        Where.

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


@public("Making arrays")
def require(
    a: Any, dtype: DTypeLike | None = None, requirements: Any = None, *, device: DeviceLike = None
) -> _core.GPUArray:
    """Give values as an array that lies as is required.

    Parameters
    ----------
    a : array_like
        The values.
    dtype : dtype-like, optional
        Of the elements; that of the values by default.
    requirements : str or sequence of str, optional
        The order, ``'C'`` or ``'F'``; ``'W'`` for an array that may be written to, ``'O'`` for one that is no view,
        ``'A'`` for one that is aligned, as all are.
    device : int, str or Device, optional
        Where.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        For both orders.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.require(PyGPU.zeros((2, 3)), requirements="F").flags.f_contiguous
    True
    """
    wanted = {str(one).upper()[0] for one in requirements or ()}
    if {"C", "F"} <= wanted:
        raise ValueError('Cannot specify both "C" and "F" order')
    order: OrderACFK = "F" if "F" in wanted else "C" if "C" in wanted else None
    made = _core.asarray(a, dtype, order, device=device)
    is_refused = ("W" in wanted and not made.flags.writeable) or ("O" in wanted and made.base is not None)
    return made.copy("K" if order is None else order) if is_refused else made


@public("Making arrays")
def asnumpy(a: Any, stream: Any = None, order: OrderACFK = "C", out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Bring an array to the host, under the name that CuPy has for it; the host waits.

    Parameters
    ----------
    a : array_like
        An array of a device, or what NumPy makes one of.
    stream : Stream, optional
        The stream on which the values are copied; the current one by default.
    order : {'C', 'F', 'A', 'K'}, optional
        How the elements lie there.
    out : ndarray, optional
        Where they go.

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
        found = np.asarray(a, order=order)
    elif stream is None:
        found = np.asarray(a.get(), order=order) if out is None else a.get(out)
    else:
        with stream:
            return asnumpy(a, None, order, out)
    if out is not None and found is not out:
        out[...] = found
    return found if out is None else out
