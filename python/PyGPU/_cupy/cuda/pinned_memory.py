"""CuPy's classes and functions for pinned host memory: allocations, pointers and a pool."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any, SupportsIndex

from PyGPU import _core
from PyGPU._cupy.cuda.runtime import devices_and_memory as runtime
from PyGPU._cupy.cuda.runtime.constants import hostAllocPortable
from PyGPU._pybindgpu.status import status_of
from PyGPU._pycuda.tools.bitlog2 import bitlog2
from PyGPU._pycuda.tools.pools import _Pool

__all__ = [
    "PinnedMemory",
    "PinnedMemoryPointer",
    "PinnedMemoryPool",
    "PooledPinnedMemory",
    "alloc_pinned_memory",
    "get_default_pinned_memory_pool",
    "set_pinned_memory_allocator",
]

_SMALLEST = 512
"""Smallest block of a pool in bytes; sizes of blocks are powers of two."""


class PinnedMemory:
    """Pinned host memory, which is freed when the object is destroyed.

    Parameters
    ----------
    size : int
        Number of bytes.
    flags : int, optional
        Sum of ``runtime.hostAllocPortable``, ``hostAllocMapped`` and ``hostAllocWriteCombined``.

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> memory = cuda.PinnedMemory(100)
    >>> memory.size, int(memory) == memory.ptr
    (100, True)
    """

    ptr: int = 0
    """Address of the first byte; 0 for an empty block."""
    size: int = 0
    """Number of bytes."""

    def __init__(self, size: SupportsIndex, flags: int = 0) -> None:
        self.size = operator.index(size)
        self.ptr = runtime.hostAlloc(self.size, flags)

    def __int__(self) -> int:
        return self.ptr

    def __del__(self) -> None:
        # A destructor cannot raise an error, so `status_of` stores the driver's error as the thread's last error.
        if self.ptr and not sys.is_finalizing():
            status_of(_core.host_free, self.ptr)


class PinnedMemoryPointer(_core._HostRange):
    """Pointer into pinned memory. Python's buffer protocol exports the bytes from the pointer to the memory's end.

    Parameters
    ----------
    mem : PinnedMemory
        The memory, which the pointer keeps alive.
    offset : int
        Number of bytes from the start of the memory.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU.cupy import cuda
    >>> pointer = cuda.alloc_pinned_memory(16)
    >>> a = np.frombuffer(pointer, "f4", 4)
    >>> a[:] = [0, 1, 2, 3]
    >>> np.frombuffer(pointer + 8, "f4", 2).tolist()
    [2.0, 3.0]
    """

    mem: PinnedMemory
    ptr: int

    def __new__(cls, mem: PinnedMemory, offset: SupportsIndex) -> PinnedMemoryPointer:
        distance = operator.index(offset)
        if not 0 <= distance <= mem.size:
            raise ValueError(f"a block of {mem.size} bytes has no byte {distance}")
        pointer = super().__new__(cls, mem.ptr + distance, mem.size - distance, mem)
        pointer.mem, pointer.ptr = mem, mem.ptr + distance
        return pointer

    def size(self) -> int:
        """Return the number of bytes from the pointer to the end of the memory.

        Returns
        -------
        int
        """
        return self.mem.size - (self.ptr - self.mem.ptr)

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, offset: SupportsIndex) -> PinnedMemoryPointer:
        return PinnedMemoryPointer(self.mem, self.ptr - self.mem.ptr + operator.index(offset))

    __radd__ = __add__

    def __sub__(self, offset: SupportsIndex) -> PinnedMemoryPointer:
        return self + -operator.index(offset)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ptr:#x} of {self.size()} bytes>"


Allocator = Callable[[int], PinnedMemoryPointer]


def _malloc(size: int) -> PinnedMemoryPointer:
    return PinnedMemoryPointer(PinnedMemory(size, hostAllocPortable), 0)


class PooledPinnedMemory(PinnedMemory):
    """Pinned memory of a `PinnedMemoryPool`, to which `free`, or the drop of the last reference, returns the memory.

    Programs do not create objects of this class; the pool's `malloc` does.

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> pool = cuda.PinnedMemoryPool()
    >>> pool.malloc(100).mem.free()
    >>> pool.n_free_blocks()
    1
    """

    def __init__(self, mem: PinnedMemory, pool: PinnedMemoryPool) -> None:
        self.ptr, self.size = mem.ptr, mem.size
        self._mem: PinnedMemory | None = mem
        self._pool = pool

    def free(self) -> None:
        """Return the memory to the pool. A second call has no effect."""
        mem, self._mem = self._mem, None
        self.ptr = self.size = 0
        if mem is not None:
            self._pool._release(mem, mem.size)

    def __del__(self) -> None:
        # When the interpreter ends, the memory is not freed: the operating system reclaims it.
        if not sys.is_finalizing():
            self.free()


class PinnedMemoryPool(_Pool[Any]):
    """Pool of pinned memory: freed blocks are reused for requests of the same power of two.

    Parameters
    ----------
    allocator : callable, optional
        Function that receives a number of bytes and returns a `PinnedMemoryPointer`; by default, it allocates from the
        driver.

    Notes
    -----
    As in CuPy, the program must wait for asynchronous copies before it drops the memory that they use.

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> pool = cuda.PinnedMemoryPool()
    >>> pointer = pool.malloc(1000)
    >>> address = pointer.ptr
    >>> del pointer
    >>> pool.n_free_blocks(), pool.malloc(1000).ptr == address
    (1, True)
    """

    def __init__(self, allocator: Allocator = _malloc) -> None:
        # The function that frees a block does nothing, because the pool drops the last reference to the block's memory.
        super().__init__(lambda nbytes: allocator(nbytes).mem, lambda block: None)

    @staticmethod
    def bin_number(size: SupportsIndex) -> int:
        """Return the exponent of the smallest power of two, in bytes, that holds `size` bytes."""
        return bitlog2(max(operator.index(size), _SMALLEST) - 1) + 1

    @staticmethod
    def alloc_size(bin: SupportsIndex) -> int:
        """Return the number of bytes of a block: 2 to the power of `bin`."""
        return 1 << operator.index(bin)

    def malloc(self, size: SupportsIndex) -> PinnedMemoryPointer:
        """Return a sufficient free block of the pool, or new pinned memory if no free block suffices.

        Parameters
        ----------
        size : int
            Number of bytes.

        Returns
        -------
        PinnedMemoryPointer
        """
        nbytes = operator.index(size)
        if nbytes == 0:
            return PinnedMemoryPointer(PinnedMemory(0), 0)
        block = self._acquire(self.alloc_size(self.bin_number(nbytes)))
        return PinnedMemoryPointer(PooledPinnedMemory(block, self), 0)

    def free_all_blocks(self) -> None:
        """Return all free blocks of the pool to the driver."""
        self.free_held()

    def n_free_blocks(self) -> int:
        """Return the number of free blocks of the pool.

        Returns
        -------
        int
        """
        return self.held_blocks


_default_pool = PinnedMemoryPool()
_current_allocator: Allocator = _default_pool.malloc


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """Return the pool that `alloc_pinned_memory` uses by default.

    Returns
    -------
    PinnedMemoryPool

    Examples
    --------
    >>> from PyGPU.cupy.cuda.pinned_memory import get_default_pinned_memory_pool
    >>> get_default_pinned_memory_pool().n_free_blocks() >= 0
    True
    """
    return _default_pool


def alloc_pinned_memory(size: SupportsIndex) -> PinnedMemoryPointer:
    """Allocate pinned memory by the current allocator.

    Parameters
    ----------
    size : int
        Number of bytes.

    Returns
    -------
    PinnedMemoryPointer

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> len(memoryview(cuda.alloc_pinned_memory(1000))) >= 1000
    True
    """
    return _current_allocator(operator.index(size))


def set_pinned_memory_allocator(allocator: Allocator | None = None) -> None:
    """Set the allocator that `alloc_pinned_memory` calls.

    PyGPU's own copies do not use this allocator.

    Parameters
    ----------
    allocator : callable, optional
        Function that receives a number of bytes and returns a `PinnedMemoryPointer`. None selects allocation from the
        driver, without a pool.

    Raises
    ------
    TypeError
        For an object that is not callable.

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> pool = cuda.PinnedMemoryPool()
    >>> cuda.set_pinned_memory_allocator(pool.malloc)
    >>> pointer = cuda.alloc_pinned_memory(100)
    >>> pointer.size()
    512
    >>> cuda.set_pinned_memory_allocator(cuda.pinned_memory.get_default_pinned_memory_pool().malloc)
    """
    global _current_allocator
    if allocator is not None and not callable(allocator):
        raise TypeError(f"an allocator is a function of a number of bytes, not {type(allocator).__name__}")
    _current_allocator = _malloc if allocator is None else allocator
