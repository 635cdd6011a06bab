"""Reductions that also accept a NumPy array, whose method of the same name they call, as CuPy does."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from PyGPU._cupy.public_lookup import own

__all__ = ["amax", "amin", "cumprod", "cumsum", "max", "mean", "min", "prod", "std", "sum", "var"]


def _with_host_arrays(name: str) -> Callable[..., Any]:
    """Wrap a reduction of `PyGPU` so that it reduces a NumPy array on the host, by the array's method."""
    function = own(name)

    @functools.wraps(function)
    def call(a: Any, *args: Any, **keywords: Any) -> Any:
        if isinstance(a, (np.ndarray, np.generic)):
            return getattr(a, name)(*args, **keywords)
        return function(a, *args, **keywords)

    return call


cumprod = _with_host_arrays("cumprod")
cumsum = _with_host_arrays("cumsum")
amax = max = _with_host_arrays("max")
mean = _with_host_arrays("mean")
amin = min = _with_host_arrays("min")
prod = _with_host_arrays("prod")
std = _with_host_arrays("std")
sum = _with_host_arrays("sum")
var = _with_host_arrays("var")
