"""`cuda*` calls for managed memory, which host and device both access."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from PyGPU import _core
from PyGPU._pybindgpu.address_arguments import Address, address_of, byte_count
from PyGPU._pybindgpu.runtime.stream import StreamLike, as_stream
from PyGPU._pybindgpu.status import INVALID_DEVICE, INVALID_VALUE, StatusError, cudaError_t, status_of, value_of

__all__ = [
    "cudaCpuDeviceId",
    "cudaMallocManaged",
    "cudaMemAdvise",
    "cudaMemAdviseSetAccessedBy",
    "cudaMemAdviseSetPreferredLocation",
    "cudaMemAdviseSetReadMostly",
    "cudaMemAdviseUnsetAccessedBy",
    "cudaMemAdviseUnsetPreferredLocation",
    "cudaMemAdviseUnsetReadMostly",
    "cudaMemAttachGlobal",
    "cudaMemAttachHost",
    "cudaMemPrefetchAsync",
]

cudaCpuDeviceId = -1
"""Number that stands for the host as a location of managed memory."""

cudaMemAttachGlobal = 1
"""Every stream may use the managed memory."""
cudaMemAttachHost = 2
"""Only the host may use the managed memory until another attachment is set."""

cudaMemAdviseSetReadMostly = 1
"""The memory is mostly read: each device that reads it may have a copy."""
cudaMemAdviseUnsetReadMostly = 2
"""Revokes ``cudaMemAdviseSetReadMostly``."""
cudaMemAdviseSetPreferredLocation = 3
"""The memory preferably stays on the device."""
cudaMemAdviseUnsetPreferredLocation = 4
"""Revokes ``cudaMemAdviseSetPreferredLocation``."""
cudaMemAdviseSetAccessedBy = 5
"""The device accesses the memory continually."""
cudaMemAdviseUnsetAccessedBy = 6
"""Revokes ``cudaMemAdviseSetAccessedBy``."""

_ADVICE = {
    cudaMemAdviseSetReadMostly: "read_mostly",
    cudaMemAdviseUnsetReadMostly: "not_read_mostly",
    cudaMemAdviseSetPreferredLocation: "preferred_location",
    cudaMemAdviseUnsetPreferredLocation: "no_preferred_location",
    cudaMemAdviseSetAccessedBy: "accessed_by",
    cudaMemAdviseUnsetAccessedBy: "not_accessed_by",
}


def cudaMallocManaged(size: SupportsIndex, flags: SupportsIndex = cudaMemAttachGlobal) -> tuple[int, cudaError_t]:
    """Allocate memory that host and device both access at one address.

    Parameters
    ----------
    size : int
        Number of bytes, uninitialised. Zero bytes need no memory and have address 0.
    flags : int
        ``cudaMemAttachGlobal`` (1) or ``cudaMemAttachHost`` (2).

    Returns
    -------
    address : int
        Address for `cudaFree`; 0 after an error.
    status : cudaError_t
        1 (``cudaErrorInvalidValue``) for other flags, 2 (``cudaErrorMemoryAllocation``) if memory is insufficient.

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If `size` is negative or does not fit into 63 bits.

    Examples
    --------
    >>> import PyGPU
    >>> address, err = PyGPU.cudaMallocManaged(1024)
    >>> err, PyGPU.cudaFree(address)
    (<cudaError: code=0>, <cudaError: code=0>)
    """
    nbytes, bits = byte_count(size), operator.index(flags)

    def allocate() -> int:
        if bits not in (cudaMemAttachGlobal, cudaMemAttachHost):
            raise StatusError(INVALID_VALUE)
        return _core.raw_allocate_managed(nbytes, of_host=bits == cudaMemAttachHost)

    return value_of(0, allocate)


def _checked_location(device: int) -> int:
    if not cudaCpuDeviceId <= device < _core.device_count():
        raise StatusError(INVALID_DEVICE)
    return device


def cudaMemPrefetchAsync(
    devPtr: Address, count: SupportsIndex, dstDevice: SupportsIndex, stream: StreamLike = None
) -> cudaError_t:
    """Migrate managed memory to a device or to the host, in the order of a stream.

    Parameters
    ----------
    devPtr : int or ctypes.c_void_p
        Start of the range.
    count : int
        Size of the range in bytes.
    dstDevice : int
        Destination: the ordinal of a device, or ``cudaCpuDeviceId`` (-1) for the host.
    stream : cudaStream_t, PyGPU.Stream, object with ``__cuda_stream__``, int or None
        The stream; None and 0 are the default stream.

    Returns
    -------
    cudaError_t
        1 (``cudaErrorInvalidValue``) for a range that is not managed memory, 101 for a device that does not exist, or
        that does not support page migration (``cudaDevAttrConcurrentManagedAccess`` is 0). On the CPU backend the call
        does nothing and returns 0.

    Raises
    ------
    TypeError
        If an argument is of a wrong kind.
    ValueError
        If the address or `count` is negative or too large.

    Examples
    --------
    >>> import PyGPU
    >>> address, err = PyGPU.cudaMallocManaged(1024)
    >>> err = PyGPU.cudaMemPrefetchAsync(address, 1024, 0)
    >>> PyGPU.cudaMemPrefetchAsync(address, 1024, 99)
    <cudaError: code=101>
    >>> err = PyGPU.cudaFree(address)
    """
    nbytes, device = byte_count(count), operator.index(dstDevice)
    address = address_of(devPtr, nbytes)
    return status_of(lambda: _core.prefetch_managed(address, nbytes, _checked_location(device), as_stream(stream)))


def cudaMemAdvise(devPtr: Address, count: SupportsIndex, advice: SupportsIndex, device: SupportsIndex) -> cudaError_t:
    """Advise the driver about the use of managed memory.

    Parameters
    ----------
    devPtr : int or ctypes.c_void_p
        Start of the range.
    count : int
        Size of the range in bytes.
    advice : int
        ``cudaMemAdviseSetReadMostly`` (1), ``cudaMemAdviseSetPreferredLocation`` (3), ``cudaMemAdviseSetAccessedBy``
        (5), or the following number (2, 4, 6), which revokes the advice.
    device : int
        Device to which the advice refers, or ``cudaCpuDeviceId`` (-1) for the host.

    Returns
    -------
    cudaError_t
        1 (``cudaErrorInvalidValue``) for unknown advice and for a range that is not managed memory, 101 for a device
        that does not exist, or that does not support page migration.

    Raises
    ------
    TypeError
        If an argument is of a wrong kind.
    ValueError
        If the address or `count` is negative or too large.

    Examples
    --------
    >>> import PyGPU
    >>> address, err = PyGPU.cudaMallocManaged(1024)
    >>> err = PyGPU.cudaMemAdvise(address, 1024, PyGPU.cudaMemAdviseSetReadMostly, 0)
    >>> PyGPU.cudaMemAdvise(address, 1024, 7, 0)
    <cudaError: code=1>
    >>> err = PyGPU.cudaFree(address)
    """
    nbytes, advice_number, location = byte_count(count), operator.index(advice), operator.index(device)
    address = address_of(devPtr, nbytes)

    def advise() -> None:
        if advice_number not in _ADVICE:
            raise StatusError(INVALID_VALUE)
        _core.advise_managed(address, nbytes, _ADVICE[advice_number], _checked_location(location))

    return status_of(advise)
