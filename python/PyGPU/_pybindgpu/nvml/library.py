"""Access to the NVML functions that PyGPU uses, by the package `nvidia-ml-py` or by NVIDIA's library.

Every method returns NVML's status number, preceded by the queried values. No method raises an exception.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

INVALID_ARGUMENT = 2
NOT_SUPPORTED = 3
NOT_FOUND = 6
FUNCTION_NOT_FOUND = 13

Handle: TypeAlias = Any
"""NVML's pointer to a device: an object of `nvidia-ml-py` or ctypes."""


class Library(Protocol):
    """Common interface of the classes `NvidiaMlPy` and `SharedLibrary`, which call NVML."""

    def initialize(self) -> int:
        """Initialize NVML; NVML counts these calls, and shuts down after as many calls of `shutdown`."""

    def shutdown(self) -> int:
        """Undo one call of `initialize`."""

    def find(self, uuid: str) -> tuple[Handle | None, int]:
        """Return NVML's handle of the device that has the given UUID, in nvidia-smi's notation."""

    def utilization(self, device: Handle) -> tuple[tuple[int, int], int]:
        """Return the percentage of time in which kernels ran, and the percentage in which memory was accessed."""

    def memory(self, device: Handle) -> tuple[tuple[int, int, int], int]:
        """Return the free, total and used memory in bytes."""


class NvidiaMlPy:
    """Access to NVML through the package `nvidia-ml-py`."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def _value(self, function: Callable[..., Any], *args: Any) -> tuple[Any, int]:
        try:
            return function(*args), 0
        except self._module.NVMLError as error:
            return None, int(error.value)

    def initialize(self) -> int:
        return self._value(self._module.nvmlInit)[1]

    def shutdown(self) -> int:
        return self._value(self._module.nvmlShutdown)[1]

    def find(self, uuid: str) -> tuple[Handle | None, int]:
        return self._value(self._module.nvmlDeviceGetHandleByUUID, uuid)

    def utilization(self, device: Handle) -> tuple[tuple[int, int], int]:
        rates, code = self._value(self._module.nvmlDeviceGetUtilizationRates, device)
        return ((0, 0) if rates is None else (int(rates.gpu), int(rates.memory))), code

    def memory(self, device: Handle) -> tuple[tuple[int, int, int], int]:
        info, code = self._value(self._module.nvmlDeviceGetMemoryInfo, device)
        return ((0, 0, 0) if info is None else (int(info.free), int(info.total), int(info.used))), code


class Utilization(ctypes.Structure):
    """NVML's struct nvmlUtilization_t."""

    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class Memory(ctypes.Structure):
    """NVML's struct nvmlMemory_t."""

    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


class SharedLibrary:
    """Access to NVML through NVIDIA's shared library."""

    def __init__(self, name: str = "libnvidia-ml.so.1") -> None:
        self._library = ctypes.CDLL(name)

    def _call(self, name: str, *args: Any) -> int:
        function = getattr(self._library, name, None)
        return FUNCTION_NOT_FOUND if function is None else int(function(*args))

    def initialize(self) -> int:
        return self._call("nvmlInit_v2")

    def shutdown(self) -> int:
        return self._call("nvmlShutdown")

    def find(self, uuid: str) -> tuple[Handle | None, int]:
        device = ctypes.c_void_p()
        code = self._call("nvmlDeviceGetHandleByUUID", uuid.encode(), ctypes.byref(device))
        return (None if code else device), code

    def utilization(self, device: Handle) -> tuple[tuple[int, int], int]:
        rates = Utilization()
        code = self._call("nvmlDeviceGetUtilizationRates", device, ctypes.byref(rates))
        return (rates.gpu, rates.memory), code

    def memory(self, device: Handle) -> tuple[tuple[int, int, int], int]:
        info = Memory()
        code = self._call("nvmlDeviceGetMemoryInfo", device, ctypes.byref(info))
        return (info.free, info.total, info.used), code


_library: Library | None = None


def library() -> Library | None:
    """Return an object that accesses NVML, or None if NVML is missing. The object is created once."""
    global _library
    if _library is None:
        try:
            # NVIDIA's library is opened first, because without it nvidia-ml-py would only report "uninitialized".
            loaded: Library = SharedLibrary()
        except OSError:
            return None
        with contextlib.suppress(ImportError):
            loaded = NvidiaMlPy(importlib.import_module("pynvml"))
        _library = loaded
    return _library
