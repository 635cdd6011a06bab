"""PyCUDA's ``import pycuda.autoinit``: a device is chosen and current.

PyGPU opens its driver by itself, so a program that imports this runs as it would without.
"""

from __future__ import annotations

import atexit

from PyGPU import driver
from PyGPU.tools import clear_context_caches, make_default_context

__all__ = ["context", "device"]

driver.init()
context = make_default_context()
"""The context that was made current."""
device = context.get_device()
"""Its device."""


def _finish() -> None:
    if driver.Context.get_current() is context:
        context.pop()
    clear_context_caches()


atexit.register(_finish)
