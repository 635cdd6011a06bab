"""CuPy's module of devices; `Device` is `PyGPU.Device`."""

# ruff: noqa: F403
from PyGPU._cupy.cuda.device import *
