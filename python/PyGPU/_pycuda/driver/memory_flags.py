"""PyCUDA's flags and enumerations for memory, with the values of CUDA and HIP."""

from __future__ import annotations

from PyGPU._pycuda.named_enums import NamedFlag, NamedNumber

__all__ = [
    "host_alloc_flags",
    "ipc_mem_flags",
    "mem_attach_flags",
    "mem_host_register_flags",
    "memory_type",
    "pointer_attribute",
]


class host_alloc_flags(NamedFlag):
    """Flags of page-locked allocations.

    Examples
    --------
    >>> from PyGPU.driver import host_alloc_flags
    >>> int(host_alloc_flags.PORTABLE | host_alloc_flags.DEVICEMAP)
    3
    """

    PORTABLE = 1
    """The memory is pinned for every device."""
    DEVICEMAP = 2
    """The memory is mapped into the device's address space."""
    WRITECOMBINED = 4
    """The device reads the memory fast, the host reads it very slowly."""


class mem_host_register_flags(NamedFlag):
    """Flags for page-locking existing host memory.

    Examples
    --------
    >>> from PyGPU.driver import mem_host_register_flags
    >>> int(mem_host_register_flags.DEVICEMAP)
    2
    """

    PORTABLE = 1
    """The memory is pinned for every device."""
    DEVICEMAP = 2
    """The memory is mapped into the device's address space."""


class mem_attach_flags(NamedNumber):
    """Flags for the access to managed memory: by all streams and devices, by the host, or by one stream.

    Examples
    --------
    >>> from PyGPU.driver import mem_attach_flags
    >>> mem_attach_flags.HOST == 2
    True
    """

    GLOBAL = 1
    """Every stream of every device may access the memory."""
    HOST = 2
    """Only the host may access the memory."""
    SINGLE = 4
    """One stream may access the memory, and the host while the stream is idle."""


class ipc_mem_flags(NamedNumber):
    """Flags for opening memory of another process.

    Examples
    --------
    >>> from PyGPU.driver import ipc_mem_flags
    >>> int(ipc_mem_flags.LAZY_ENABLE_PEER_ACCESS)
    1
    """

    LAZY_ENABLE_PEER_ACCESS = 1
    """Peer access to the memory's device is enabled when needed."""


class memory_type(NamedNumber):
    """Kinds of memory for the source and the destination of a copy.

    Examples
    --------
    >>> from PyGPU.driver import memory_type
    >>> memory_type.DEVICE.name
    'DEVICE'
    """

    HOST = 1
    """Host memory."""
    DEVICE = 2
    """Device memory."""
    ARRAY = 3
    """A CUDA array."""
    UNIFIED = 4
    """Memory whose kind the driver determines from the address."""


class pointer_attribute(NamedNumber):
    """Attributes that the driver reports for an address.

    Examples
    --------
    >>> from PyGPU.driver import pointer_attribute
    >>> int(pointer_attribute.MEMORY_TYPE)
    2
    """

    CONTEXT = 1
    """Context in which the memory was allocated."""
    MEMORY_TYPE = 2
    """The kind of memory."""
    DEVICE_POINTER = 3
    """Address of the memory in device code."""
    HOST_POINTER = 4
    """Address of the memory in host code."""
