"""CuPy's default memory pool: PyGPU's own pool, which the driver manages.

A driver reports the bytes of its pool, but not the number of free blocks. `n_free_blocks` therefore returns 0.
"""

from __future__ import annotations

import warnings
from typing import SupportsIndex

from PyGPU import _core
from PyGPU._cupy.cuda.allocations import MemoryAsync
from PyGPU._cupy.cuda.memory_pointer import MemoryPointer
from PyGPU._cupy.cuda.pools.pool import MemoryPool, limit_of
from PyGPU._cupy.cuda.pools.pooled_memory import PooledMemory, malloc_with_hooks
from PyGPU._cupy.cuda.stream import get_current_stream
from PyGPU._memory.allocator import using_allocator

__all__ = ["DefaultMemoryPool", "MemoryAsyncPool", "default_memory_pool"]

_NO_LIMIT = 2**64 - 1


def _used(statistics: dict[str, int]) -> int:
    """Return the number of bytes in use, without freed blocks in PyGPU's cache, which the driver counts as used."""
    is_pool = statistics["pool_reserved"] > 0
    return statistics["pool_used"] - statistics["recycled_bytes"] if is_pool else statistics["bytes"]


class _PygpuPool:
    """Base class: CuPy's queries and settings for PyGPU's memory pool of the current device."""

    def used_bytes(self) -> int:
        """Return the number of bytes in use in PyGPU's pool of the current device.

        Returns
        -------
        int
            On the CPU, which has no pool, the number of bytes of all live arrays.
        """
        return _used(_core.memory_statistics())

    def total_bytes(self) -> int:
        """Return the number of bytes, used and free, that PyGPU holds on the current device.

        Returns
        -------
        int
            On the CPU, which has no pool, the number of bytes in use.
        """
        statistics = _core.memory_statistics()
        return statistics["pool_reserved"] or _used(statistics)

    def free_bytes(self) -> int:
        """Return the number of free bytes that PyGPU holds on the current device for later arrays.

        Returns
        -------
        int
        """
        statistics = _core.memory_statistics()
        return (statistics["pool_reserved"] or _used(statistics)) - _used(statistics)

    def free_all_blocks(self, stream: _core.Stream | None = None) -> None:
        """Return the unused memory of the current device to the driver, after waiting for the device.

        Parameters
        ----------
        stream : Stream, optional
            Accepted for compatibility with CuPy; it has no effect, because the driver's pool does not separate blocks
            by stream.
        """
        _core.synchronize()
        _core.trim_memory()

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Limit the total size of PyGPU's live arrays on the current device.

        Parameters
        ----------
        size : int, optional
            Limit in bytes; 0 means no limit.
        fraction : float, optional
            Limit as a fraction of the device's memory, from 0 to 1; cannot be combined with `size`.

        Raises
        ------
        ValueError
            If both or neither of `size` and `fraction` are given, or if a number is out of range.
        """
        _core.set_memory_limit(limit_of(size, fraction) or None)


class DefaultMemoryPool(_PygpuPool, MemoryPool):
    """CuPy's view of PyGPU's own pool, which provides the memory of arrays unless another allocator is set.

    `get_default_memory_pool` returns the only object of this class. Its methods refer to the pool of the current
    device.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy.cuda.memory import get_default_memory_pool
    >>> pool = get_default_memory_pool()
    >>> before = pool.used_bytes()
    >>> a = PyGPU.zeros(1000)
    >>> pool.used_bytes() - before >= 8000
    True
    >>> pool.free_all_blocks()
    >>> pool.get_limit()
    0
    """

    def malloc(self, size: SupportsIndex) -> MemoryPointer:
        """Allocate memory from PyGPU's pool.

        Parameters
        ----------
        size : int
            Number of bytes.

        Returns
        -------
        MemoryPointer
        """
        return malloc_with_hooks(size, _allocate)

    def free_all_free(self) -> None:
        """Return the unused memory of the current device to the driver; deprecated in favour of `free_all_blocks`."""
        warnings.warn("free_all_free is deprecated: use free_all_blocks", DeprecationWarning, stacklevel=2)
        self.free_all_blocks()

    def n_free_blocks(self) -> int:
        """Return 0, because drivers do not report the number of free blocks in their pool.

        Returns
        -------
        int
        """
        return 0

    def get_limit(self) -> int:
        """Return the memory limit of the current device.

        Returns
        -------
        int
            Limit in bytes; 0 means no limit.
        """
        return _core.memory_limit() or 0


def _allocate(size: int) -> PooledMemory:
    with using_allocator(None):
        array = _core.empty(size, "u1")
    block = [array]
    # The list holds the only reference to the array. `block.clear` drops the array, whose memory returns to the pool.
    return PooledMemory(array.ptr, size, array.device.index, block.clear)


class MemoryAsyncPool(_PygpuPool):
    """CuPy's class whose method `malloc` allocates and frees memory in the order of the current stream.

    The memory comes from PyGPU's pool for arrays, which already is the driver's stream-ordered pool if the driver has
    one. Only programs written for CuPy need this class.

    Parameters
    ----------
    pool_handles : str, optional
        Only ``'current'``: PyGPU has one pool for each device.

    Raises
    ------
    NotSupportedError
        If `pool_handles` is not ``'current'``.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy import cuda
    >>> pool = cuda.MemoryAsyncPool()
    >>> with cuda.using_allocator(pool.malloc):
    ...     a = PyGPU.arange(3)
    >>> a.tolist()
    [0, 1, 2]
    """

    def __init__(self, pool_handles: str = "current") -> None:
        if pool_handles not in ("current", "default"):
            raise _core.NotSupportedError(
                f"MemoryAsyncPool({pool_handles!r}): PyGPU has one pool for each device; leave the argument out"
            )
        self.memoryAsyncHasStat = True

    def malloc(self, size: SupportsIndex) -> MemoryPointer:
        """Allocate stream-ordered memory for the current stream.

        Parameters
        ----------
        size : int
            Number of bytes.

        Returns
        -------
        MemoryPointer
        """
        return MemoryPointer(MemoryAsync(size, get_current_stream()), 0)

    def n_free_blocks(self) -> int:
        """Raise an error, as CuPy does, because drivers do not report the number of free blocks in their pool.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError("a driver's pool has no number of free blocks: use free_bytes()")

    def get_limit(self) -> int:
        """Return the memory limit of the current device.

        Returns
        -------
        int
            Limit in bytes; 2**64 - 1 means no limit.
        """
        limit = _core.memory_limit()
        return _NO_LIMIT if limit is None else limit


default_memory_pool = DefaultMemoryPool()
