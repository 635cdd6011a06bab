"""PyCUDA's ``pycuda.driver``: devices, contexts, streams, modules, launches, and errors.

Nothing need be initialised: ``import PyGPU.driver as drv`` opens no driver. `Error` and what derives from it are the
classes that PyGPU itself raises: `LogicError` is a `PyGPU.CudaError`, and `MemoryError` is `PyGPU.OutOfMemoryError`.

Names like `MemoryError` and `RuntimeError` shadow Python's own under ``from PyGPU.driver import *``, as in PyCUDA.

Examples
--------
>>> import PyGPU.driver as drv
>>> issubclass(drv.LogicError, drv.Error)
True
"""

from __future__ import annotations

from PyGPU._core import CompileError, Error, In, InOut, LaunchError, LogicError, Out
from PyGPU._core import DriverRuntimeError as RuntimeError
from PyGPU._core import HostArgument as ArgumentHandler
from PyGPU._core import OutOfMemoryError as MemoryError
from PyGPU._driver_context import Context
from PyGPU._driver_debugging import set_debugging
from PyGPU._driver_device import Device, get_driver_version, get_version, init
from PyGPU._driver_device_attributes import device_attribute
from PyGPU._driver_enums import (
    address_mode,
    array3d_flags,
    array_cubemap_face,
    array_format,
    compute_mode,
    ctx_flags,
    event_flags,
    filter_mode,
    func_cache,
    function_attribute,
    graphics_register_flags,
    jit_fallback,
    jit_input_type,
    jit_option,
    jit_target,
    limit,
    profiler_output_mode,
    shared_config,
)
from PyGPU._driver_module import Function, Linker, Module, module_from_buffer, module_from_file
from PyGPU._driver_profiler import have_gl_ext, initialize_profiler, start_profiler, stop_profiler
from PyGPU._driver_streams import Event, Stream
from PyGPU._driver_textures import (
    TR_DEFAULT,
    TRSA_OVERRIDE_FORMAT,
    TRSF_NORMALIZED_COORDINATES,
    TRSF_READ_AS_INTEGER,
    Array,
    ArrayDescriptor,
    ArrayDescriptor3D,
    SurfaceReference,
    TextureReference,
    bind_array_to_texref,
    dtype_to_array_format,
    gpuarray_to_array,
    make_multichannel_2d_array,
    matrix_to_array,
    matrix_to_texref,
    np_to_array,
)

__all__ = [
    "TRSA_OVERRIDE_FORMAT",
    "TRSF_NORMALIZED_COORDINATES",
    "TRSF_READ_AS_INTEGER",
    "TR_DEFAULT",
    "ArgumentHandler",
    "Array",
    "ArrayDescriptor",
    "ArrayDescriptor3D",
    "CompileError",
    "Context",
    "Device",
    "Error",
    "Event",
    "Function",
    "In",
    "InOut",
    "LaunchError",
    "Linker",
    "LogicError",
    "MemoryError",
    "Module",
    "Out",
    "RuntimeError",
    "Stream",
    "SurfaceReference",
    "TextureReference",
    "address_mode",
    "array3d_flags",
    "array_cubemap_face",
    "array_format",
    "bind_array_to_texref",
    "compute_mode",
    "ctx_flags",
    "device_attribute",
    "dtype_to_array_format",
    "event_flags",
    "filter_mode",
    "func_cache",
    "function_attribute",
    "get_driver_version",
    "get_version",
    "gpuarray_to_array",
    "graphics_register_flags",
    "have_gl_ext",
    "init",
    "initialize_profiler",
    "jit_fallback",
    "jit_input_type",
    "jit_option",
    "jit_target",
    "limit",
    "make_multichannel_2d_array",
    "matrix_to_array",
    "matrix_to_texref",
    "module_from_buffer",
    "module_from_file",
    "np_to_array",
    "profiler_output_mode",
    "set_debugging",
    "shared_config",
    "start_profiler",
    "stop_profiler",
]


def __getattr__(name: str) -> bool:
    if name == "CUDA_DEBUGGING":
        from PyGPU._driver_debugging import is_debugging

        return is_debugging()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
