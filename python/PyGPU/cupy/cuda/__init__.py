"""CuPy's interface to devices, streams, events, memory and the runtime: `cupy.cuda`.

`Device` is `PyGPU.Device` and `Graph` is `PyGPU.Graph`. `Stream` and `Event` derive from PyGPU's classes, and have
CuPy's constructors. Objects are imported at their first use.

Submodules: `compiler`, `cufft`, `device`, `driver`, `function`, `graph`, `memory`, `memory_hook`, `memory_hooks`,
`nvrtc`, `nvtx`, `pinned_memory`, `profiler`, `runtime`, `stream`, `texture`.
"""

# ruff: noqa: F403
from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from PyGPU._names import public_modules as _public_modules

_NAMES = {
    "device": ("Device", "get_device_id"),
    "function": ("Function", "Module"),
    "compiler": ("compile_with_cache",),
    "graph": ("Graph",),
    "memory": (
        "BaseMemory", "CFunctionAllocator", "ManagedMemory", "Memory", "MemoryAsync", "MemoryAsyncPool",
        "MemoryPointer", "MemoryPool", "PythonFunctionAllocator", "UnownedMemory", "alloc", "get_allocator",
        "malloc_async", "malloc_managed", "set_allocator", "using_allocator",
    ),
    "memory_hook": ("MemoryHook",),
    "pinned_memory": (
        "PinnedMemory", "PinnedMemoryPointer", "PinnedMemoryPool", "alloc_pinned_memory",
        "set_pinned_memory_allocator",
    ),
    "profiler": ("profile",),
    "stream": ("Event", "ExternalStream", "Stream", "get_current_stream", "get_elapsed_time"),
}  # fmt: skip
"""The names of the package that submodules define."""

_ENVIRONMENT = (
    "get_cuda_path", "get_hipcc_path", "get_local_runtime_version", "get_nvcc_path", "get_rocm_path", "is_available",
)  # fmt: skip

_SUBMODULES = (*_NAMES, "cufft", "driver", "memory_hooks", "nvrtc", "nvtx", "runtime", "texture")

_HOMES = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names}
_HOMES |= dict.fromkeys(_ENVIRONMENT, "PyGPU._cupy.cuda.environment")

if TYPE_CHECKING:
    from PyGPU._cupy.cuda.environment import *
    from PyGPU.cupy.cuda.compiler import *
    from PyGPU.cupy.cuda.device import *
    from PyGPU.cupy.cuda.function import *
    from PyGPU.cupy.cuda.graph import *
    from PyGPU.cupy.cuda.memory import *
    from PyGPU.cupy.cuda.memory_hook import *
    from PyGPU.cupy.cuda.pinned_memory import *
    from PyGPU.cupy.cuda.profiler import *
    from PyGPU.cupy.cuda.stream import *

__all__ = [*_HOMES, *_SUBMODULES]


def __getattr__(name: str) -> Any:
    # The found object is stored in the package, so that each name is searched only once.
    if name in _SUBMODULES:
        return _import_module(f"{__name__}.{name}")
    if name in _HOMES:
        value = globals()[name] = _public_modules.readable(getattr(_import_module(_HOMES[name]), name))
        return value
    from PyGPU._cupy.lazy_names import no_attribute

    raise no_attribute(__name__, name)


_public_modules.publish(globals())
