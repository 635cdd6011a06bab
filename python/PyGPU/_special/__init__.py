"""Implementation of `PyGPU.special`."""
