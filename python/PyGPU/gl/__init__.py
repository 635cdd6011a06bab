"""PyCUDA's ``pycuda.gl``, which PyGPU does not have and does not plan: importing it says so."""

raise ImportError(
    "OpenGL interoperation (pycuda.gl) is not planned in PyGPU: map the buffer by another library (cuda-bindings, "
    "PyOpenGL) and pass its address, GPUArray(shape, dtype, gpudata=address)"
)
