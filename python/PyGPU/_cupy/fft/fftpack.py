"""Fourier transforms with the parameters and layouts of `scipy.fftpack`."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._cupy.fft import scipy_functions as _scipy
from PyGPU._functions import array_arguments

__all__ = ["fft", "fft2", "fftn", "ifft", "ifft2", "ifftn", "irfft", "rfft"]


def fft(x: Any, n: int | None = None, axis: int = -1, overwrite_x: bool = False, plan: Any = None) -> _core.GPUArray:
    """Transform as `PyGPU.fft.fft` does; raise an error if `plan` does not fit the arguments."""
    return _scipy.fft(x, n, axis, None, overwrite_x, plan=plan)


def ifft(x: Any, n: int | None = None, axis: int = -1, overwrite_x: bool = False, plan: Any = None) -> _core.GPUArray:
    """Transform as `PyGPU.fft.ifft` does; raise an error if `plan` does not fit the arguments."""
    return _scipy.ifft(x, n, axis, None, overwrite_x, plan=plan)


def fftn(x: Any, shape: Any = None, axes: Any = None, overwrite_x: bool = False, plan: Any = None) -> _core.GPUArray:
    """Transform as `PyGPU.fft.fftn` does; raise an error if `plan` does not fit the arguments."""
    return _scipy.fftn(x, shape, axes, None, overwrite_x, plan=plan)


def ifftn(x: Any, shape: Any = None, axes: Any = None, overwrite_x: bool = False, plan: Any = None) -> _core.GPUArray:
    """Transform as `PyGPU.fft.ifftn` does; raise an error if `plan` does not fit the arguments."""
    return _scipy.ifftn(x, shape, axes, None, overwrite_x, plan=plan)


def fft2(
    x: Any, shape: Any = None, axes: Any = (-2, -1), overwrite_x: bool = False, plan: Any = None
) -> _core.GPUArray:
    """Transform as `PyGPU.fft.fft2` does; raise an error if `plan` does not fit the arguments."""
    return _scipy.fftn(x, shape, axes, None, overwrite_x, plan=plan)


def ifft2(
    x: Any, shape: Any = None, axes: Any = (-2, -1), overwrite_x: bool = False, plan: Any = None
) -> _core.GPUArray:
    """Transform as `PyGPU.fft.ifft2` does; raise an error if `plan` does not fit the arguments."""
    return _scipy.ifftn(x, shape, axes, None, overwrite_x, plan=plan)


def rfft(x: Any, n: int | None = None, axis: int = -1, overwrite_x: bool = False, plan: Any = None) -> _core.GPUArray:
    """Compute half of the spectrum of real numbers along an axis, as real numbers.

    Parameters
    ----------
    x : GPUArray
        Real numbers.
    n : int, optional
        Number of points of the transform; defaults to the length of the axis.
    axis : int, optional
        Axis of the transform.
    overwrite_x : bool, optional
        Accepted for compatibility with SciPy; it has no effect.
    plan : Plan1d, optional
        Plan that must fit the arguments of the call.

    Returns
    -------
    GPUArray
        `n` numbers along the axis: the real number of frequency 0, then the real and the imaginary part of each
        frequency. If `n` is even, the highest frequency has only a real part.

    Examples
    --------
    >>> from PyGPU import cupy, cupyx
    >>> cupyx.scipy.fftpack.rfft(cupy.array([9.0, -9, 1, 3])).tolist()
    [4.0, 8.0, 12.0, 16.0]
    """
    half = _scipy.rfft(x, n, axis, plan=plan)
    points = array_arguments.array(x, "rfft").shape[axis] if n is None else n
    pairs = _pairs(_core.moveaxis(half, axis, -1))
    packed = _core.empty((*pairs.shape[:-1], points), pairs.dtype)
    packed[..., :1] = pairs[..., :1]
    packed[..., 1:] = pairs[..., 2 : points + 1]  # The imaginary part of frequency 0 is zero and omitted.
    return _core.moveaxis(packed, -1, axis)


def irfft(x: Any, n: int | None = None, axis: int = -1, overwrite_x: bool = False) -> _core.GPUArray:
    """Invert `rfft`: compute real numbers along an axis from half of their spectrum, stored in the layout of `rfft`.

    Parameters
    ----------
    x : GPUArray
        Half of the spectrum in the layout of `rfft`.
    n : int, optional
        Number of points of the transform; defaults to the length of the axis.
    axis : int, optional
        Axis of the transform.
    overwrite_x : bool, optional
        Accepted for compatibility with SciPy; it has no effect.

    Returns
    -------
    GPUArray
        `n` real numbers along the axis.

    Examples
    --------
    >>> from PyGPU import cupy, cupyx
    >>> cupyx.scipy.fftpack.irfft(cupy.array([4.0, 8.0, 12.0, 16.0])).tolist()
    [9.0, -9.0, 1.0, 3.0]
    """
    packed = _core.moveaxis(array_arguments.array(x, "irfft"), axis, -1)
    if packed.dtype.kind == "c":
        raise TypeError(
            f"irfft: the dtype of the array is {packed.dtype}; FFTPACK's half of a spectrum has real numbers"
        )
    points = packed.shape[-1] if n is None else n
    if points < 1:
        raise ValueError(f"Invalid number of data points ({points}) specified.")
    is_single = packed.dtype in (np.float16, np.float32)
    half = _core.zeros((*packed.shape[:-1], points // 2 + 1), np.complex64 if is_single else np.complex128)
    pairs, most = _pairs(half), min(points, packed.shape[-1])
    pairs[..., :1] = packed[..., :1]
    pairs[..., 2 : most + 1] = packed[..., 1:most]
    return _core.moveaxis(_scipy.irfft(half, points), -1, axis)


def _pairs(half: _core.GPUArray) -> _core.GPUArray:
    """Convert complex numbers to real numbers: real and imaginary parts alternate along the last axis."""
    contiguous = half if half.flags.c_contiguous else half.copy("C")
    return contiguous.view(np.float32 if half.dtype == np.complex64 else np.float64)
