"""Start and stop of an attached profiler's recording."""

from PyGPU._pycuda.driver.profiler import start_profiler as start, stop_profiler as stop

__all__ = ["start", "stop"]
