"""Random numbers: generators of PyGPU's own; `PyGPU.random` and `PyGPU.curandom` list their names."""
