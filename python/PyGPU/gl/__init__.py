"""PyCUDA's ``pycuda.gl``, which PyGPU does not support or plan: the import raises an error."""

raise ImportError(
    "OpenGL interoperation (pycuda.gl) is not planned in PyGPU: map the buffer by another library (cuda-bindings, "
    "PyOpenGL) and pass its address, GPUArray(shape, dtype, gpudata=address)"
)
