"""CuPy's class of pointers into device memory, and functions that allocate device memory."""

from __future__ import annotations

import ctypes
import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

from PyGPU import _core
from PyGPU._cupy.cuda.allocations import BaseMemory, ManagedMemory, Memory, MemoryAsync
from PyGPU._cupy.cuda.errors import error_of
from PyGPU._cupy.cuda.runtime import devices_and_memory as runtime
from PyGPU._cupy.cuda.runtime.constants import memcpyDefault, memcpyDeviceToHost, memcpyHostToDevice
from PyGPU._cupy.cuda.stream import get_current_stream

if TYPE_CHECKING:
    from PyGPU.typing import StreamLike

__all__ = ["MemoryPointer", "malloc_async", "malloc_managed", "malloc_of_driver"]

_CAPTURE_UNSUPPORTED = 900
"""CUDA's status for a call that a capture does not permit."""


def _address(pointer: int | ctypes.c_void_p) -> int:
    return pointer.value or 0 if isinstance(pointer, ctypes.c_void_p) else operator.index(pointer)


def _check_no_capture() -> None:
    if get_current_stream().is_capturing():
        raise error_of(_CAPTURE_UNSUPPORTED)


class MemoryPointer:
    """Pointer into memory of a device; the pointer keeps the memory alive.

    `GPUArray.data` is a `MemoryPointer`. All functions of PyGPU that accept an address accept this object.

    Parameters
    ----------
    mem : BaseMemory
        The memory.
    offset : int
        Number of bytes from the start of the memory.

    Notes
    -----
    Methods whose names lack ``_async`` wait for the end of the copy.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.arange(4, dtype="i4")
    >>> pointer = a.data + 8
    >>> pointer.ptr - a.ptr, pointer.mem.size >= a.nbytes
    (8, True)
    >>> pointer.copy_from_device(a.data, 8)
    >>> a.tolist()
    [0, 1, 0, 1]
    """

    def __init__(self, mem: BaseMemory, offset: SupportsIndex) -> None:
        distance = operator.index(offset)
        if not mem.ptr and distance:
            raise ValueError(f"an empty block has no byte {distance}")
        self.mem = mem
        self.ptr = mem.ptr + distance
        self.device_id = mem.device_id

    @property
    def device(self) -> _core.Device:
        """Device of the memory."""
        return _core.Device(self.device_id)

    def __int__(self) -> int:
        return self.ptr

    def __index__(self) -> int:
        return self.ptr

    def __add__(self, offset: SupportsIndex) -> MemoryPointer:
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + operator.index(offset))

    __radd__ = __add__

    def __sub__(self, offset: SupportsIndex) -> MemoryPointer:
        return self + -operator.index(offset)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ptr:#x} device={self.device_id} mem={self.mem!r}>"

    def copy_from_device(self, src: MemoryPointer, size: int) -> None:
        """Copy bytes from device memory to this memory.

        Parameters
        ----------
        src : MemoryPointer
            Source, on any device.
        size : int
            Number of bytes.
        """
        _check_no_capture()
        runtime.memcpy(self.ptr, src.ptr, size, memcpyDefault)

    def copy_from_device_async(self, src: MemoryPointer, size: int, stream: StreamLike = None) -> None:
        """Copy bytes from device memory to this memory, in the order of a stream.

        Parameters
        ----------
        src : MemoryPointer
            Source, on any device.
        size : int
            Number of bytes.
        stream : Stream, optional
            Stream in whose order the work runs; defaults to the thread's current stream.
        """
        runtime.memcpyAsync(self.ptr, src.ptr, size, memcpyDefault, _or_current(stream))

    def copy_from_host(self, mem: int | ctypes.c_void_p, size: int) -> None:
        """Copy bytes from host memory to this memory.

        Parameters
        ----------
        mem : int or ctypes.c_void_p
            Address of the source.
        size : int
            Number of bytes.
        """
        _check_no_capture()
        runtime.memcpy(self.ptr, _address(mem), size, memcpyHostToDevice)

    def copy_from_host_async(self, mem: int | ctypes.c_void_p, size: int, stream: StreamLike = None) -> None:
        """Copy bytes from host memory to this memory, in the order of a stream.

        Parameters
        ----------
        mem : int or ctypes.c_void_p
            Address of the source, which must stay unchanged until the end of the copy.
        size : int
            Number of bytes.
        stream : Stream, optional
            Stream in whose order the work runs; defaults to the thread's current stream.
        """
        runtime.memcpyAsync(self.ptr, _address(mem), size, memcpyHostToDevice, _or_current(stream))

    def copy_from(self, mem: int | ctypes.c_void_p | MemoryPointer, size: int) -> None:
        """Copy bytes from device or host memory to this memory.

        Parameters
        ----------
        mem : MemoryPointer, int or ctypes.c_void_p
            Source: a `MemoryPointer` to device memory, or the address of host memory.
        size : int
            Number of bytes.
        """
        if isinstance(mem, MemoryPointer):
            self.copy_from_device(mem, size)
        else:
            self.copy_from_host(mem, size)

    def copy_from_async(self, mem: int | ctypes.c_void_p | MemoryPointer, size: int, stream: StreamLike = None) -> None:
        """Copy bytes from device or host memory to this memory, in the order of a stream.

        Parameters
        ----------
        mem : MemoryPointer, int or ctypes.c_void_p
            Source: a `MemoryPointer` to device memory, or the address of host memory.
        size : int
            Number of bytes.
        stream : Stream, optional
            Stream in whose order the work runs; defaults to the thread's current stream.
        """
        if isinstance(mem, MemoryPointer):
            self.copy_from_device_async(mem, size, stream)
        else:
            self.copy_from_host_async(mem, size, stream)

    def copy_to_host(self, mem: int | ctypes.c_void_p, size: int) -> None:
        """Copy bytes from this memory to host memory.

        Parameters
        ----------
        mem : int or ctypes.c_void_p
            Address of the destination.
        size : int
            Number of bytes.
        """
        _check_no_capture()
        runtime.memcpy(_address(mem), self.ptr, size, memcpyDeviceToHost)

    def copy_to_host_async(self, mem: int | ctypes.c_void_p, size: int, stream: StreamLike = None) -> None:
        """Copy bytes from this memory to host memory, in the order of a stream.

        Parameters
        ----------
        mem : int or ctypes.c_void_p
            Address of the destination.
        size : int
            Number of bytes.
        stream : Stream, optional
            Stream in whose order the work runs; defaults to the thread's current stream.
        """
        runtime.memcpyAsync(_address(mem), self.ptr, size, memcpyDeviceToHost, _or_current(stream))

    def memset(self, value: int, size: int) -> None:
        """Set bytes of this memory to a value.

        Parameters
        ----------
        value : int
            Value of each byte.
        size : int
            Number of bytes.
        """
        _check_no_capture()
        runtime.memset(self.ptr, value, size)

    def memset_async(self, value: int, size: int, stream: StreamLike = None) -> None:
        """Set bytes of this memory to a value, in the order of a stream.

        Parameters
        ----------
        value : int
            Value of each byte.
        size : int
            Number of bytes.
        stream : Stream, optional
            Stream in whose order the work runs; defaults to the thread's current stream.
        """
        runtime.memsetAsync(self.ptr, value, size, _or_current(stream))


def _or_current(stream: StreamLike) -> Any:
    return get_current_stream() if stream is None else stream


def malloc_of_driver(size: int) -> MemoryPointer:
    """Allocate memory from the driver, outside of PyGPU's pool."""
    return MemoryPointer(Memory(size), 0)


def malloc_async(size: int) -> MemoryPointer:
    """Allocate memory from PyGPU's pool, in the order of the current stream.

    Parameters
    ----------
    size : int
        Number of bytes.

    Returns
    -------
    MemoryPointer

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> cuda.malloc_async(100).mem.size
    100
    """
    return MemoryPointer(MemoryAsync(size, get_current_stream()), 0)


def malloc_managed(size: int) -> MemoryPointer:
    """Allocate memory that host and device both access.

    Parameters
    ----------
    size : int
        Number of bytes.

    Returns
    -------
    MemoryPointer

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> cuda.malloc_managed(100).mem.size
    100
    """
    return MemoryPointer(ManagedMemory(size), 0)
