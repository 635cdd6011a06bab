"""PyCUDA's ``pycuda.tools``: the default context, what is remembered for each, names of types, occupancy."""

from __future__ import annotations

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
from PyGPU._tools_types import (
    Argument,
    ScalarArg,
    VectorArg,
    dtype_to_ctype,
    get_arg_type,
    get_or_register_dtype,
    parse_c_arg,
    register_dtype,
)

__all__ = [
    "Argument",
    "DeviceData",
    "OccupancyRecord",
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
