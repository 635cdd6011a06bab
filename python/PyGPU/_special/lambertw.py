"""Lambert's function `lambertw`, which calls the ufunc that SciPy names `_lambertw`."""

from __future__ import annotations

from typing import Any

from PyGPU._special import ufuncs


def lambertw(z: Any, k: Any = 0, tol: float = 1e-8) -> Any:
    """Compute a branch of Lambert's function W.

    W is the number w of the branch k for which ``w * exp(w) == z``.

    Parameters
    ----------
    z : GPUArray or number
        The argument.
    k : GPUArray or number, optional
        Number of the branch, an integer; defaults to 0, the principal branch.
    tol : float, optional
        Accepted for compatibility with SciPy; it has no effect. The iteration always ends at a relative change of 1e-8,
        after which only the rounding error remains.

    Returns
    -------
    GPUArray
        Complex numbers, also for real arguments.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.special.lambertw(PyGPU.to_gpu([0.0, 1.0])).real.round(6).tolist()
    [0.0, 0.567143]
    """
    return ufuncs._lambertw(z, k * 1.0, tol)
