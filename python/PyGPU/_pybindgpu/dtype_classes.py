"""PybindGPU's classes for each dtype, such as ``DeviceArray_float32``, which are created at their first use.

A pointer class has two names, because PybindGPU's documentation and PybindGPU's code name the class differently.
"""

from __future__ import annotations

from typing import Any

import numpy

from PyGPU._names.annotations import readable
from PyGPU._pybindgpu.device_array import DeviceArray
from PyGPU._pybindgpu.dtype_names import SUPPORTED_DTYPES
from PyGPU._pybindgpu.pointer import pointer_class
from PyGPU._pybindgpu.typed_allocators import TypedDeviceAllocator, TypedHostAllocator, TypedPagelockedAllocator

_FAMILIES: dict[str, type[Any]] = {
    "DeviceArray": DeviceArray,
    "DeviceAllocator": TypedDeviceAllocator,
    "HostAllocator": TypedHostAllocator,
    "PagelockedAllocator": TypedPagelockedAllocator,
}

_POINTERS = ("ptr_wrapper", "pointer_wrapper")

__all__ = [f"{family}_{label}" for family in (*_FAMILIES, *_POINTERS) for label in SUPPORTED_DTYPES]


def class_of(family: str, label: str) -> type[Any]:
    """Return the class for a dtype, such as ``DeviceArray_float32``; the first call creates the class."""
    dtype = numpy.dtype(label)
    if family in _POINTERS:
        return readable(pointer_class(dtype))
    name, base = f"{family}_{label}", _FAMILIES[family]
    names = {"__slots__": (), "__module__": "PyGPU.backend", "__doc__": base.__doc__, "_dtype": dtype}
    new_class: type[Any] = globals().setdefault(name, readable(type(name, (base,), names)))
    return new_class


def __getattr__(name: str) -> type[Any]:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    family, _, label = name.rpartition("_")
    return class_of(family, label)
