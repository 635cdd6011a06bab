"""CuPy's module `cupy.cuda.device`; `Device` is `PyGPU.Device`."""

# ruff: noqa: F403
from PyGPU._cupy.cuda.device import *
