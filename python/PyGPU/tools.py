"""PyCUDA's ``pycuda.tools`` over PyGPU; a list of names, each made where its noun is."""

from __future__ import annotations

from PyGPU._context_tools import *  # noqa: F403
from PyGPU._device_data import *  # noqa: F403
from PyGPU._memory_pools import *  # noqa: F403
