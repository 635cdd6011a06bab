"""What functions with several results give, named as NumPy names it."""

from __future__ import annotations

from typing import NamedTuple

from PyGPU._core import GPUArray

__all__ = ["EigResult", "EighResult", "QRResult", "SVDResult", "SlogdetResult"]


class EigResult(NamedTuple):
    """What `eig` gives."""

    eigenvalues: GPUArray
    eigenvectors: GPUArray


class EighResult(NamedTuple):
    """What `eigh` gives."""

    eigenvalues: GPUArray
    eigenvectors: GPUArray


class QRResult(NamedTuple):
    """What `qr` gives."""

    Q: GPUArray
    R: GPUArray


class SlogdetResult(NamedTuple):
    """What `slogdet` gives."""

    sign: GPUArray
    logabsdet: GPUArray


class SVDResult(NamedTuple):
    """What `svd` gives."""

    U: GPUArray
    S: GPUArray
    Vh: GPUArray
