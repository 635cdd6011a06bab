"""NVML: how busy a device is and how much of its memory all processes use together.

NVML is reached through `nvidia-ml-py` if that is installed, else through NVIDIA's library itself, opened at the first
call. Devices are found by their UUID, since NVML numbers them differently from CUDA. Where there is no NVML, and on
backends other than CUDA, every status is 3 (not supported) and every value zero. Nothing here raises for a device.
"""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._pybindgpu.nvml.calls import *

if not TYPE_CHECKING:
    from PyGPU._native.public import listing as _listing

    __all__ = _listing.listed(globals())
