"""At the import of this module, make the default device's context current until the program ends."""

from __future__ import annotations

import atexit
from contextlib import suppress

from PyGPU import _core
from PyGPU._pycuda.driver.device import init
from PyGPU._pycuda.tools.context import clear_context_caches, make_default_context

__all__ = ["context", "device"]

init()
context = make_default_context()
"""The context of the default device."""
device = context.get_device()
"""The default device."""


def _finish() -> None:
    with suppress(_core.LogicError):  # The program may already have popped the context.
        context.pop()
    clear_context_caches()


atexit.register(_finish)
