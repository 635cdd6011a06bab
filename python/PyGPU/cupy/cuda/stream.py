"""CuPy's module `cupy.cuda.stream`: streams and events."""

# ruff: noqa: F403
from PyGPU._cupy.cuda.event import *
from PyGPU._cupy.cuda.stream import *
