"""CuPy's module `cupy.cuda.runtime`: functions and constants of CUDA's runtime.

The functions are the `cuda*` functions of `PyGPU` without this prefix. Each function raises a `CUDARuntimeError`, which
is `PyGPU.CudaError`, whose attribute `status` is the number of the error. Streams and events are passed as handles,
which are integers.
"""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._cupy.cuda.runtime.constants import *
from PyGPU._cupy.cuda.runtime.devices_and_memory import *
from PyGPU._cupy.cuda.runtime.graphs import *
from PyGPU._cupy.cuda.runtime.memory_pools import *
from PyGPU._cupy.cuda.runtime.streams import *

if TYPE_CHECKING:
    is_hip: bool
else:
    from PyGPU._names import public_modules as _public_modules
    from PyGPU._pybindgpu.runtime import version as _version

    __all__ = _public_modules.listed(globals())

    def __getattr__(name: str):
        # Reading `is_hip` opens the backend's library, so its value is computed at the first access, not at import.
        if name == "is_hip":
            return _version.uses_hip()
        from PyGPU._cupy.lazy_names import no_attribute

        raise no_attribute(__name__, name)

    _public_modules.publish(globals(), "is_hip")
