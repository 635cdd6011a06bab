"""Re-export `Context`, because pickles of contexts from PyGPU 0.1 refer to this module."""

from PyGPU._pycuda.driver.device import Context

__all__ = ["Context"]
