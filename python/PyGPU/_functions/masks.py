"""Functions that select or write the elements at which a mask is true.

Each function that selects elements makes the host wait for their number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array, target
from PyGPU._functions.selection import put, take
from PyGPU._functions.selection_operands import check_values, cycled, flat, on_device_of
from PyGPU._names.public import public


@public("Selection")
def nonzero(a: _core.GPUArray) -> tuple[_core.GPUArray, ...]:
    """Return the indices of the nonzero elements.

    The host waits for the number of nonzero elements.

    Parameters
    ----------
    a : GPUArray

    Returns
    -------
    tuple of GPUArray
        One array of indices for each axis; the elements are in C order.

    Examples
    --------
    >>> import PyGPU
    >>> [one.tolist() for one in PyGPU.nonzero(PyGPU.to_gpu([[0, 3], [4, 0]]))]
    [[0, 1], [1, 0]]
    """
    a = array(a, "nonzero")
    numpy_result: tuple[_core.GPUArray, ...] = _core._by_numpy("nonzero", a, (a,))
    if numpy_result is not NotImplemented:
        return numpy_result
    if a.ndim == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use reshape(1) first.")
    indices = _core._nonzero(a)
    return tuple(indices[axis] for axis in range(a.ndim))


@public("Selection")
def argwhere(a: _core.GPUArray) -> _core.GPUArray:
    """Return the indices of the nonzero elements as a matrix with one row for each element.

    Parameters
    ----------
    a : GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.argwhere(PyGPU.to_gpu([[0, 3], [4, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    a = array(a, "argwhere")
    if a.ndim == 0:
        return argwhere(a.reshape(1))[:, :0]
    a = array(a, "argwhere")
    numpy_result: _core.GPUArray = _core._by_numpy("argwhere", a, (a,))
    return _core._nonzero(a).T if numpy_result is NotImplemented else numpy_result


@public("Selection")
def flatnonzero(a: _core.GPUArray) -> _core.GPUArray:
    """Return the flat indices, in C order, of the nonzero elements.

    Parameters
    ----------
    a : GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.flatnonzero(PyGPU.to_gpu([[0, 3], [4, 0]])).tolist()
    [1, 2]
    """
    return nonzero(flat(array(a, "flatnonzero")))[0]


@public("Selection", host=("condition",))
def compress(
    condition: Any, a: _core.GPUArray, axis: int | None = None, out: _core.GPUArray | None = None
) -> _core.GPUArray:
    """Select the parts along an axis for which a condition is true.

    Parameters
    ----------
    condition : array_like of bool
        One-dimensional condition, at most as long as the axis.
    a : GPUArray
    axis : int, optional
        Axis of selection; by default the array is flattened in C order.
    out : GPUArray, optional
        Output array.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.compress([False, True], PyGPU.to_gpu([[1, 2], [3, 4]]), axis=0).tolist()
    [[3, 4]]
    """
    a = array(a, "compress")
    numpy_result: _core.GPUArray = _core._by_numpy("compress", a, (condition, a, axis, out))
    if numpy_result is not NotImplemented:
        return numpy_result
    mask_array = on_device_of(a, condition, np.dtype(bool))
    if mask_array.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, nonzero(mask_array)[0], axis, out)


@public("Selection")
def extract(condition: Any, arr: _core.GPUArray) -> _core.GPUArray:
    """Return the elements for which a condition is true, in C order.

    Parameters
    ----------
    condition : array_like of bool
        Condition with as many elements as the array.
    arr : GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.extract(PyGPU.arange(6) > 3, PyGPU.arange(6)).tolist()
    [4, 5]
    """
    arr = array(arr, "extract")
    numpy_result: _core.GPUArray = _core._by_numpy("extract", arr, (condition, arr))
    if numpy_result is not NotImplemented:
        return numpy_result
    mask_array, elements = flat(on_device_of(arr, condition, np.dtype(bool))), flat(arr)
    return elements[mask_array] if mask_array.size == elements.size else take(elements, nonzero(mask_array)[0])


def _checked_mask(name: str, target: _core.GPUArray, mask: Any, values: Any, noun: str) -> _core.GPUArray:
    """Check the arguments of `place` and `putmask`; return the mask on the device of the target."""
    if not target.flags.writeable:
        raise ValueError(f"{name}: {noun} is read-only")
    mask_array = on_device_of(target, mask, np.dtype(bool))
    if mask_array.size != target.size:
        raise ValueError(f"{name}: mask and data must be the same size")
    check_values(target, values)
    return mask_array


@public("Selection")
def place(arr: _core.GPUArray, mask: Any, vals: Any) -> None:
    """Write the values, one after the other, to the elements for which a mask is true.

    Parameters
    ----------
    arr : GPUArray
    mask : array_like of bool
        Mask with as many elements as the array.
    vals : array_like
        Values, repeated if there are fewer values than true elements.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.arange(5)
    >>> PyGPU.place(a, a > 1, [10, 20])
    >>> a.tolist()
    [0, 1, 10, 20, 10]
    """
    arr = target(arr, "place")
    numpy_result = _core._by_numpy("place", arr, (arr, mask, vals))
    if numpy_result is not NotImplemented:
        return
    mask_array = _checked_mask("place", arr, mask, vals, "the array")
    values = flat(on_device_of(arr, vals, arr.dtype))
    positions = flatnonzero(mask_array)
    if positions.size == 0:
        return
    if values.size == 0:
        raise ValueError("Cannot insert from an empty array!")
    put(arr, positions, values, "wrap")


@public("Selection")
def putmask(a: _core.GPUArray, mask: Any, values: Any) -> None:
    """Write values to the elements for which a mask is true: each element gets the value at the same flat index.

    The call does not synchronize.

    Parameters
    ----------
    a : GPUArray
    mask : array_like of bool
        Mask with as many elements as the array.
    values : array_like
        One value for each element of the array, repeated if there are fewer values than elements.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.arange(5)
    >>> PyGPU.putmask(a, a > 1, [10, 20])
    >>> a.tolist()
    [0, 1, 10, 20, 10]
    """
    a = target(a, "putmask")
    numpy_result = _core._by_numpy("putmask", a, (a, mask, values))
    if numpy_result is not NotImplemented:
        return
    mask_array = _checked_mask("putmask", a, mask, values, "output array")
    flat_values = flat(on_device_of(a, values, a.dtype))
    if flat_values.size == 0 or a.size == 0:
        return
    if 1 < flat_values.size < a.size:
        flat_values = cycled(flat_values, a.size)
    source = flat_values[0] if flat_values.size == 1 else flat_values[: a.size].reshape(a.shape)
    _core.copyto(a, source, where=flat(mask_array).reshape(a.shape))
