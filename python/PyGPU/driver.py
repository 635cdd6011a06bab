"""PyCUDA's ``pycuda.driver``: devices, contexts, streams, modules, launches, and errors.

Nothing need be initialised: ``import PyGPU.driver as drv`` opens no driver. `Error` and what derives from it are the
classes that PyGPU itself raises: `LogicError` is a `PyGPU.CudaError`, and `MemoryError` is `PyGPU.OutOfMemoryError`.

Names like `MemoryError` and `RuntimeError` shadow Python's own under ``from PyGPU.driver import *``, as in PyCUDA.

Examples
--------
>>> import PyGPU.driver as drv
>>> issubclass(drv.LogicError, drv.Error)
True
"""

from __future__ import annotations

from PyGPU._core import CompileError, Error, HostArgument, In, InOut, LaunchError, LogicError, Out
from PyGPU._core import DriverRuntimeError as RuntimeError
from PyGPU._core import HostArgument as ArgumentHandler
from PyGPU._core import OutOfMemoryError as MemoryError
from PyGPU._driver_context import Context
from PyGPU._driver_debugging import set_debugging
from PyGPU._driver_device import Device, get_driver_version, get_version, init
from PyGPU._driver_device_attributes import device_attribute
from PyGPU._driver_enums import *  # noqa: F403
from PyGPU._driver_module import Function, Linker, Module, module_from_buffer, module_from_file
from PyGPU._driver_profiler import have_gl_ext, initialize_profiler, start_profiler, stop_profiler
from PyGPU._driver_streams import Event, Stream
from PyGPU._driver_textures import *  # noqa: F403


def __getattr__(name: str) -> bool:
    if name == "CUDA_DEBUGGING":
        from PyGPU._driver_debugging import is_debugging

        return is_debugging()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
