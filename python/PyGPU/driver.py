"""PyCUDA's module ``pycuda.driver``: devices, contexts, streams, modules, launches and errors.

``import PyGPU.driver as drv`` opens no driver. PyGPU opens and initialises the driver at the first call that needs it,
so a program need not call `init`. `Error` and its derived classes are the classes that PyGPU itself raises:
`LogicError` is a `PyGPU.CudaError`, and `MemoryError` is `PyGPU.OutOfMemoryError`.

As in PyCUDA, ``from PyGPU.driver import *`` replaces Python's exceptions `MemoryError` and `RuntimeError` by the
driver's exceptions of these names.

Examples
--------
>>> import PyGPU.driver as drv
>>> issubclass(drv.LogicError, drv.Error)
True
"""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._arguments.host_arguments import ArgumentHandler, In, InOut, Out  # noqa: F401
from PyGPU._pycuda.driver.array_copies import *
from PyGPU._pycuda.driver.arrays import *
from PyGPU._pycuda.driver.context import *
from PyGPU._pycuda.driver.copies import *
from PyGPU._pycuda.driver.debugging import *
from PyGPU._pycuda.driver.device import *
from PyGPU._pycuda.driver.device_attributes import *
from PyGPU._pycuda.driver.enums import *
from PyGPU._pycuda.driver.exceptions import *
from PyGPU._pycuda.driver.host_allocations import *
from PyGPU._pycuda.driver.host_memory import *
from PyGPU._pycuda.driver.memory import *
from PyGPU._pycuda.driver.memory_flags import *
from PyGPU._pycuda.driver.memset import *
from PyGPU._pycuda.driver.module import *
from PyGPU._pycuda.driver.pitched_copies import *
from PyGPU._pycuda.driver.profiler import *
from PyGPU._pycuda.driver.streams import *
from PyGPU._pycuda.driver.textures import *

if TYPE_CHECKING:
    CUDA_DEBUGGING: bool
else:
    from PyGPU._names import public_modules as _public_modules
    from PyGPU._pycuda.driver import debugging as _debugging

    __all__ = _public_modules.listed(globals())

    def __getattr__(name: str):
        if name == "CUDA_DEBUGGING":
            return _debugging.is_debugging()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    _public_modules.publish(globals(), "CUDA_DEBUGGING")
