"""NVML functions: the utilization of a device, and the memory that all processes use on it.

The functions call NVML through `nvidia-ml-py` if it is installed, otherwise through NVIDIA's library, which the first
call opens. A device is found by its UUID, because NVML and CUDA number devices differently. Without NVML, and on
backends other than CUDA, every status is 3 (not supported) and every value is 0. No device error raises an exception.
"""

from __future__ import annotations

import ctypes
import operator
from typing import SupportsIndex

from PyGPU import _core
from PyGPU._pybindgpu.nvml.library import INVALID_ARGUMENT, NOT_FOUND, NOT_SUPPORTED, Handle, library
from PyGPU._pybindgpu.status import nvmlReturn_t

__all__ = ["nvmlDevice", "nvmlInit", "nvmlReturn_t", "nvmlShutdown"]


def nvmlInit() -> nvmlReturn_t:
    """Initialize NVML. NVML counts the calls of `nvmlInit`, so each call needs a matching `nvmlShutdown`.

    Returns
    -------
    nvmlReturn_t
        3 (not supported) if NVML is not available.

    Examples
    --------
    >>> import PyGPU
    >>> err = PyGPU.nvmlInit()
    >>> err == 0 or PyGPU.nvmlShutdown() != 0
    True
    """
    nvml_library = library()
    return nvmlReturn_t(NOT_SUPPORTED if nvml_library is None else nvml_library.initialize())


def nvmlShutdown() -> nvmlReturn_t:
    """Undo one call of `nvmlInit`; NVML shuts down when all calls are undone.

    Returns
    -------
    nvmlReturn_t
        1 (uninitialized) if NVML was not initialized, 3 (not supported) if NVML is not available.

    Examples
    --------
    >>> import PyGPU
    >>> err = PyGPU.nvmlInit()
    >>> PyGPU.nvmlShutdown() == err
    True
    """
    nvml_library = library()
    return nvmlReturn_t(NOT_SUPPORTED if nvml_library is None else nvml_library.shutdown())


class nvmlDevice:
    """Device as NVML identifies it, for queries of its utilization and memory.

    Parameters
    ----------
    index : int
        CUDA's ordinal of the device, which counts only the devices in ``CUDA_VISIBLE_DEVICES``. If no such device
        exists, the status is 2 (invalid argument).

    Notes
    -----
    Call `nvmlInit` first; otherwise the status is 1 (uninitialized).

    Raises
    ------
    TypeError
        If `index` is not an integer.

    Examples
    --------
    >>> import PyGPU
    >>> err = PyGPU.nvmlInit()
    >>> device = PyGPU.nvmlDevice(0)
    >>> gpu, memory = device.utilization_rates()
    >>> free, total, used = device.memory_info()
    >>> free <= total
    True
    >>> err = PyGPU.nvmlShutdown()
    """

    __slots__ = ("__weakref__", "_device", "_library", "_status")

    _device: Handle | None

    def __init__(self, index: SupportsIndex) -> None:
        self._library = library()
        self._device = None
        code = NOT_SUPPORTED
        uuid, error_code = _uuid(operator.index(index))
        if error_code:
            code = error_code
        elif self._library is not None:
            self._device, code = self._library.find(f"GPU-{uuid}")
            if code == NOT_FOUND:
                # A MIG slice (part of a GPU) has a UUID with the prefix "MIG-".
                self._device, code = self._library.find(f"MIG-{uuid}")
        self._status = nvmlReturn_t(code)

    def utilization_rates(self) -> tuple[int, int]:
        """Return the recent utilization of the device.

        Returns
        -------
        gpu : int
            Percentage of the last sample period during which at least one kernel ran.
        memory : int
            Percentage of the last sample period during which device memory was read or written.
        """
        if self._library is None or self._device is None:
            return 0, 0
        rates, code = self._library.utilization(self._device)
        self._status = nvmlReturn_t(code)
        return rates

    def memory_info(self) -> tuple[int, int, int]:
        """Return the free, total and used memory of the device; the used memory includes all processes.

        Returns
        -------
        free, total, used : int
            Number of bytes.
        """
        if self._library is None or self._device is None:
            return 0, 0, 0
        info, code = self._library.memory(self._device)
        self._status = nvmlReturn_t(code)
        return info

    def last_status(self) -> nvmlReturn_t:
        """Return the status of the last query, or of the search for the device if there was no query."""
        return self._status

    def get(self) -> int:
        """Return NVML's device handle as an integer; 0 if the device was not found."""
        if self._device is None:
            return 0
        return ctypes.cast(self._device, ctypes.c_void_p).value or 0

    def __int__(self) -> int:
        """Return NVML's device handle as an integer."""
        return self.get()

    def __repr__(self) -> str:
        """Return a text with NVML's device handle in hexadecimal digits."""
        return f"<nvmlDevice handle={self.get():#x}>"


def _uuid(index: int) -> tuple[str, int]:
    """Return the UUID of CUDA's device `index`, and 0; on failure, return an empty string and NVML's error number."""
    try:
        if _core.backend_name() != "cuda":
            return "", NOT_SUPPORTED
        if not 0 <= index < _core.device_count():
            return "", INVALID_ARGUMENT
        digits = bytes(_core.device_properties(index)["uuid"]).hex()
    except (RuntimeError, _core.CudaError):
        # The query fails if no backend can be opened, or if the driver reports no UUID.
        return "", NOT_SUPPORTED
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}", 0
