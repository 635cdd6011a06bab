"""Linear algebra, as in `numpy.linalg` and the array API: by cuSOLVER or hipSOLVER, in host memory by NumPy."""

from numpy.linalg import LinAlgError

from PyGPU._linalg.determinants import det, slogdet
from PyGPU._linalg.eigen import eig, eigh, eigvals, eigvalsh
from PyGPU._linalg.factorizations import cholesky, qr, svd, svdvals
from PyGPU._linalg.linear_systems import inv, solve, tensorinv, tensorsolve
from PyGPU._linalg.norms import matrix_norm, norm, vector_norm
from PyGPU._linalg.products import (
    cross,
    diagonal,
    matmul,
    matrix_power,
    matrix_transpose,
    multi_dot,
    outer,
    tensordot,
    trace,
    vecdot,
)
from PyGPU._linalg.results import (
    EighResult,
    EigResult,
    QRResult,
    SlogdetResult,
    SVDResult,
)
from PyGPU._linalg.singular_values import cond, lstsq, matrix_rank, pinv
from PyGPU._names import public_modules as _public_modules

__all__ = [
    "EigResult", "EighResult", "LinAlgError", "QRResult", "SVDResult", "SlogdetResult",
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr",
    "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip


_public_modules.publish(globals())
