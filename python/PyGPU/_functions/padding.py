"""Padding of arrays.

Each function below fills the elements before and behind along one axis from the existing elements of that axis. The
corners follow when the next axis is filled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import along, array as _array, axis_of
from PyGPU._functions.quantiles import median
from PyGPU._names.public import public

# The modes with their arguments and default values.
_ARGUMENTS: dict[str, dict[str, Any]] = {
    "constant": {"constant_values": 0},
    "edge": {},
    "empty": {},
    "linear_ramp": {"end_values": 0},
    "maximum": {"stat_length": None},
    "mean": {"stat_length": None},
    "median": {"stat_length": None},
    "minimum": {"stat_length": None},
    "reflect": {"reflect_type": "even"},
    "symmetric": {"reflect_type": "even"},
    "wrap": {},
}


def _pairs(values: Any, ndim: int, *, whole: bool = False) -> list[tuple[Any, Any]]:
    """Return a value for each side of each axis, from one value for all, for each side, or for each of both."""
    if values is None:
        return [(None, None)] * ndim
    given = np.asarray(values)
    if whole:
        given = np.round(given).astype(np.intp, copy=False)
        if (given < 0).any():
            raise ValueError("index can't contain negative values")
    pairs = np.broadcast_to(given, (ndim, 2))
    # NumPy converts one value, or one per side, to the array's type; values of several axes stay Python scalars.
    is_strong = given.size == 1 or (given.size == 2 and given.shape != (2, 1))
    return [(first, second) for first, second in (pairs if is_strong else pairs.tolist())]


def _widths(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    if isinstance(pad_width, dict):
        sides = np.zeros((ndim, 2), int)
        for axis, width in pad_width.items():
            sides[axis_of(axis, ndim)] = width
        pad_width = sides
    given = np.asarray(pad_width)
    if given.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    return _pairs(given, ndim, whole=True)


class _Axis:
    """One axis of the result: the position of the given elements, and the number missing on each side."""

    def __init__(self, whole: _core.GPUArray, axis: int, width: tuple[int, int]) -> None:
        self.whole, self.axis, self.width = whole, axis, width
        self.begin, self.end = width[0], whole.shape[axis] - width[1]

    def part(self, begin: int, end: int) -> _core.GPUArray:
        return self.whole[along(self.axis, slice(begin, end))]

    def outer(self) -> tuple[_core.GPUArray, _core.GPUArray]:
        """Return the padding before and behind."""
        return self.part(0, self.begin), self.part(self.end, self.whole.shape[self.axis])

    def inner(self) -> tuple[_core.GPUArray, _core.GPUArray]:
        """Return the first and the last of the given elements."""
        return self.part(self.begin, self.begin + 1), self.part(self.end - 1, self.end)


def _constant(one: _Axis, values: tuple[Any, Any]) -> None:
    for outer, value in zip(one.outer(), values, strict=True):
        outer[...] = value


def _edge(one: _Axis) -> None:
    for outer, inner in zip(one.outer(), one.inner(), strict=True):
        outer[...] = inner


def _linear_ramp(one: _Axis, ends: tuple[Any, Any]) -> None:
    dtype = one.whole.dtype
    for side, (outer, inner, end) in enumerate(zip(one.outer(), one.inner(), ends, strict=True)):
        count = outer.shape[one.axis]
        if not count:
            continue
        # As `numpy.linspace`, from the end to the elements: its rounding depends on all steps.
        kind = np.result_type(end, dtype, 0.0)
        steps = _core.arange(count, dtype=kind, device=one.whole.device)
        steps = steps.reshape((-1,) + (1,) * (one.whole.ndim - one.axis - 1))
        delta = inner.astype(kind) - end
        step = delta / count
        ramp = _core.where((step == 0).any(), steps / count * delta, steps * step) + end
        if dtype.kind in "iu":
            ramp = _core.floor(ramp)
        outer[...] = ramp[along(one.axis, slice(None, None, -1))] if side else ramp


def _statistic(one: _Axis, lengths: tuple[Any, Any], name: str) -> None:
    most = one.end - one.begin
    first, second = (most if length is None or length > most else length for length in lengths)
    if (first == 0 or second == 0) and name in ("maximum", "minimum"):
        raise ValueError("stat_length of 0 yields no value for padding")
    parts = one.part(one.begin, one.begin + first), one.part(one.end - second, one.end)
    for outer, part in zip(one.outer(), parts, strict=True):
        found = _found(part, one.axis, name)
        if one.whole.dtype.kind in "iu" and found.dtype.kind == "f":
            found = _core.rint(found)
        _core.copyto(outer, found, "unsafe")


def _found(part: _core.GPUArray, axis: int, name: str) -> _core.GPUArray:
    if name == "median":
        return median(part, axis=axis, keepdims=True)
    if name == "mean":
        return part.mean(axis=axis, keepdims=True)
    return (part.max if name == "maximum" else part.min)(axis=axis, keepdims=True)


def _mirrored(one: _Axis, period: int, is_edge_twice: bool, is_odd: bool) -> None:
    """Reflect the elements at each end repeatedly; each repetition has more elements."""
    length = one.whole.shape[one.axis]
    shift = 0 if is_edge_twice else 1
    while one.begin > 0 or one.end < length:
        there = one.end - one.begin
        # Whole periods only, so that the reflection continues.
        there = there // period * period if is_edge_twice else (there - 1) // period * period + 1
        most = there - shift
        before, behind = min(most, one.begin), min(most, length - one.end)
        first, last = one.inner()
        ahead = one.part(one.begin + shift, one.begin + shift + before)
        after = one.part(one.end - shift - behind, one.end - shift)
        turn = along(one.axis, slice(None, None, -1))
        parts = (ahead[turn], after[turn])
        if is_odd:
            parts = (2 * first - parts[0], 2 * last - parts[1])
        one.part(one.begin - before, one.begin)[...] = parts[0]
        one.part(one.end, one.end + behind)[...] = parts[1]
        one.begin, one.end = one.begin - before, one.end + behind


def _reflect(one: _Axis, kind: str, is_edge_twice: bool) -> None:
    given = one.end - one.begin
    if given == 1 and not is_edge_twice:
        _edge(one)
    else:
        _mirrored(one, given if is_edge_twice else given - 1, is_edge_twice, kind == "odd")


def _wrap(one: _Axis) -> None:
    period = one.end - one.begin
    length = one.whole.shape[one.axis]
    while one.begin > 0 or one.end < length:
        whole = (one.end - one.begin) // period * period
        before, behind = min(whole, one.begin), min(whole, length - one.end)
        ahead = one.part(one.begin + whole - before, one.begin + whole)
        after = one.part(one.end - whole, one.end - whole + behind)
        one.part(one.begin - before, one.begin)[...] = ahead
        one.part(one.end, one.end + behind)[...] = after
        one.begin, one.end = one.begin - before, one.end + behind


def _filler(mode: str, given: dict[str, Any], ndim: int) -> Callable[[_Axis], None]:
    """Return the function that fills one axis."""
    value: Any = next(iter(given.values()), None)
    if mode in ("reflect", "symmetric"):
        return lambda one: _reflect(one, value, mode == "symmetric")
    if mode in ("edge", "wrap"):
        return _edge if mode == "edge" else _wrap
    if mode == "constant":
        values = _pairs(value, ndim)
        return lambda one: _constant(one, values[one.axis])
    if mode == "linear_ramp":
        values = _pairs(value, ndim)
        return lambda one: _linear_ramp(one, values[one.axis])
    lengths = _pairs(value, ndim, whole=True)
    return lambda one: _statistic(one, lengths[one.axis], mode)


@public("Moving and repeating elements", host=("pad_width",))
def pad(array: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> _core.GPUArray:
    """Pad an array before and behind along each axis.

    Parameters
    ----------
    array : GPUArray
        The array in the middle.
    pad_width : int, sequence or dict
        Number of elements: one number, one per side, two per axis, or a dict of axes.
    mode : str, optional
        One of 'constant', 'edge', 'empty', 'linear_ramp', 'maximum', 'mean', 'median', 'minimum', 'reflect',
        'symmetric' and 'wrap', as in NumPy.
    **kwargs
        `constant_values`, `end_values`, `stat_length` or `reflect_type`, as in NumPy's modes.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    ValueError
        For unknown modes, arguments of other modes, and empty axes that would be repeated.
    NotImplementedError
        For a function as the mode, which NumPy calls for each row on the host.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.pad(PyGPU.arange(3), (1, 2), "edge").tolist()
    [0, 0, 1, 2, 2, 2]
    """
    given = _array(array, "pad")
    widths = _widths(pad_width, given.ndim)
    if callable(mode):
        raise NotImplementedError("pad: a function as the mode is called for each row; take the values by .get()")
    if mode not in _ARGUMENTS:
        raise ValueError(f"mode '{mode}' is not supported")
    unknown = set(kwargs) - set(_ARGUMENTS[mode])
    if unknown:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
    shape = tuple(length + before + behind for length, (before, behind) in zip(given.shape, widths, strict=True))
    order = "F" if given.flags.f_contiguous and not given.flags.c_contiguous else "C"
    made = _core.empty_like(given, None, order, shape=shape)  # type: ignore[arg-type]
    middle = tuple(slice(before, before + length) for length, (before, _) in zip(given.shape, widths, strict=True))
    made[middle] = given
    if mode == "empty":
        return made
    fill = _filler(mode, _ARGUMENTS[mode] | kwargs, given.ndim)
    for axis, width in enumerate(widths):
        if mode != "constant" and not given.shape[axis]:
            if any(width):
                raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
            continue
        # Only the middle of the later axes: the corners follow with these.
        fill(_Axis(made[(slice(None),) * (axis + 1) + middle[axis + 1 :]], axis, width))
    return made
