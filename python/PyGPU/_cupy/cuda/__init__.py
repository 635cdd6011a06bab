"""Implementation of `PyGPU.cupy.cuda`."""
