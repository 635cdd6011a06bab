"""Jacobi's elliptic functions, computed by ufuncs that each return two results."""

from __future__ import annotations

from typing import Any

from PyGPU._special import ufuncs


def ellipj(u: Any, m: Any) -> tuple[Any, Any, Any, Any]:
    """Compute Jacobi's elliptic functions.

    The amplitude ph is the angle for which ``ellipkinc(ph, m) == u``.

    Parameters
    ----------
    u : GPUArray or number
        The argument.
    m : GPUArray or number
        The parameter m, at most 1; for greater values the results are NaN.

    Returns
    -------
    sn, cn, dn, ph : GPUArray
        ``sin(ph)``, ``cos(ph)``, ``sqrt(1 - m * sn**2)``, and ph.

    Examples
    --------
    >>> import PyGPU
    >>> [one.round(6).item() for one in PyGPU.special.ellipj(PyGPU.to_gpu([0.5]), 0.5)]
    [0.47075, 0.882266, 0.942972, 0.490141]
    """
    return (*ufuncs._ellipj_sn_cn(u, m), *ufuncs._ellipj_dn_ph(u, m))
