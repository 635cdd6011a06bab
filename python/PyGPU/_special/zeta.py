"""The zeta and polygamma functions, composed of ufuncs."""

from __future__ import annotations

import math
from typing import Any

from PyGPU import _core
from PyGPU._special import ufuncs


def zeta(x: Any, q: Any = None, out: _core.GPUArray | None = None) -> Any:
    """Compute the Riemann or the Hurwitz zeta function.

    The Hurwitz function is the sum of ``(k + q)**-x`` over the integers k from 0. The Riemann function, without `q`, is
    the analytic continuation of this sum for ``q = 1``.

    Parameters
    ----------
    x : GPUArray or number
        The exponent.
    q : GPUArray or number, optional
        Number that is added to k; without it, the result is the Riemann zeta function.
    out : GPUArray, optional
        Array for the result.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.special.zeta(PyGPU.to_gpu([2.0, 4.0])).round(6).tolist()
    [1.644934, 1.082323]
    """
    if q is None:
        return ufuncs._riemann_zeta(x, out=out)
    return ufuncs._zeta(x, q, out=out)


def polygamma(n: Any, x: Any) -> Any:
    """Compute the derivative of order n of the digamma function.

    The result is ``digamma(x)`` for the order 0, and ``(-1)**(n + 1) * gamma(n + 1) * zeta(n + 1, x)`` for higher
    orders.

    Parameters
    ----------
    n : GPUArray or number
        The order, a non-negative integer.
    x : GPUArray or number
        The argument.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.special.polygamma(1, PyGPU.to_gpu([1.0, 2.0])).round(6).tolist()
    [1.644934, 0.644934]
    """
    if isinstance(n, int | float):
        if n == 0:
            return ufuncs.digamma(x)
        factorial = math.nan if n < 0 else math.gamma(n + 1.0) if n <= 170 else math.inf
        return ufuncs._zeta(float(n) + 1, x) * (factorial if n % 2 else -factorial)
    order = n * 1.0
    sign = _core.remainder(order, 2.0) * 2.0 - 1.0
    of_order = sign * ufuncs.gamma(order + 1.0) * ufuncs._zeta(order + 1.0, x)
    return _core.where(_core.equal(order, 0.0), ufuncs.digamma(x), of_order)
