"""Functions that change the shape and axes of arrays; most of them return views."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array, arrays, normalize_axis
from PyGPU._names.public import public, public_values

if TYPE_CHECKING:
    from PyGPU.typing import OrderACFK, ShapeLike


@public("Other shapes")
def reshape(
    a: _core.GPUArray, /, shape: ShapeLike, order: OrderACFK = "C", *, copy: bool | None = None
) -> _core.GPUArray:
    """Return the elements of an array in another shape.

    Parameters
    ----------
    a : GPUArray
        The array.
    shape : int or sequence of int
        Shape of the result; one length may be -1, and is then computed from the number of elements.
    order : {'C', 'F', 'A'}, optional
        Index order in which elements are read and written.
    copy : bool, optional
        True: always copy. False: never copy. None, the default: return a view in the same cases as NumPy.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        If the number of elements would change, or if `copy` is False and a view is impossible.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.reshape(PyGPU.arange(6), (2, -1)).tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    a = array(a, "reshape")
    result = a.reshape(shape, order=order)
    if copy is False and a.size and result.base is None:
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return result.copy() if copy and result.base is not None else result


@public("Other shapes")
def ravel(a: _core.GPUArray, order: OrderACFK = "C") -> _core.GPUArray:
    """Return the flattened elements of an array.

    Parameters
    ----------
    a : GPUArray
        The array.
    order : {'C', 'F', 'A'}, optional
        Index order in which elements are read.

    Returns
    -------
    GPUArray
        A view if the layout permits, otherwise a copy.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.ravel(PyGPU.arange(4).reshape(2, 2), "F").tolist()
    [0, 2, 1, 3]
    """
    return array(a, "ravel").ravel(order)


@public("Other shapes")
def squeeze(a: _core.GPUArray, axis: ShapeLike | None = None) -> _core.GPUArray:
    """Remove axes of length 1.

    Parameters
    ----------
    a : GPUArray
        The array.
    axis : int or sequence of int, optional
        Axes to remove; defaults to all axes of length 1.

    Returns
    -------
    GPUArray
        A view.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.squeeze(PyGPU.zeros((1, 3, 1))).shape
    (3,)
    """
    return array(a, "squeeze").squeeze(axis)


@public("Other shapes")
def transpose(a: _core.GPUArray, axes: Any = None) -> _core.GPUArray:
    """Return a view with permuted axes.

    Parameters
    ----------
    a : GPUArray
        The array.
    axes : sequence of int, optional
        Source axis of each new axis; by default the axes are reversed.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.transpose(PyGPU.zeros((2, 3, 4)), (1, 0, 2)).shape
    (3, 2, 4)
    """
    return array(a, "transpose").transpose(axes)


permute_dims = transpose


@public("Other shapes")
def matrix_transpose(x: _core.GPUArray, /) -> _core.GPUArray:
    """Return a view with the last two axes swapped.

    Parameters
    ----------
    x : GPUArray
        Array with two or more axes.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        For fewer than two axes.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.matrix_transpose(PyGPU.zeros((2, 3, 4))).shape
    (2, 4, 3)
    """
    x = array(x, "matrix_transpose")
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return x.mT


@public("Other shapes")
def swapaxes(a: _core.GPUArray, axis1: SupportsIndex, axis2: SupportsIndex) -> _core.GPUArray:
    """Return a view with two axes swapped.

    Parameters
    ----------
    a : GPUArray
        The array.
    axis1, axis2 : int
        Axes to swap.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.swapaxes(PyGPU.zeros((2, 3, 4)), 0, -1).shape
    (4, 3, 2)
    """
    return array(a, "swapaxes").swapaxes(axis1, axis2)


@public("Other shapes")
def rollaxis(a: _core.GPUArray, axis: int, start: int = 0) -> _core.GPUArray:
    """Return a view with an axis moved before another axis.

    Parameters
    ----------
    a : GPUArray
        The array.
    axis : int
        Axis to move.
    start : int, optional
        Axis, in the original numbering, before which `axis` is moved.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.rollaxis(PyGPU.zeros((2, 3, 4)), 2, 1).shape
    (2, 4, 3)
    """
    a = array(a, "rollaxis")
    axis_index = normalize_axis(axis, a.ndim)
    before = normalize_axis(start, a.ndim + 1) if start >= 0 else normalize_axis(start, a.ndim)
    return _core.moveaxis(a, axis_index, before - (axis_index < before))


@overload
def atleast_1d(a: Any, /) -> _core.GPUArray: ...
@overload
def atleast_1d(*arys: Any) -> _core.GPUArray | tuple[_core.GPUArray, ...]: ...
@public("Other shapes")
def atleast_1d(*arys: Any) -> Any:
    """Return arrays with at least one axis.

    Parameters
    ----------
    *arys : GPUArray or number
        Arrays; an array without axes gets one axis of length 1.

    Returns
    -------
    GPUArray, or tuple of GPUArray
        View of the array; a tuple of views for several arrays.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.atleast_1d(PyGPU.zeros(())).shape
    (1,)
    """
    converted = [array(argument, "atleast_1d") for argument in arys]
    return _single_or_tuple([argument if argument.ndim else argument.reshape(1) for argument in converted])


@overload
def atleast_2d(a: Any, /) -> _core.GPUArray: ...
@overload
def atleast_2d(*arys: Any) -> _core.GPUArray | tuple[_core.GPUArray, ...]: ...
@public("Other shapes")
def atleast_2d(*arys: Any) -> Any:
    """Return arrays with at least two axes.

    Parameters
    ----------
    *arys : GPUArray or number
        Arrays; an array with one axis becomes one row.

    Returns
    -------
    GPUArray, or tuple of GPUArray
        View of the array; a tuple of views for several arrays.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.atleast_2d(PyGPU.arange(3)).shape
    (1, 3)
    """
    converted = [array(argument, "atleast_2d") for argument in arys]
    return _single_or_tuple(
        [
            argument if argument.ndim > 1 else argument.reshape(1, 1) if not argument.ndim else argument[None]
            for argument in converted
        ]
    )


@overload
def atleast_3d(a: Any, /) -> _core.GPUArray: ...
@overload
def atleast_3d(*arys: Any) -> _core.GPUArray | tuple[_core.GPUArray, ...]: ...
@public("Other shapes")
def atleast_3d(*arys: Any) -> Any:
    """Return arrays with at least three axes.

    Parameters
    ----------
    *arys : GPUArray or number
        Arrays. The shape (n,) becomes (1, n, 1), and the shape (m, n) becomes (m, n, 1).

    Returns
    -------
    GPUArray, or tuple of GPUArray
        View of the array; a tuple of views for several arrays.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.atleast_3d(PyGPU.arange(3)).shape
    (1, 3, 1)
    """
    indices: tuple[Any, ...] = ((None, None, None), (None, slice(None), None), (slice(None), slice(None), None))
    converted = [array(argument, "atleast_3d") for argument in arys]
    return _single_or_tuple(
        [argument if argument.ndim > 2 else argument[indices[argument.ndim]] for argument in converted]
    )


def _single_or_tuple(results: list[_core.GPUArray]) -> Any:
    return results[0] if len(results) == 1 else tuple(results)


@public("Other shapes")
def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """Return the shape to which several shapes are broadcast.

    Parameters
    ----------
    *args : int or tuple of int
        The shapes.

    Returns
    -------
    tuple of int

    Raises
    ------
    ValueError
        If the shapes cannot be broadcast.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.broadcast_shapes((3, 1), 4)
    (3, 4)
    """
    return np.broadcast_shapes(*args)


@public("Other shapes")
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[_core.GPUArray, ...]:
    """Return views of arrays, broadcast to one shape.

    Parameters
    ----------
    *args : GPUArray or number
        Arrays to broadcast.
    subok : bool, optional
        Ignored: a view always has the class of its array.

    Returns
    -------
    tuple of GPUArray

    Raises
    ------
    ValueError
        If the shapes cannot be broadcast.

    Examples
    --------
    >>> import PyGPU
    >>> [a.shape for a in PyGPU.broadcast_arrays(PyGPU.zeros((3, 1)), PyGPU.zeros(4))]
    [(3, 4), (3, 4)]
    """
    operands = arrays(args, "broadcast_arrays")
    common_shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    if builtins.all(operand.shape == common_shape for operand in operands):
        return tuple(operands)
    return tuple(_core.broadcast_to(operand, common_shape) for operand in operands)


@public("Other shapes")
def ndim(a: Any) -> int:
    """Return the number of axes of an array.

    Parameters
    ----------
    a : GPUArray or number
        Array or number.

    Returns
    -------
    int

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.ndim(PyGPU.zeros((2, 3)))
    2
    """
    return a.ndim if isinstance(a, _core.GPUArray) else np.ndim(a)


@public("Other shapes")
def shape(a: Any) -> tuple[int, ...]:
    """Return the shape of an array.

    Parameters
    ----------
    a : GPUArray or number
        Array or number.

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.shape(PyGPU.zeros((2, 3)))
    (2, 3)
    """
    return a.shape if isinstance(a, _core.GPUArray) else np.shape(a)


@public("Other shapes")
def size(a: Any, axis: int | tuple[int, ...] | None = None) -> int:
    """Return the number of elements of an array, or the product of its lengths along given axes.

    Parameters
    ----------
    a : GPUArray or number
        Array or number.
    axis : int or tuple of int, optional
        Axes whose lengths are multiplied; defaults to all axes.

    Returns
    -------
    int

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.size(PyGPU.zeros((2, 3))), PyGPU.size(PyGPU.zeros((2, 3)), 1)
    (6, 3)
    """
    # NumPy reads only the shape, so a host array of the same shape replaces a device array without a copy.
    return np.size(a if not isinstance(a, _core.GPUArray) else np.broadcast_to(False, a.shape), axis)


public_values("Other shapes", "permute_dims")
