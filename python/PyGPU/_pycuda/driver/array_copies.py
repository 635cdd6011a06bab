"""PyCUDA's functions that copy to and from CUDA arrays, or create CUDA arrays from matrices."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy

from PyGPU._memory.device_memory import bytes_of
from PyGPU._pycuda.driver.arrays import (
    Array,
    ArrayDescriptor,
    ArrayDescriptor3D,
    array3d_flags,
    dtype_to_array_format,
    native,
)
from PyGPU._pycuda.driver.enums import array_format
from PyGPU._pycuda.driver.pitched_copies import Memcpy2D, Memcpy3D

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from PyGPU.typing import AddressLike, HostBuffer

__all__ = [
    "gpuarray_to_array",
    "make_multichannel_2d_array",
    "matrix_to_array",
    "memcpy_atoa",
    "memcpy_atod",
    "memcpy_dtoa",
    "np_to_array",
    "py_memcpy_atoh",
    "py_memcpy_htoa",
]

# Number of 32-bit integers by which a texture represents one element, for dtypes wider than 32 bits.
_WORDS_PER_ELEMENT = {"float64": 2, "complex64": 2, "complex128": 4}


def _row_copy(count: SupportsIndex) -> Memcpy2D:
    copy = Memcpy2D()
    copy.width_in_bytes, copy.height = operator.index(count), 1
    return copy


def _copy_from(array: Any, index: SupportsIndex, count: SupportsIndex) -> Memcpy2D:
    copy = _row_copy(count)
    copy.set_src_array(array)
    copy.src_x_in_bytes = operator.index(index)
    return copy


def _copy_into(array: Any, index: SupportsIndex, count: SupportsIndex) -> Memcpy2D:
    copy = _row_copy(count)
    copy.set_dst_array(array)
    copy.dst_x_in_bytes = operator.index(index)
    return copy


def memcpy_dtoa(ary: Any, index: SupportsIndex, src: AddressLike, len: SupportsIndex) -> None:
    """Copy device memory into a one-dimensional CUDA array.

    Parameters
    ----------
    ary : Array
        Destination array.
    index : int
        Byte offset in the CUDA array.
    src : int or object with an address
        Source address.
    len : int
        Number of bytes.

    Examples
    --------
    >>> import numpy
    >>> import PyGPU.driver as drv
    >>> descriptor = drv.ArrayDescriptor()
    >>> descriptor.width, descriptor.format = 4, drv.array_format.UNSIGNED_INT8
    >>> array = drv.Array(descriptor)
    >>> drv.memcpy_dtoa(array, 0, drv.to_device(b"abcd"), 4)
    >>> result = bytearray(2)
    >>> drv.py_memcpy_atoh(result, array, 1)
    >>> result
    bytearray(b'bc')
    """
    copy = _copy_into(ary, index, len)
    copy.set_src_device(src)
    copy()


def memcpy_atod(dest: AddressLike, ary: Any, index: SupportsIndex, len: SupportsIndex) -> None:
    """Copy a one-dimensional CUDA array into device memory, with parameters like those of `memcpy_dtoa`."""
    copy = _copy_from(ary, index, len)
    copy.set_dst_device(dest)
    copy()


def memcpy_atoa(dest: Any, dest_index: SupportsIndex, src: Any, src_index: SupportsIndex, len: SupportsIndex) -> None:
    """Copy between one-dimensional CUDA arrays, with parameters like those of `memcpy_dtoa`."""
    copy = _copy_from(src, src_index, len)
    copy.set_dst_array(dest)
    copy.dst_x_in_bytes = operator.index(dest_index)
    copy()


def py_memcpy_htoa(ary: Any, index: SupportsIndex, src: HostBuffer) -> None:
    """Copy host memory into a one-dimensional CUDA array, with parameters like those of `memcpy_dtoa`."""
    copy = _copy_into(ary, index, bytes_of(src).size)
    copy.set_src_host(src)
    copy()


def py_memcpy_atoh(dest: HostBuffer, ary: Any, index: SupportsIndex) -> None:
    """Copy a one-dimensional CUDA array into host memory, with parameters like those of `memcpy_dtoa`."""
    copy = _copy_from(ary, index, bytes_of(dest).size)
    copy.set_dst_host(dest)
    copy()


def _order(order: str) -> str:
    if str(order).upper() not in ("C", "F"):
        raise ValueError(f"order must be either F or C, not {order!r}")
    return str(order).upper()


def _elements(dtype: Any, split_types: Any) -> tuple[int, int]:
    """Return the format and the number of a CUDA array's channels; wide elements have several 32-bit channels."""
    name = numpy.dtype(dtype).name
    if name in split_types:
        return array_format.SIGNED_INT32, _WORDS_PER_ELEMENT[name]
    return dtype_to_array_format(dtype), 1


def matrix_to_array(matrix: Any, order: str, allow_double_hack: bool = False) -> Array:
    """Create a CUDA array with the elements of a matrix.

    Parameters
    ----------
    matrix : array_like
        Matrix.
    order : str
        ``'C'``: the rows of the matrix become the rows of the CUDA array. ``'F'``: its columns become the rows.
    allow_double_hack : bool, optional
        Whether to store each element of a float64 matrix as two 32-bit integers, as ``fp_tex2D`` requires.

    Returns
    -------
    Array

    Examples
    --------
    >>> import numpy
    >>> import PyGPU.driver as drv
    >>> drv.matrix_to_array(numpy.zeros((2, 3), "float32"), "F").array.shape
    (3, 2)
    """
    source = numpy.asarray(matrix)
    if source.ndim != 2:
        raise ValueError(f"a matrix has two axes, not {source.ndim}")
    rows = numpy.ascontiguousarray(source if _order(order) == "C" else source.T)
    format_number, channels = _elements(rows.dtype, ("float64",) if allow_double_hack else ())
    return _new_array(rows, rows.shape, format_number, channels)


def make_multichannel_2d_array(matrix: Any, order: str) -> Array:
    """Create a CUDA array with several channels per element.

    Parameters
    ----------
    matrix : ndarray
        Array of shape (height, width, channels) for ``order='C'``, or (channels, width, height) for ``'F'``.
    order : str
        ``'C'`` or ``'F'``.

    Returns
    -------
    Array

    Examples
    --------
    >>> import numpy
    >>> import PyGPU.driver as drv
    >>> drv.make_multichannel_2d_array(numpy.zeros((2, 3, 4), "float32"), "C").array.channels
    4
    """
    source = numpy.asarray(matrix)
    if source.ndim != 3:
        raise ValueError(f"a matrix with channels has three axes, not {source.ndim}")
    rows = numpy.ascontiguousarray(source if _order(order) == "C" else source.T)
    return _new_array(rows, rows.shape[:2], dtype_to_array_format(rows.dtype), rows.shape[2])


def _new_array(rows: NDArray[Any], shape: tuple[int, ...], format_number: int, channels: int) -> Array:
    descriptor = ArrayDescriptor()
    descriptor.height, descriptor.width = shape
    descriptor.format, descriptor.num_channels = format_number, channels
    array = Array(descriptor)
    copy = Memcpy2D()
    copy.set_src_host(rows)
    copy.set_dst_array(array)
    copy.width_in_bytes = copy.src_pitch = rows.nbytes // len(rows)
    copy.height = len(rows)
    copy(aligned=True)
    return array


def _empty_array_for(matrix: Any, order: str, writable: bool) -> Array:
    """Create a CUDA array for an array of two or three axes; a matrix that kernels may write becomes one layer."""
    if order not in ("C", "F"):
        raise ValueError(f"order must be either F or C, not {order!r}")
    shape = tuple(int(length) for length in matrix.shape)
    if len(shape) not in (2, 3):
        raise ValueError(f"arrays of two or three axes become arrays of the driver, not of {len(shape)}")
    descriptor = ArrayDescriptor3D()
    descriptor.height, descriptor.width = shape[-2:]
    descriptor.format, descriptor.num_channels = _elements(matrix.dtype, _WORDS_PER_ELEMENT)
    if len(shape) == 3:
        descriptor.depth = shape[0]
    if writable:
        descriptor.flags = array3d_flags.SURFACE_LDST
        if len(shape) == 2:
            descriptor.flags |= array3d_flags.ARRAY3D_LAYERED
            descriptor.depth = 1
    return Array(descriptor)


def _whole_copy(array: Array) -> Memcpy3D:
    """Return a `Memcpy3D` whose destination is a whole CUDA array; the caller sets its source."""
    texture_array = native(array)
    copy = Memcpy3D()
    copy.set_dst_array(array)
    copy.width_in_bytes = copy.src_pitch = (
        texture_array.shape[-1] * texture_array.channels * texture_array.dtype.itemsize
    )
    copy.height = copy.src_height = texture_array.shape[-2] if len(texture_array.shape) > 1 else 1
    copy.depth = texture_array.shape[0] if len(texture_array.shape) == 3 else 1
    return copy


def np_to_array(nparray: Any, order: str, allowSurfaceBind: bool = False) -> Array:
    """Create a CUDA array with the elements of an ndarray, in memory order.

    Parameters
    ----------
    nparray : ndarray
        Contiguous array with two or three axes. A float64 or complex64 element is stored as two 32-bit integers, and a
        complex128 element as four, as ``fp_tex2D`` and similar functions require.
    order : str
        ``'C'`` or ``'F'``, the memory order of the elements.
    allowSurfaceBind : bool, optional
        Whether kernels may write the CUDA array through a surface; a matrix is then stored as one layer.

    Returns
    -------
    Array

    Examples
    --------
    >>> import numpy
    >>> import PyGPU.driver as drv
    >>> drv.np_to_array(numpy.zeros((2, 3), "complex64"), "C").array.channels
    2
    """
    array = _empty_array_for(nparray, order, allowSurfaceBind)
    copy = _whole_copy(array)
    copy.set_src_host(nparray)
    copy()
    return array


def gpuarray_to_array(gpuarray: Any, order: str, allowSurfaceBind: bool = False) -> Array:
    """Create a CUDA array with the elements of a GPUArray, with the same parameters as `np_to_array`."""
    array = _empty_array_for(gpuarray, order, allowSurfaceBind)
    if not (gpuarray.flags.c_contiguous or gpuarray.flags.f_contiguous):
        gpuarray = gpuarray.copy()
    copy = _whole_copy(array)
    copy.set_src_device(gpuarray)
    copy()
    return array
