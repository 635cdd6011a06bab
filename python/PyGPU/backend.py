"""PybindGPU's module `backend`: its low-level names in one place.

The classes per dtype are made when they are first looked at. `use_hip` is here too, but a star import leaves it out:
looking at it asks for the backend.
"""

from __future__ import annotations

from typing import Any

from PyGPU import _pointer, _typed_allocators, device_array, nvml, runtime
from PyGPU._labels import SUPPORTED_DTYPES, dtype
from PyGPU.nvml import *  # noqa: F403
from PyGPU.runtime import *  # noqa: F403

__all__ = ["dtype"]
__all__ += runtime.__all__
__all__ += nvml.__all__
__all__ += device_array.__all__
__all__ += _typed_allocators.__all__
__all__ += [f"ptr_wrapper_{label}" for label in SUPPORTED_DTYPES]

_LAZY = {
    "DeviceArray": device_array,
    "DeviceAllocator": _typed_allocators,
    "HostAllocator": _typed_allocators,
    "PagelockedAllocator": _typed_allocators,
    "ptr_wrapper": _pointer,
    "use": runtime,
}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name.rpartition("_")[0])
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "use_hip"})
