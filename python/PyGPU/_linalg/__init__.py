"""Implementation of `PyGPU.linalg`."""
