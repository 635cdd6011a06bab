"""Re-export PyCUDA's `Context`: pickles of a context written by PyGPU 0.1 look it up in this module."""

from PyGPU._pycuda.driver.device import Context

__all__ = ["Context"]
