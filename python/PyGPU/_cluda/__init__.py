"""PyCUDA's ``pycuda._cluda``: the words in which programs write one kernel for CUDA and for OpenCL."""

from PyGPU._pycuda.cluda import CLUDA_PREAMBLE as CLUDA_PREAMBLE
