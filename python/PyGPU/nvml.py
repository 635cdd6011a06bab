"""NVML: utilization of a device, and memory in use by all processes.

NVML is accessed through `nvidia-ml-py` if installed, otherwise through NVIDIA's library, opened at the first
call. Devices are found by their UUID, because NVML and CUDA number them differently. Without NVML, and on
backends other than CUDA, every status is 3 (not supported) and every value zero. No device error raises.
"""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._pybindgpu.nvml.calls import *

if not TYPE_CHECKING:
    from PyGPU._native.public import listing as _listing

    __all__ = _listing.listed(globals())
