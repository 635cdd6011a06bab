"""CuPy's classes of kernels: raw, elementwise, reduction and fused kernels."""
