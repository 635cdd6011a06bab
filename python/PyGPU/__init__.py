"""A strided GPU array for Python: hold, move and share device memory without heavy baggage.

`import PyGPU as gpuarray` runs programs written for PybindGPU and, in growing parts, for PyCUDA's ``gpuarray``.
Importing opens no driver and creates no context: the backend is chosen when it is first needed (see `show_config`).

The names of PybindGPU (``cuda*``, ``nvml*``, ``DeviceArray_float32`` and their kin) are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# First of all: it refuses a subinterpreter, before NumPy and the native module are taken away from the main one.
from PyGPU import _interpreter  # noqa: F401

# isort: split
# Here and not when it is first needed: that may be in a daemon thread, and one that is ended in the middle of an import
# which a call of the native module started takes the process down with it.
import numpy as _numpy  # noqa: F401

from PyGPU import _core

# `x as x` says that the name is public here.
from PyGPU._core import (
    BackendUnavailableError as BackendUnavailableError,
)
from PyGPU._core import (
    CompileError as CompileError,
)
from PyGPU._core import (
    CudaError as CudaError,
)
from PyGPU._core import (
    Device as Device,
)
from PyGPU._core import (
    Event as Event,
)
from PyGPU._core import (
    ForkError as ForkError,
)
from PyGPU._core import (
    GPUArray as GPUArray,
)
from PyGPU._core import (
    Graph as Graph,
)
from PyGPU._core import (
    In as In,
)
from PyGPU._core import (
    InOut as InOut,
)
from PyGPU._core import (
    Kernel as Kernel,
)
from PyGPU._core import (
    Module as Module,
)
from PyGPU._core import (
    NotSupportedError as NotSupportedError,
)
from PyGPU._core import (
    Out as Out,
)
from PyGPU._core import (
    OutOfMemoryError as OutOfMemoryError,
)
from PyGPU._core import (
    Stream as Stream,
)
from PyGPU._core import (
    __version__ as __version__,
)
from PyGPU._core import (
    arange as arange,
)
from PyGPU._core import (
    asarray as asarray,
)
from PyGPU._core import (
    backend_name as backend_name,
)
from PyGPU._core import (
    broadcast_to as broadcast_to,
)
from PyGPU._core import (
    can_access_peer as can_access_peer,
)
from PyGPU._core import (
    config as config,
)
from PyGPU._core import (
    current_device as current_device,
)
from PyGPU._core import (
    current_stream as current_stream,
)
from PyGPU._core import (
    default_stream as default_stream,
)
from PyGPU._core import (
    device_count as device_count,
)
from PyGPU._core import (
    device_properties as device_properties,
)
from PyGPU._core import (
    driver_version as driver_version,
)
from PyGPU._core import (
    empty as empty,
)
from PyGPU._core import (
    empty_like as empty_like,
)
from PyGPU._core import (
    empty_like_pinned as empty_like_pinned,
)
from PyGPU._core import (
    empty_pinned as empty_pinned,
)
from PyGPU._core import (
    enable_peer_access as enable_peer_access,
)
from PyGPU._core import (
    expand_dims as expand_dims,
)
from PyGPU._core import (
    flip as flip,
)
from PyGPU._core import (
    from_dlpack as from_dlpack,
)
from PyGPU._core import (
    full as full,
)
from PyGPU._core import (
    full_like as full_like,
)
from PyGPU._core import (
    get_allocator as get_allocator,
)
from PyGPU._core import (
    host_cache_limit as host_cache_limit,
)
from PyGPU._core import (
    memory_info as memory_info,
)
from PyGPU._core import (
    memory_limit as memory_limit,
)
from PyGPU._core import (
    memory_release_threshold as memory_release_threshold,
)
from PyGPU._core import (
    memory_statistics as memory_statistics,
)
from PyGPU._core import (
    moveaxis as moveaxis,
)
from PyGPU._core import (
    ones as ones,
)
from PyGPU._core import (
    ones_like as ones_like,
)
from PyGPU._core import (
    pinned_limit as pinned_limit,
)
from PyGPU._core import (
    reset_device as reset_device,
)
from PyGPU._core import (
    set_device as set_device,
)
from PyGPU._core import (
    set_host_cache_limit as set_host_cache_limit,
)
from PyGPU._core import (
    set_memory_limit as set_memory_limit,
)
from PyGPU._core import (
    set_memory_release_threshold as set_memory_release_threshold,
)
from PyGPU._core import (
    set_pinned_limit as set_pinned_limit,
)
from PyGPU._core import (
    show_config as show_config,
)
from PyGPU._core import (
    synchronize as synchronize,
)
from PyGPU._core import (
    to_gpu as to_gpu,
)
from PyGPU._core import (
    to_gpu_async as to_gpu_async,
)
from PyGPU._core import (
    trim_memory as trim_memory,
)
from PyGPU._core import (
    zeros as zeros,
)
from PyGPU._core import (
    zeros_like as zeros_like,
)
from PyGPU._core import (
    zeros_pinned as zeros_pinned,
)

if TYPE_CHECKING:
    from PyGPU import backend as backend
    from PyGPU import elementwise as elementwise
    from PyGPU import gpuarray as gpuarray
    from PyGPU import reduction as reduction
    from PyGPU import scan as scan
    from PyGPU._labels import SUPPORTED_DTYPES as SUPPORTED_DTYPES
    from PyGPU._memory_allocator import set_allocator as set_allocator
    from PyGPU._memory_allocator import using_allocator as using_allocator
    from PyGPU.allocators import Allocator as Allocator
    from PyGPU.backend import *  # noqa: F403


# Loaded when they are first asked for.
_MODULES = ("backend", "elementwise", "gpuarray", "reduction", "scan")


def _public_names() -> list[str]:
    """Every public name, PybindGPU's included; loads the modules that define those."""
    from PyGPU import backend

    native = {name for name in globals() if hasattr(_core, name) and not name.startswith("_")}
    others = {"Allocator", "SUPPORTED_DTYPES", "set_allocator", "using_allocator"}
    return sorted({*native, *backend.__all__, *others, *_MODULES})


def __getattr__(name: str) -> Any:
    # A submodule or one of PybindGPU's names; kept afterwards, so that this runs once for each.
    if name == "__all__":
        return _public_names()
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    match name:
        case name if name in _MODULES:
            value: Any = importlib.import_module(f"PyGPU.{name}")
        case "Allocator":
            value = importlib.import_module("PyGPU.allocators").Allocator
        case "set_allocator" | "using_allocator":
            value = getattr(importlib.import_module("PyGPU._memory_allocator"), name)
        case "SUPPORTED_DTYPES":
            value = importlib.import_module("PyGPU._labels").SUPPORTED_DTYPES
        case _:
            try:
                value = getattr(importlib.import_module("PyGPU.backend"), name)
            except AttributeError:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_public_names()})
