"""Named results of functions, with NumPy's names."""

from __future__ import annotations

from typing import NamedTuple

from PyGPU._core import GPUArray

__all__ = ["EigResult", "EighResult", "QRResult", "SVDResult", "SlogdetResult"]


class EigResult(NamedTuple):
    """Result of `eig`."""

    eigenvalues: GPUArray
    eigenvectors: GPUArray


class EighResult(NamedTuple):
    """Result of `eigh`."""

    eigenvalues: GPUArray
    eigenvectors: GPUArray


class QRResult(NamedTuple):
    """Result of `qr`."""

    Q: GPUArray
    R: GPUArray


class SlogdetResult(NamedTuple):
    """Result of `slogdet`."""

    sign: GPUArray
    logabsdet: GPUArray


class SVDResult(NamedTuple):
    """Result of `svd`."""

    U: GPUArray
    S: GPUArray
    Vh: GPUArray
