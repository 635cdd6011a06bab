"""`cuda*` calls that allocate, copy and fill device memory."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, SupportsIndex

from PyGPU import _core
from PyGPU._pybindgpu.address_arguments import Address, address_of, byte_count, plain_address
from PyGPU._pybindgpu.runtime.stream import StreamLike, as_stream
from PyGPU._pybindgpu.status import (
    INVALID_MEMCPY_DIRECTION,
    INVALID_VALUE,
    StatusError,
    cudaError_t,
    status_of,
    value_of,
)

if TYPE_CHECKING:
    from PyGPU.typing import CopyKind

__all__ = [
    "cudaFree",
    "cudaMalloc",
    "cudaMemGetInfo",
    "cudaMemcpy",
    "cudaMemcpyAsync",
    "cudaMemcpyDefault",
    "cudaMemcpyDeviceToDevice",
    "cudaMemcpyDeviceToHost",
    "cudaMemcpyHostToDevice",
    "cudaMemcpyHostToHost",
    "cudaMemset",
    "cudaMemsetAsync",
]

cudaMemcpyHostToHost = 0
"""Copy between two host addresses."""
cudaMemcpyHostToDevice = 1
"""Copy from a host address to a device address."""
cudaMemcpyDeviceToHost = 2
"""Copy from a device address to a host address."""
cudaMemcpyDeviceToDevice = 3
"""Copy between two device addresses."""
cudaMemcpyDefault = 4
"""The driver determines the direction from the addresses."""

KINDS: tuple[CopyKind, ...] = (
    "host_to_host",
    "host_to_device",
    "device_to_host",
    "device_to_device",
    "default",
)


def cudaMalloc(size: SupportsIndex) -> tuple[int, cudaError_t]:
    """Allocate memory on the current device.

    Parameters
    ----------
    size : int
        Number of bytes, uninitialised. Zero bytes need no memory and have address 0.

    Returns
    -------
    address : int
        Device address for `cudaFree`; 0 after an error.
    status : cudaError_t
        2 (``cudaErrorMemoryAllocation``) if device memory is insufficient.

    Raises
    ------
    TypeError
        If `size` is not an integer.
    ValueError
        If `size` is negative or does not fit into 63 bits.

    Examples
    --------
    >>> import PyGPU
    >>> address, err = PyGPU.cudaMalloc(1024)
    >>> address != 0, err
    (True, <cudaError: code=0>)
    >>> PyGPU.cudaFree(address)
    <cudaError: code=0>
    """
    nbytes = byte_count(size)
    # The driver allocates this memory outside the pool, so that other processes, MPI and network cards can access it.
    return value_of(0, _core.raw_allocate_plain, nbytes) if nbytes else value_of(0, int)


def cudaFree(devPtr: Address) -> cudaError_t:
    """Free memory that `cudaMalloc`, `cudaMallocManaged` or `cudaMallocAsync` allocated.

    Parameters
    ----------
    devPtr : int or ctypes.c_void_p
        Address to free; 0 has no effect and is no error.

    Returns
    -------
    cudaError_t
        0 on success; 1 (``cudaErrorInvalidValue``) for an address that none of these functions returned: arrays and
        allocators free their own memory.

    Raises
    ------
    TypeError
        If `devPtr` is not an address, or is a pointer wrapper, which owns its memory.
    ValueError
        If `devPtr` is negative or has more than 64 bits.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cudaFree(0)
    <cudaError: code=0>
    """
    address = plain_address(devPtr)

    def free() -> None:
        if address:
            _core.raw_free(address)

    return status_of(free)


def cudaMemGetInfo() -> tuple[tuple[int, int], cudaError_t]:
    """Return the free and total memory of the current device.

    Returns
    -------
    info : tuple of (int, int)
        Free and total memory in bytes; zeros after an error.
    status : cudaError_t

    Examples
    --------
    >>> import PyGPU
    >>> (free, total), err = PyGPU.cudaMemGetInfo()
    >>> 0 < free <= total, err
    (True, <cudaError: code=0>)
    """
    return value_of((0, 0), _core.memory_info)


def _copy(dst: Address, src: Address, count: int, kind: int, stream: _core.Stream | None) -> None:
    if not 0 <= kind < len(KINDS):
        raise StatusError(INVALID_MEMCPY_DIRECTION)
    dst_address, src_address = address_of(dst, count, written=True), address_of(src, count)
    if count == 0:
        return
    if not dst_address or not src_address:
        raise StatusError(INVALID_VALUE)
    _core.raw_copy(dst_address, src_address, count, KINDS[kind], stream)


def cudaMemcpy(
    dst: Address, src: Address, count: SupportsIndex, kind: SupportsIndex = cudaMemcpyDefault
) -> cudaError_t:
    """Copy bytes and wait for the end of the copy. Other Python threads run during the wait.

    Parameters
    ----------
    dst, src : int, ctypes.c_void_p, pointer wrapper or contiguous ndarray
        Destination and source. The length of the memory is checked for pointer wrappers, ndarrays, and addresses in
        memory that PyGPU allocated.
    count : int
        Number of bytes.
    kind : int
        ``cudaMemcpyHostToHost`` (0), ``cudaMemcpyHostToDevice`` (1), ``cudaMemcpyDeviceToHost`` (2),
        ``cudaMemcpyDeviceToDevice`` (3) or ``cudaMemcpyDefault`` (4).

    Returns
    -------
    cudaError_t
        1 (``cudaErrorInvalidValue``) for a null address, and for an address in PyGPU's memory that was freed, is
        read-only or has fewer than `count` bytes after it; 21 (``cudaErrorInvalidMemcpyDirection``) for another `kind`.

    Raises
    ------
    TypeError
        If an argument is of a wrong kind.
    ValueError
        If an address or `count` is negative or too large, or if an ndarray is too short, not contiguous, or a
        read-only destination.

    Examples
    --------
    >>> import numpy, PyGPU
    >>> source, result = numpy.arange(4.0), numpy.empty(4)
    >>> address, err = PyGPU.cudaMalloc(source.nbytes)
    >>> PyGPU.cudaMemcpy(address, source, source.nbytes, PyGPU.cudaMemcpyHostToDevice)
    <cudaError: code=0>
    >>> PyGPU.cudaMemcpy(result, address, source.nbytes, PyGPU.cudaMemcpyDeviceToHost)
    <cudaError: code=0>
    >>> result
    array([0., 1., 2., 3.])
    >>> err = PyGPU.cudaFree(address)
    """
    return status_of(_copy, dst, src, byte_count(count), operator.index(kind), None)


def cudaMemcpyAsync(
    dst: Address,
    src: Address,
    count: SupportsIndex,
    kind: SupportsIndex = cudaMemcpyDefault,
    stream: StreamLike = None,
) -> cudaError_t:
    """Copy bytes like `cudaMemcpy`, but in the order of a stream and without waiting for the copy.

    The caller keeps both sides alive, and the source unchanged, until the stream has completed the copy.
    For host memory that is not pinned, the call may wait for the copy.

    Examples
    --------
    >>> import numpy, PyGPU
    >>> source = numpy.arange(4.0)
    >>> stream = PyGPU.cudaStream_t()
    >>> address, err = PyGPU.cudaMalloc(source.nbytes)
    >>> PyGPU.cudaMemcpyAsync(address, source, source.nbytes, PyGPU.cudaMemcpyHostToDevice, stream)
    <cudaError: code=0>
    >>> PyGPU.cudaStreamSynchronize(stream)
    <cudaError: code=0>
    >>> err = PyGPU.cudaFree(address)
    """
    nbytes, direction = byte_count(count), operator.index(kind)

    def copy() -> None:
        _copy(dst, src, nbytes, direction, as_stream(stream))

    return status_of(copy)


def _fill(devPtr: Address, value: int, count: int, stream: _core.Stream | None) -> None:
    address = address_of(devPtr, count, written=True)
    if count == 0:
        return
    if not address:
        raise StatusError(INVALID_VALUE)
    # The value is converted to an unsigned char, as in C, so that -1 becomes 255.
    _core.raw_fill(address, value & 0xFF, count, stream)


def cudaMemset(devPtr: Address, value: SupportsIndex, count: SupportsIndex) -> cudaError_t:
    """Set bytes of device memory to a value, in the order of the default stream.

    Parameters
    ----------
    devPtr : int, ctypes.c_void_p or pointer wrapper
        Device address.
    value : int
        Value of each byte. Of numbers outside 0 to 255, the lowest eight bits are used.
    count : int
        Number of bytes.

    Returns
    -------
    cudaError_t
        1 (``cudaErrorInvalidValue``) for a null address, and for an address in PyGPU's memory that was freed, is
        read-only or has fewer than `count` bytes after it.

    Raises
    ------
    TypeError
        If an argument is of a wrong kind.
    ValueError
        If the address or `count` is negative or too large.

    Examples
    --------
    >>> import PyGPU
    >>> address, err = PyGPU.cudaMalloc(16)
    >>> PyGPU.cudaMemset(address, 0, 16)
    <cudaError: code=0>
    >>> err = PyGPU.cudaFree(address)
    """
    return status_of(_fill, devPtr, operator.index(value), byte_count(count), None)


def cudaMemsetAsync(
    devPtr: Address, value: SupportsIndex, count: SupportsIndex, stream: StreamLike = None
) -> cudaError_t:
    """Set bytes of device memory to a value like `cudaMemset`, but in the order of a given stream.

    The memory must stay allocated until the stream has completed the work. For arrays, use `PyGPU.GPUArray.fill`.

    Examples
    --------
    >>> import PyGPU
    >>> address, err = PyGPU.cudaMalloc(16)
    >>> PyGPU.cudaMemsetAsync(address, 0xFF, 16, PyGPU.cudaStream_t())
    <cudaError: code=0>
    >>> PyGPU.cudaDeviceSynchronize(), PyGPU.cudaFree(address)
    (<cudaError: code=0>, <cudaError: code=0>)
    """
    number, nbytes = operator.index(value), byte_count(count)

    def fill() -> None:
        _fill(devPtr, number, nbytes, as_stream(stream))

    return status_of(fill)
