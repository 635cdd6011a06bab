"""PyCUDA's ``pycuda.autoinit``: the default device's context, current from the import to the end of the program.

PyGPU needs none: the primary context is there at first use. It is for programs that are written for PyCUDA.

Examples
--------
>>> import PyGPU.autoinit
>>> PyGPU.autoinit.context.get_device() == PyGPU.autoinit.device
True
"""

from __future__ import annotations

import atexit
from contextlib import suppress

from PyGPU import driver as _driver
from PyGPU import tools as _tools

__all__ = ["context", "device"]

_driver.init()
context = _tools.make_default_context()
"""The context of the default device."""
device = context.get_device()
"""The default device."""


def _finish() -> None:
    with suppress(_driver.LogicError):  # the program may have popped it itself
        context.pop()
    _tools.clear_context_caches()


atexit.register(_finish)
