"""Re-export of `Context`, because contexts pickled by PyGPU 0.1 are looked up in this module."""

from PyGPU._pycuda.driver.device import Context

__all__ = ["Context"]
