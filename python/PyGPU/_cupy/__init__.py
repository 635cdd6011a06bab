"""Implementation of CuPy's interface; `PyGPU.cupy` and `PyGPU.cupyx` list the names."""
