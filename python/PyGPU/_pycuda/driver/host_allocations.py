"""Objects that own page-locked, aligned, registered and managed host memory: the ``base`` of PyCUDA's ndarrays."""

from __future__ import annotations

import operator
import weakref
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

import numpy

from PyGPU import _core
from PyGPU._pycuda.driver.memory_flags import host_alloc_flags, mem_attach_flags, mem_host_register_flags

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from PyGPU.typing import ShapeLike, StreamLike

    PlaceLike: TypeAlias = SupportsIndex | _core.Device | str | None

__all__ = [
    "AlignedHostAllocation",
    "HostAllocation",
    "ManagedAllocation",
    "PagelockedHostAllocation",
    "RegisteredHostMemory",
    "register_host_memory",
]


def _flags(flags: SupportsIndex, allowed: int, name: str) -> int:
    checked_flags = operator.index(flags)
    if checked_flags & ~allowed:
        raise ValueError(f"flags {checked_flags:#x} are not among {name} ({allowed:#x})")
    return checked_flags


def array_over(allocation: Any, address: int, shape: ShapeLike, dtype: DTypeLike, order: str) -> NDArray[Any]:
    """Return an ndarray over the memory at an address; `allocation` becomes the ndarray's ``base``."""
    return _core.ndarray_at(allocation, address, shape, dtype, order)


def size_of(shape: ShapeLike, dtype: DTypeLike, order: str) -> int:
    """Return the number of bytes of an array with the given shape and dtype."""
    # NumPy checks the arguments and computes the size: it creates an array at a dummy address, which is never read.
    return _core.ndarray_at(None, 4096, shape, dtype, order).nbytes


def order_of(ary: NDArray[Any]) -> str:
    """Return the memory order of a contiguous array, ``'C'`` or ``'F'``; raise ValueError for other arrays."""
    if ary.flags.c_contiguous:
        return "C"
    if ary.flags.f_contiguous:
        return "F"
    raise ValueError(f"the array of shape {ary.shape} and strides {ary.strides} is not contiguous")


class PagelockedHostAllocation:
    """Owner of page-locked host memory: the ``base`` of arrays that `pagelocked_empty` returns.

    Parameters
    ----------
    nbytes : int
        Number of bytes.
    flags : int, optional
        A combination of `host_alloc_flags`.

    Examples
    --------
    >>> from PyGPU.driver import pagelocked_empty
    >>> a = pagelocked_empty(4, "f4")
    >>> a.base.get_flags()
    0
    """

    def __init__(self, nbytes: SupportsIndex, flags: SupportsIndex = 0) -> None:
        allowed_flags = int(host_alloc_flags.PORTABLE | host_alloc_flags.DEVICEMAP | host_alloc_flags.WRITECOMBINED)
        self._flags = _flags(flags, allowed_flags, "host_alloc_flags")
        memory: Any = _core.empty_pinned(
            operator.index(nbytes),
            "u1",
            portable=bool(self._flags & host_alloc_flags.PORTABLE),
            mapped=bool(self._flags & host_alloc_flags.DEVICEMAP),
            write_combined=bool(self._flags & host_alloc_flags.WRITECOMBINED),
        ).base
        self._memory: Any = memory
        self._address: int = memory.ptr

    def free(self) -> None:
        """Free the memory. Arrays over this memory must not be used afterwards, as in C.

        Raises
        ------
        CudaError
            With code 1, if the memory was already freed.
        """
        self._checked_address()
        self._memory = None

    def _checked_address(self) -> int:
        if self._memory is None:
            _core.raise_freed(type(self).__name__)
        return self._address

    def get_flags(self) -> int:
        """Return the flags of the allocation.

        Returns
        -------
        int
        """
        return self._flags

    def get_device_pointer(self) -> int:
        """Return the address of the memory on the current device.

        Returns
        -------
        int
        """
        return _core.device_address(self._checked_address())


HostAllocation = PagelockedHostAllocation


class AlignedHostAllocation:
    """Owner of ordinary host memory with an aligned address: the ``base`` of arrays that `aligned_empty` returns.

    Parameters
    ----------
    nbytes : int
        Number of bytes.
    alignment : int, optional
        Alignment in bytes, a power of two.

    Examples
    --------
    >>> from PyGPU.driver import aligned_empty
    >>> aligned_empty(4, "f4").ctypes.data % 4096
    0
    """

    def __init__(self, nbytes: SupportsIndex, alignment: SupportsIndex = 4096) -> None:
        step = operator.index(alignment)
        if step < 1 or step & (step - 1):
            raise ValueError(f"alignment is a power of two, not {step}")
        self._memory: NDArray[numpy.uint8] | None = numpy.empty(operator.index(nbytes) + step, numpy.uint8)
        self._address = -(-self._memory.ctypes.data // step) * step

    def free(self) -> None:
        """Free the memory. Arrays over this memory must not be used afterwards, as in C.

        Raises
        ------
        CudaError
            With code 1, if the memory was already freed.
        """
        if self._memory is None:
            _core.raise_freed(type(self).__name__)
        self._memory = None


def _unregister(address: int, owner: object) -> None:
    _core.host_unregister(address)


class RegisteredHostMemory:
    """Owner of host memory that was page-locked later: the ``base`` of arrays from `register_host_memory`.

    ``unregister()``, or the drop of the last array over the memory, unlocks the memory. The object keeps the original
    array alive.

    Parameters
    ----------
    ary : numpy.ndarray
        Contiguous, non-empty array.
    flags : int, optional
        A combination of `mem_host_register_flags`.

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.driver import register_host_memory
    >>> a = register_host_memory(numpy.zeros(4096))
    >>> a.base.unregister()
    """

    def __init__(self, ary: NDArray[Any], flags: SupportsIndex = 0) -> None:
        allowed_flags = int(mem_host_register_flags.PORTABLE | mem_host_register_flags.DEVICEMAP)
        checked_flags = _flags(flags, allowed_flags, "mem_host_register_flags")
        self._address: int = ary.ctypes.data
        _core.host_register(
            self._address,
            ary.nbytes,
            portable=bool(checked_flags & mem_host_register_flags.PORTABLE),
            mapped=bool(checked_flags & mem_host_register_flags.DEVICEMAP),
        )
        self._finalizer = weakref.finalize(self, _unregister, self._address, ary)
        # When the program ends, the memory is not unlocked, because the driver may already be shut down.
        self._finalizer.atexit = False
        self.base = ary

    def unregister(self) -> None:
        """Unlock the memory. No copy may be using the memory at this time.

        Raises
        ------
        CudaError
            With code 713, if the memory was already unlocked.
        """
        self._finalizer.detach()
        _core.host_unregister(self._address)

    def get_device_pointer(self) -> int:
        """Return the address of the memory on the current device.

        Returns
        -------
        int
        """
        return _core.device_address(self._address)


def _device_index(device: PlaceLike) -> int:
    """Return the number of a device; -1 for the host."""
    if device is None:
        return _core.current_device()
    if isinstance(device, str):
        if device == "host":
            return -1
        raise ValueError(f"device is a number, a Device or 'host', not {device!r}")
    return device.index if isinstance(device, _core.Device) else operator.index(device)


class ManagedAllocation:
    """Owner of managed memory, which host and device access: the ``base`` of arrays from `managed_empty`.

    Parameters
    ----------
    nbytes : int
        Number of bytes, at least one.
    flags : int, optional
        GLOBAL or HOST of `mem_attach_flags`; 0 stands for GLOBAL.

    Examples
    --------
    >>> from PyGPU.driver import managed_empty
    >>> a = managed_empty(4, "f4")
    >>> a.base.get_device_pointer() == a.ctypes.data
    True
    """

    def __init__(self, nbytes: SupportsIndex, flags: SupportsIndex = 0) -> None:
        self._memory = _core.allocate_managed(nbytes, operator.index(flags) or int(mem_attach_flags.GLOBAL))

    def free(self) -> None:
        """Free the memory. Arrays over this memory must not be used afterwards, as in C.

        Raises
        ------
        CudaError
            With code 1, if the memory was already freed.
        """
        self._memory.free()

    def get_device_pointer(self) -> int:
        """Return the address of the memory, which is the same for host and device.

        Returns
        -------
        int
        """
        return self._memory.ptr

    def attach(self, mem_flags: SupportsIndex, stream: StreamLike = None) -> None:
        """Set which streams and devices may access the memory, in the order of a stream.

        Parameters
        ----------
        mem_flags : int
            A member of `mem_attach_flags`.
        stream : Stream or None
            Stream in whose order the change takes effect; with SINGLE, the only stream that may access the memory. None
            stands for the legacy default stream.

        Raises
        ------
        ValueError
            For flags that are no member of `mem_attach_flags`.
        CudaError
            If the driver reports an error.
        """
        _core.attach_managed(self._memory, mem_flags, stream)

    def prefetch(self, device: PlaceLike = None, stream: StreamLike = None) -> None:
        """Migrate the memory to a device or to the host, in the order of a stream.

        Parameters
        ----------
        device : int, Device or 'host', optional
            Destination; ``'host'`` and -1 stand for the host. Defaults to the current device.
        stream : Stream or None
            Stream in whose order the memory migrates; None stands for the legacy default stream.

        Raises
        ------
        CudaError
            With code 101, if the device does not exist or does not support page migration.

        Examples
        --------
        >>> from PyGPU.driver import managed_zeros
        >>> a = managed_zeros(4, "f4")
        >>> a.base.prefetch("host")
        """
        _core.prefetch_managed(self._memory, self._memory.nbytes, _device_index(device), stream)

    def advise(self, advice: str, device: PlaceLike = None) -> None:
        """Advise the driver about the use of the memory.

        Parameters
        ----------
        advice : str
            ``'read_mostly'``, ``'preferred_location'`` or ``'accessed_by'``; ``'not_read_mostly'``,
            ``'no_preferred_location'`` and ``'not_accessed_by'`` revoke the advice.
        device : int, Device or 'host', optional
            Device to which the advice refers, as for `prefetch`.

        Raises
        ------
        ValueError
            For unknown advice.
        CudaError
            With code 101, if the device does not exist or does not support page migration.

        Examples
        --------
        >>> from PyGPU.driver import managed_zeros
        >>> a = managed_zeros(4, "f4")
        >>> a.base.advise("read_mostly")
        """
        _core.advise_managed(self._memory, self._memory.nbytes, advice, _device_index(device))

    @property
    def ptr(self) -> int:
        """Address of the memory."""
        return self._memory.ptr

    def __int__(self) -> int:
        return self._memory.ptr

    def __index__(self) -> int:
        return self._memory.ptr


def managed_pointer(ary: NDArray[Any]) -> int | None:
    """Return the address of an ndarray's first element if kernels can access the ndarray, i.e. in managed memory.

    Parameters
    ----------
    ary : numpy.ndarray
        Any ndarray, such as an array from `managed_empty` or a view of it.

    Returns
    -------
    int or None
        The address; None if the ndarray is not in managed memory.
    """
    owner: Any = ary
    while isinstance(owner, numpy.ndarray):
        owner = owner.base
    return ary.ctypes.data if isinstance(owner, ManagedAllocation) else None


def register_host_memory(ary: NDArray[Any], flags: SupportsIndex = 0) -> NDArray[Any]:
    """Page-lock the existing memory of an array.

    Parameters
    ----------
    ary : numpy.ndarray
        Contiguous, non-empty array.
    flags : int, optional
        A combination of `mem_host_register_flags`.

    Returns
    -------
    numpy.ndarray
        Array over the same memory, whose ``base`` is a `RegisteredHostMemory`. The memory is unlocked when the last
        array over it is dropped.

    Raises
    ------
    ValueError
        If the array is not contiguous or is empty, or for unknown flags.
    CudaError
        With code 712, if the memory is page-locked already.

    Examples
    --------
    >>> import numpy
    >>> from PyGPU.driver import register_host_memory
    >>> a = numpy.zeros(4096)
    >>> locked = register_host_memory(a)
    >>> locked[0] = 7
    >>> a[0]
    np.float64(7.0)
    """
    order = order_of(ary)
    if ary.dtype.hasobject:
        raise TypeError(f"memory of Python objects ({ary.dtype}) means nothing to a device")
    memory = RegisteredHostMemory(ary, flags)
    result = array_over(memory, ary.ctypes.data, ary.shape, ary.dtype, order)
    if not ary.flags.writeable:
        result.flags.writeable = False
    return result
