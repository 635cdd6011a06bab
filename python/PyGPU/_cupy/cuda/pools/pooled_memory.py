"""The class of memory from a pool, and functions that call the memory hooks before and after `malloc` and `free`."""

from __future__ import annotations

import operator
import sys
import threading
from collections.abc import Callable
from typing import SupportsIndex

from PyGPU import _core
from PyGPU._cupy.cuda.allocations import BaseMemory, Memory
from PyGPU._cupy.cuda.memory_pointer import MemoryPointer
from PyGPU._cupy.cuda.pools.active_hooks import calls_of_hooks, hooks_of_thread

__all__ = ["ALLOCATION_UNIT", "PooledMemory", "malloc_with_hooks", "round_size"]

ALLOCATION_UNIT = 512
"""Sizes of blocks are multiples of this number of bytes, as in CuPy."""


def round_size(size: int) -> int:
    """Round a number of bytes up to a multiple of a pool's block size, 512 bytes."""
    return -(-size // ALLOCATION_UNIT) * ALLOCATION_UNIT


class PooledMemory(BaseMemory):
    """Memory of a pool; `free`, or the drop of the last reference, returns the memory to the pool.

    Programs do not create objects of this class; the pool's `malloc` does.

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> pool = cuda.MemoryPool()
    >>> memory = pool.malloc(100).mem
    >>> memory.free()
    >>> pool.n_free_blocks()
    1
    """

    def __init__(self, ptr: int, size: int, device_id: int, release: Callable[[], object]) -> None:
        self.ptr, self.size, self.device_id = ptr, size, device_id
        self._release: Callable[[], object] | None = release

    def free(self) -> None:
        """Return the memory to the pool. A second call has no effect."""
        release, self._release = self._release, None
        if release is None:
            return
        hooks = hooks_of_thread()
        ptr, self.ptr = self.ptr, 0
        if not hooks:
            release()
            return
        arguments = {"device_id": self.device_id, "mem_size": self.size, "mem_ptr": ptr, "pmem_id": id(self)}
        with calls_of_hooks(hooks, "free", **arguments):
            release()

    def __del__(self) -> None:
        # When the interpreter ends, the memory is not freed: the operating system reclaims it.
        if not sys.is_finalizing():
            self.free()


class _Thread(threading.local):
    """Per-thread state: whether a memory hook is running, so that allocations inside the hook call no hooks."""

    is_hooked = False


_thread = _Thread()


def malloc_with_hooks(size: SupportsIndex, allocate: Callable[[int], PooledMemory]) -> MemoryPointer:
    """Allocate memory from a pool, and call the thread's memory hooks before and after the allocation."""
    nbytes = operator.index(size)
    if nbytes < 0:
        raise ValueError(f"{nbytes} is no number of bytes: it is negative")
    if nbytes == 0:
        return MemoryPointer(Memory(0), 0)
    rounded = round_size(nbytes)
    hooks = () if _thread.is_hooked else hooks_of_thread()
    if not hooks:
        return MemoryPointer(allocate(rounded), 0)
    _thread.is_hooked = True
    try:
        arguments = {"device_id": _core.current_device(), "size": nbytes, "mem_size": rounded}
        with calls_of_hooks(hooks, "malloc", **arguments) as results:
            results |= {"mem_ptr": 0, "pmem_id": 0}  # If the allocation fails, the memory hooks receive zeros.
            memory = allocate(rounded)
            results |= {"mem_ptr": memory.ptr, "pmem_id": id(memory)}
        return MemoryPointer(memory, 0)
    finally:
        _thread.is_hooked = False
