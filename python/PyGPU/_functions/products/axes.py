"""Products of arrays along selected axes, implemented with ``matmul``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import arrays, axis_of
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
    made: _core.GPUArray = _core.multiply(a, b, **keywords)
    return made


@public("Products")
def dot(a: Any, b: Any, out: _core.GPUArray | None = None) -> _core.GPUArray:
    """Multiply as NumPy's ``dot`` does.

    Parameters
    ----------
    a, b : GPUArray or number
        Arrays are multiplied along the last axis of the first and the second to last (or only) axis of the second. A
        number multiplies every element. (``PyGPU.gpuarray.dot`` is PyCUDA's: the sum of the products of all elements.)
    out : GPUArray, optional
        Output array of the result's type and shape, in C order.

    Returns
    -------
    GPUArray
        With the remaining axes of the first, followed by those of the second.

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
    made = tensordot(a, b, ([-1], [-2]))
    if out is None:
        return made
    out[...] = made
    return out


@public("Products")
def vdot(a: Any, b: Any, /) -> _core.GPUArray:
    """Sum the products of all elements; the first array is conjugated.

    Parameters
    ----------
    a, b : GPUArray
        Arrays of equal size, taken in C order.

    Returns
    -------
    GPUArray
        Without axes.

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
    """Sum products along the last axes of both arrays.

    Parameters
    ----------
    a, b : GPUArray or number
        A number multiplies every element.

    Returns
    -------
    GPUArray
        With the remaining axes of the first, followed by those of the second.

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
    """Multiply every element of one array with every element of another.

    Parameters
    ----------
    a, b : GPUArray
        They are taken in C order.
    out : GPUArray, optional
        Output array.

    Returns
    -------
    GPUArray
        A row for each element of the first.

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
    """Return the Kronecker product: the second array scaled by each element of the first.

    Parameters
    ----------
    a, b : GPUArray
        The array with fewer axes is extended with leading axes of length 1.

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
    of_a = (1,) * (ndim - a.ndim) + a.shape
    of_b = (1,) * (ndim - b.ndim) + b.shape
    apart = [length for one in of_a for length in (one, 1)]
    within = [length for one in of_b for length in (1, one)]
    made = _multiplied(a.reshape(apart), b.reshape(within), order="C")
    return made.reshape([one * other for one, other in zip(of_a, of_b, strict=True)])


def _axes_of(axes: Any, a: _core.GPUArray, b: _core.GPUArray) -> tuple[list[int], list[int]]:
    """Return the multiplied axes of both arrays as non-negative numbers."""
    if not np.iterable(axes):
        count = int(axes)
        axes = (range(a.ndim - count, a.ndim), range(count))
        if count < 0 or count > min(a.ndim, b.ndim):
            raise ValueError(f"tensordot: {count} axes of arrays with {a.ndim} and {b.ndim}")
    first, second = axes
    of_a = [axis_of(axis, a.ndim) for axis in (first if np.iterable(first) else (first,))]
    of_b = [axis_of(axis, b.ndim) for axis in (second if np.iterable(second) else (second,))]
    if len(set(of_a)) != len(of_a) or len(set(of_b)) != len(of_b):
        raise ValueError("duplicate axes are not allowed in tensordot")
    lengths = [a.shape[axis] for axis in of_a]
    if lengths != [b.shape[axis] for axis in of_b]:
        raise ValueError("shape-mismatch for sum")
    return of_a, of_b


@public("Products")
def tensordot(a: Any, b: Any, /, axes: int | Sequence[Any] = 2) -> _core.GPUArray:
    """Sum products along several axes of two arrays.

    Parameters
    ----------
    a, b : GPUArray
        The arrays.
    axes : int, or two sequences of ints, optional
        Number of last axes of the first and first axes of the second; or the axes of the first and of the
        second.

    Returns
    -------
    GPUArray
        With the remaining axes of the first, followed by those of the second.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.arange(8).reshape(2, 2, 2)
    >>> PyGPU.tensordot(a, a, axes=([0, 1], [0, 1])).tolist()
    [[56, 68], [68, 84]]
    """
    a, b = arrays((a, b), "tensordot")
    of_a, of_b = _axes_of(axes, a, b)
    rest_a = [axis for axis in range(a.ndim) if axis not in of_a]
    rest_b = [axis for axis in range(b.ndim) if axis not in of_b]
    depth = math.prod(a.shape[axis] for axis in of_a)
    kept_a, kept_b = [a.shape[axis] for axis in rest_a], [b.shape[axis] for axis in rest_b]
    left = a.transpose(rest_a + of_a).reshape(math.prod(kept_a), depth)
    right = b.transpose(of_b + rest_b).reshape(depth, math.prod(kept_b))
    return _core.matmul(left, right).reshape(kept_a + kept_b)


def _moved(a: _core.GPUArray, axes: Any, count: int, name: str) -> _core.GPUArray:
    """Return a view with some axes moved behind the others."""
    given = axes if np.iterable(axes) else (axes,)
    found = tuple(axis_of(axis, a.ndim) for axis in given)
    if len(found) != count or len(set(found)) != count:
        raise ValueError(f"{name}: axes of an operand with {count} of them are {axes}")
    return _core.moveaxis(a, found, tuple(range(-count, 0)))


def _with_axes(name: str, operands: tuple[Any, ...], keywords: dict[str, Any]) -> _core.GPUArray:
    """Call a product along axes other than the last."""
    keywords = dict(keywords)
    axes, axis = keywords.pop("axes", None), keywords.pop("axis", None)
    a, b = arrays(operands[:2], name)
    first, second = _CORES[name]
    if axis is not None:
        if name != "vecdot":
            raise TypeError(f"{name}: axis can only be used with a single shared core dimension; axes names them")
        if axes is not None:
            raise TypeError("cannot specify both 'axis' and 'axes'")
        axes = [axis, axis]
    cores = (first if a.ndim > 1 else 1) - 1 + (second if b.ndim > 1 else 1) - 1
    axes = [-1] if axes is None else list(axes)
    if axes == [-1]:
        axes = [tuple(range(-min(first, a.ndim), 0)), tuple(range(-min(second, b.ndim), 0))]
    if len(axes) not in (2, 3) or (len(axes) == 2 and cores and axis is None and keywords.get("axes") is not None):
        raise ValueError(
            f"{name}: axes is a list with an entry for each operand, and one for the result if it has such axes"
        )
    a = _moved(a, axes[0], min(first, a.ndim), name)
    b = _moved(b, axes[1], min(second, b.ndim), name)
    made: _core.GPUArray = getattr(_core, name)(a, b, *operands[2:], **_placed(keywords, axes, cores, name))
    given: _core.GPUArray | tuple[_core.GPUArray] | None = keywords.get("out")
    if isinstance(given, tuple):
        (given,) = given
    if given is not None:
        return given
    return made if len(axes) == 2 or not cores else _core.moveaxis(made, tuple(range(-cores, 0)), _listed(axes[2]))


def _listed(axes: Any) -> tuple[int, ...]:
    return tuple(axes) if np.iterable(axes) else (axes,)


def _placed(keywords: dict[str, Any], axes: list[Any], cores: int, name: str) -> dict[str, Any]:
    """Return keywords with the output array in the layout of the product."""
    out = keywords.get("out")
    if isinstance(out, tuple):
        (out,) = out
    if out is None or len(axes) == 2 or not cores:
        return keywords
    return {**keywords, "out": _moved(out, axes[2], cores, name)}
