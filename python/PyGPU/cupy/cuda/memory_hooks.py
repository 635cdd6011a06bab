"""CuPy's module `cupy.cuda.memory_hooks`: memory hooks that print or sum allocations."""

# ruff: noqa: F403
from PyGPU._cupy.cuda.memory_hooks import *
