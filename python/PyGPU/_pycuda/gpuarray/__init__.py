"""Functions of PyCUDA's ``pycuda.gpuarray`` beside the array class, which is the native module's."""
