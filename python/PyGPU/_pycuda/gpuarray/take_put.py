"""Gather and scatter functions of PyCUDA's ``pycuda.gpuarray``.

In PyCUDA an index out of range accesses arbitrary memory. These functions use the nearest valid index instead, so the
host need not wait for a check of the indices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions import selection
from PyGPU._functions.selection_operands import flat
from PyGPU._memory.allocator import using_allocator
from PyGPU._pycuda.gpuarray.result_allocation import on

__all__ = ["multi_put", "multi_take", "multi_take_put", "take"]

Arrays = Sequence[_core.GPUArray]


def _using_allocator_of(array: _core.GPUArray) -> AbstractContextManager[Any]:
    allocator = getattr(array, "allocator", None)
    return nullcontext() if allocator is None else using_allocator(allocator)


def _outputs(arrays: Arrays, shape: Any, out: Arrays | None) -> list[_core.GPUArray]:
    """Return the output arrays `out`, or new arrays if `out` is None."""
    dtype = arrays[0].dtype
    if any(array.dtype != dtype for array in arrays):
        raise ValueError("the arrays must have the same dtype")
    if out is None:
        if shape is None:
            raise TypeError("dest_shape is needed where out is not given")
        with _using_allocator_of(arrays[0]):
            return [_core.empty(shape, dtype) for _ in arrays]
    if any(array.dtype != dtype for array in out):
        raise TypeError("arrays and out must have the same dtype")
    if len(out) != len(arrays):
        raise ValueError("out and arrays must have the same length")
    return list(out)


def _pairs(arrays: Arrays, out: Arrays) -> Iterator[tuple[_core.GPUArray, _core.GPUArray]]:
    return zip(arrays, out, strict=True)


def take(
    a: _core.GPUArray, indices: _core.GPUArray, out: _core.GPUArray | None = None, stream: Any = None
) -> _core.GPUArray:
    """Return the elements at given flat indices of an array, in C order.

    Parameters
    ----------
    a : GPUArray
    indices : GPUArray of ints
        Indices, with one axis.
    out : GPUArray, optional
        Output array.
    stream : Stream, optional
        Stream on which the function computes; defaults to the thread's current stream.

    Returns
    -------
    GPUArray
        Array of the dtype of `a`.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.take(gpuarray.to_gpu([5.0, 6.0, 7.0]), gpuarray.to_gpu([2, 0])).tolist()
    [7.0, 5.0]
    """
    assert len(indices.shape) == 1
    with on(stream), _using_allocator_of(a):
        return selection.take(a, indices, None, out, "clip")


def multi_take(
    arrays: Arrays, indices: _core.GPUArray, out: Arrays | None = None, stream: Any = None
) -> list[_core.GPUArray]:
    """Return the elements at the same indices of several arrays.

    Parameters
    ----------
    arrays : list of GPUArray
        Arrays of one dtype.
    indices : GPUArray of ints
        Indices, with one axis.
    out : list of GPUArray, optional
        Output arrays.
    stream : Stream, optional
        Stream on which the function computes; defaults to the thread's current stream.

    Returns
    -------
    list of GPUArray

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> a, b = gpuarray.to_gpu([5.0, 6.0, 7.0]), gpuarray.to_gpu([1.0, 2.0, 3.0])
    >>> [one.tolist() for one in gpuarray.multi_take([a, b], gpuarray.to_gpu([2, 0]))]
    [[7.0, 5.0], [3.0, 1.0]]
    """
    if not len(arrays):
        return []
    assert len(indices.shape) == 1
    with on(stream):
        results = _outputs(arrays, indices.shape, out)
        for array, result in _pairs(arrays, results):
            selection.take(array, indices, None, result, "clip")
    return results


def multi_put(
    arrays: Arrays,
    dest_indices: _core.GPUArray,
    dest_shape: Any = None,
    out: Arrays | None = None,
    stream: Any = None,
) -> list[_core.GPUArray]:
    """Write the elements of each array to given indices of an output array; all arrays use the same indices.

    Parameters
    ----------
    arrays : list of GPUArray
        Arrays of one dtype.
    dest_indices : GPUArray of ints
        Target index of each element, with one axis.
    dest_shape : tuple of ints, optional
        Shape of the arrays that are created without `out`. Elements that are not written stay uninitialised.
    out : list of GPUArray, optional
        Output arrays.
    stream : Stream, optional
        Stream on which the function computes; defaults to the thread's current stream.

    Returns
    -------
    list of GPUArray

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> out = gpuarray.multi_put([gpuarray.to_gpu([5.0, 6.0])], gpuarray.to_gpu([2, 0]), out=[gpuarray.zeros(3)])
    >>> out[0].tolist()
    [6.0, 0.0, 5.0]
    """
    if not len(arrays):
        return []
    if len(dest_indices.shape) != 1:
        raise ValueError("dest_indices must be 1D")
    with on(stream):
        results = _outputs(arrays, dest_shape, out)
        for array, result in _pairs(arrays, results):
            selection.put(result, dest_indices, flat(array)[: dest_indices.size], "clip")
    return results


def multi_take_put(
    arrays: Arrays,
    dest_indices: _core.GPUArray,
    src_indices: _core.GPUArray,
    dest_shape: Any = None,
    out: Arrays | None = None,
    stream: Any = None,
    src_offsets: Sequence[int] | None = None,
) -> list[_core.GPUArray]:
    """Copy elements of several arrays to other arrays, with separate source and target indices.

    Parameters
    ----------
    arrays : list of GPUArray
        Arrays of one dtype.
    dest_indices, src_indices : GPUArray of ints
        Target and source index of each element, of one dtype and length.
    dest_shape : tuple of ints, optional
        Shape of the arrays that are created without `out`. Elements that are not written stay uninitialised.
    out : list of GPUArray, optional
        Output arrays.
    stream : Stream, optional
        Stream on which the function computes; defaults to the thread's current stream.
    src_offsets : list of ints, optional
        Offset for each array, added to its source indices.

    Returns
    -------
    list of GPUArray

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> places, here = gpuarray.to_gpu([1, 0]), gpuarray.to_gpu([2, 1])
    >>> gpuarray.multi_take_put([gpuarray.to_gpu([5.0, 6.0, 7.0])], places, here, dest_shape=(2,))[0].tolist()
    [6.0, 7.0]
    """
    if not len(arrays):
        return []
    if src_indices.dtype != dest_indices.dtype:
        raise TypeError("src_indices and dest_indices must have the same dtype")
    if len(src_indices.shape) != 1:
        raise ValueError("src_indices must be 1D")
    if src_indices.shape != dest_indices.shape:
        raise ValueError("src_indices and dest_indices must have the same shape")
    if src_offsets is not None and len(src_offsets) != len(arrays):
        raise ValueError("src_indices and src_offsets must have the same length")
    with on(stream):
        results = _outputs(arrays, dest_shape, out)
        for position, (array, result) in enumerate(_pairs(arrays, results)):
            offset_indices = (
                src_indices.astype(np.int64) + int(src_offsets[position]) if src_offsets is not None else src_indices
            )
            selection.put(result, dest_indices, selection.take(array, offset_indices, None, None, "clip"), "clip")
    return results
