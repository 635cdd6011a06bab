"""CuPy's module of graphs; `Graph` is `PyGPU.Graph`, which `Stream.end_capture` returns."""

from PyGPU._core import Graph

__all__ = ["Graph"]
