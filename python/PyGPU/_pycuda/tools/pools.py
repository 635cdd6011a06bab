"""PyCUDA's memory pools, which reuse freed blocks for requests of a similar size."""

from __future__ import annotations

import gc
import operator
import sys
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TextIO, TypeVar

from PyGPU import _core
from PyGPU._pycuda.driver.host_allocations import PagelockedHostAllocation, array_over, size_of
from PyGPU._pycuda.driver.memory import mem_get_info
from PyGPU._pycuda.tools.bitlog2 import bitlog2

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

__all__ = [
    "DebugMemoryPool",
    "DeviceMemoryPool",
    "PageLockedAllocator",
    "PageLockedMemoryPool",
    "PooledDeviceAllocation",
    "PooledHostAllocation",
]

Block = TypeVar("Block")

_MANTISSA_BITS = 4
_MANTISSA_MASK = (1 << _MANTISSA_BITS) - 1
_SIZE_BITS = 64
"""Maximum width of a size in bits, as in PyCUDA; larger sizes and their bins are rejected."""


class _Pool(Generic[Block]):
    """Base class of memory pools. A free block is in the bin of its size; there are 16 bins for each power of two."""

    def __init__(self, allocate: Callable[[int], Block], free: Callable[[Block], None]) -> None:
        self._allocate = allocate
        self._free = free
        self._bins: dict[int, list[Block]] = {}
        # The lock is reentrant, because the garbage collector may free a block of the pool while the pool is locked.
        self._lock = threading.RLock()
        self._is_holding = True
        self._held_blocks = self._active_blocks = self._managed_bytes = self._active_bytes = 0

    @property
    def held_blocks(self) -> int:
        """Number of free blocks in the pool."""
        return self._held_blocks

    @property
    def active_blocks(self) -> int:
        """Number of blocks that are in use."""
        return self._active_blocks

    @property
    def managed_bytes(self) -> int:
        """Total size in bytes of all blocks, whether free or in use."""
        return self._managed_bytes

    @property
    def active_bytes(self) -> int:
        """Total number of bytes that the program requested for the blocks in use."""
        return self._active_bytes

    @staticmethod
    def bin_number(size: SupportsIndex) -> int:
        """Return the number of the bin for requests of a given size.

        Parameters
        ----------
        size : int
            Number of bytes.

        Returns
        -------
        int
        """
        number = operator.index(size)
        if not 0 <= number < 1 << _SIZE_BITS:
            raise ValueError(f"{number} is no number of bytes: it must be in 0 .. 2**{_SIZE_BITS} - 1")
        exponent = bitlog2(number)
        shift = exponent - _MANTISSA_BITS
        mantissa = number >> shift if shift >= 0 else number << -shift
        return exponent << _MANTISSA_BITS | mantissa & _MANTISSA_MASK

    @staticmethod
    def alloc_size(bin: SupportsIndex) -> int:
        """Return the block size of a bin: the largest request, in bytes, that belongs to the bin.

        Parameters
        ----------
        bin : int
            Number of the bin, from `bin_number`.

        Returns
        -------
        int
        """
        number = operator.index(bin)
        if not 0 <= number < _SIZE_BITS << _MANTISSA_BITS:
            raise ValueError(f"{number} is no bin: it must be in 0 .. {(_SIZE_BITS << _MANTISSA_BITS) - 1}")
        exponent, mantissa = number >> _MANTISSA_BITS, number & _MANTISSA_MASK | 1 << _MANTISSA_BITS
        shift = exponent - _MANTISSA_BITS
        return mantissa >> -shift if shift < 0 else (mantissa + 1 << shift) - 1

    def free_held(self) -> None:
        """Return all free blocks to the driver."""
        while self._free_one():
            pass

    def stop_holding(self) -> None:
        """Return all free blocks to the driver; from now on, each freed block returns to the driver immediately."""
        self._is_holding = False
        self.free_held()

    def _free_one(self) -> bool:
        """Return one of the largest free blocks to the driver; return False if the pool has no free block."""
        with self._lock:
            if not self._held_blocks:
                return False
            bin = max(number for number, blocks in self._bins.items() if blocks)
            block = self._bins[bin].pop()
            self._held_blocks -= 1
            self._managed_bytes -= self.alloc_size(bin)
        self._free(block)
        return True

    def _acquire(self, size: int) -> Block:
        bin = self.bin_number(size)
        nbytes = self.alloc_size(bin)
        with self._lock:
            free_blocks = self._bins.get(bin)
            block = free_blocks.pop() if free_blocks else None
            if block is not None:
                self._held_blocks -= 1
        if block is None:
            block = self._new(nbytes)
            with self._lock:
                self._managed_bytes += nbytes
        with self._lock:
            self._active_blocks += 1
            self._active_bytes += size
        return block

    def _is_shared(self, block: Block) -> bool:
        """Test whether an array still refers to the memory block."""
        return False

    def _new(self, nbytes: int) -> Block:
        try:
            return self._allocate(nbytes)
        except (_core.OutOfMemoryError, MemoryError):
            gc.collect()  # The garbage collector returns blocks that unreachable reference cycles own to the pool.
        while True:
            try:
                return self._allocate(nbytes)
            except (_core.OutOfMemoryError, MemoryError):
                if not self._free_one():
                    raise

    def _release(self, block: Block, size: int) -> None:
        bin = self.bin_number(size)
        with self._lock:
            self._active_blocks -= 1
            self._active_bytes -= size
            # A block that arrays still use is not reused: from now on, only these arrays own the block.
            if self._is_holding and not self._is_shared(block):
                self._bins.setdefault(bin, []).append(block)
                self._held_blocks += 1
                return
            self._managed_bytes -= self.alloc_size(bin)
        self._free(block)


class _PooledAllocation(Generic[Block]):
    """Base class of memory that a pool has provided; `free` returns the memory to the pool."""

    def __init__(self, pool: _Pool[Block], size: int) -> None:
        self._size = size
        self._pool = pool
        self._block: Block | None = None  # `__del__` reads this attribute, even if `_acquire` fails
        self._block = pool._acquire(size)

    def _live_block(self) -> Block:
        if self._block is None:
            _core.raise_freed(type(self).__name__)
        return self._block

    def free(self) -> None:
        """Return the memory to the pool.

        Raises
        ------
        CudaError
            With code 1, if the memory was already freed.
        """
        # If two threads call `free`, only one thread gets the block, because CPython does not switch threads in this
        # statement.
        block, self._block = self._block, None
        if block is None:
            _core.raise_freed(type(self).__name__)
        self._pool._release(block, self._size)

    def __del__(self) -> None:
        block, self._block = self._block, None
        # When the interpreter ends, the memory is not freed: the operating system reclaims it.
        if block is not None and not sys.is_finalizing():
            self._pool._release(block, self._size)

    def __len__(self) -> int:
        return self._size


class PooledDeviceAllocation(_PooledAllocation[_core.DeviceAllocation]):
    """Device memory of a `DeviceMemoryPool`, accepted as an address everywhere.

    The memory returns to the pool at ``free()`` or when its last reference is dropped. ``len()`` returns the number of
    requested bytes.

    Parameters
    ----------
    pool : DeviceMemoryPool
        Pool of the memory.
    size : int
        Number of bytes.

    Examples
    --------
    >>> from PyGPU.tools import DeviceMemoryPool
    >>> memory = DeviceMemoryPool().allocate(100)
    >>> len(memory), int(memory) == memory.ptr
    (100, True)
    """

    @property
    def ptr(self) -> int:
        """Address of the memory."""
        return self._live_block().ptr

    def __int__(self) -> int:
        return self.ptr

    def __index__(self) -> int:
        return self.ptr

    def as_buffer(self, size: SupportsIndex, offset: SupportsIndex = 0) -> memoryview:
        """Return a memoryview at the device address, for libraries such as MPI that take device addresses in buffers.

        Parameters
        ----------
        size : int
            Number of bytes.
        offset : int, optional
            Offset in bytes from the start of the memory.

        Returns
        -------
        memoryview
            Reading the memoryview on the host crashes the process, except on the CPU backend.
        """
        return self._live_block().as_buffer(size, offset)

    def __bool__(self) -> bool:
        return True


class DeviceMemoryPool(_Pool[_core.DeviceAllocation]):
    """Pool of memory of the current device.

    The method `allocate` can be passed as the `allocator` of arrays.

    Examples
    --------
    >>> from PyGPU.tools import DeviceMemoryPool
    >>> pool = DeviceMemoryPool()
    >>> memory = pool.allocate(1000)
    >>> address = int(memory)
    >>> del memory
    >>> pool.held_blocks, int(pool.allocate(1000)) == address
    (1, True)
    """

    def __init__(self) -> None:
        device = _core.current_device()
        super().__init__(lambda nbytes: _core.allocate_device(nbytes, device), _core.DeviceAllocation.free)

    def _is_shared(self, block: _core.DeviceAllocation) -> bool:
        return block._is_shared

    def allocate(self, size: SupportsIndex) -> PooledDeviceAllocation:
        """Return a sufficiently large free block of the pool, or new memory if the pool has no such block.

        Parameters
        ----------
        size : int
            Number of bytes.

        Returns
        -------
        PooledDeviceAllocation

        Raises
        ------
        OutOfMemoryError
            If memory is insufficient even after a garbage collection and after the pool released its free blocks.
        """
        return PooledDeviceAllocation(self, operator.index(size))


class PageLockedAllocator:
    """Allocator of a `PageLockedMemoryPool`.

    Parameters
    ----------
    flags : int, optional
        A combination of `host_alloc_flags`.

    Examples
    --------
    >>> from PyGPU.tools import PageLockedAllocator
    >>> PageLockedAllocator().allocate(16).get_flags()
    0
    """

    def __init__(self, flags: SupportsIndex = 0) -> None:
        self._flags = operator.index(flags)

    def allocate(self, nbytes: SupportsIndex) -> PagelockedHostAllocation:
        """Return new page-locked memory.

        Parameters
        ----------
        nbytes : int
            Number of bytes.

        Returns
        -------
        PagelockedHostAllocation
        """
        return PagelockedHostAllocation(nbytes, self._flags)


class PooledHostAllocation(_PooledAllocation[PagelockedHostAllocation]):
    """Memory of a `PageLockedMemoryPool`: the ``base`` of the pool's arrays.

    Parameters
    ----------
    pool : PageLockedMemoryPool
        Pool of the memory.
    size : int
        Number of bytes.

    Examples
    --------
    >>> from PyGPU.tools import PageLockedMemoryPool
    >>> a = PageLockedMemoryPool().allocate((2, 3), "f4")
    >>> len(a.base)
    24
    """

    def __bool__(self) -> bool:
        return True


class PageLockedMemoryPool(_Pool[PagelockedHostAllocation]):
    """Pool of page-locked host memory.

    Parameters
    ----------
    allocator : PageLockedAllocator, optional
        Allocator of new memory.

    Examples
    --------
    >>> from PyGPU.tools import PageLockedMemoryPool
    >>> pool = PageLockedMemoryPool()
    >>> a = pool.allocate((2, 3), "f4")
    >>> a.shape, pool.active_bytes
    ((2, 3), 24)
    """

    def __init__(self, allocator: PageLockedAllocator | None = None) -> None:
        page_locked_allocator = PageLockedAllocator() if allocator is None else allocator
        super().__init__(page_locked_allocator.allocate, PagelockedHostAllocation.free)

    def allocate(self, shape: Iterable[SupportsIndex], dtype: DTypeLike, order: str = "C") -> NDArray[Any]:
        """Return an ndarray over a sufficiently large free block, or over new memory if the pool has no such block.

        Parameters
        ----------
        shape : sequence of int
            Lengths of the axes.
        dtype : data-type
            Type of the elements; Python objects are not supported.
        order : {'C', 'F'}, optional
            Memory order of the elements.

        Returns
        -------
        numpy.ndarray
            Array whose ``base`` is a `PooledHostAllocation`. The memory returns to the pool with the last array over
            it.
        """
        lengths = tuple(operator.index(length) for length in shape)
        memory = PooledHostAllocation(self, size_of(lengths, dtype, order))
        return array_over(memory, memory._live_block()._address, lengths, dtype, order)


class DebugMemoryPool(DeviceMemoryPool):
    """Device memory pool that prints each allocation.

    Parameters
    ----------
    interactive : bool, optional
        Whether to wait for the Enter key after each line.
    logfile : file, optional
        Output file; defaults to standard output.

    Examples
    --------
    >>> import io
    >>> from PyGPU.tools import DebugMemoryPool
    >>> log = io.StringIO()
    >>> memory = DebugMemoryPool(interactive=False, logfile=log).allocate(100)
    >>> "100" in log.getvalue()
    True
    """

    def __init__(self, interactive: bool = True, logfile: TextIO | None = None) -> None:
        super().__init__()
        self._interactive = interactive
        self._logfile = logfile

    def allocate(self, size: SupportsIndex) -> PooledDeviceAllocation:
        """Return memory as `DeviceMemoryPool.allocate`, and print the allocation.

        Parameters
        ----------
        size : int
            Number of bytes.

        Returns
        -------
        PooledDeviceAllocation
        """
        nbytes = operator.index(size)
        free, total = mem_get_info()
        out = sys.stdout if self._logfile is None else self._logfile
        print(
            f"allocating {nbytes} bytes; the pool has {self.active_bytes} bytes in {self.active_blocks} blocks in use "
            f"and holds {self.held_blocks} more; the device has {free} of {total} bytes free",
            file=out,
            flush=True,
        )
        if self._interactive:
            input("[Enter] ")
        return super().allocate(nbytes)
