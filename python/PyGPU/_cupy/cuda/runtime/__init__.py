"""Implementation of `PyGPU.cupy.cuda.runtime`."""
