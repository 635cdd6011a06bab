"""`cuda*` calls that allocate, free and register page-locked host memory."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from PyGPU import _core
from PyGPU._pybindgpu.address_arguments import Address, address_of, byte_count, plain_address
from PyGPU._pybindgpu.status import INVALID_VALUE, NOT_SUPPORTED, StatusError, cudaError_t, status_of, value_of

__all__ = [
    "cudaFreeHost",
    "cudaHostAlloc",
    "cudaHostAllocDefault",
    "cudaHostAllocMapped",
    "cudaHostAllocPortable",
    "cudaHostAllocWriteCombined",
    "cudaHostRegister",
    "cudaHostRegisterDefault",
    "cudaHostRegisterIoMemory",
    "cudaHostRegisterMapped",
    "cudaHostRegisterPortable",
    "cudaHostRegisterReadOnly",
    "cudaHostUnregister",
    "cudaMallocHost",
]

cudaHostAllocDefault = 0
"""The memory is pinned for the current device."""
cudaHostAllocPortable = 1
"""The memory is pinned for every device."""
cudaHostAllocMapped = 2
"""The memory is mapped into the device's address space."""
cudaHostAllocWriteCombined = 4
"""The device reads the memory fast, the host reads it slowly."""

cudaHostRegisterDefault = 0
"""The memory is pinned for the current device."""
cudaHostRegisterPortable = 1
"""The memory is pinned for every device."""
cudaHostRegisterMapped = 2
"""The memory is mapped into the device's address space."""
cudaHostRegisterIoMemory = 4
"""The memory belongs to another PCI device; not supported."""
cudaHostRegisterReadOnly = 8
"""The device only reads the memory; not supported."""


def cudaHostAlloc(size: SupportsIndex, flags: SupportsIndex = cudaHostAllocDefault) -> tuple[int, cudaError_t]:
    """Allocate page-locked host memory.

    Parameters
    ----------
    size : int
        Number of bytes, uninitialised. Zero bytes need no memory and have address 0.
    flags : int
        Sum of ``cudaHostAllocPortable`` (1), ``cudaHostAllocMapped`` (2) and ``cudaHostAllocWriteCombined`` (4).

    Returns
    -------
    address : int
        Host address for `cudaFreeHost`; 0 after an error.
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
    >>> address, err = PyGPU.cudaHostAlloc(4096, PyGPU.cudaHostAllocPortable)
    >>> address != 0, err
    (True, <cudaError: code=0>)
    >>> PyGPU.cudaFreeHost(address)
    <cudaError: code=0>
    """
    nbytes, bits = byte_count(size), operator.index(flags)

    def allocate() -> int:
        if bits & ~(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined):
            raise StatusError(INVALID_VALUE)
        if nbytes == 0:
            return 0
        return _core.host_allocate(
            nbytes,
            portable=bool(bits & cudaHostAllocPortable),
            mapped=bool(bits & cudaHostAllocMapped),
            write_combined=bool(bits & cudaHostAllocWriteCombined),
        )

    return value_of(0, allocate)


def cudaMallocHost(size: SupportsIndex) -> tuple[int, cudaError_t]:
    """Allocate page-locked host memory like `cudaHostAlloc` without flags.

    Examples
    --------
    >>> import PyGPU
    >>> address, err = PyGPU.cudaMallocHost(4096)
    >>> PyGPU.cudaFreeHost(address)
    <cudaError: code=0>
    """
    return cudaHostAlloc(size)


def cudaFreeHost(ptr: Address) -> cudaError_t:
    """Free memory that `cudaHostAlloc` or `cudaMallocHost` allocated.

    Parameters
    ----------
    ptr : int or ctypes.c_void_p
        Address to free; 0 has no effect and is no error.

    Returns
    -------
    cudaError_t
        0 on success; 1 (``cudaErrorInvalidValue``) for an address that neither function returned.

    Raises
    ------
    TypeError
        If `ptr` is not an address, or is a pointer wrapper, which owns its memory.
    ValueError
        If `ptr` is negative or has more than 64 bits.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cudaFreeHost(0)
    <cudaError: code=0>
    """
    address = plain_address(ptr)

    def free() -> None:
        if address:
            _core.host_free(address)

    return status_of(free)


def cudaHostRegister(ptr: Address, size: SupportsIndex, flags: SupportsIndex = cudaHostRegisterDefault) -> cudaError_t:
    """Page-lock existing host memory, which must stay allocated until `cudaHostUnregister`.

    Parameters
    ----------
    ptr : int, ctypes.c_void_p, pointer wrapper or contiguous ndarray
        Start of the memory.
    size : int
        Size in bytes.
    flags : int
        Sum of ``cudaHostRegisterPortable`` (1) and ``cudaHostRegisterMapped`` (2).

    Returns
    -------
    cudaError_t
        1 (``cudaErrorInvalidValue``) for a null address, zero bytes or unknown flags, 712 if already registered,
        801 (``cudaErrorNotSupported``) for ``cudaHostRegisterIoMemory`` and ``cudaHostRegisterReadOnly``.

    Raises
    ------
    TypeError
        If an argument is of a wrong kind.
    ValueError
        If the address or `size` is negative or too large.

    Examples
    --------
    >>> import numpy, PyGPU
    >>> array = numpy.zeros(1 << 16)
    >>> PyGPU.cudaHostRegister(array, array.nbytes)
    <cudaError: code=0>
    >>> PyGPU.cudaHostUnregister(array)
    <cudaError: code=0>
    """
    nbytes, bits = byte_count(size), operator.index(flags)
    address = address_of(ptr, nbytes)

    def register() -> None:
        if bits & ~0b1111 or not address or not nbytes:
            raise StatusError(INVALID_VALUE)
        if bits & (cudaHostRegisterIoMemory | cudaHostRegisterReadOnly):
            raise StatusError(NOT_SUPPORTED)
        _core.host_register(
            address,
            nbytes,
            portable=bool(bits & cudaHostRegisterPortable),
            mapped=bool(bits & cudaHostRegisterMapped),
        )

    return status_of(register)


def cudaHostUnregister(ptr: Address) -> cudaError_t:
    """Unlock memory that `cudaHostRegister` page-locked.

    Parameters
    ----------
    ptr : int, ctypes.c_void_p, pointer wrapper or contiguous ndarray
        Start of the memory, as passed to `cudaHostRegister`.

    Returns
    -------
    cudaError_t
        An error if the address was not registered.

    Raises
    ------
    TypeError
        If `ptr` is not an address.
    ValueError
        If `ptr` is negative or has more than 64 bits.
    """
    return status_of(_core.host_unregister, address_of(ptr, 0))
