"""Functions that compute Fourier transforms along several axes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from PyGPU import _core
from PyGPU._fft.one_axis import Norm
from PyGPU._names.docstrings import documented_like

__all__ = ["fft2", "fftn", "ifft2", "ifftn", "irfft2", "irfftn", "rfft2", "rfftn"]

_LAST_TWO = (-2, -1)


def _along(
    kind: str, a: Any, s: Sequence[int] | None, axes: Sequence[int] | None, norm: Norm, out: _core.GPUArray | None
) -> _core.GPUArray:
    """Transform along several axes; emit NumPy's warnings about deprecated values of `s` and `axes`."""
    if s is not None and axes is None:
        text = (
            "`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0): `s[i]` will be the length "
            "along `axes[i]`. To keep what is done now, pass the numbers of the last axes"
        )
        warnings.warn(text, DeprecationWarning, stacklevel=3)
    if s is not None and any(length is None for length in s):
        text = "`None` in `s` is deprecated in NumPy 2.0; pass -1 for the length that the axis has"
        warnings.warn(text, DeprecationWarning, stacklevel=3)
    return _core._fft(kind, a, s, axes, norm, out)


def fftn(
    a: Any,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = None,
    out: _core.GPUArray | None = None,
) -> _core.GPUArray:
    """Compute the discrete Fourier transform along several axes.

    Parameters
    ----------
    a : GPUArray
        Real or complex numbers.
    s : sequence of int, optional
        Number of points along each axis; -1 stands for the length of the axis.
    axes : sequence of int, optional
        Axes of the transform; defaults to all axes.
    norm : {"backward", "ortho", "forward"}, optional
        Scaling, as for `fft`; `n` is the product of the numbers of points of all axes.
    out : GPUArray, optional
        Output array.

    Returns
    -------
    GPUArray
        complex64 or complex128.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.fftn(PyGPU.ones((2, 2))).real.tolist()
    [[4.0, 0.0], [0.0, 0.0]]
    """
    return _along("fftn", a, s, axes, norm, out)


@documented_like(fftn)
def fft2(
    a: Any,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = _LAST_TWO,
    norm: Norm = None,
    out: _core.GPUArray | None = None,
) -> _core.GPUArray:
    """Compute the discrete Fourier transform along two axes.

    Parameters
    ----------
    axes : sequence of int, optional
        Axes of the transform; defaults to the last two axes.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.fft2(PyGPU.ones((2, 2))).real.tolist()
    [[4.0, 0.0], [0.0, 0.0]]
    """
    return _along("fftn", a, s, axes, norm, out)


@documented_like(fftn)
def ifftn(
    a: Any,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = None,
    out: _core.GPUArray | None = None,
) -> _core.GPUArray:
    """Compute the inverse discrete Fourier transform along several axes.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.ifftn(PyGPU.ones((2, 2))).real.tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    return _along("ifftn", a, s, axes, norm, out)


@documented_like(fft2)
def ifft2(
    a: Any,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = _LAST_TWO,
    norm: Norm = None,
    out: _core.GPUArray | None = None,
) -> _core.GPUArray:
    """Compute the inverse discrete Fourier transform along two axes.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.ifft2(PyGPU.ones((2, 2))).real.tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    return _along("ifftn", a, s, axes, norm, out)


@documented_like(fftn)
def rfftn(
    a: Any,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = None,
    out: _core.GPUArray | None = None,
) -> _core.GPUArray:
    """Compute the discrete Fourier transform of real numbers along several axes.

    Parameters
    ----------
    a : GPUArray
        Real numbers.

    Returns
    -------
    GPUArray
        Complex numbers; the last of the axes has ``s[-1] // 2 + 1`` elements.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.rfftn(PyGPU.ones((4, 4))).shape
    (4, 3)
    """
    return _along("rfftn", a, s, axes, norm, out)


@documented_like(rfftn)
def rfft2(
    a: Any,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = _LAST_TWO,
    norm: Norm = None,
    out: _core.GPUArray | None = None,
) -> _core.GPUArray:
    """Compute the discrete Fourier transform of real numbers along two axes.

    Parameters
    ----------
    axes : sequence of int, optional
        Axes of the transform; defaults to the last two axes.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.rfft2(PyGPU.ones((4, 4))).shape
    (4, 3)
    """
    return _along("rfftn", a, s, axes, norm, out)


@documented_like(fftn)
def irfftn(
    a: Any,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = None,
    out: _core.GPUArray | None = None,
) -> _core.GPUArray:
    """Compute real numbers from half of their spectrum along several axes: the inverse of `rfftn`.

    Parameters
    ----------
    a : GPUArray
        Complex numbers.
    s : sequence of int, optional
        Number of points along each axis of the result; -1 stands for the length of the axis.

    Returns
    -------
    GPUArray
        Real numbers.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.irfftn(PyGPU.ones((4, 3))).shape
    (4, 4)
    """
    return _along("irfftn", a, s, axes, norm, out)


@documented_like(irfftn)
def irfft2(
    a: Any,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = _LAST_TWO,
    norm: Norm = None,
    out: _core.GPUArray | None = None,
) -> _core.GPUArray:
    """Compute real numbers from half of their spectrum along two axes: the inverse of `rfft2`.

    Parameters
    ----------
    axes : sequence of int, optional
        Axes of the transform; defaults to the last two axes.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.irfft2(PyGPU.ones((4, 3))).shape
    (4, 4)
    """
    return _along("irfftn", a, s, axes, norm, out)
