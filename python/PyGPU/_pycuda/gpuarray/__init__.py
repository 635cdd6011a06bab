"""Functions of PyCUDA's ``pycuda.gpuarray``; the array class is in the native module."""
