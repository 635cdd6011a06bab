"""PyCUDA's constructors of elementwise kernels; the class ``ElementwiseKernel`` is the native module's."""
