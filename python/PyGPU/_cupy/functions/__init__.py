"""Functions of `cupy` that `PyGPU` lacks, because NumPy lacks or removed them, or that have CuPy's own parameters."""
