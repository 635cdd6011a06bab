"""NumPy's named tuples that functions of `linalg` return."""

from __future__ import annotations

from typing import NamedTuple

from PyGPU._core import GPUArray

__all__ = ["EigResult", "EighResult", "QRResult", "SVDResult", "SlogdetResult"]


class EigResult(NamedTuple):
    """Result of `eig`, as in `numpy.linalg`.

    Attributes
    ----------
    eigenvalues : GPUArray
        The eigenvalues, along the last axis.
    eigenvectors : GPUArray
        The normalized eigenvectors, which are the columns of the matrices.
    """

    eigenvalues: GPUArray
    eigenvectors: GPUArray


class EighResult(NamedTuple):
    """Result of `eigh`, as in `numpy.linalg`.

    Attributes
    ----------
    eigenvalues : GPUArray
        The eigenvalues in ascending order, along the last axis.
    eigenvectors : GPUArray
        The normalized eigenvectors, which are the columns of the matrices.
    """

    eigenvalues: GPUArray
    eigenvectors: GPUArray


class QRResult(NamedTuple):
    """Result of `qr`, as in `numpy.linalg`.

    Attributes
    ----------
    Q : GPUArray
        Matrices with orthonormal columns.
    R : GPUArray
        Upper triangular matrices.
    """

    Q: GPUArray
    R: GPUArray


class SlogdetResult(NamedTuple):
    """Result of `slogdet`, as in `numpy.linalg`.

    Attributes
    ----------
    sign : GPUArray
        The signs of the determinants; for complex matrices, numbers of absolute value 1, or 0.
    logabsdet : GPUArray
        The natural logarithms of the absolute values of the determinants.
    """

    sign: GPUArray
    logabsdet: GPUArray


class SVDResult(NamedTuple):
    """Result of `svd`, as in `numpy.linalg`.

    Attributes
    ----------
    U : GPUArray
        The left singular vectors, which are the columns of the matrices.
    S : GPUArray
        The singular values in descending order, along the last axis.
    Vh : GPUArray
        The conjugated right singular vectors, which are the rows of the matrices.
    """

    U: GPUArray
    S: GPUArray
    Vh: GPUArray
