"""A strided GPU array for Python: hold, move and share device memory without heavy baggage.

`import PyGPU as gpuarray` runs programs written for PybindGPU and, in growing parts, for PyCUDA's ``gpuarray``.
Importing opens no driver and creates no context: the backend is chosen when it is first needed (see `show_config`).

The names of PybindGPU (``cuda*``, ``nvml*``, ``DeviceArray_float32`` and their kin) are loaded when first used.
"""

from typing import TYPE_CHECKING

# First of all: it refuses a subinterpreter, before NumPy and the native module are taken away from the main one.
from PyGPU._native import interpreter as _interpreter  # noqa: F401

# isort: split
# Here and not when it is first needed: that may be in a daemon thread, and one that is ended in the middle of an import
# which a call of the native module started takes the process down with it.
import numpy as _numpy  # noqa: F401

# `x as x` says that the name is public here.
from PyGPU._core import (
    BackendUnavailableError as BackendUnavailableError,
    CompileError as CompileError,
    CudaError as CudaError,
    Device as Device,
    Event as Event,
    ForkError as ForkError,
    GPUArray as GPUArray,
    Graph as Graph,
    In as In,
    InOut as InOut,
    Kernel as Kernel,
    Module as Module,
    NotSupportedError as NotSupportedError,
    Out as Out,
    OutOfMemoryError as OutOfMemoryError,
    Stream as Stream,
    __version__ as __version__,
    arange as arange,
    asarray as asarray,
    backend_name as backend_name,
    broadcast_to as broadcast_to,
    can_access_peer as can_access_peer,
    config as config,
    current_device as current_device,
    current_stream as current_stream,
    default_stream as default_stream,
    device_count as device_count,
    device_properties as device_properties,
    driver_version as driver_version,
    empty as empty,
    empty_like as empty_like,
    empty_like_pinned as empty_like_pinned,
    empty_pinned as empty_pinned,
    enable_peer_access as enable_peer_access,
    expand_dims as expand_dims,
    flip as flip,
    from_dlpack as from_dlpack,
    full as full,
    full_like as full_like,
    get_allocator as get_allocator,
    host_cache_limit as host_cache_limit,
    memory_info as memory_info,
    memory_limit as memory_limit,
    memory_release_threshold as memory_release_threshold,
    memory_statistics as memory_statistics,
    moveaxis as moveaxis,
    ones as ones,
    ones_like as ones_like,
    pinned_limit as pinned_limit,
    reset_device as reset_device,
    set_device as set_device,
    set_host_cache_limit as set_host_cache_limit,
    set_memory_limit as set_memory_limit,
    set_memory_release_threshold as set_memory_release_threshold,
    set_pinned_limit as set_pinned_limit,
    show_config as show_config,
    synchronize as synchronize,
    to_gpu as to_gpu,
    to_gpu_async as to_gpu_async,
    trim_memory as trim_memory,
    zeros as zeros,
    zeros_like as zeros_like,
    zeros_pinned as zeros_pinned,
)

if TYPE_CHECKING:
    from PyGPU import (
        allocators as allocators,
        autoinit as autoinit,
        autoprimaryctx as autoprimaryctx,
        backend as backend,
        characterize as characterize,
        compiler as compiler,
        device_array as device_array,
        driver as driver,
        elementwise as elementwise,
        gpuarray as gpuarray,
        nvml as nvml,
        reduction as reduction,
        runtime as runtime,
        scan as scan,
        tools as tools,
        typing as typing,
    )
    from PyGPU._native.allocator import set_allocator as set_allocator, using_allocator as using_allocator
    from PyGPU._pybindgpu.labels import SUPPORTED_DTYPES as SUPPORTED_DTYPES
    from PyGPU.allocators import Allocator as Allocator
    from PyGPU.backend import *  # noqa: F403
else:
    # Hidden from type checkers, to which any name would be there.
    def __getattr__(name: str):
        # A submodule or one of PybindGPU's names; kept afterwards, so that this runs once for each.
        if name.startswith("_") and name != "__all__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from PyGPU._native import names

        if name == "__all__":
            return names.everything()
        value = globals()[name] = names.find(name)
        return value

    def __dir__() -> list[str]:
        from PyGPU._native import names

        return names.shown()
