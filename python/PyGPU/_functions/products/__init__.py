"""Products of arrays that are a few calls of ``matmul``."""

from PyGPU._functions.products.axes import dot, inner, kron, outer, tensordot, vdot
from PyGPU._functions.products.covariance import corrcoef, cov
from PyGPU._functions.products.cross import cross
from PyGPU._functions.products.einsum import einsum, einsum_path

__all__ = [
    "corrcoef", "cov", "cross", "dot", "einsum", "einsum_path", "inner", "kron", "outer", "tensordot", "vdot",
]  # fmt: skip
