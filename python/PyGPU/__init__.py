"""A strided GPU array for Python: hold, move and share device memory without heavy baggage.

`import PyGPU as gpuarray` runs programs written for PybindGPU and, in growing parts, for PyCUDA's ``gpuarray``. Importing
opens no driver and creates no context: the backend is chosen when it is first needed (see `show_config`).

The names of PybindGPU (``cuda*``, ``nvml*``, ``DeviceArray_float32`` and their kin) are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PyGPU import _core
from PyGPU._core import (
    BackendUnavailableError,
    CudaError,
    Device,
    Event,
    ForkError,
    GPUArray,
    NotSupportedError,
    OutOfMemoryError,
    Stream,
    __version__,
    arange,
    asarray,
    backend_name,
    broadcast_to,
    can_access_peer,
    config,
    current_device,
    current_stream,
    default_stream,
    device_count,
    device_properties,
    driver_version,
    empty,
    empty_like,
    empty_like_pinned,
    empty_pinned,
    enable_peer_access,
    expand_dims,
    flip,
    from_dlpack,
    full,
    full_like,
    memory_info,
    memory_release_threshold,
    memory_statistics,
    moveaxis,
    ones,
    ones_like,
    reset_device,
    set_device,
    set_memory_release_threshold,
    show_config,
    synchronize,
    to_gpu,
    to_gpu_async,
    trim_memory,
    zeros,
    zeros_like,
    zeros_pinned,
)

if TYPE_CHECKING:
    from PyGPU import backend, gpuarray
    from PyGPU._labels import SUPPORTED_DTYPES
    from PyGPU.allocators import Allocator
    from PyGPU.backend import *  # noqa: F403

_NATIVE = [
    "BackendUnavailableError",
    "CudaError",
    "Device",
    "Event",
    "ForkError",
    "GPUArray",
    "NotSupportedError",
    "OutOfMemoryError",
    "Stream",
    "arange",
    "asarray",
    "backend_name",
    "broadcast_to",
    "can_access_peer",
    "config",
    "current_device",
    "current_stream",
    "default_stream",
    "device_count",
    "device_properties",
    "driver_version",
    "empty",
    "empty_like",
    "empty_like_pinned",
    "empty_pinned",
    "enable_peer_access",
    "expand_dims",
    "flip",
    "from_dlpack",
    "full",
    "full_like",
    "memory_info",
    "memory_release_threshold",
    "memory_statistics",
    "moveaxis",
    "ones",
    "ones_like",
    "reset_device",
    "set_device",
    "set_memory_release_threshold",
    "show_config",
    "synchronize",
    "to_gpu",
    "to_gpu_async",
    "trim_memory",
    "zeros",
    "zeros_like",
    "zeros_pinned",
]


def _public_names() -> list[str]:
    """Every public name, PybindGPU's included; loads the modules that define those."""
    from PyGPU import backend

    return sorted({*_NATIVE, *backend.__all__, "Allocator", "SUPPORTED_DTYPES", "backend", "gpuarray"})


def __getattr__(name: str) -> Any:
    # A submodule or one of PybindGPU's names; kept afterwards, so that this runs once for each.
    if name == "__all__":
        return _public_names()
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    match name:
        case "backend" | "gpuarray":
            value: Any = importlib.import_module(f"PyGPU.{name}")
        case "Allocator":
            value = importlib.import_module("PyGPU.allocators").Allocator
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
