"""The function `get_default_memory_pool` of `cupy.cuda.memory`."""

from __future__ import annotations

from PyGPU._cupy.cuda.pools.device_pool import DefaultMemoryPool, default_memory_pool

__all__ = ["get_default_memory_pool"]


def get_default_memory_pool() -> DefaultMemoryPool:
    """Return PyGPU's own pool, which provides the memory of arrays unless another allocator is set.

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
