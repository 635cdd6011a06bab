"""PybindGPU's module `backend`, which contains PybindGPU's low-level classes and functions.

The classes of each dtype are created at their first access. A star import omits `use_hip`, because an access to this
name chooses the backend.
"""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._pybindgpu.dtype_names import SUPPORTED_DTYPES as SUPPORTED_DTYPES, dtype as dtype
from PyGPU.nvml import *
from PyGPU.runtime import *

if TYPE_CHECKING:
    from PyGPU._pybindgpu.dtype_classes import *
else:
    from PyGPU import nvml as _nvml, runtime as _runtime
    from PyGPU._names import public_modules as _public_modules
    from PyGPU._pybindgpu import dtype_classes as _labelled

    __all__ = ["SUPPORTED_DTYPES", "dtype", *_runtime.__all__, *_nvml.__all__, *_labelled.__all__]

    def __getattr__(name: str):
        if name == "use_hip":
            return _runtime.use_hip
        if name not in _labelled.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(_labelled, name)

    _public_modules.publish(globals(), "use_hip")
