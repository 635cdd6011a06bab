"""Paths of PyGPU's headers, and of the vendors' compilers, headers and libraries."""
