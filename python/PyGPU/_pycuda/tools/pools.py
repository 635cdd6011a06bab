"""PyCUDA's pools: memory that was freed and waits for the next who asks for about as much."""

from __future__ import annotations

import gc
import operator
import sys
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TextIO, TypeVar

from PyGPU import _core
from PyGPU._pycuda.driver.host_allocations import PagelockedHostAllocation, new_over, size_of
from PyGPU._pycuda.driver.memory import mem_get_info
from PyGPU._pycuda.tools.numbers import bitlog2

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
"""Of the numbers of bytes, as in PyCUDA: a bin beyond is of no size that a machine has."""


class _Pool(Generic[Block]):
    """Blocks of one kind, held in bins of a power of two with four further bits."""

    def __init__(self, allocate: Callable[[int], Block], free: Callable[[Block], None]) -> None:
        self._allocate = allocate
        self._free = free
        self._bins: dict[int, list[Block]] = {}
        # Reentrant: the collector may free a block of the pool while it is locked.
        self._lock = threading.RLock()
        self._holds = True
        self._held_blocks = self._active_blocks = self._managed_bytes = self._active_bytes = 0

    @property
    def held_blocks(self) -> int:
        """How many blocks wait for the next who asks."""
        return self._held_blocks

    @property
    def active_blocks(self) -> int:
        """How many blocks are in use."""
        return self._active_blocks

    @property
    def managed_bytes(self) -> int:
        """Bytes of all blocks, in use or not."""
        return self._managed_bytes

    @property
    def active_bytes(self) -> int:
        """Bytes that were asked for and are in use."""
        return self._active_bytes

    @staticmethod
    def bin_number(size: SupportsIndex) -> int:
        """Return the bin from which a number of bytes is served.

        Parameters
        ----------
        size : int
            Bytes.

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
        """Return the bytes of the blocks in a bin: the largest number that belongs there.

        Parameters
        ----------
        bin : int
            From `bin_number`.

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
        """Give back to the driver all that waits for the next who asks."""
        while self._free_one():
            pass

    def stop_holding(self) -> None:
        """Give back what is held, and from now on every block when it is freed."""
        self._holds = False
        self.free_held()

    def _free_one(self) -> bool:
        """Give back one of the largest held blocks; whether there was one."""
        with self._lock:
            if not self._held_blocks:
                return False
            bin = max(number for number, blocks in self._bins.items() if blocks)
            block = self._bins[bin].pop()
            self._held_blocks -= 1
            self._managed_bytes -= self.alloc_size(bin)
        self._free(block)
        return True

    def _take(self, size: int) -> Block:
        bin = self.bin_number(size)
        nbytes = self.alloc_size(bin)
        with self._lock:
            held = self._bins.get(bin)
            block = held.pop() if held else None
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
        """Whether somebody beside the pool keeps the block."""
        return False

    def _new(self, nbytes: int) -> Block:
        try:
            return self._allocate(nbytes)
        except (_core.OutOfMemoryError, MemoryError):
            gc.collect()  # blocks may hang in reference cycles
        while True:
            try:
                return self._allocate(nbytes)
            except (_core.OutOfMemoryError, MemoryError):
                if not self._free_one():
                    raise

    def _give_back(self, block: Block, size: int) -> None:
        bin = self.bin_number(size)
        with self._lock:
            self._active_blocks -= 1
            self._active_bytes -= size
            # What arrays go on using is nobody else's; it is theirs from here on.
            if self._holds and not self._is_shared(block):
                self._bins.setdefault(bin, []).append(block)
                self._held_blocks += 1
                return
            self._managed_bytes -= self.alloc_size(bin)
        self._free(block)


class _Pooled(Generic[Block]):
    """A block in use, which goes back to its pool."""

    def __init__(self, pool: _Pool[Block], size: int) -> None:
        self._size = size
        self._pool = pool
        self._block: Block | None = None  # so that __del__ finds it, if the next line fails
        self._block = pool._take(size)

    def _living(self) -> Block:
        if self._block is None:
            _core.raise_freed(type(self).__name__)
        return self._block

    def free(self) -> None:
        """Give the memory back to the pool.

        Raises
        ------
        CudaError
            With code 1, when it was freed before.
        """
        block = self._living()
        self._block = None
        self._pool._give_back(block, self._size)

    def __del__(self) -> None:
        block, self._block = self._block, None
        # At the end of the process nothing is given back.
        if block is not None and not sys.is_finalizing():
            self._pool._give_back(block, self._size)

    def __len__(self) -> int:
        return self._size


class PooledDeviceAllocation(_Pooled[_core.DeviceAllocation]):
    """Device memory of a `DeviceMemoryPool`, an address wherever one is taken.

    It goes back to the pool by ``free()``, or with its last reference. ``len()`` is the number of bytes that were asked
    for.

    Parameters
    ----------
    pool : DeviceMemoryPool
        Where the memory comes from.
    size : int
        Bytes.

    Examples
    --------
    >>> from PyGPU.tools import DeviceMemoryPool
    >>> memory = DeviceMemoryPool().allocate(100)
    >>> len(memory), int(memory) == memory.ptr
    (100, True)
    """

    @property
    def ptr(self) -> int:
        """The address."""
        return self._living().ptr

    def __int__(self) -> int:
        return self.ptr

    def __index__(self) -> int:
        return self.ptr

    def as_buffer(self, size: SupportsIndex, offset: SupportsIndex = 0) -> memoryview:
        """Return a memoryview that has the address, for libraries that take device addresses in buffers (MPI).

        Parameters
        ----------
        size : int
            Bytes.
        offset : int, optional
            Where they begin.

        Returns
        -------
        memoryview
            Reading it on the host crashes the process, except on the CPU backend.
        """
        return self._living().as_buffer(size, offset)

    def __bool__(self) -> bool:
        return True


class DeviceMemoryPool(_Pool[_core.DeviceAllocation]):
    """A pool of memory of the current device.

    Its `allocate` can be given to arrays as their allocator.

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
        """Return memory, from the pool if it holds a block of that bin.

        Parameters
        ----------
        size : int
            Bytes.

        Returns
        -------
        PooledDeviceAllocation

        Raises
        ------
        OutOfMemoryError
            If there is no room, also after garbage was collected and the pool has given back all that it held.
        """
        return PooledDeviceAllocation(self, operator.index(size))


class PageLockedAllocator:
    """Where a `PageLockedMemoryPool` has its memory from.

    Parameters
    ----------
    flags : int, optional
        Of `host_alloc_flags`.

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
            How many.

        Returns
        -------
        PagelockedHostAllocation
        """
        return PagelockedHostAllocation(nbytes, self._flags)


class PooledHostAllocation(_Pooled[PagelockedHostAllocation]):
    """Memory of a `PageLockedMemoryPool`: the ``base`` of the arrays from there.

    Parameters
    ----------
    pool : PageLockedMemoryPool
        Where the memory comes from.
    size : int
        Bytes.

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
    """A pool of page-locked memory of the host.

    Parameters
    ----------
    allocator : PageLockedAllocator, optional
        Where new memory comes from.

    Examples
    --------
    >>> from PyGPU.tools import PageLockedMemoryPool
    >>> pool = PageLockedMemoryPool()
    >>> a = pool.allocate((2, 3), "f4")
    >>> a.shape, pool.active_bytes
    ((2, 3), 24)
    """

    def __init__(self, allocator: PageLockedAllocator | None = None) -> None:
        source = PageLockedAllocator() if allocator is None else allocator
        super().__init__(source.allocate, PagelockedHostAllocation.free)

    def allocate(self, shape: Iterable[SupportsIndex], dtype: DTypeLike, order: str = "C") -> NDArray[Any]:
        """Return an ndarray, over memory of the pool if it holds a block of that bin.

        Parameters
        ----------
        shape : sequence of int
            The lengths of the axes.
        dtype : data-type
            Any but one with Python objects.
        order : {'C', 'F'}, optional
            How elements follow each other.

        Returns
        -------
        numpy.ndarray
            Its ``base`` is a `PooledHostAllocation`, which goes back to the pool with the last array over it.
        """
        lengths = tuple(operator.index(length) for length in shape)
        memory = PooledHostAllocation(self, size_of(lengths, dtype, order))
        return new_over(memory, memory._living()._address, lengths, dtype, order)


class DebugMemoryPool(DeviceMemoryPool):
    """A pool that says what is allocated.

    Parameters
    ----------
    interactive : bool, optional
        Wait for the Enter key after each line.
    logfile : file, optional
        Where the lines go; standard output by default.

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
        """Return memory, and say so.

        Parameters
        ----------
        size : int
            Bytes.

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
