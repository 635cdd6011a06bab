"""Functions of the driver under CuPy's names."""

# ruff: noqa: F403
from PyGPU._cupy.cuda.driver import *
