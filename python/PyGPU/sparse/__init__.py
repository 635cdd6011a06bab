"""PyCUDA's module ``pycuda.sparse``: its import raises an error, because PyGPU has no sparse matrices."""

raise ImportError(
    "sparse matrices (pycuda.sparse) are not planned in PyGPU: cupyx.scipy.sparse takes PyGPU's arrays without a copy, "
    "through cupy.asarray(a)"
)
