"""Window functions, which NumPy computes on the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from PyGPU import _core
from PyGPU._names.public import public

if TYPE_CHECKING:
    from PyGPU.typing import DeviceLike


@public("Making arrays")
def bartlett(M: int, *, device: DeviceLike = None) -> _core.GPUArray:
    """Return the Bartlett window, which is triangular.

    Parameters
    ----------
    M : int
        Number of points.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.bartlett(3).tolist()
    [0.0, 1.0, 0.0]
    """
    return _core.asarray(np.bartlett(M), device=device)


@public("Making arrays")
def blackman(M: int, *, device: DeviceLike = None) -> _core.GPUArray:
    """Return the Blackman window, a sum of three cosine terms.

    Parameters
    ----------
    M : int
        Number of points.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.blackman(3).round(2).tolist()[1]
    1.0
    """
    return _core.asarray(np.blackman(M), device=device)


@public("Making arrays")
def hamming(M: int, *, device: DeviceLike = None) -> _core.GPUArray:
    """Return the Hamming window, a raised cosine that is 0.08 at the ends.

    Parameters
    ----------
    M : int
        Number of points.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.hamming(3).round(2).tolist()
    [0.08, 1.0, 0.08]
    """
    return _core.asarray(np.hamming(M), device=device)


@public("Making arrays")
def hanning(M: int, *, device: DeviceLike = None) -> _core.GPUArray:
    """Return the Hann window, a raised cosine that is 0 at the ends.

    Parameters
    ----------
    M : int
        Number of points.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.hanning(3).tolist()
    [0.0, 1.0, 0.0]
    """
    return _core.asarray(np.hanning(M), device=device)


@public("Making arrays")
def kaiser(M: int, beta: float, *, device: DeviceLike = None) -> _core.GPUArray:
    """Return the Kaiser window, based on a Bessel function.

    Parameters
    ----------
    M : int
        Number of points.
    beta : float
        Shape parameter; larger values give a narrower window.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.kaiser(3, 0.0).tolist()
    [1.0, 1.0, 1.0]
    """
    return _core.asarray(np.kaiser(M, beta), device=device)
