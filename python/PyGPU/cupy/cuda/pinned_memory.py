"""CuPy's module `cupy.cuda.pinned_memory`: allocation of pinned host memory."""

# ruff: noqa: F403
from PyGPU._cupy.cuda.pinned_memory import *
