"""PyCUDA's ``pycuda.driver`` over PyGPU: ``import PyGPU.driver as drv``.

A list of names; what they are is said where they are made. Contexts are primary ones, streams wait for the legacy
default stream as in PyCUDA, and everything works on every backend as far as it means something there.
"""

from __future__ import annotations

from PyGPU import _core
from PyGPU._core import Function as Function
from PyGPU._core import In as In
from PyGPU._core import InOut as InOut
from PyGPU._core import Out as Out
from PyGPU._driver_array_enums import *  # noqa: F403
from PyGPU._driver_boxes import *  # noqa: F403
from PyGPU._driver_contexts import *  # noqa: F403
from PyGPU._driver_copies import *  # noqa: F403
from PyGPU._driver_device_enums import *  # noqa: F403
from PyGPU._driver_devices import *  # noqa: F403
from PyGPU._driver_enums import *  # noqa: F403
from PyGPU._driver_errors import *  # noqa: F403
from PyGPU._driver_host_memory import *  # noqa: F403
from PyGPU._driver_memory import *  # noqa: F403
from PyGPU._driver_memory_flags import *  # noqa: F403
from PyGPU._driver_modules import *  # noqa: F403
from PyGPU._driver_profiler import *  # noqa: F403
from PyGPU._driver_sets import *  # noqa: F403
from PyGPU._driver_streams import *  # noqa: F403

ArgumentHandler = _core.HostArgument
