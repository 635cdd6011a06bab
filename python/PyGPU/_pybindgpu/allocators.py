"""The classes `Allocator`, `HostAllocator` and `PagelockedAllocator`, for ``GPUArray(allocator=...)``.

These objects describe memory that already exists.

The array reads these attributes of the object that is passed as `allocator`:

- `shape` and `dtype` of the array;
- `strides` in bytes, or None for C order;
- `device_ptr`, the device address to use, or None to let the array allocate its own device memory;
- `host_data`, the ndarray used as the array's host side, or None for no host side.

The array keeps the object alive, and the object keeps the memory alive. These classes raise exceptions, in contrast to
the `cuda*` calls, which return a status.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy

from PyGPU import _core
from PyGPU._names.public import public
from PyGPU._pybindgpu.dtype_classes import class_of
from PyGPU._pybindgpu.dtype_names import labelled_dtype
from PyGPU._pybindgpu.owned_block import DeviceBlock, checked_nbytes
from PyGPU._pybindgpu.pointer import PointerWrapper
from PyGPU._pybindgpu.typed_allocators import TypedAllocator, TypedHostAllocator, TypedPagelockedAllocator

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

__all__ = ["Allocator", "HostAllocator", "PagelockedAllocator"]


class HostAllocator:
    """Description of host memory for an array's host side; the array allocates device memory for its device side.

    Parameters
    ----------
    shape : int or iterable of int
        Lengths of the axes.
    dtype : dtype_like
        One of `SUPPORTED_DTYPES`, in any spelling that NumPy accepts.

    Raises
    ------
    UnsupportedDataType
        For a dtype that is not one of `SUPPORTED_DTYPES`.
    ValueError
        If a length is negative or the size in bytes exceeds 64 bits.
    MemoryError
        If host memory is insufficient.

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.gpuarray import GPUArray, HostAllocator
    >>> allocator = HostAllocator((3, 5), numpy.float64)
    >>> allocator.get()[:] = 7
    >>> array = GPUArray(allocator=allocator)
    >>> array.to_device()
    >>> array.get()[2, 4]
    np.float64(7.0)
    """

    _low_level = "HostAllocator"

    def __init__(self, shape: SupportsIndex | Iterable[SupportsIndex], dtype: DTypeLike) -> None:
        self._dtype = labelled_dtype(dtype)
        extents = shape if isinstance(shape, Iterable) else (shape,)
        self._shape = tuple(operator.index(extent) for extent in extents)
        checked_nbytes(self._shape, self._dtype.itemsize)
        self._size = math.prod(self._shape)
        self._alloc: TypedAllocator = class_of(self._low_level, self._dtype.name)()
        self._allocate()

    def _allocate(self) -> None:
        assert isinstance(self._alloc, TypedHostAllocator)
        self._alloc.allocate(self._size)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self._shape

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """Type of the elements."""
        return self._dtype

    @property
    def strides(self) -> None:
        """None, because the memory is in C order."""
        return None

    @property
    def device_ptr(self) -> None:
        """None, because an array over this memory allocates its own device memory."""
        return None

    @property
    def host_data(self) -> NDArray[Any]:
        """The host memory as an ndarray."""
        return self.get()

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Description of the host memory for NumPy's array interface."""
        return self.get().__array_interface__

    def get(self) -> NDArray[Any]:
        """Return a writable ndarray over the memory, without a copy; the ndarray keeps the memory alive."""
        block = self._alloc._block
        assert block is not None
        return block.as_array(self._dtype, self._shape)

    def ptr(self) -> PointerWrapper:
        """Return a pointer object to the host memory; the pointer object keeps the memory alive."""
        return self._alloc.ptr()

    def host_ptr(self) -> int:
        """Return the address of the host memory."""
        return int(self._alloc.ptr())

    def __repr__(self) -> str:
        """Return a text with the shape and dtype."""
        return f"<{type(self).__name__} shape={self._shape} dtype={self._dtype}>"


class PagelockedAllocator(HostAllocator):
    """Description of page-locked host memory for an array's host side; the array allocates its device memory itself.

    Parameters
    ----------
    shape : int or iterable of int
        Lengths of the axes.
    dtype : dtype_like
        One of `SUPPORTED_DTYPES`, in any spelling that NumPy accepts.

    Raises
    ------
    UnsupportedDataType
        For a dtype that is not one of `SUPPORTED_DTYPES`.
    ValueError
        If a length is negative or the size in bytes exceeds 64 bits.
    CudaError
        If the driver fails; for insufficient memory the error is a MemoryError as well.

    Examples
    --------
    >>> from PyGPU.gpuarray import PagelockedAllocator
    >>> PagelockedAllocator((3, 5), "float64").get().shape
    (3, 5)
    """

    _low_level = "PagelockedAllocator"

    def _allocate(self) -> None:
        assert isinstance(self._alloc, TypedPagelockedAllocator)
        self._alloc.take(self._size * self._dtype.itemsize)


@public("PybindGPU's classes and constants")
class Allocator:
    """Description of external device memory for ``GPUArray(allocator=...)``.

    Parameters
    ----------
    data : GPUArray, PagelockedAllocator, HostAllocator or CuPy-like array
        Owner of the device memory: a GPUArray, or an array with ``.data.ptr``, ``.shape`` and ``.dtype``. If `data` is
        a `HostAllocator` or `PagelockedAllocator`, new device memory is allocated, and the allocator's memory is the
        host side.
    host_data : numpy.ndarray, optional
        Host side of the array: a contiguous ndarray with the shape and dtype of `data`.

    Attributes
    ----------
    data : object
        The argument `data`, which is kept alive.
    host_data : numpy.ndarray or None
        The argument `host_data`, or the host memory of the allocator `data`. Without both, None until `host_ptr`
        allocates host memory.

    Raises
    ------
    TypeError
        If `data` is none of these objects, or if `host_data` is no ndarray or has another dtype.
    ValueError
        If `host_data` has another shape or is not contiguous.
    CudaError
        If the required device memory cannot be allocated.

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.gpuarray import Allocator, GPUArray, to_gpu
    >>> first = to_gpu(numpy.array([1, 2, 3]))
    >>> second = GPUArray(allocator=Allocator(first))
    >>> second.ptr == first.ptr
    True
    """

    def __init__(self, data: Any, host_data: NDArray[Any] | None = None) -> None:
        self.data = data
        self._block: DeviceBlock | None = None
        self._strides: tuple[int, ...] | None = None
        # CuPy's arrays have `.data.ptr`. In arrays of other libraries `.data` may be any object.
        buffer: Any = data if isinstance(data, _core.GPUArray) else getattr(data, "data", None)
        if not isinstance(data, HostAllocator) and not hasattr(buffer, "ptr"):
            raise TypeError(f"expected a GPUArray, an allocator or an array with .data.ptr, not {type(data).__name__}")
        self._shape: tuple[int, ...] = tuple(data.shape)
        self._dtype: numpy.dtype[Any] = numpy.dtype(data.dtype)
        if isinstance(data, HostAllocator):
            host_data = data.get() if host_data is None else host_data
        else:
            strides = getattr(data, "strides", None)
            self._strides = None if strides is None else tuple(strides)
        self.host_data = self._checked(host_data)
        if isinstance(data, HostAllocator):
            self._block = DeviceBlock(checked_nbytes(self._shape, self._dtype.itemsize))
            self._device_ptr = self._block.address
            if self.host_data is not None and self._device_ptr:
                contiguous = numpy.ascontiguousarray(self.host_data)
                _core.raw_copy(self._device_ptr, contiguous.ctypes.data, contiguous.nbytes, "host_to_device")
        else:
            self._device_ptr = int(buffer.ptr)

    def _checked(self, host_data: NDArray[Any] | None) -> NDArray[Any] | None:
        if host_data is None:
            return None
        if not isinstance(host_data, numpy.ndarray):
            raise TypeError(f"host_data must be a numpy.ndarray, not {type(host_data).__name__}")
        if host_data.dtype != self._dtype:
            raise TypeError(f"host_data is of dtype {host_data.dtype}, the memory of {self._dtype}")
        if host_data.shape != self._shape:
            raise ValueError(f"host_data has shape {host_data.shape}, the memory {self._shape}")
        if not (host_data.flags.c_contiguous or host_data.flags.f_contiguous):
            raise ValueError(f"host_data with strides {host_data.strides} is not contiguous")
        return host_data

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self._shape

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """Type of the elements."""
        return self._dtype

    @property
    def strides(self) -> tuple[int, ...] | None:
        """Strides of the array in device memory, in bytes; None for C order."""
        return self._strides

    @property
    def device_ptr(self) -> int:
        """Address of the device memory."""
        return self._device_ptr

    def ptr(self) -> int:
        """Return the device address."""
        return self._device_ptr

    def host_ptr(self) -> int:
        """Return the address of the host side; if the array has no host side, allocate uninitialised memory for one."""
        if self.host_data is None:
            self.host_data = numpy.empty(self._shape, self._dtype)
        return self.host_data.ctypes.data

    def __repr__(self) -> str:
        """Return a text with the shape and dtype."""
        return f"<Allocator shape={self._shape} dtype={self._dtype} ptr={self._device_ptr:#x}>"
