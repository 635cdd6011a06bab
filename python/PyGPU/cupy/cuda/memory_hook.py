"""CuPy's module `cupy.cuda.memory_hook`, with the base class of memory hooks."""

# ruff: noqa: F403
from PyGPU._cupy.cuda.memory_hook import *
