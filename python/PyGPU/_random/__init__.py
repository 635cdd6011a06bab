"""Random generators of PyGPU; `PyGPU.random` and `PyGPU.curandom` list their names."""
