"""Selection and logical functions of PyCUDA's ``pycuda.gpuarray``."""

from __future__ import annotations

from typing import Any

from PyGPU import _core
from PyGPU._names.docstrings import documented_like
from PyGPU._pycuda.gpuarray.result_allocation import allocating, like_first, on

__all__ = ["if_positive", "logical_and", "logical_not", "logical_or", "maximum", "minimum", "where"]


def _select(condition: _core.GPUArray, then_: Any, else_: Any, out: _core.GPUArray | None) -> _core.GPUArray:
    selected: _core.GPUArray = _core.where(condition, then_, else_)
    if out is None:
        return selected
    out[...] = selected
    return out


def where(
    criterion: _core.GPUArray,
    then_: _core.GPUArray,
    else_: _core.GPUArray,
    out: _core.GPUArray | None = None,
    stream: Any = None,
) -> _core.GPUArray:
    """Select elements of one array if a criterion is not 0, and of another array otherwise.

    Parameters
    ----------
    criterion, then_, else_ : GPUArray
        The criterion, the elements where the criterion is true, and the elements where it is false; broadcast to one
        shape.
    out : GPUArray, optional
        Output array.
    stream : Stream, optional
        Stream on which the function computes; defaults to the thread's current stream.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> a, b = gpuarray.to_gpu([1, 0, -1]), gpuarray.to_gpu([2, 3, 4])
    >>> gpuarray.where(a, b, a).tolist()
    [2, 0, 4]
    """
    with on(stream):
        return _select(criterion, then_, else_, out)


@documented_like(where)
def if_positive(
    criterion: _core.GPUArray,
    then_: _core.GPUArray,
    else_: _core.GPUArray,
    out: _core.GPUArray | None = None,
    stream: Any = None,
) -> _core.GPUArray:
    """Select elements of one array if a criterion is positive, and of another array otherwise.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> a, b = gpuarray.to_gpu([1, 0, -1]), gpuarray.to_gpu([2, 3, 4])
    >>> gpuarray.if_positive(a, b, a).tolist()
    [2, 0, -1]
    """
    with on(stream):
        return _select(_core.greater(criterion, 0), then_, else_, out)


def minimum(a: Any, b: Any, out: _core.GPUArray | None = None, stream: Any = None) -> _core.GPUArray:
    """Return the elementwise minimum of two operands; if one element is NaN, return the other element.

    Parameters
    ----------
    a, b : GPUArray or scalar
        Operands, of which at least one is an array.
    out : GPUArray, optional
        Output array.
    stream : Stream, optional
        Stream on which the function computes; defaults to the thread's current stream.

    Returns
    -------
    GPUArray
        Array of the dtype of the first array.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.minimum(gpuarray.to_gpu([1.0, float("nan"), 3.0]), 2).tolist()
    [1.0, 2.0, 2.0]
    """
    return _extreme(_core.fmin, a, b, out, stream)


@documented_like(minimum)
def maximum(a: Any, b: Any, out: _core.GPUArray | None = None, stream: Any = None) -> _core.GPUArray:
    """Return the elementwise maximum of two operands; if one element is NaN, return the other element.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.maximum(gpuarray.to_gpu([1.0, float("nan"), 3.0]), 2).tolist()
    [2.0, 2.0, 3.0]
    """
    return _extreme(_core.fmax, a, b, out, stream)


def _extreme(function: _core.Ufunc, a: Any, b: Any, out: _core.GPUArray | None, stream: Any) -> _core.GPUArray:
    with on(stream):
        return like_first(function, (a, b), out)


def logical_and(x1: Any, x2: Any, /, out: _core.GPUArray | None = None, *, allocator: Any = None) -> _core.GPUArray:
    """Test elementwise whether both operands are true.

    Parameters
    ----------
    x1, x2 : GPUArray or scalar
        Operands, which are broadcast to one shape.
    out : GPUArray, optional
        Output array.
    allocator : callable, optional
        Allocator of a new result.

    Returns
    -------
    GPUArray
        Array of bool.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.logical_and(gpuarray.to_gpu([0, 1, 2]), 1.0).tolist()
    [False, True, True]
    """
    return _logical(_core.logical_and, (x1, x2), out, allocator)


@documented_like(logical_and)
def logical_or(x1: Any, x2: Any, /, out: _core.GPUArray | None = None, *, allocator: Any = None) -> _core.GPUArray:
    """Test elementwise whether at least one operand is true.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.logical_or(gpuarray.to_gpu([0, 1, 2]), 0.0).tolist()
    [False, True, True]
    """
    return _logical(_core.logical_or, (x1, x2), out, allocator)


@documented_like(logical_and)
def logical_not(x: Any, /, out: _core.GPUArray | None = None, *, allocator: Any = None) -> _core.GPUArray:
    """Test elementwise whether the operand is false.

    Parameters
    ----------
    x : GPUArray or scalar
        Array or number.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.logical_not(gpuarray.to_gpu([0, 1, 2])).tolist()
    [True, False, False]
    """
    return _logical(_core.logical_not, (x,), out, allocator)


def _logical(
    function: _core.Ufunc, operands: tuple[Any, ...], out: _core.GPUArray | None, allocator: Any
) -> _core.GPUArray:
    with allocating(allocator):
        result: _core.GPUArray = function(*operands, out=out)
        return result
