"""NVML functions: the utilization of a device, and the memory that all processes use on it.

The functions call NVML through `nvidia-ml-py` if it is installed, otherwise through NVIDIA's library, which the first
call opens. A device is found by its UUID, because NVML and CUDA number devices differently. Without NVML, and on
backends other than CUDA, every status is 3 (not supported) and every value is 0. No device error raises an exception.
"""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._pybindgpu.nvml.calls import *

if not TYPE_CHECKING:
    from PyGPU._names import public_modules as _public_modules

    __all__ = _public_modules.listed(globals())
    _public_modules.publish(globals())
