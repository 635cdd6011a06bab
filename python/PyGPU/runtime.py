"""PybindGPU's interface of CUDA's runtime: functions `cuda*` that return a status instead of raising device errors.

A function without a value returns a `cudaError_t`; a function with a value returns ``(value, cudaError_t)``. After an
error the value is zero. Arguments of a wrong type or value raise `TypeError` or `ValueError`. The functions have CUDA's
names on every backend, including HIP and the CPU. No library is opened before a function is called.
"""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._pybindgpu.runtime.attributes import *
from PyGPU._pybindgpu.runtime.copy_2d import *
from PyGPU._pybindgpu.runtime.device import *
from PyGPU._pybindgpu.runtime.event import *
from PyGPU._pybindgpu.runtime.host_memory import *
from PyGPU._pybindgpu.runtime.ipc import *
from PyGPU._pybindgpu.runtime.managed_memory import *
from PyGPU._pybindgpu.runtime.memory import *
from PyGPU._pybindgpu.runtime.stream import *
from PyGPU._pybindgpu.runtime.stream_ordered_memory import *
from PyGPU._pybindgpu.runtime.version import *
from PyGPU._pybindgpu.status import *

if TYPE_CHECKING:
    use_hip: bool
else:
    from PyGPU._names import public_modules as _public_modules
    from PyGPU._pybindgpu.runtime import version as _version

    __all__ = _public_modules.listed(globals())

    def __getattr__(name: str):
        # `use_hip` is computed at each access, because its value is known only after a driver library is opened.
        # `__all__` omits `use_hip`, so that a star import opens no library.
        if name == "use_hip":
            return _version.uses_hip()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    _public_modules.publish(globals(), "use_hip")
