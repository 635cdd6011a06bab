"""PyCUDA's copies to and from driver arrays, and driver arrays created from matrices."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy

from PyGPU._native.device_memory import bytes_of
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

# Elements wider than 32 bits are read as several integers of 32 bits.
_WIDE = {"float64": 2, "complex64": 2, "complex128": 4}


def _line(count: SupportsIndex) -> Memcpy2D:
    copy = Memcpy2D()
    copy.width_in_bytes, copy.height = operator.index(count), 1
    return copy


def _out_of(array: Any, index: SupportsIndex, count: SupportsIndex) -> Memcpy2D:
    copy = _line(count)
    copy.set_src_array(array)
    copy.src_x_in_bytes = operator.index(index)
    return copy


def _into(array: Any, index: SupportsIndex, count: SupportsIndex) -> Memcpy2D:
    copy = _line(count)
    copy.set_dst_array(array)
    copy.dst_x_in_bytes = operator.index(index)
    return copy


def memcpy_dtoa(ary: Any, index: SupportsIndex, src: AddressLike, len: SupportsIndex) -> None:
    """Copy device memory into an array of one axis. Its siblings copy out of one, between two, and for the host.

    Parameters
    ----------
    ary : Array
        Destination array.
    index : int
        Byte offset in the array.
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
    copy = _into(ary, index, len)
    copy.set_src_device(src)
    copy()


def memcpy_atod(dest: AddressLike, ary: Any, index: SupportsIndex, len: SupportsIndex) -> None:
    """Copy out of an array of one axis into device memory, otherwise as `memcpy_dtoa`."""
    copy = _out_of(ary, index, len)
    copy.set_dst_device(dest)
    copy()


def memcpy_atoa(dest: Any, dest_index: SupportsIndex, src: Any, src_index: SupportsIndex, len: SupportsIndex) -> None:
    """Copy between arrays of one axis, otherwise as `memcpy_dtoa`."""
    copy = _out_of(src, src_index, len)
    copy.set_dst_array(dest)
    copy.dst_x_in_bytes = operator.index(dest_index)
    copy()


def py_memcpy_htoa(ary: Any, index: SupportsIndex, src: HostBuffer) -> None:
    """Copy host memory into an array of one axis, otherwise as `memcpy_dtoa`."""
    copy = _into(ary, index, bytes_of(src).size)
    copy.set_src_host(src)
    copy()


def py_memcpy_atoh(dest: HostBuffer, ary: Any, index: SupportsIndex) -> None:
    """Copy out of an array of one axis into host memory, otherwise as `memcpy_dtoa`."""
    copy = _out_of(ary, index, bytes_of(dest).size)
    copy.set_dst_host(dest)
    copy()


def _order(order: str) -> str:
    if str(order).upper() not in ("C", "F"):
        raise ValueError(f"order must be either F or C, not {order!r}")
    return str(order).upper()


def _elements(dtype: Any, wide: Any) -> tuple[int, int]:
    """Return the format and the channels of elements; those named in `wide` count as several integers."""
    name = numpy.dtype(dtype).name
    if name in wide:
        return array_format.SIGNED_INT32, _WIDE[name]
    return dtype_to_array_format(dtype), 1


def matrix_to_array(matrix: Any, order: str, allow_double_hack: bool = False) -> Array:
    """Create a driver array with the elements of a matrix.

    Parameters
    ----------
    matrix : array_like
        Matrix.
    order : str
        ``'C'``: the rows of the matrix are those of the array; ``'F'``: its columns are.
    allow_double_hack : bool, optional
        Whether a float64 matrix becomes an array of two integers per element, as ``fp_tex2D`` requires.

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
    given = numpy.asarray(matrix)
    if given.ndim != 2:
        raise ValueError(f"a matrix has two axes, not {given.ndim}")
    rows = numpy.ascontiguousarray(given if _order(order) == "C" else given.T)
    form, channels = _elements(rows.dtype, ("float64",) if allow_double_hack else ())
    return _filled(rows, rows.shape, form, channels)


def make_multichannel_2d_array(matrix: Any, order: str) -> Array:
    """Create a driver array with several channels per element.

    Parameters
    ----------
    matrix : ndarray
        Of the shape (height, width, channels) with ``order='C'``, (channels, width, height) with ``'F'``.
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
    given = numpy.asarray(matrix)
    if given.ndim != 3:
        raise ValueError(f"a matrix with channels has three axes, not {given.ndim}")
    rows = numpy.ascontiguousarray(given if _order(order) == "C" else given.T)
    return _filled(rows, rows.shape[:2], dtype_to_array_format(rows.dtype), rows.shape[2])


def _filled(rows: NDArray[Any], shape: tuple[int, ...], form: int, channels: int) -> Array:
    descriptor = ArrayDescriptor()
    descriptor.height, descriptor.width = shape
    descriptor.format, descriptor.num_channels = form, channels
    array = Array(descriptor)
    copy = Memcpy2D()
    copy.set_src_host(rows)
    copy.set_dst_array(array)
    copy.width_in_bytes = copy.src_pitch = rows.nbytes // len(rows)
    copy.height = len(rows)
    copy(aligned=True)
    return array


def _described(matrix: Any, order: str, writable: bool) -> Array:
    """Return an empty array for a matrix or a cube; a writable matrix is one layer."""
    if order not in ("C", "F"):
        raise ValueError(f"order must be either F or C, not {order!r}")
    shape = tuple(int(length) for length in matrix.shape)
    if len(shape) not in (2, 3):
        raise ValueError(f"arrays of two or three axes become arrays of the driver, not of {len(shape)}")
    descriptor = ArrayDescriptor3D()
    descriptor.height, descriptor.width = shape[-2:]
    descriptor.format, descriptor.num_channels = _elements(matrix.dtype, _WIDE)
    if len(shape) == 3:
        descriptor.depth = shape[0]
    if writable:
        descriptor.flags = array3d_flags.SURFACE_LDST
        if len(shape) == 2:
            descriptor.flags |= array3d_flags.ARRAY3D_LAYERED
            descriptor.depth = 1
    return Array(descriptor)


def _box(array: Array) -> Memcpy3D:
    """Return a copy of a whole array."""
    own = native(array)
    copy = Memcpy3D()
    copy.set_dst_array(array)
    copy.width_in_bytes = copy.src_pitch = own.shape[-1] * own.channels * own.dtype.itemsize
    copy.height = copy.src_height = own.shape[-2] if len(own.shape) > 1 else 1
    copy.depth = own.shape[0] if len(own.shape) == 3 else 1
    return copy


def np_to_array(nparray: Any, order: str, allowSurfaceBind: bool = False) -> Array:
    """Create a driver array with the elements of an ndarray, in memory order.

    Parameters
    ----------
    nparray : ndarray
        Of two or three axes, contiguous. float64, complex64 and complex128 become two or four integers for each
        element, as ``fp_tex2D`` and similar functions require.
    order : str
        ``'C'`` or ``'F'``, the memory order of the elements.
    allowSurfaceBind : bool, optional
        Whether kernels may write it; a matrix is then one layer.

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
    array = _described(nparray, order, allowSurfaceBind)
    copy = _box(array)
    copy.set_src_host(nparray)
    copy()
    return array


def gpuarray_to_array(gpuarray: Any, order: str, allowSurfaceBind: bool = False) -> Array:
    """Create a driver array with the elements of a GPUArray, otherwise as `np_to_array`."""
    array = _described(gpuarray, order, allowSurfaceBind)
    if not (gpuarray.flags.c_contiguous or gpuarray.flags.f_contiguous):
        gpuarray = gpuarray.copy()
    copy = _box(array)
    copy.set_src_device(gpuarray)
    copy()
    return array
