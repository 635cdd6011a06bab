"""CuPy's module `cupy.cuda.graph`; `Graph` is `PyGPU.Graph`, which `Stream.end_capture` returns."""

from PyGPU._core import Graph
from PyGPU._native.public import listing as _listing

__all__ = ["Graph"]


_listing.publish(globals())
