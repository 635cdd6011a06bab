"""CuPy's module `cupy.cuda.driver`: functions of the CUDA driver."""

# ruff: noqa: F403
from PyGPU._cupy.cuda.driver import *
