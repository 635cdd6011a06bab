"""Products of arrays that are a few calls of ``matmul``."""

from PyGPU._functions.products.axes import dot, inner, kron, outer, tensordot, vdot
from PyGPU._functions.products.letters import einsum, einsum_path

__all__ = ["dot", "einsum", "einsum_path", "inner", "kron", "outer", "tensordot", "vdot"]
