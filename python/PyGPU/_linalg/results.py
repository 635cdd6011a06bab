"""NumPy's named tuples that functions of `linalg` return."""

from __future__ import annotations

from typing import NamedTuple

from PyGPU._core import GPUArray

__all__ = ["EigResult", "EighResult", "QRResult", "SVDResult", "SlogdetResult"]


class EigResult(NamedTuple):
    """Result of `eig`: eigenvalues and eigenvectors."""

    eigenvalues: GPUArray
    eigenvectors: GPUArray


class EighResult(NamedTuple):
    """Result of `eigh`: eigenvalues and eigenvectors."""

    eigenvalues: GPUArray
    eigenvectors: GPUArray


class QRResult(NamedTuple):
    """Result of `qr`: the factors `Q` and `R`."""

    Q: GPUArray
    R: GPUArray


class SlogdetResult(NamedTuple):
    """Result of `slogdet`: sign, and logarithm of the absolute value of the determinant."""

    sign: GPUArray
    logabsdet: GPUArray


class SVDResult(NamedTuple):
    """Result of `svd`: `U`, the singular values `S`, and `Vh`."""

    U: GPUArray
    S: GPUArray
    Vh: GPUArray
