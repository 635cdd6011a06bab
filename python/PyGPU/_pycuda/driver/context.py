"""Name PyCUDA's `Context` here too: pickles of a context that PyGPU 0.1 wrote look it up in this module."""

from PyGPU._pycuda.driver.device import Context

__all__ = ["Context"]
