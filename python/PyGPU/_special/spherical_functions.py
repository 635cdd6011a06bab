"""Spherical harmonics, and the spherical Bessel function of the second kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._special import ufuncs


def _degree(value: Any, name: str, kind: Any) -> Any:
    """Convert a degree or an order to floating point, because the ufuncs have no loops for integers."""
    dtype = np.asarray(value).dtype if isinstance(value, int | np.generic) else getattr(value, "dtype", None)
    if dtype is None or dtype.kind not in "iu":
        raise TypeError(
            f"sph_harm_y: {name} is of the type {type(value).__name__ if dtype is None else dtype}; pass an integer or "
            "an array of integers"
        )
    return value.astype(kind) if isinstance(value, _core.GPUArray) else float(value)


def sph_harm_y(n: Any, m: Any, theta: Any, phi: Any, *, diff_n: int = 0) -> Any:
    """Compute the spherical harmonic of a degree and an order.

    The harmonic is ``sqrt((2 * n + 1) / (4 * pi) * (n - m)! / (n + m)!) * lpmv(m, n, cos(theta)) * exp(1j * m * phi)``;
    zero where ``abs(m) > n``.

    Parameters
    ----------
    n : GPUArray or int
        The degree.
    m : GPUArray or int
        The order.
    theta : GPUArray or number
        The polar angle, from 0 to pi.
    phi : GPUArray or number
        The azimuth, from 0 to 2 * pi.
    diff_n : int, optional
        Must be 0, because derivatives are not computed.

    Returns
    -------
    GPUArray
        complex64 if the angles are float32 or smaller, otherwise complex128.

    Raises
    ------
    TypeError
        If `n` or `m` are not integers.
    NotImplementedError
        If `diff_n` is not 0.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.special.sph_harm_y(1, 1, PyGPU.to_gpu([0.5]), 0.0).real.round(6).tolist()
    [-0.165639]
    """
    if diff_n != 0:
        raise NotImplementedError(f"sph_harm_y: diff_n={diff_n} requests derivatives, which PyGPU does not compute")
    angles = [one for one in (theta, phi) if isinstance(one, _core.GPUArray)]
    kind = np.result_type("float32", *[one.dtype for one in angles]) if angles else np.dtype("float64")
    degree, order = (_degree(value, name, kind) for value, name in ((n, "n"), (m, "m")))
    theta, phi = (one if isinstance(one, _core.GPUArray) else _core.asarray(one, dtype=kind) for one in (theta, phi))
    return ufuncs._sph_legendre_p(degree, order, theta) * _core.exp(phi * order * 1j)


def spherical_yn(n: Any, z: Any, derivative: bool = False) -> Any:
    """Compute the spherical Bessel function of the second kind, or its derivative.

    The function is ``sqrt(pi / (2 * z)) * yv(n + 1 / 2, z)``.

    Parameters
    ----------
    n : GPUArray or int
        The order; for a negative order the result is NaN.
    z : GPUArray or number
        The argument, a real number.
    derivative : bool, optional
        Whether the derivative is computed.

    Returns
    -------
    GPUArray
        float64 for every operand, as in SciPy.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.special.spherical_yn(1, PyGPU.to_gpu([1.0, 2.0])).round(6).tolist()
    [-1.381773, -0.350612]
    """
    function = ufuncs._spherical_yn_d if derivative else ufuncs._spherical_yn
    return function(n, z, dtype="float64")
