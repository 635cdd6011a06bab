"""PyCUDA's ``pycuda._cluda``: macros that make one kernel source compile as CUDA and as OpenCL."""

from PyGPU._pycuda.cluda import CLUDA_PREAMBLE as CLUDA_PREAMBLE
