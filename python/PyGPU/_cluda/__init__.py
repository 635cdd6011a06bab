"""PyCUDA's module ``pycuda._cluda``: C macros that let the same kernel source compile as CUDA and as OpenCL."""

from PyGPU._pycuda.cluda import CLUDA_PREAMBLE as CLUDA_PREAMBLE
