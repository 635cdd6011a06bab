"""Implementation of `PyGPU.compiler`."""
