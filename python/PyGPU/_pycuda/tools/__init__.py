"""Implementation of `PyGPU.tools`."""
