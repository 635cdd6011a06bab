"""Allocate linear device memory, and copy it from and to host buffers.

`PyGPU.driver` exports these functions under PyCUDA's names. Host buffers must be contiguous in C or Fortran order.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy

from PyGPU import _core
from PyGPU._core import DeviceAllocation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from PyGPU.typing import AddressLike, HostBuffer, StreamLike

__all__ = ["bytes_of", "mem_alloc", "memcpy_dtoh", "memcpy_htod", "on_stream"]


def bytes_of(buffer: HostBuffer, *, written: bool = False) -> NDArray[numpy.uint8]:
    """Return a view of the bytes of a host buffer in memory order.

    Raises
    ------
    TypeError
        If the object is no host buffer, or contains Python objects.
    ValueError
        If the buffer is not contiguous, or if it is read-only and `written` is true.
    """
    if isinstance(buffer, numpy.ndarray):
        array: NDArray[Any] = buffer.view(numpy.ndarray)
    else:
        try:
            array = numpy.asarray(memoryview(buffer))
        except TypeError as error:
            raise TypeError(f"expected host memory (a buffer), not {type(buffer).__name__}") from error
    if not array.flags.forc:
        raise ValueError(f"the buffer of shape {array.shape} and strides {array.strides} is not contiguous")
    if array.dtype.hasobject:
        raise TypeError(f"memory of Python objects ({array.dtype}) means nothing to a device")
    if written and not array.flags.writeable:
        raise ValueError("the buffer to be written is read-only")
    return array.reshape(-1, order="A").view(numpy.uint8)


def on_stream(array: _core.GPUArray, stream: StreamLike) -> StreamLike:
    """Return the given stream; if it is None, return the legacy default stream of the array's device."""
    return array.device.default_stream if stream is None else stream


def mem_alloc(bytes: SupportsIndex) -> DeviceAllocation:
    """Allocate memory on the current device.

    Parameters
    ----------
    bytes : int
        Number of bytes, at least 1. The memory is uninitialised.

    Returns
    -------
    DeviceAllocation
        The memory. It is accepted wherever an address is, and freed by ``free()`` or with its last reference.

    Raises
    ------
    CudaError
        With code 1, if `bytes` is 0.
    OutOfMemoryError
        If memory is insufficient even after a garbage collection and after trimming PyGPU's pool.

    Notes
    -----
    The memory comes from the driver and not from PyGPU's pool, so that `mem_get_ipc_handle` accepts it. The driver
    waits for the device when it frees such memory. Programs that allocate frequently should use a `DeviceMemoryPool`,
    or arrays.

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.driver import mem_alloc
    >>> from PyGPU.driver import memcpy_dtoh, memcpy_htod
    >>> source, result = numpy.arange(4.0), numpy.empty(4)
    >>> memory = mem_alloc(source.nbytes)
    >>> memcpy_htod(memory, source)
    >>> memcpy_dtoh(result, memory)
    >>> result
    array([0., 1., 2., 3.])
    """
    try:
        return _core.allocate_device(bytes)
    except _core.OutOfMemoryError:
        gc.collect()  # The garbage collector frees device memory that unreachable reference cycles own.
        return _core.allocate_device(bytes)


def memcpy_htod(dest: AddressLike, src: HostBuffer) -> None:
    """Copy host memory to a device and wait for the end of the copy.

    Parameters
    ----------
    dest : int or object with an address
        Destination address.
    src : buffer
        Contiguous host memory, in C or Fortran order; the whole buffer is copied.

    Raises
    ------
    TypeError
        If `src` is no host memory, or if `dest` is no address.
    ValueError
        If `src` is not contiguous, or is longer than the memory at `dest`. Only memory that PyGPU allocated is checked.

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.driver import memcpy_dtoh, memcpy_htod
    >>> from PyGPU.driver import mem_alloc
    >>> memory = mem_alloc(4)
    >>> memcpy_htod(memory, b"abcd")
    >>> result = bytearray(4)
    >>> memcpy_dtoh(result, memory)
    >>> result
    bytearray(b'abcd')
    """
    host = bytes_of(src)
    target = _core.array_at(dest, host.size, "u1")
    target.set(host, stream=on_stream(target, None))


def memcpy_dtoh(dest: HostBuffer, src: AddressLike) -> None:
    """Copy device memory to the host and wait for the end of the copy.

    Parameters
    ----------
    dest : buffer
        Contiguous, writable host memory; the copy fills the whole buffer.
    src : int or object with an address
        Source address.

    Raises
    ------
    TypeError
        If `dest` is no host memory, or if `src` is no address.
    ValueError
        If `dest` is read-only, not contiguous, or longer than the memory at `src`. Only memory that PyGPU allocated is
        checked.

    Examples
    --------
    >>> from PyGPU.driver import memcpy_dtoh
    >>> from PyGPU.driver import to_device
    >>> result = bytearray(3)
    >>> memcpy_dtoh(result, to_device(b"abc"))
    >>> result
    bytearray(b'abc')
    """
    host = bytes_of(dest, written=True)
    source = _core.array_at(src, host.size, "u1")
    source.get(host, stream=on_stream(source, None))
