"""Functions of PyCUDA's ``pycuda.gpuarray``; the array class is part of PyGPU's native module."""
