"""PyCUDA's ``import pycuda.autoprimaryctx``: the same as `PyGPU.autoinit`, whose context is the primary one too."""

from __future__ import annotations

from PyGPU.autoinit import context, device

__all__ = ["context", "device"]
