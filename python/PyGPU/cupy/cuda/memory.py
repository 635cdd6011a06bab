"""CuPy's module `cupy.cuda.memory`: allocations, pointers, pools and allocators."""

from PyGPU._cupy.cuda.allocations import BaseMemory, ManagedMemory, Memory, MemoryAsync, UnownedMemory
from PyGPU._cupy.cuda.allocator import (
    CFunctionAllocator,
    PythonFunctionAllocator,
    alloc,
    get_allocator,
    set_allocator,
    using_allocator,
)
from PyGPU._cupy.cuda.errors import OutOfMemoryError
from PyGPU._cupy.cuda.memory import get_default_memory_pool
from PyGPU._cupy.cuda.memory_pointer import MemoryPointer, malloc_async, malloc_managed
from PyGPU._cupy.cuda.pools.device_pool import MemoryAsyncPool
from PyGPU._cupy.cuda.pools.pool import MemoryPool, SingleDeviceMemoryPool
from PyGPU._cupy.cuda.pools.pooled_memory import PooledMemory
from PyGPU._names import public_modules as _public_modules

__all__ = [
    "BaseMemory",
    "CFunctionAllocator",
    "ManagedMemory",
    "Memory",
    "MemoryAsync",
    "MemoryAsyncPool",
    "MemoryPointer",
    "MemoryPool",
    "OutOfMemoryError",
    "PooledMemory",
    "PythonFunctionAllocator",
    "SingleDeviceMemoryPool",
    "UnownedMemory",
    "alloc",
    "get_allocator",
    "get_default_memory_pool",
    "malloc_async",
    "malloc_managed",
    "set_allocator",
    "using_allocator",
]


_public_modules.publish(globals())
