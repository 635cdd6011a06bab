"""PyCUDA's ``pycuda.sparse``, which PyGPU does not have and does not plan: importing it says so."""

raise ImportError(
    "sparse matrices (pycuda.sparse) are not planned in PyGPU: cupyx.scipy.sparse takes PyGPU's arrays without a copy, "
    "through cupy.asarray(a)"
)
