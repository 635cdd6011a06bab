"""Implementation of the random generators in `PyGPU.random` and `PyGPU.curandom`."""
