"""CuPy's classes for driver-allocated, managed and stream-ordered memory, and for memory of other libraries."""

from __future__ import annotations

import operator
import sys
import weakref
from typing import TYPE_CHECKING, SupportsIndex

from PyGPU import _core
from PyGPU._cupy.cuda.runtime import devices_and_memory as runtime
from PyGPU._cupy.cuda.stream import get_current_stream
from PyGPU._memory.allocator import using_allocator
from PyGPU._pybindgpu.status import status_of

if TYPE_CHECKING:
    from PyGPU.typing import StreamLike

__all__ = [
    "BaseMemory",
    "ManagedMemory",
    "Memory",
    "MemoryAsync",
    "UnownedMemory",
]


class BaseMemory:
    """Base class of CuPy's memory objects. Programs create objects of the derived classes.

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> isinstance(cuda.alloc(8).mem, cuda.BaseMemory)
    True
    """

    ptr: int = 0
    """Address of the first byte; 0 for an empty block."""
    size: int = 0
    """Number of bytes."""
    device_id: int = 0
    """Number of the device."""

    @property
    def device(self) -> _core.Device:
        """Device of the memory."""
        return _core.Device(self.device_id)

    def __int__(self) -> int:
        return self.ptr


class Memory(BaseMemory):
    """Memory that the driver allocates for the current device, outside of PyGPU's pool.

    Parameters
    ----------
    size : int
        Number of bytes.

    Raises
    ------
    OutOfMemoryError
        If the device is out of memory.

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> memory = cuda.Memory(100)
    >>> memory.size, memory.ptr == int(memory)
    (100, True)
    """

    _block: _core.DeviceAllocation | None = None

    def __init__(self, size: SupportsIndex) -> None:
        self.size = operator.index(size)
        self.device_id = _core.current_device()
        if self.size:
            self._block = _core.allocate_device(self.size)
            self.ptr = self._block.ptr


class ManagedMemory(BaseMemory):
    """Memory that host and device both access.

    Parameters
    ----------
    size : int
        Number of bytes.

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> cuda.ManagedMemory(100).size
    100
    """

    _block: _core.DeviceAllocation | None = None

    def __init__(self, size: SupportsIndex) -> None:
        self.size = operator.index(size)
        self.device_id = _core.current_device()
        if self.size:
            self._block = _core.allocate_managed(self.size, 1)
            self.ptr = self._block.ptr

    def prefetch(self, stream: StreamLike, *, device_id: int | None = None) -> None:
        """Enqueue the migration of the memory on a stream.

        Parameters
        ----------
        stream : Stream
            The stream.
        device_id : int, optional
            Number of the target device, by default the device of the memory; -1 for the host.

        Raises
        ------
        CUDARuntimeError
            With status 101 for a device that does not exist.
        """
        runtime.memPrefetchAsync(self.ptr, self.size, self.device_id if device_id is None else device_id, stream)

    def advise(self, advise: int, dev: _core.Device) -> None:
        """Advise the driver about the use of the memory.

        Parameters
        ----------
        advise : int
            CUDA's number of the advice, such as ``runtime.cudaMemAdviseSetReadMostly``.
        dev : Device
            The device to which the advice refers.

        Raises
        ------
        CUDARuntimeError
            With status 1 for unknown advice.
        """
        runtime.memAdvise(self.ptr, self.size, advise, dev.index)


class MemoryAsync(BaseMemory):
    """Memory that is allocated from PyGPU's pool, and freed, in the order of a stream.

    Parameters
    ----------
    size : int
        Number of bytes.
    stream : Stream
        The stream.

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> stream = cuda.Stream()
    >>> memory = cuda.MemoryAsync(100, stream)
    >>> memory.size, memory.stream_ref() is stream
    (100, True)
    """

    def __init__(self, size: SupportsIndex, stream: _core.Stream) -> None:
        self.size = operator.index(size)
        self.device_id = stream.device.index
        self.stream_ref = weakref.ref(stream)
        if self.size:
            # Without this `with` block, an allocator that creates `MemoryAsync` objects would call itself recursively.
            with using_allocator(None):
                self.ptr = _core.raw_allocate_async(self.size, stream)

    def __del__(self) -> None:
        # A destructor cannot raise an error, so `status_of` stores the driver's error as the thread's last error.
        if self.ptr and not sys.is_finalizing():
            stream = self.stream_ref()
            status_of(_core.raw_free_async, self.ptr, get_current_stream() if stream is None else stream)


class UnownedMemory(BaseMemory):
    """Memory that another library allocated, and that a given owner object keeps alive.

    Parameters
    ----------
    ptr : int
        Address of the first byte.
    size : int
        Number of bytes.
    owner : object
        Object that keeps the memory allocated.
    device_id : int, optional
        Number of the memory's device; by default the driver determines it.

    Raises
    ------
    RuntimeError
        For address 0 without `device_id`.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy import cuda
    >>> a = PyGPU.arange(4, dtype="i4")
    >>> memory = cuda.UnownedMemory(a.ptr, a.nbytes, a)
    >>> b = PyGPU.from_pointer(int(memory), a.shape, a.dtype, owner=memory)
    >>> b.tolist()
    [0, 1, 2, 3]
    """

    def __init__(self, ptr: SupportsIndex, size: SupportsIndex, owner: object, device_id: int = -1) -> None:
        self.ptr, self.size = operator.index(ptr), operator.index(size)
        self._owner = owner
        if device_id < 0:
            if not self.ptr:
                raise RuntimeError("UnownedMemory requires an explicit device_id for a null pointer")
            attributes = _core.pointer_attributes(self.ptr)
            device_id = _core.current_device() if attributes is None or attributes[1] < 0 else attributes[1]
        self.device_id = device_id
