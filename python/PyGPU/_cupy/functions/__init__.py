"""Functions of `cupy` that NumPy lacks, that NumPy 2 removed, or that have parameters of CuPy."""
