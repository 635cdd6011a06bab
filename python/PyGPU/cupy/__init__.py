"""CuPy's interface over PyGPU."""
