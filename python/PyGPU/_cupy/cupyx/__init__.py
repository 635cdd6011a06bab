"""Implementation of `PyGPU.cupyx`, which has the interface of CuPy's package `cupyx`."""
