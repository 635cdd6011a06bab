"""CuPy's module of pinned memory."""

# ruff: noqa: F403
from PyGPU._cupy.cuda.pinned_memory import *
