"""Conversion of arguments: device arrays of any library, and numbers."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from PyGPU import _core

__all__: list[str] = []


def refusal(given: Any, function: str | None = None) -> TypeError:
    """Return the error for an object that is no array of PyGPU: its type, and how to convert it."""
    kind = type(given).__name__
    is_list = isinstance(given, (list, tuple))
    if is_list and any(isinstance(one, _core.GPUArray) for one in given):
        text = f"the {kind} holds arrays, and is none; PyGPU.asarray(x) joins those of one shape"
    elif is_list or isinstance(given, np.ndarray):
        try:
            kind = f"{kind} of shape {np.shape(given)}"
        except ValueError:  # rows of different lengths
            kind = f"{kind} of length {len(given)}"
        text = f"the {kind} is in host memory; copy it to a device first, with PyGPU.to_gpu(x)"
    else:
        text = f"expected a GPUArray, not {kind}; PyGPU.asarray(x) makes one of what holds numbers"
    return TypeError(f"{function}: {text}" if function else text)


def array(given: Any, function: str) -> _core.GPUArray:
    """Return an array of a device, or a number as one; host arrays with axes are rejected."""
    if isinstance(given, _core.GPUArray):
        return given
    if isinstance(given, (list, tuple)) or (isinstance(given, np.ndarray) and given.ndim):
        raise refusal(given, function)
    return _core.asarray(given)


def arrays(given: Any, function: str) -> list[_core.GPUArray]:
    """Return arrays of one device."""
    found = list(given)
    if not all(isinstance(one, _core.GPUArray) for one in found):
        found = _made(found, function)
    for one in found:
        if one.device != found[0].device:
            raise ValueError(
                f"{function}: the arrays are on {found[0].device} and {one.device}; copy them to one device first, "
                f"with PyGPU.asarray(a, device='{found[0].device}')"
            )
    return found


def _made(given: list[Any], function: str) -> list[_core.GPUArray]:
    """Convert arguments to arrays; a number goes to the device of the arrays."""
    here = [None if isinstance(one, (int, float, complex, np.generic)) else array(one, function) for one in given]
    device = next((one.device for one in here if one is not None), None)
    return [
        _core.asarray(number, device=device) if one is None else one for one, number in zip(here, given, strict=True)
    ]


def axis_of(axis: Any, ndim: int) -> int:
    """Return an axis as a non-negative number, or raise NumPy's error."""
    number = operator.index(axis)
    if not -ndim <= number < ndim:
        raise AxisError(number, ndim)
    return number % ndim


def axes_of(axes: Any, ndim: int) -> tuple[int, ...]:
    """Return one axis or several as non-negative numbers."""
    given = axes if isinstance(axes, Sequence) else (axes,)
    found = tuple(axis_of(axis, ndim) for axis in given)
    if len(set(found)) != len(found):
        raise ValueError("repeated axis")
    return found


def along(axis: int, part: Any) -> tuple[Any, ...]:
    """Return the index of a part along one axis, with full slices for the axes before it."""
    return (slice(None),) * axis + (part,)
