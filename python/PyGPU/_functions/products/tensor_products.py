"""Products of arrays along selected axes, implemented with ``matmul``."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from PyGPU import _core
from PyGPU._functions.array_arguments import arrays, check_out, normalize_axis
from PyGPU._names.public import public

_CORES = {"matmul": (2, 2), "matvec": (2, 1), "vecmat": (1, 2), "vecdot": (1, 1)}


def _not_aligned(a: _core.GPUArray, b: _core.GPUArray, axis: int, other: int) -> ValueError:
    def text(shape: tuple[int, ...]) -> str:
        return str(shape).replace(" ", "")

    return ValueError(
        f"shapes {text(a.shape)} and {text(b.shape)} not aligned: {a.shape[axis]} (dim {axis % a.ndim}) != "
        f"{b.shape[other]} (dim {other % b.ndim})"
    )


def _multiplied(a: _core.GPUArray, b: _core.GPUArray, **keywords: Any) -> _core.GPUArray:
    result: _core.GPUArray = _core.multiply(a, b, **keywords)
    return result


@public("Products")
def dot(a: Any, b: Any, out: _core.GPUArray | None = None) -> _core.GPUArray:
    """Return the dot product of two arrays, as `numpy.dot`.

    Parameters
    ----------
    a, b : GPUArray or number
        Operands. Products along the last axis of `a` and the second to last (or only) axis of `b` are summed. A number
        multiplies every element. (``PyGPU.gpuarray.dot`` is PyCUDA's function: the sum of the products of all
        elements.)
    out : GPUArray, optional
        Output array of the result's type and shape, in C order.

    Returns
    -------
    GPUArray
        Array with the remaining axes of `a`, followed by the remaining axes of `b`.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.arange(6).reshape(2, 3)
    >>> PyGPU.dot(a, PyGPU.arange(3)).tolist()
    [5, 14]
    """
    a, b = arrays((a, b), "dot")
    if a.ndim and b.ndim and a.shape[-1] != b.shape[max(b.ndim - 2, 0)]:
        raise _not_aligned(a, b, -1, max(b.ndim - 2, 0))
    if out is not None:
        check_out(out, "dot")
        shape = (*a.shape[:-1], *b.shape[:-2], *b.shape[-1:][: b.ndim - 1]) if a.ndim and b.ndim else a.shape or b.shape
        is_right = out.dtype == np.result_type(a.dtype, b.dtype) and out.shape == shape
        if not (is_right and out.flags.c_contiguous):
            raise ValueError(
                "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
            )
    if not (a.ndim and b.ndim):
        return _multiplied(a, b, out=out)
    if b.ndim <= 2:
        return _core.matmul(a, b, out=out)
    result = tensordot(a, b, ([-1], [-2]))
    if out is None:
        return result
    out[...] = result
    return out


@public("Products")
def vdot(a: Any, b: Any, /) -> _core.GPUArray:
    """Return the sum of the products of all elements of two arrays; the first array is conjugated.

    Parameters
    ----------
    a, b : GPUArray
        Arrays of equal size, taken in C order.

    Returns
    -------
    GPUArray
        Array without axes.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.vdot(PyGPU.to_gpu([1j, 2]), PyGPU.to_gpu([1j, 2])).item()
    (5+0j)
    """
    a, b = arrays((a, b), "vdot")
    if a.size != b.size:
        raise ValueError("cannot reshape one argument to the other's length in vdot")
    return _core.vecdot(a.reshape(-1), b.reshape(-1))


@public("Products")
def inner(a: Any, b: Any, /) -> _core.GPUArray:
    """Return the sums of products along the last axes of two arrays.

    Parameters
    ----------
    a, b : GPUArray or number
        Operands; a number multiplies every element.

    Returns
    -------
    GPUArray
        Array with the remaining axes of `a`, followed by the remaining axes of `b`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.inner(PyGPU.to_gpu([1, 2, 3]), PyGPU.to_gpu([0, 1, 0])).item()
    2
    """
    a, b = arrays((a, b), "inner")
    if not (a.ndim and b.ndim):
        return _multiplied(a, b)
    if a.shape[-1] != b.shape[-1]:
        raise _not_aligned(a, b, -1, -1)
    return tensordot(a, b, ([-1], [-1]))


@public("Products")
def outer(a: Any, b: Any, out: _core.GPUArray | None = None) -> _core.GPUArray:
    """Return the product of each element of one array with each element of another array.

    Parameters
    ----------
    a, b : GPUArray
        Arrays, which are flattened in C order.
    out : GPUArray, optional
        Output array.

    Returns
    -------
    GPUArray
        Matrix with one row for each element of `a`, and one column for each element of `b`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.outer(PyGPU.to_gpu([1, 2]), PyGPU.to_gpu([3, 4])).tolist()
    [[3, 4], [6, 8]]
    """
    a, b = arrays((a, b), "outer")
    return _multiplied(a.reshape(-1, 1), b.reshape(1, -1), out=out)


@public("Products")
def kron(a: Any, b: Any) -> _core.GPUArray:
    """Return the Kronecker product: blocks of the second array, scaled by each element of the first array.

    Parameters
    ----------
    a, b : GPUArray
        Operands; the array with fewer axes is extended with leading axes of length 1.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.kron(PyGPU.to_gpu([1, 10]), PyGPU.to_gpu([1, 2])).tolist()
    [1, 2, 10, 20]
    """
    a, b = arrays((a, b), "kron")
    if not (a.ndim and b.ndim):
        return _multiplied(a, b)
    ndim = max(a.ndim, b.ndim)
    shape_a = (1,) * (ndim - a.ndim) + a.shape
    shape_b = (1,) * (ndim - b.ndim) + b.shape
    spread_a = [length for length_a in shape_a for length in (length_a, 1)]
    spread_b = [length for length_a in shape_b for length in (1, length_a)]
    result = _multiplied(a.reshape(spread_a), b.reshape(spread_b), order="C")
    return result.reshape([length_a * length_b for length_a, length_b in zip(shape_a, shape_b, strict=True)])


def _contracted_axes(axes: Any, a: _core.GPUArray, b: _core.GPUArray) -> tuple[list[int], list[int]]:
    """Return the axes of each array over which `tensordot` sums, as non-negative numbers."""
    if not np.iterable(axes):
        count = int(axes)
        axes = (range(a.ndim - count, a.ndim), range(count))
        if count < 0:
            raise ValueError(f"tensordot: {count} axes of arrays with {a.ndim} and {b.ndim}")
        if count > min(a.ndim, b.ndim):
            common = zip(a.shape[a.ndim - count :], b.shape, strict=False) if count <= a.ndim else ()
            if any(length != other for length, other in common):
                raise ValueError("shape-mismatch for sum")
            raise IndexError(f"tensordot: {count} axes of arrays with {a.ndim} and {b.ndim}")
    first, second = axes
    axes_a = [normalize_axis(axis, a.ndim) for axis in (first if np.iterable(first) else (first,))]
    axes_b = [normalize_axis(axis, b.ndim) for axis in (second if np.iterable(second) else (second,))]
    if len(set(axes_a)) != len(axes_a) or len(set(axes_b)) != len(axes_b):
        raise ValueError("duplicate axes are not allowed in tensordot")
    lengths = [a.shape[axis] for axis in axes_a]
    if lengths != [b.shape[axis] for axis in axes_b]:
        raise ValueError("shape-mismatch for sum")
    return axes_a, axes_b


@public("Products")
def tensordot(a: Any, b: Any, /, axes: int | Sequence[Any] = 2) -> _core.GPUArray:
    """Return the sums of products along several axes of two arrays.

    Parameters
    ----------
    a, b : GPUArray
        The arrays.
    axes : int, or two sequences of ints, optional
        An int n selects the last n axes of `a` and the first n axes of `b`. Two sequences contain the selected axes of
        `a` and of `b`. Products are summed over the selected axes.

    Returns
    -------
    GPUArray
        Array with the remaining axes of `a`, followed by the remaining axes of `b`.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.arange(8).reshape(2, 2, 2)
    >>> PyGPU.tensordot(a, a, axes=([0, 1], [0, 1])).tolist()
    [[56, 68], [68, 84]]
    """
    a, b = arrays((a, b), "tensordot")
    axes_a, axes_b = _contracted_axes(axes, a, b)
    free_axes_a = [axis for axis in range(a.ndim) if axis not in axes_a]
    free_axes_b = [axis for axis in range(b.ndim) if axis not in axes_b]
    depth = math.prod(a.shape[axis] for axis in axes_a)
    free_shape_a, free_shape_b = [a.shape[axis] for axis in free_axes_a], [b.shape[axis] for axis in free_axes_b]
    matrix_a = a.transpose(free_axes_a + axes_a).reshape(math.prod(free_shape_a), depth)
    matrix_b = b.transpose(axes_b + free_axes_b).reshape(depth, math.prod(free_shape_b))
    return _core.matmul(matrix_a, matrix_b).reshape(free_shape_a + free_shape_b)


def _moved(a: _core.GPUArray, axes: Any, count: int, name: str) -> _core.GPUArray:
    """Return a view of an operand with its core axes, over which the product is computed, moved to the end."""
    if not isinstance(axes, tuple):
        axes = (operator.index(axes),)
        if count != 1:
            raise AxisError(
                f"{name}: an operand has {count} core dimensions, but the axes item is the integer {axes[0]}"
            )
    if len(axes) != count:
        raise AxisError(f"{name}: an operand has {count} core dimensions, but the axes item is {axes}")
    indices = tuple(normalize_axis(axis, a.ndim) for axis in axes)
    if len(set(indices)) != count:
        raise ValueError(f"{name}: the axes item {axes} has a value repeated")
    return _core.moveaxis(a, indices, tuple(range(-count, 0)))


def _with_axes(name: str, operands: tuple[Any, ...], keywords: dict[str, Any]) -> _core.GPUArray:
    """Call a product function such as `vecdot` with the arguments `axis`, `axes` or `keepdims`."""
    keywords = dict(keywords)
    *factors, positional_out = operands if len(operands) == 3 else (*operands, None)
    out = keywords.pop("out", None)
    if positional_out is not None and out is not None:
        raise TypeError("cannot specify 'out' as both a positional and keyword argument")
    is_kept = _takes_keepdims(name, keywords)
    a, b = arrays(factors, name)
    counts = [min(count, operand.ndim) for count, operand in zip(_CORES[name], (a, b), strict=True)]
    cores = 1 if is_kept else sum(counts) - 2
    axes = _axes_of_operands(name, keywords, counts, cores)
    a, b = _moved(a, axes[0], counts[0], name), _moved(b, axes[1], counts[1], name)
    target = _output(positional_out, out, name)
    function = getattr(_core, name)
    if target is not None:
        moved = _moved(target, axes[2], cores, name)
        function(a, b, out=_without_kept_axis(moved, name) if is_kept else moved, **keywords)
        return target
    result: _core.GPUArray = function(a, b, **keywords)
    if is_kept:
        result = result[..., None]
    result_axes = axes[2] if isinstance(axes[2], tuple) else (axes[2],)
    return _core.moveaxis(result, tuple(range(-cores, 0)), result_axes) if cores else result


def _output(positional_out: Any, out: Any, name: str) -> _core.GPUArray | None:
    """Return the output array, which is passed by position or as `out`, possibly in a tuple."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
        (out,) = out
    out = positional_out if out is None else out
    if out is None:
        return None
    check_out(out, name)
    array: _core.GPUArray = out
    return array


def _takes_keepdims(name: str, keywords: dict[str, Any]) -> bool:
    """Remove and return the keyword `keepdims`, which only `vecdot` accepts, because its result has no core axes."""
    if "keepdims" not in keywords:
        return False
    keepdims = keywords.pop("keepdims")
    if not isinstance(keepdims, bool):
        raise TypeError(f"{name}: 'keepdims' must be a boolean, not {type(keepdims).__name__}")
    if name != "vecdot":
        raise TypeError(f"{name} does not support keepdims, because its result has core dimensions")
    return keepdims


def _axes_of_operands(name: str, keywords: dict[str, Any], counts: list[int], cores: int) -> list[Any]:
    """Remove `axis` and `axes` from the keyword arguments; return the axes of each operand and of the result."""
    last = [tuple(range(-count, 0)) for count in (*counts, cores)]
    has_axis, axes = "axis" in keywords, keywords.pop("axes", None)
    axis = keywords.pop("axis", None)
    if has_axis:
        if axes is not None:
            raise TypeError("cannot specify both 'axis' and 'axes'")
        if name != "vecdot":
            raise TypeError(f"{name}: axis can only be used with a single shared core dimension; axes names them")
        axis = operator.index(axis)
        return [axis, axis, axis if cores else ()]
    if axes is None:
        return last
    if not isinstance(axes, list):
        raise TypeError(f"{name}: axes should be a list, not {type(axes).__name__}")
    if len(axes) == 3:
        result = axes[2] if isinstance(axes[2], tuple) else (operator.index(axes[2]),)
        if len(result) != cores:
            raise AxisError(f"{name}: the result has {cores} core dimensions, but the axes item is {axes[2]}")
        return axes
    if len(axes) != 2 or (cores and name != "vecdot"):
        raise ValueError(
            f"{name}: axes should be a list with an entry for each operand, and one for the result if it has such axes"
        )
    return [*axes, last[2]]


def _without_kept_axis(out: _core.GPUArray, name: str) -> _core.GPUArray:
    """Return a view of `out` without its last axis, which `keepdims` adds and which must have length 1."""
    if out.shape[-1] != 1:
        raise ValueError(f"{name}: the output has {out.shape[-1]} elements along the kept axis, not 1")
    return out[..., 0]
