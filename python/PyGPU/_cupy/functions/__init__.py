"""Functions of `cupy` that differ from `PyGPU`'s: NumPy lacks or removed them, or CuPy has other parameters."""
