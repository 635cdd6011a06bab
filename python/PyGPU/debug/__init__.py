"""PyCUDA's ``pycuda.debug``: ``python -m PyGPU.debug program.py`` runs a program whose kernels have debug lines."""
