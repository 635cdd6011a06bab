"""PyCUDA's functions that create elementwise kernels; the class ``ElementwiseKernel`` is in the native module."""
