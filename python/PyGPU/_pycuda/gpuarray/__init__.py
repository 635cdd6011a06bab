"""Functions of PyCUDA's ``pycuda.gpuarray``; the array class is the native module's."""
