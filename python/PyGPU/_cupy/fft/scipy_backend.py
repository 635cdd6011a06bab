"""SciPy's protocol of backends (uarray), by which ``scipy.fft.set_backend(cupyx.scipy.fft)`` uses PyGPU."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._cupy.fft import scipy_functions

__all__ = ["DOMAIN", "call", "convert"]

DOMAIN = "numpy.scipy.fft"

_TRANSFORMS = frozenset(f"{i}{kind}fft{axes}" for i in ("", "i") for kind in ("", "r", "h") for axes in ("", "2", "n"))


def call(method: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call PyGPU's function in place of SciPy's; return NotImplemented if PyGPU lacks the function."""
    name = getattr(method, "__name__", "")
    # Other modules of SciPy have functions with equal names, so the function objects are compared, too. `scipy.fft` is
    # already imported when SciPy calls a backend, so it is found in `sys.modules`.
    if name not in _TRANSFORMS or getattr(sys.modules.get("scipy.fft"), name, None) is not method:
        return NotImplemented
    return getattr(scipy_functions, name)(*args, **keywords)


def convert(dispatchables: Sequence[Any], coerce: bool) -> Any:
    """Return the arguments of a SciPy call; if `coerce` is true, copy the host arrays among them to the device.

    The result NotImplemented makes SciPy try its next backend.
    """
    values = [one.value for one in dispatchables]
    are_arrays = [one.type is np.ndarray for one in dispatchables]
    if coerce:
        try:
            values = [
                _core.asarray(value) if is_array and one.coercible else value
                for value, is_array, one in zip(values, are_arrays, dispatchables, strict=True)
            ]
        except TypeError:
            return NotImplemented
    if any(
        is_array and not isinstance(value, _core.GPUArray) for value, is_array in zip(values, are_arrays, strict=True)
    ):
        return NotImplemented
    return values
