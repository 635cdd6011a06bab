"""CuPy's class `MemoryPool`, a pool that a program creates in addition to PyGPU's own pool."""

from __future__ import annotations

import gc
import os
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import SupportsIndex

from PyGPU import _core
from PyGPU._cupy.cuda.allocations import BaseMemory
from PyGPU._cupy.cuda.errors import OutOfMemoryError
from PyGPU._cupy.cuda.memory_pointer import MemoryPointer, malloc_of_driver
from PyGPU._cupy.cuda.pools.active_hooks import calls_of_hooks, hooks_of_thread
from PyGPU._cupy.cuda.pools.blocks import Arena, Chunk
from PyGPU._cupy.cuda.pools.pooled_memory import PooledMemory, malloc_with_hooks
from PyGPU._cupy.cuda.runtime.constants import streamPerThread
from PyGPU._cupy.cuda.stream import get_current_stream

__all__ = ["MemoryPool", "SingleDeviceMemoryPool", "limit_of", "parse_limit"]

Allocator = Callable[[int], MemoryPointer]


def parse_limit(text: str) -> dict[str, float | int | None]:
    """Convert the value of ``CUPY_GPU_MEMORY_LIMIT``, bytes or a percentage, to arguments of `set_limit`.

    Raises
    ------
    ValueError
        If the text is neither a number of bytes nor a percentage.
    """
    try:
        if text.endswith("%"):
            return {"size": None, "fraction": float(text[:-1]) / 100}
        return {"size": int(text), "fraction": None}
    except ValueError:
        raise ValueError(
            f"CUPY_GPU_MEMORY_LIMIT is {text!r}; write bytes, as 1073741824, or a percentage, as 40%"
        ) from None


def limit_of(size: int | None, fraction: float | None) -> int:
    """Return a memory limit in bytes, from a size or from a fraction of the device's memory.

    Raises
    ------
    ValueError
        If both or neither of size and fraction are given, for a negative size, and for a fraction outside of 0 to 1.
    """
    if (size is None) == (fraction is None):
        raise ValueError(f"set_limit takes either size or fraction, not size={size!r}, fraction={fraction!r}")
    if size is not None:
        if size < 0:
            raise ValueError(f"the limit must not be negative: size={size}")
        return int(size)
    if fraction is None or not 0 <= fraction <= 1:
        raise ValueError(f"the fraction must be in 0 .. 1: fraction={fraction}")
    return int(_core.memory_info()[1] * fraction)


class _Thread(threading.local):
    """Per-thread state: the object `identity`, which identifies the thread's per-thread default stream as a key."""

    def __init__(self) -> None:
        self.identity = object()


_thread = _Thread()


class SingleDeviceMemoryPool:
    """Memory pool of one device: the current device at the creation of the pool.

    Parameters
    ----------
    allocator : callable, optional
        Function that receives a number of bytes and returns a `MemoryPointer`; by default, it allocates from the
        driver.
    """

    def __init__(self, allocator: Allocator = malloc_of_driver) -> None:
        self._allocator = allocator
        self._device = _core.Device()
        # The lock is reentrant, because the garbage collector may free a block of the pool while the pool is locked.
        self._lock = threading.RLock()
        self._arenas: dict[object, Arena] = {}
        self._total = self._in_use = self._limit = 0
        text = os.environ.get("CUPY_GPU_MEMORY_LIMIT")
        if text:
            self.set_limit(**parse_limit(text))  # type: ignore[arg-type]

    def _arena(self, stream: int) -> Arena:
        # The per-thread default streams of all threads have equal handles, so the key is an object of the thread.
        key = stream if stream != streamPerThread else _thread.identity
        return self._arenas.setdefault(key, Arena())

    def malloc(self, size: SupportsIndex) -> MemoryPointer:
        """Return the smallest free block that suffices, or new memory if no free block suffices."""
        return malloc_with_hooks(size, self._malloc)

    def _malloc(self, size: int) -> PooledMemory:
        stream = get_current_stream().ptr
        with self._lock:
            chunk = self._arena(stream).take(size)
            if chunk is not None:
                self._in_use += size
        if chunk is None:
            memory = self._new(size)
            with self._lock:
                chunk = Chunk(memory, 0, size, self._arena(stream))
                self._in_use += size
        pool = weakref.ref(self)

        def release() -> None:
            owner = pool()
            if owner is not None:
                owner._release(chunk)

        return PooledMemory(chunk.ptr(), chunk.size, self._device.index, release)

    def _new(self, size: int) -> BaseMemory:
        with calls_of_hooks(hooks_of_thread(), "alloc", device_id=self._device.index, mem_size=size) as results:
            results["mem_ptr"] = 0  # If the allocation fails, the memory hooks receive the address 0.
            memory = self._try_allocate(size)
            results["mem_ptr"] = memory.ptr
        return memory

    def _try_allocate(self, size: int) -> BaseMemory:
        """Allocate memory; if the limit or the device's memory is exceeded, free unused blocks and try again."""
        for free_unused in (None, self.free_all_blocks, self._collect_and_free):
            if free_unused is not None:
                free_unused()
            with self._lock:
                if self._limit and self._total + size > self._limit:
                    continue
                self._total += size
            memory = None
            try:
                memory = self._allocator(size).mem
                return memory
            except MemoryError:
                pass  # The next iteration of the loop frees memory and repeats the allocation.
            finally:
                if memory is None:
                    with self._lock:
                        self._total -= size
        text = f"Out of memory allocating {size:,} bytes (allocated so far: {self._total:,} bytes"
        raise OutOfMemoryError(f"{text}, limit set to: {self._limit:,} bytes)." if self._limit else f"{text}).")

    def _collect_and_free(self) -> None:
        gc.collect()  # The garbage collector returns the memory of arrays in unreachable reference cycles to the pool.
        self.free_all_blocks()

    def _release(self, chunk: Chunk) -> None:
        with self._lock:
            self._in_use -= chunk.size
            if chunk.arena is not None:
                chunk.arena.add(chunk)

    def free_all_blocks(self, stream: _core.Stream | None = None) -> None:
        """Return the unused allocations of one stream, or of all streams, to the driver."""
        with self._lock:
            arenas = list(self._arenas.values()) if stream is None else [self._arena(stream.handle)]
            freed = [chunk for arena in arenas for chunk in arena.take_whole()]
            self._total -= sum(chunk.size for chunk in freed)
        del freed  # Memory is freed after the lock is released, because the driver may wait for the device.

    def free_all_free(self) -> None:
        """Return the unused allocations to the driver; deprecated in favour of `free_all_blocks`."""
        warnings.warn("free_all_free is deprecated: use free_all_blocks", DeprecationWarning, stacklevel=2)
        self.free_all_blocks()

    def n_free_blocks(self) -> int:
        """Return the number of free blocks."""
        with self._lock:
            return sum(map(len, self._arenas.values()))

    def used_bytes(self) -> int:
        """Return the number of bytes in use."""
        return self._in_use

    def free_bytes(self) -> int:
        """Return the total number of bytes of the free blocks."""
        return self._total - self._in_use

    def total_bytes(self) -> int:
        """Return the number of bytes that the pool holds now, used and free."""
        return self._total

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Limit the number of bytes that the pool holds; 0 means no limit."""
        self._limit = limit_of(size, fraction)

    def get_limit(self) -> int:
        """Return the limit in bytes; 0 means no limit."""
        return self._limit


class MemoryPool:
    """Memory pool that a program creates itself, with separate blocks for each device.

    A `MemoryPool` obtains memory from an allocator, and reuses blocks whose arrays were dropped.
    `get_default_memory_pool` does not return a `MemoryPool`, but PyGPU's own pool, which the driver manages.

    Parameters
    ----------
    allocator : callable, optional
        Function that receives a number of bytes and returns a `MemoryPointer`; by default, it allocates from the
        driver.

    Notes
    -----
    All methods concern the current device. Sizes are rounded to multiples of 512 bytes. As in CuPy, a freed block is
    reused for requests on the same stream, and adjacent free parts of an allocation are merged.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy import cuda
    >>> pool = cuda.MemoryPool()
    >>> with cuda.using_allocator(pool.malloc):
    ...     a = PyGPU.zeros(128)
    >>> pool.used_bytes(), pool.free_bytes()
    (1024, 0)
    >>> del a
    >>> pool.used_bytes(), pool.free_bytes(), pool.n_free_blocks()
    (0, 1024, 1)
    >>> pool.free_all_blocks()
    >>> pool.total_bytes()
    0
    """

    def __init__(self, allocator: Allocator | None = None) -> None:
        self._allocator = malloc_of_driver if allocator is None else allocator
        self._pools: dict[int, SingleDeviceMemoryPool] = {}

    def _pool(self) -> SingleDeviceMemoryPool:
        device = _core.current_device()
        pool = self._pools.get(device)
        return pool or self._pools.setdefault(device, SingleDeviceMemoryPool(self._allocator))

    def malloc(self, size: SupportsIndex) -> MemoryPointer:
        """Return the smallest free block that suffices, or new memory if no free block suffices.

        Parameters
        ----------
        size : int
            Number of bytes.

        Returns
        -------
        MemoryPointer

        Raises
        ------
        OutOfMemoryError
            If the limit or the device's memory is exceeded, even after the pool has freed its unused memory.
        """
        return self._pool().malloc(size)

    def free_all_blocks(self, stream: _core.Stream | None = None) -> None:
        """Return the unused allocations to the driver.

        Parameters
        ----------
        stream : Stream, optional
            Stream whose unused blocks are freed; defaults to all streams.
        """
        self._pool().free_all_blocks(stream)

    def free_all_free(self) -> None:
        """Return the unused allocations to the driver; deprecated in favour of `free_all_blocks`."""
        self._pool().free_all_free()

    def n_free_blocks(self) -> int:
        """Return the number of free blocks.

        Returns
        -------
        int
        """
        return self._pool().n_free_blocks()

    def used_bytes(self) -> int:
        """Return the number of bytes in use.

        Returns
        -------
        int
        """
        return self._pool().used_bytes()

    def free_bytes(self) -> int:
        """Return the total number of bytes of the free blocks.

        Returns
        -------
        int
        """
        return self._pool().free_bytes()

    def total_bytes(self) -> int:
        """Return the number of bytes that the pool holds now, used and free.

        Returns
        -------
        int
        """
        return self._pool().total_bytes()

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Limit the number of bytes that the pool holds on the current device.

        Parameters
        ----------
        size : int, optional
            Limit in bytes; 0 means no limit.
        fraction : float, optional
            Limit as a fraction of the device's memory, from 0 to 1; cannot be combined with `size`.

        Raises
        ------
        ValueError
            If both arguments or neither are given, and for a number out of range.
        """
        self._pool().set_limit(size, fraction)

    def get_limit(self) -> int:
        """Return the pool's limit on the current device.

        Returns
        -------
        int
            Limit in bytes; 0 means no limit.
        """
        return self._pool().get_limit()
