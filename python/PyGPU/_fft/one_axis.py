"""Functions that compute Fourier transforms along one axis."""

from __future__ import annotations

from typing import Any, Literal

from PyGPU import _core
from PyGPU._functions import array_arguments
from PyGPU._names.docstrings import documented_like

__all__ = ["fft", "hfft", "ifft", "ihfft", "irfft", "of_other_way", "rfft"]

Norm = Literal["backward", "ortho", "forward"] | None

_OTHER_WAY: dict[Any, Norm] = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def of_other_way(norm: Norm) -> Norm:
    """Return the `norm` with which a transform in the opposite direction has the same scale factor."""
    try:
        return _OTHER_WAY[norm]
    except (KeyError, TypeError):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".') from None


def fft(
    a: Any, n: int | None = None, axis: int = -1, norm: Norm = None, out: _core.GPUArray | None = None
) -> _core.GPUArray:
    """Compute the discrete Fourier transform along an axis.

    Parameters
    ----------
    a : GPUArray
        Real or complex numbers. float16, float32 and complex64 are transformed in single precision.
    n : int, optional
        Number of points; defaults to the length of the axis. A smaller number truncates the array, a larger number pads
        it with zeros.
    axis : int, optional
        Axis of the transform; defaults to the last axis.
    norm : {"backward", "ortho", "forward"}, optional
        Scaling. ``"backward"`` scales the inverse transform by ``1/n``, ``"forward"`` the forward transform by ``1/n``,
        and ``"ortho"`` both by ``1/sqrt(n)``.
    out : GPUArray, optional
        Output array; it may be `a`.

    Returns
    -------
    GPUArray
        complex64 or complex128.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.fft(PyGPU.to_gpu([1.0, 0.0, 0.0, 0.0])).tolist()
    [(1+0j), (1+0j), (1+0j), (1+0j)]
    """
    return _core._fft("fft", a, n, axis, norm, out)


@documented_like(fft)
def ifft(
    a: Any, n: int | None = None, axis: int = -1, norm: Norm = None, out: _core.GPUArray | None = None
) -> _core.GPUArray:
    """Compute the inverse discrete Fourier transform along an axis.

    Parameters
    ----------
    a : GPUArray
        Real or complex numbers.
    n : int, optional
        Number of points.
    norm : {"backward", "ortho", "forward"}, optional
        As for `fft`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.ifft(PyGPU.to_gpu([4.0, 0.0, 0.0, 0.0])).tolist()
    [(1+0j), (1+0j), (1+0j), (1+0j)]
    """
    return _core._fft("ifft", a, n, axis, norm, out)


@documented_like(fft)
def rfft(
    a: Any, n: int | None = None, axis: int = -1, norm: Norm = None, out: _core.GPUArray | None = None
) -> _core.GPUArray:
    """Compute the first half of the spectrum of real numbers along an axis; the other half is symmetric.

    Parameters
    ----------
    a : GPUArray
        Real numbers.
    n : int, optional
        Number of points.
    norm : {"backward", "ortho", "forward"}, optional
        As for `fft`.
    out : GPUArray, optional
        Output array.

    Returns
    -------
    GPUArray
        ``n // 2 + 1`` complex numbers along the axis.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.rfft(PyGPU.to_gpu([1.0, 0.0, 0.0, 0.0])).tolist()
    [(1+0j), (1+0j), (1+0j)]
    """
    return _core._fft("rfft", a, n, axis, norm, out)


@documented_like(fft)
def irfft(
    a: Any, n: int | None = None, axis: int = -1, norm: Norm = None, out: _core.GPUArray | None = None
) -> _core.GPUArray:
    """Compute real numbers from the first half of their spectrum along an axis: the inverse of `rfft`.

    Parameters
    ----------
    a : GPUArray
        Complex numbers. The imaginary part of the first number, and for an even ``n`` of the last number, is ignored.
    n : int, optional
        Number of points of the result; defaults to twice the number of elements minus two.
    norm : {"backward", "ortho", "forward"}, optional
        As for `fft`.
    out : GPUArray, optional
        Output array.

    Returns
    -------
    GPUArray
        Real numbers.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.irfft(PyGPU.to_gpu([4.0, 0.0, 0.0])).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return _core._fft("irfft", a, n, axis, norm, out)


@documented_like(irfft)
def hfft(
    a: Any, n: int | None = None, axis: int = -1, norm: Norm = None, out: _core.GPUArray | None = None
) -> _core.GPUArray:
    """Compute the real spectrum of a Hermitian signal along an axis from the first half of the signal.

    Parameters
    ----------
    a : GPUArray
        The first half of the Hermitian signal.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.hfft(PyGPU.to_gpu([1.0, 0.0, 0.0])).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    signal = array_arguments.array(a, "hfft")
    is_complex = signal.dtype.kind == "c"
    half_spectrum = _core.conjugate(signal) if is_complex else signal
    return _core._fft("irfft", half_spectrum, n, axis, of_other_way(norm), out, is_complex)


@documented_like(rfft)
def ihfft(
    a: Any, n: int | None = None, axis: int = -1, norm: Norm = None, out: _core.GPUArray | None = None
) -> _core.GPUArray:
    """Compute the first half of the signal of a real spectrum along an axis: the inverse of `hfft`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.ihfft(PyGPU.to_gpu([4.0, 0.0, 0.0, 0.0])).real.tolist()
    [1.0, 1.0, 1.0]
    """
    spectrum = _core._fft("rfft", a, n, axis, of_other_way(norm), out)
    _core.conjugate(spectrum, out=spectrum)
    return spectrum
