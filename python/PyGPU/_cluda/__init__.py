"""PyCUDA's ``pycuda._cluda``: macros with which one kernel source serves CUDA and OpenCL."""

from PyGPU._pycuda.cluda import CLUDA_PREAMBLE as CLUDA_PREAMBLE
