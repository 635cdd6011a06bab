"""PyCUDA's module ``pycuda.compiler``, which compiles sources with nvcc's options.

NVRTC or hiprtc compiles the source; without a GPU, the host's C++ compiler does. nvcc, if installed, compiles sources
with host headers and with options that only nvcc supports. The argument `nvcc` may name another compiler.

Examples
--------
>>> import numpy
>>> import PyGPU.autoinit
>>> import PyGPU.driver as drv
>>> from PyGPU.compiler import SourceModule
>>> module = SourceModule('''
... __global__ void multiply(float *dest, float *a, float *b) {
...     const int i = threadIdx.x;
...     dest[i] = a[i] * b[i];
... }''')
>>> a, b = (numpy.random.randn(400).astype(numpy.float32) for _ in range(2))
>>> dest = numpy.zeros_like(a)
>>> multiply = module.get_function('multiply')
>>> multiply(drv.Out(dest), drv.In(a), drv.In(b), block=(400, 1, 1), grid=(1, 1))
>>> numpy.array_equal(dest, a * b)
True
"""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._pycuda.compiler.dynamic import *
from PyGPU._pycuda.compiler.source import *

if not TYPE_CHECKING:
    from PyGPU._names import public_modules as _public_modules

    __all__ = _public_modules.listed(globals())
    _public_modules.publish(globals())
