"""Kernels in CuPy's spelling: raw, elementwise, reduction and fused kernels."""
