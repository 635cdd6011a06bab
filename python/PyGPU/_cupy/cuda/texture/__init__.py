"""Implementation of `PyGPU.cupy.cuda.texture`."""
