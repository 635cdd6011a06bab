"""PyCUDA's module ``pycuda.gl``: its import raises an error, because PyGPU does not support OpenGL."""

raise ImportError(
    "OpenGL interoperation (pycuda.gl) is not planned in PyGPU: map the buffer by another library (cuda-bindings, "
    "PyOpenGL) and pass its address, GPUArray(shape, dtype, gpudata=address)"
)
