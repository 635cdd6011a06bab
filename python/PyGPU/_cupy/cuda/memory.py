"""CuPy's default memory pool."""

from __future__ import annotations

from PyGPU._cupy.cuda.pools.device_pool import DefaultMemoryPool, default_memory_pool

__all__ = ["get_default_memory_pool"]


def get_default_memory_pool() -> DefaultMemoryPool:
    """Return the pool of all arrays that no other allocator provides: PyGPU's own pool.

    Returns
    -------
    MemoryPool

    Examples
    --------
    >>> from PyGPU.cupy.cuda.memory import get_default_memory_pool
    >>> get_default_memory_pool() is get_default_memory_pool()
    True
    """
    return default_memory_pool
