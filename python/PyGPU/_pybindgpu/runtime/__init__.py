"""Implementation of `PyGPU.runtime`."""
