"""Reductions of PyCUDA's ``pycuda.gpuarray``, which return one value, by default of the array's dtype.

`sum`, `any` and `all` call the reductions of `PyGPU` and accept any layout. The other functions launch
`ReductionKernel` objects with PyCUDA's sources.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from PyGPU import _core
from PyGPU._arguments.c_types import dtype_to_ctype
from PyGPU._names.docstrings import documented_like
from PyGPU._pycuda.gpuarray.result_allocation import allocating, on

__all__ = ["all", "any", "dot", "max", "min", "subset_dot", "subset_max", "subset_min", "subset_sum", "sum"]


def sum(a: _core.GPUArray, dtype: DTypeLike | None = None, stream: Any = None, allocator: Any = None) -> _core.GPUArray:
    """Return the sum of all elements.

    Parameters
    ----------
    a : GPUArray
        The array.
    dtype : dtype-like, optional
        Type of the sum and the result; defaults to the dtype of the array, even for integers.
    stream : Stream, optional
        Stream on which the function computes; defaults to the thread's current stream.
    allocator : callable, optional
        Allocator of the result.

    Returns
    -------
    GPUArray
        Array without axes.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.sum(gpuarray.to_gpu([1.5, 2.5])).get()
    array(4.)
    """
    with on(stream), allocating(allocator):
        return a.sum(dtype=a.dtype if dtype is None else dtype)


def any(a: _core.GPUArray, stream: Any = None, allocator: Any = None) -> _core.GPUArray:
    """Test whether any element is not 0.

    Parameters
    ----------
    a : GPUArray
        The array.
    stream : Stream, optional
        Stream on which the function computes; defaults to the thread's current stream.
    allocator : callable, optional
        Allocator of the result.

    Returns
    -------
    GPUArray
        Array of bool, without axes.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.any(gpuarray.to_gpu([0, 2])).get()
    array(True)
    """
    return a.any(stream=stream, allocator=allocator)


@documented_like(any)
def all(a: _core.GPUArray, stream: Any = None, allocator: Any = None) -> _core.GPUArray:
    """Test whether all elements are not 0.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.all(gpuarray.to_gpu([0, 2])).get()
    array(False)
    """
    return a.all(stream=stream, allocator=allocator)


@documented_like(sum)
def dot(
    a: _core.GPUArray, b: _core.GPUArray, dtype: DTypeLike | None = None, stream: Any = None, allocator: Any = None
) -> _core.GPUArray:
    """Return the sum of the products of the elements of two arrays.

    Parameters
    ----------
    a, b : GPUArray
        Arrays, which are broadcast.
    dtype : dtype-like, optional
        Type of the sum and the result; defaults to the common type of the arrays.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.dot(gpuarray.to_gpu([1.0, 2.0]), gpuarray.to_gpu([3.0, 4.0])).get()
    array(11.)
    """
    result_dtype = np.result_type(a.dtype, b.dtype) if dtype is None else np.dtype(dtype)
    kernel = _sum_kernel(result_dtype, _product(a.dtype, b.dtype, "i"), (("a", a.dtype), ("b", b.dtype)))
    return kernel(a, b, stream=stream, allocator=allocator)


@documented_like(sum)
def subset_sum(
    subset: _core.GPUArray, a: _core.GPUArray, dtype: DTypeLike | None = None, stream: Any = None, allocator: Any = None
) -> _core.GPUArray:
    """Return the sum of the elements at given indices.

    Parameters
    ----------
    subset : GPUArray
        Flat integer indices, which are not checked.
    dtype : dtype-like, optional
        Type of the sum and the result; defaults to the dtype of the array.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.subset_sum(gpuarray.to_gpu([0, 2]), gpuarray.to_gpu([1.0, 2.0, 4.0])).get()
    array(5.)
    """
    result_dtype = a.dtype if dtype is None else np.dtype(dtype)
    kernel = _sum_kernel(result_dtype, "in[lookup_tbl[i]]", (("lookup_tbl", subset.dtype), ("in", a.dtype)))
    return kernel(subset, a.ravel(), stream=stream, allocator=allocator)


@documented_like(subset_sum)
def subset_dot(
    subset: _core.GPUArray,
    a: _core.GPUArray,
    b: _core.GPUArray,
    dtype: DTypeLike | None = None,
    stream: Any = None,
    allocator: Any = None,
) -> _core.GPUArray:
    """Return the sum of the products of the elements of two arrays at given indices.

    Parameters
    ----------
    a, b : GPUArray
        The arrays.
    dtype : dtype-like, optional
        Type of the sum and the result; defaults to the dtype of the first array.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> a = gpuarray.to_gpu([1.0, 2.0, 4.0])
    >>> gpuarray.subset_dot(gpuarray.to_gpu([0, 2]), a, a).get()
    array(17.)
    """
    result_dtype = a.dtype if dtype is None else np.dtype(dtype)
    parameters = (("lookup_tbl", subset.dtype), ("a", a.dtype), ("b", b.dtype))
    kernel = _sum_kernel(result_dtype, _product(a.dtype, b.dtype, "lookup_tbl[i]"), parameters)
    return kernel(subset, a.ravel(), b.ravel(), stream=stream, allocator=allocator)


def min(a: _core.GPUArray, stream: Any = None) -> _core.GPUArray:
    """Return the minimum of all elements; NaN is ignored.

    Parameters
    ----------
    a : GPUArray
        Array of real numbers.
    stream : Stream, optional
        Stream on which the function computes; defaults to the thread's current stream.

    Returns
    -------
    GPUArray
        Array without axes.

    Raises
    ------
    TypeError
        For dtypes other than float32, float64 and integers.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.min(gpuarray.to_gpu([2.0, float("nan"), 1.0])).get()
    array(1.)
    """
    return _extreme_kernel("min", a.dtype, None)(a, stream=stream)


@documented_like(min)
def max(a: _core.GPUArray, stream: Any = None) -> _core.GPUArray:
    """Return the maximum of all elements; NaN is ignored.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.max(gpuarray.to_gpu([2.0, float("nan"), 1.0])).get()
    array(2.)
    """
    return _extreme_kernel("max", a.dtype, None)(a, stream=stream)


@documented_like(subset_sum)
def subset_min(subset: _core.GPUArray, a: _core.GPUArray, stream: Any = None) -> _core.GPUArray:
    """Return the minimum of the elements at given indices; NaN is ignored.

    Parameters
    ----------
    a : GPUArray
        Array of real numbers.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.subset_min(gpuarray.to_gpu([0, 2]), gpuarray.to_gpu([2.0, 1.0, 4.0])).get()
    array(2.)
    """
    return _extreme_kernel("min", a.dtype, subset.dtype)(subset, a.ravel(), stream=stream)


@documented_like(subset_min)
def subset_max(subset: _core.GPUArray, a: _core.GPUArray, stream: Any = None) -> _core.GPUArray:
    """Return the maximum of the elements at given indices; NaN is ignored.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> gpuarray.subset_max(gpuarray.to_gpu([0, 1]), gpuarray.to_gpu([2.0, 1.0, 4.0])).get()
    array(2.)
    """
    return _extreme_kernel("max", a.dtype, subset.dtype)(subset, a.ravel(), stream=stream)


def _declarations(arrays: tuple[tuple[str, Any], ...]) -> str:
    return ", ".join(f"const {dtype_to_ctype(dtype)} *{name}" for name, dtype in arrays)


def _product(a: np.dtype[Any], b: np.dtype[Any], index: str) -> str:
    """Return a C expression for the product of elements; complex operands are first cast to a common type."""
    if a.kind != "c" and b.kind != "c":
        return f"a[{index}] * b[{index}]"
    common = dtype_to_ctype(np.result_type(a, b))
    return f"({common})a[{index}] * ({common})b[{index}]"


@functools.cache
def _sum_kernel(
    result_dtype: np.dtype[Any], element: str, arrays: tuple[tuple[str, Any], ...]
) -> _core.ReductionKernel:
    return _core.ReductionKernel(result_dtype, "0", "a + b", element, _declarations(arrays), name="pygpu_sum")


@functools.cache
def _extreme_kernel(function: str, dtype: np.dtype[Any], index_dtype: np.dtype[Any] | None) -> _core.ReductionKernel:
    sign = -1 if function == "max" else 1
    if dtype in (np.float32, np.float64):
        neutral: Any = sign * np.inf
        expression = f"f{function}{'f' if dtype == np.float32 else ''}(a, b)"
    elif dtype.kind in "iu":
        limits = np.iinfo(dtype)
        minimum = f"(({dtype_to_ctype(dtype)}){limits.min + 1} - 1)" if dtype.kind == "i" else "0"
        neutral = (
            minimum if function == "max" else f"(({dtype_to_ctype(dtype)}){limits.max}{'u' * (dtype.kind == 'u')})"
        )
        expression = f"a {'<' if function == 'min' else '>'} b ? a : b"
    else:
        raise TypeError(f"gpuarray.{function}: float32, float64 and whole numbers have one, and {dtype} has none")
    element, arrays = "in[i]", (("in", dtype),)
    if index_dtype is not None:
        element, arrays = "in[lookup_tbl[i]]", (("lookup_tbl", index_dtype), *arrays)  # type: ignore[assignment]
    return _core.ReductionKernel(dtype, neutral, expression, element, _declarations(arrays), name=f"pygpu_{function}")
