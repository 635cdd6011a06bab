"""Functions that create arrays on the device or copy them to the host, with CuPy's parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._cupy.public_lookup import own
from PyGPU._names.docstrings import documented_like

__all__ = [
    "array",
    "asanyarray",
    "asarray",
    "asarray_chkfinite",
    "ascontiguousarray",
    "asfortranarray",
    "asnumpy",
    "require",
]


def _native(values: Any) -> Any:
    """Convert a host array to the host's native byte order, as CuPy does."""
    if isinstance(values, np.ndarray) and not values.dtype.isnative:
        return values.astype(values.dtype.newbyteorder("="))
    return values


def _device_values(values: Any) -> Any:
    """Convert a host array to native byte order, and copy it if the backend is the CPU; return other values unchanged.

    On the CPU backend an array of PyGPU could share the memory of a host array. CuPy's arrays never share host memory,
    so a later write to the host array must not change the new array.
    """
    values = _native(values)
    if isinstance(values, np.ndarray | memoryview | bytearray) and _core.Device().kind == "cpu":
        return np.array(values, order="K")
    return values


def array(
    obj: Any,
    dtype: Any = None,
    copy: bool | None = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> _core.GPUArray:
    """Create an array on the current device.

    Parameters
    ----------
    obj : array_like
        Values: a device or host array, a number, or nested sequences of arrays and numbers.
    dtype : dtype, optional
        Data type; defaults to the dtype of the values.
    copy : bool, optional
        Whether to copy a device array that already has the dtype and order.
    order : {'C', 'F', 'A', 'K'}, optional
        Memory order.
    subok : bool, optional
        Whether to keep a subclass of the array class.
    ndmin : int, optional
        Minimum number of axes; axes of length 1 are prepended.
    blocking : bool, optional
        Whether to wait for the copy from the host. `obj` in pageable memory may be changed after the call in both
        cases, because PyGPU has copied it before the call returns.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.array([1, 2], "f4", ndmin=2).shape
    (1, 2)
    """
    values = _native(obj) if copy else _device_values(obj)
    # In CuPy `copy=False` copies if needed; in NumPy it raises an error if a copy is needed.
    result = own("array")(values, dtype, copy=copy or None, order=order, subok=subok, ndmin=ndmin)
    return _waited(result, blocking)


def asarray(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    blocking: bool = False,
    copy: bool | None = None,
    device: Any = None,
) -> _core.GPUArray:
    """Convert values to an array on the current device, without a copy if possible.

    Parameters
    ----------
    a : array_like
        Values.
    dtype : dtype, optional
        Data type; defaults to the dtype of the values.
    order : {'C', 'F', 'A', 'K'}, optional
        Memory order.
    blocking : bool, optional
        Whether to wait for the copy from the host.
    copy : bool, optional
        True always copies; False raises an error if a copy is needed; by default the values are copied only if needed.
    device : Device, optional
        Device of the result.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> a = cupy.arange(3)
    >>> cupy.asarray(a) is a
    True
    """
    a = _native(a) if copy is False else _device_values(a)
    return _waited(own("asarray")(a, dtype, order, copy=copy, device=device), blocking)


def asanyarray(a: Any, dtype: Any = None, order: Any = None, *, blocking: bool = False) -> _core.GPUArray:
    """Convert values to an array on the current device; return an instance of a subclass of the array class unchanged.

    Parameters
    ----------
    a : array_like
        Values.
    dtype : dtype, optional
        Data type; defaults to the dtype of the values.
    order : {'C', 'F', 'A', 'K'}, optional
        Memory order.
    blocking : bool, optional
        Whether to wait for the copy from the host.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.asanyarray([1, 2]).tolist()
    [1, 2]
    """
    return _waited(own("asanyarray")(_device_values(a), dtype, order), blocking)


def ascontiguousarray(a: Any, dtype: Any = None, *, blocking: bool = False) -> _core.GPUArray:
    """Convert values to an array in C order.

    Parameters
    ----------
    a : array_like
        Values.
    dtype : dtype, optional
        Data type; defaults to the dtype of the values.
    blocking : bool, optional
        Whether to wait for the copy from the host.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.ascontiguousarray(cupy.zeros((2, 3)).T).flags.c_contiguous
    True
    """
    return _waited(own("ascontiguousarray")(_device_values(a), dtype), blocking)


@documented_like(ascontiguousarray)
def asfortranarray(a: Any, dtype: Any = None, *, blocking: bool = False) -> _core.GPUArray:
    """Convert values to an array in Fortran order.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.asfortranarray(cupy.zeros((2, 3))).flags.f_contiguous
    True
    """
    return _waited(own("asfortranarray")(_device_values(a), dtype), blocking)


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> _core.GPUArray:
    """Convert values to an array on the current device; raise ValueError for NaN and infinities.

    Parameters
    ----------
    a : array_like
        Values.
    dtype : dtype, optional
        Data type; defaults to the dtype of the values.
    order : {'C', 'F', 'A', 'K'}, optional
        Memory order.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.asarray_chkfinite([1, 2]).tolist()
    [1, 2]
    """
    result: _core.GPUArray = own("asarray_chkfinite")(_device_values(a), dtype, order)
    return result


def require(a: Any, dtype: Any = None, requirements: Any = None) -> _core.GPUArray:
    """Convert values to an array on the current device that satisfies requirements, such as a memory order.

    Parameters
    ----------
    a : array_like
        Values.
    dtype : dtype, optional
        Data type; defaults to the dtype of the values.
    requirements : str or sequence of str, optional
        ``'C'`` (C order), ``'F'`` (Fortran order), ``'O'`` (the array owns its memory), or their long names.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.require(cupy.zeros((2, 3)), "f4", "F").flags.f_contiguous
    True
    """
    result: _core.GPUArray = own("require")(_device_values(a), dtype, requirements)
    return result


def _waited(array: _core.GPUArray, blocking: bool) -> _core.GPUArray:
    if blocking:
        _core.current_stream().synchronize()
    return array


def asnumpy(
    a: Any,
    stream: Any = None,
    order: Any = "C",
    out: np.ndarray[Any, Any] | None = None,
    *,
    blocking: bool = True,
) -> np.ndarray[Any, Any]:
    """Copy the values of any array to the host.

    Parameters
    ----------
    a : array_like
        Device or host array, or values that NumPy converts to an array.
    stream : Stream, optional
        Stream of the copy; defaults to the thread's current stream.
    order : {'C', 'F', 'A'}, optional
        Memory order of a new ndarray.
    out : numpy.ndarray, optional
        Host array that receives the values.
    blocking : bool, optional
        Whether to wait for the copy. If False, the values are available after the stream has completed the copy.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.asnumpy(cupy.arange(3))
    array([0, 1, 2])
    """
    if not isinstance(a, _core.GPUArray) and hasattr(a, "__cuda_array_interface__"):
        a = _core.asarray(a)
    if isinstance(a, _core.GPUArray):
        return a.get(stream=stream, order=order, out=out, blocking=blocking)
    values = np.asarray(a, order=order)
    if out is None:
        return values
    out[...] = values
    return out
