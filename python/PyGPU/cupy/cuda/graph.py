"""CuPy's module `cupy.cuda.graph`; `Graph` is `PyGPU.Graph`, which `Stream.end_capture` returns."""

from PyGPU._core import Graph

__all__ = ["Graph"]
