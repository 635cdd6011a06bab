"""PyCUDA's device memory: allocations, addresses, and IPC handles."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy

from PyGPU import _core
from PyGPU._core import DeviceAllocation
from PyGPU._memory.device_memory import bytes_of, mem_alloc, memcpy_dtoh, memcpy_htod
from PyGPU._pycuda.driver.memory_flags import ipc_mem_flags

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from PyGPU.typing import AddressLike, HostBuffer, ShapeLike

__all__ = [
    "DeviceAllocation",
    "IPCMemoryHandle",
    "PointerHolderBase",
    "from_device",
    "from_device_like",
    "mem_alloc",
    "mem_alloc_like",
    "mem_alloc_pitch",
    "mem_get_address_range",
    "mem_get_info",
    "mem_get_ipc_handle",
    "to_device",
]


def mem_alloc_pitch(
    width: SupportsIndex, height: SupportsIndex, access_size: SupportsIndex
) -> tuple[DeviceAllocation, int]:
    """Allocate memory for rows, with a pitch that the driver chooses for fast access.

    Parameters
    ----------
    width : int
        Number of bytes in a row.
    height : int
        Number of rows.
    access_size : int
        Number of bytes that a kernel reads at once: 4, 8 or 16.

    Returns
    -------
    memory : DeviceAllocation
    pitch : int
        Number of bytes between the starts of rows.

    Raises
    ------
    ValueError
        If `access_size` is not 4, 8 or 16.
    CudaError
        With code 1, if `width` or `height` is 0.
    OutOfMemoryError
        If memory is insufficient, as in `mem_alloc`.

    Examples
    --------
    >>> from PyGPU.driver import mem_alloc_pitch
    >>> memory, pitch = mem_alloc_pitch(100, 3, 4)
    >>> pitch >= 100
    True
    """
    try:
        return _core.allocate_pitched(width, height, access_size)
    except _core.OutOfMemoryError:
        gc.collect()
        return _core.allocate_pitched(width, height, access_size)


def mem_alloc_like(ary: Any) -> DeviceAllocation:
    """Allocate as many bytes as an array has.

    Parameters
    ----------
    ary : array with ``nbytes``
        Array whose number of bytes is allocated; its values are not copied.

    Returns
    -------
    DeviceAllocation

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.driver import mem_alloc_like
    >>> mem_alloc_like(numpy.zeros(4)).nbytes
    32
    """
    return mem_alloc(ary.nbytes)


def to_device(bf_obj: HostBuffer) -> DeviceAllocation:
    """Allocate device memory and copy a host buffer into it.

    Parameters
    ----------
    bf_obj : buffer
        Contiguous host memory.

    Returns
    -------
    DeviceAllocation

    Examples
    --------
    >>> from PyGPU.driver import from_device, to_device
    >>> from_device(to_device(b"abcd"), 4, "u1")
    array([ 97,  98,  99, 100], dtype=uint8)
    """
    memory = mem_alloc(bytes_of(bf_obj).nbytes)
    memcpy_htod(memory, bf_obj)
    return memory


def from_device(devptr: AddressLike, shape: ShapeLike, dtype: DTypeLike, order: str = "C") -> NDArray[Any]:
    """Copy device memory into a new ndarray.

    Parameters
    ----------
    devptr : int or object with an address
        Source address.
    shape : int or sequence of int
        Lengths of the axes.
    dtype : data-type
        Type of the elements.
    order : {'C', 'F'}, optional
        Memory order of the elements.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.driver import from_device, to_device
    >>> from_device(to_device(numpy.arange(3)), 3, int)
    array([0, 1, 2])
    """
    result: NDArray[Any] = numpy.empty(shape, dtype, order)  # type: ignore[call-overload]
    memcpy_dtoh(result, devptr)
    return result


def from_device_like(devptr: AddressLike, other_ary: NDArray[Any]) -> NDArray[Any]:
    """Copy device memory into a new ndarray with the shape and dtype of another ndarray.

    Parameters
    ----------
    devptr : int or object with an address
        Source address.
    other_ary : numpy.ndarray
        Array that determines shape, dtype and memory order.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.driver import from_device_like, to_device
    >>> a = numpy.arange(3)
    >>> from_device_like(to_device(a), a)
    array([0, 1, 2])
    """
    result = numpy.empty_like(other_ary)
    memcpy_dtoh(result, devptr)
    return result


def mem_get_info() -> tuple[int, int]:
    """Return the free and total memory of the current device.

    Returns
    -------
    free, total : int
        Bytes.

    Examples
    --------
    >>> from PyGPU.driver import mem_get_info
    >>> free, total = mem_get_info()
    >>> 0 < free <= total
    True
    """
    return _core.memory_info()


def mem_get_address_range(devptr: AddressLike) -> tuple[int, int]:
    """Return the start and size of the allocation that contains an address.

    Parameters
    ----------
    devptr : int or object with an address
        Any address inside the allocation.

    Returns
    -------
    base, size : int
        Address of the first byte, and size in bytes.

    Raises
    ------
    CudaError
        For an address outside all device memory.

    Examples
    --------
    >>> from PyGPU.driver import mem_alloc, mem_get_address_range
    >>> memory = mem_alloc(1000)
    >>> mem_get_address_range(int(memory) + 8) == (int(memory), 1000)
    True
    """
    return _core.address_range(devptr)


class PointerHolderBase:
    """Base class for objects that compute a device address on request.

    A subclass overrides `get_pointer`.

    Examples
    --------
    >>> from PyGPU.driver import PointerHolderBase
    >>> class Holder(PointerHolderBase):
    ...     def get_pointer(self):
    ...         return 4096
    >>> int(Holder())
    4096
    """

    def get_pointer(self) -> int:
        """Return the device address.

        Returns
        -------
        int

        Raises
        ------
        NotImplementedError
            If a subclass does not override this method.
        """
        raise NotImplementedError(f"{type(self).__name__} does not override get_pointer()")

    def as_buffer(self, size: SupportsIndex, offset: SupportsIndex = 0) -> memoryview:
        """Return a memoryview at the device address, for libraries such as MPI that take device addresses in buffers.

        Parameters
        ----------
        size : int
            Bytes.
        offset : int, optional
            Offset in bytes from the start of the memory.

        Returns
        -------
        memoryview
            Reading the memoryview on the host crashes the process, except on the CPU backend.
        """
        return _core.address_view(int(self) + offset.__index__(), size)

    def __int__(self) -> int:
        return self.get_pointer()

    def __index__(self) -> int:
        return self.get_pointer()


def mem_get_ipc_handle(devptr: AddressLike) -> bytearray:
    """Return a handle by which other processes open device memory.

    Parameters
    ----------
    devptr : DeviceAllocation or int
        Start of memory from `mem_alloc`. Memory of arrays comes from a pool of the driver and has no IPC handles: copy
        the array into memory from `mem_alloc`.

    Returns
    -------
    bytearray
        Handle of 64 bytes, which another process passes to `IPCMemoryHandle`. This process must not free the memory
        while the other process uses it.

    Raises
    ------
    CudaError
        If the memory cannot be shared.
    NotSupportedError
        On the CPU backend.

    Examples
    --------
    >>> from PyGPU.driver import mem_alloc, mem_get_ipc_handle
    >>> memory = mem_alloc(1024)
    >>> handle = mem_get_ipc_handle(memory)  # doctest: +SKIP
    """
    return _core.share_memory(devptr)


class IPCMemoryHandle:
    """Device memory of another process, which is opened in this process and usable as an address.

    Parameters
    ----------
    handle : bytearray
        Result of `mem_get_ipc_handle` in the other process.
    flags : int, optional
        LAZY_ENABLE_PEER_ACCESS of `ipc_mem_flags`, the only supported value.

    Raises
    ------
    ValueError
        For a handle whose length is not 64 bytes, and for other flags.
    CudaError
        If the driver rejects the handle, as it does in the process that created it.
    NotSupportedError
        On the CPU backend.

    Examples
    --------
    >>> from PyGPU.driver import IPCMemoryHandle
    >>> memory = IPCMemoryHandle(handle)  # doctest: +SKIP
    """

    def __init__(self, handle: bytearray, flags: SupportsIndex = ipc_mem_flags.LAZY_ENABLE_PEER_ACCESS) -> None:
        if flags.__index__() != ipc_mem_flags.LAZY_ENABLE_PEER_ACCESS:
            raise ValueError(f"flags is ipc_mem_flags.LAZY_ENABLE_PEER_ACCESS (1), not {flags!r}")
        self._memory = _core.open_shared_memory(handle)

    def close(self) -> None:
        """Wait for the device, then unmap the other process's memory, which its owner keeps.

        Raises
        ------
        CudaError
            With code 1, if the memory was already unmapped.
        """
        self._memory.free()

    @property
    def ptr(self) -> int:
        """Address of the memory in this process; the owning process has another address for it."""
        return self._memory.ptr

    def __int__(self) -> int:
        return self._memory.ptr

    def __index__(self) -> int:
        return self._memory.ptr
