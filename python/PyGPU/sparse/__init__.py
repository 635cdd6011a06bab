"""PyCUDA's ``pycuda.sparse``, which PyGPU does not support or plan: the import raises an error."""

raise ImportError(
    "sparse matrices (pycuda.sparse) are not planned in PyGPU: cupyx.scipy.sparse takes PyGPU's arrays without a copy, "
    "through cupy.asarray(a)"
)
