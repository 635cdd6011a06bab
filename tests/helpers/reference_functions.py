"""Compute expected results of those elementwise functions that NumPy lacks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Judge = Callable[[np.ndarray], Any]


def _vectorized(function: Callable[[float], float]) -> Judge:
    """Return a NumPy function that applies a function of `math` to each element, with the dtype of NumPy's results."""
    values = np.vectorize(function, otypes=["float64"])

    def judge(x: Any) -> Any:
        # These functions have the same result dtypes as NumPy's `sqrt`.
        kind = np.sqrt(np.zeros(0, np.asarray(x).dtype)).dtype
        if kind.kind == "c":
            raise TypeError("functions of math do not accept complex numbers")
        return values(x).astype(kind)

    return judge


def _gamma(x: float) -> float:
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.copysign(math.inf, x) if x == 0 else math.nan


def _log_gamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except ValueError:
        return math.inf


REFERENCE_FUNCTIONS: dict[str, Judge] = {
    "erf": _vectorized(math.erf),
    "erfc": _vectorized(math.erfc),
    "gamma": _vectorized(_gamma),
    "lgamma": _vectorized(_log_gamma),
}
"""For each function that NumPy lacks, a function of an ndarray that computes the expected result."""
