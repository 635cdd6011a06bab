"""The logarithm of the multivariate gamma function, computed as a sum of values of `gammaln`."""

from __future__ import annotations

import math
import operator
from typing import Any

from PyGPU import _core
from PyGPU._special import ufuncs


def multigammaln(a: Any, d: int) -> Any:
    """Compute the logarithm of the multivariate gamma function.

    The result is ``d * (d - 1) / 4 * log(pi)`` plus the sum of ``gammaln(a - j / 2)`` over j below d.

    Parameters
    ----------
    a : GPUArray or number
        The argument, above ``(d - 1) / 2``. The host waits for the check of this bound.
    d : int
        The dimension of the space of integration.

    Returns
    -------
    GPUArray
        float64 for every operand, as in SciPy.

    Raises
    ------
    ValueError
        If an element of `a` is too small, or `d` is not a positive integer.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.special.multigammaln(PyGPU.to_gpu([2.0, 3.5]), 2).round(6).tolist()
    [0.451583, 2.466486]
    """
    try:
        count = operator.index(int(d) if d == math.floor(d) else d)
    except (TypeError, ValueError):
        count = 0
    if count < 1:
        raise ValueError(f"multigammaln: d is {d!r}; pass the dimension as an integer of 1 or above")
    a = a.astype("float64", copy=False) if isinstance(a, _core.GPUArray) else _core.asarray(a, dtype="float64")
    if bool((a <= 0.5 * (count - 1)).any()):
        raise ValueError(
            f"multigammaln: each element of a is above (d - 1) / 2, which is {0.5 * (count - 1)}; "
            f"the least is {a.min().item()}"
        )
    total = ufuncs.gammaln(a) + count * (count - 1) * 0.25 * math.log(math.pi)
    for j in range(1, count):
        total = total + ufuncs.gammaln(a - 0.5 * j)
    return total
