"""PyCUDA's ``pycuda.tools``: the default context, what is remembered for each, names of types, occupancy."""

from __future__ import annotations

from PyGPU._c_types import (
    ScalarArg,
    VectorArg,
    dtype_to_ctype,
    get_arg_type,
    get_or_register_dtype,
    parse_c_arg,
    register_dtype,
)
from PyGPU._memory_pools import (
    DebugMemoryPool,
    DeviceMemoryPool,
    PageLockedAllocator,
    PageLockedMemoryPool,
    PooledDeviceAllocation,
    PooledHostAllocation,
)
from PyGPU._tools_context import (
    clear_context_caches,
    context_dependent_memoize,
    context_dependent_memoized_functions,
    get_default_device,
    init_cuda_context_fixture,
    make_default_context,
    mark_cuda_test,
)
from PyGPU._tools_numbers import bitlog2
from PyGPU._tools_occupancy import DeviceData, OccupancyRecord

__all__ = [
    "DebugMemoryPool",
    "DeviceData",
    "DeviceMemoryPool",
    "OccupancyRecord",
    "PageLockedAllocator",
    "PageLockedMemoryPool",
    "PooledDeviceAllocation",
    "PooledHostAllocation",
    "ScalarArg",
    "VectorArg",
    "bitlog2",
    "clear_context_caches",
    "context_dependent_memoize",
    "context_dependent_memoized_functions",
    "dtype_to_ctype",
    "get_arg_type",
    "get_default_device",
    "get_or_register_dtype",
    "init_cuda_context_fixture",
    "make_default_context",
    "mark_cuda_test",
    "parse_c_arg",
    "register_dtype",
]
