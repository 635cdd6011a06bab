"""CuPy's module of memory: allocations, pointers, pools and allocators."""

# ruff: noqa: F403
from PyGPU._cupy.cuda.allocations import *
from PyGPU._cupy.cuda.allocator import *
from PyGPU._cupy.cuda.errors import OutOfMemoryError as OutOfMemoryError
from PyGPU._cupy.cuda.memory import *
from PyGPU._cupy.cuda.memory_pointer import *
from PyGPU._cupy.cuda.pools.device_pool import *
from PyGPU._cupy.cuda.pools.pool import *
from PyGPU._cupy.cuda.pools.pooled_memory import PooledMemory as PooledMemory
