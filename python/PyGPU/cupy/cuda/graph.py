"""CuPy's module `cupy.cuda.graph`; `Graph` is `PyGPU.Graph`, which `Stream.end_capture` returns."""

from PyGPU._core import Graph
from PyGPU._names import public_modules as _public_modules

__all__ = ["Graph"]


_public_modules.publish(globals())
