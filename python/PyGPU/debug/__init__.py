"""PyCUDA's module ``pycuda.debug``: ``python -m PyGPU.debug program.py`` compiles kernels with debug information."""
