"""Implementation of CuPy's interface, whose public modules are `PyGPU.cupy` and `PyGPU.cupyx`."""
