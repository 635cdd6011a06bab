"""The function `pad`, and a function for each mode of `pad`.

The function of a mode fills the padding before and after the existing elements along one axis. Corners are filled when
a later axis is padded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import along, array as _array, normalize_axis
from PyGPU._functions.quantiles import median
from PyGPU._names.public import public

# Keyword arguments of each mode of `pad`, with their default values.
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


def _pairs(values: Any, ndim: int, *, as_lengths: bool = False) -> list[tuple[Any, Any]]:
    """Return a pair of values (before, after) for each axis, from one value, one pair, or a pair for each axis."""
    if values is None:
        return [(None, None)] * ndim
    array = np.asarray(values)
    if as_lengths:
        array = np.round(array).astype(np.intp, copy=False)
        if (array < 0).any():
            raise ValueError("index can't contain negative values")
    pairs = np.broadcast_to(array, (ndim, 2))
    # As in NumPy, a single value, or one value for each end, is converted to the array's dtype. Values for several axes
    # remain Python scalars.
    is_strong = array.size == 1 or (array.size == 2 and array.shape != (2, 1))
    return [(first, second) for first, second in (pairs if is_strong else pairs.tolist())]


def _widths(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    if isinstance(pad_width, dict):
        sides = np.zeros((ndim, 2), int)
        for axis, width in pad_width.items():
            sides[normalize_axis(axis, ndim)] = width
        pad_width = sides
    widths = np.asarray(pad_width)
    if widths.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    return _pairs(widths, ndim, as_lengths=True)


class _Axis:
    """Axis of the array that `pad` returns, with the numbers of padding elements before and after its elements."""

    def __init__(self, whole: _core.GPUArray, axis: int, width: tuple[int, int]) -> None:
        self.whole, self.axis, self.width = whole, axis, width
        self.begin, self.end = width[0], whole.shape[axis] - width[1]

    def part(self, begin: int, end: int) -> _core.GPUArray:
        return self.whole[along(self.axis, slice(begin, end))]

    def outer(self) -> tuple[_core.GPUArray, _core.GPUArray]:
        """Return views of the padding before and after the existing elements."""
        return self.part(0, self.begin), self.part(self.end, self.whole.shape[self.axis])

    def inner(self) -> tuple[_core.GPUArray, _core.GPUArray]:
        """Return views of the first and the last existing element."""
        return self.part(self.begin, self.begin + 1), self.part(self.end - 1, self.end)


def _constant(padded: _Axis, values: tuple[Any, Any]) -> None:
    for outer, value in zip(padded.outer(), values, strict=True):
        outer[...] = value


def _edge(padded: _Axis) -> None:
    for outer, inner in zip(padded.outer(), padded.inner(), strict=True):
        outer[...] = inner


def _linear_ramp(padded: _Axis, end_values: tuple[Any, Any]) -> None:
    dtype = padded.whole.dtype
    for side, (outer, inner, end_value) in enumerate(zip(padded.outer(), padded.inner(), end_values, strict=True)):
        count = outer.shape[padded.axis]
        if not count:
            continue
        # Rounding depends on the steps, so the ramp is computed by the formula of `numpy.linspace`.
        ramp_dtype = np.result_type(end_value, dtype, 0.0)
        steps = _core.arange(count, dtype=ramp_dtype, device=padded.whole.device)
        steps = steps.reshape((-1,) + (1,) * (padded.whole.ndim - padded.axis - 1))
        delta = inner.astype(ramp_dtype) - end_value
        step = delta / count
        ramp = _core.where((step == 0).any(), steps / count * delta, steps * step) + end_value
        if dtype.kind in "iu":
            ramp = _core.floor(ramp)
        outer[...] = ramp[along(padded.axis, slice(None, None, -1))] if side else ramp


def _statistic(padded: _Axis, lengths: tuple[Any, Any], name: str) -> None:
    available = padded.end - padded.begin
    first, second = (available if length is None or length > available else length for length in lengths)
    if (first == 0 or second == 0) and name in ("maximum", "minimum"):
        raise ValueError("stat_length of 0 yields no value for padding")
    parts = padded.part(padded.begin, padded.begin + first), padded.part(padded.end - second, padded.end)
    for outer, part in zip(padded.outer(), parts, strict=True):
        statistic = _statistic_values(part, padded.axis, name)
        if padded.whole.dtype.kind in "iu" and statistic.dtype.kind == "f":
            statistic = _core.rint(statistic)
        _core.copyto(outer, statistic, "unsafe")


def _statistic_values(part: _core.GPUArray, axis: int, name: str) -> _core.GPUArray:
    if name == "median":
        return median(part, axis=axis, keepdims=True)
    if name == "mean":
        return part.mean(axis=axis, keepdims=True)
    return (part.max if name == "maximum" else part.min)(axis=axis, keepdims=True)


def _mirrored(padded: _Axis, period: int, is_edge_twice: bool, is_odd: bool) -> None:
    """Fill the padding by repeated reflection; each repetition reflects all elements that exist so far."""
    length = padded.whole.shape[padded.axis]
    shift = 0 if is_edge_twice else 1
    while padded.begin > 0 or padded.end < length:
        existing = padded.end - padded.begin
        # Each reflected part consists of whole periods of the repeated pattern, because the next reflection would
        # otherwise break the pattern.
        existing = existing // period * period if is_edge_twice else (existing - 1) // period * period + 1
        max_count = existing - shift
        count_before, count_after = min(max_count, padded.begin), min(max_count, length - padded.end)
        first, last = padded.inner()
        first_elements = padded.part(padded.begin + shift, padded.begin + shift + count_before)
        last_elements = padded.part(padded.end - shift - count_after, padded.end - shift)
        reversed_index = along(padded.axis, slice(None, None, -1))
        parts = (first_elements[reversed_index], last_elements[reversed_index])
        if is_odd:
            parts = (2 * first - parts[0], 2 * last - parts[1])
        padded.part(padded.begin - count_before, padded.begin)[...] = parts[0]
        padded.part(padded.end, padded.end + count_after)[...] = parts[1]
        padded.begin, padded.end = padded.begin - count_before, padded.end + count_after


def _reflect(padded: _Axis, kind: str, is_edge_twice: bool) -> None:
    length = padded.end - padded.begin
    if length == 1 and not is_edge_twice:
        _edge(padded)
    else:
        _mirrored(padded, length if is_edge_twice else length - 1, is_edge_twice, kind == "odd")


def _wrap(padded: _Axis) -> None:
    period = padded.end - padded.begin
    length = padded.whole.shape[padded.axis]
    while padded.begin > 0 or padded.end < length:
        whole_periods = (padded.end - padded.begin) // period * period
        count_before, count_after = min(whole_periods, padded.begin), min(whole_periods, length - padded.end)
        first_elements = padded.part(padded.begin + whole_periods - count_before, padded.begin + whole_periods)
        last_elements = padded.part(padded.end - whole_periods, padded.end - whole_periods + count_after)
        padded.part(padded.begin - count_before, padded.begin)[...] = first_elements
        padded.part(padded.end, padded.end + count_after)[...] = last_elements
        padded.begin, padded.end = padded.begin - count_before, padded.end + count_after


def _filler(mode: str, arguments: dict[str, Any], ndim: int) -> Callable[[_Axis], None]:
    """Return the function that fills the padding along one axis, for the mode and its keyword arguments."""
    argument: Any = next(iter(arguments.values()), None)
    if mode in ("reflect", "symmetric"):
        return lambda padded: _reflect(padded, argument, mode == "symmetric")
    if mode in ("edge", "wrap"):
        return _edge if mode == "edge" else _wrap
    if mode == "constant":
        values = _pairs(argument, ndim)
        return lambda padded: _constant(padded, values[padded.axis])
    if mode == "linear_ramp":
        values = _pairs(argument, ndim)
        return lambda padded: _linear_ramp(padded, values[padded.axis])
    lengths = _pairs(argument, ndim, as_lengths=True)
    return lambda padded: _statistic(padded, lengths[padded.axis], mode)


@public("Moving and repeating elements", host=("pad_width",))
def pad(array: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> _core.GPUArray:
    """Pad an array at both ends of each axis.

    Parameters
    ----------
    array : GPUArray
        The array to pad.
    pad_width : int, sequence or dict
        Number of elements to add: one number for all ends, a pair (before, after) for all axes, a pair for each axis,
        or a dict that maps axes to numbers or pairs.
    mode : str, optional
        One of 'constant', 'edge', 'empty', 'linear_ramp', 'maximum', 'mean', 'median', 'minimum', 'reflect',
        'symmetric' and 'wrap', as in NumPy.
    **kwargs
        Argument of the mode, as for `numpy.pad`: `constant_values`, `end_values`, `stat_length` or `reflect_type`.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    ValueError
        For an unknown mode, an argument of another mode, or an empty axis whose elements would be repeated.
    NotImplementedError
        If `mode` is a function, which NumPy would call for each row on the host.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.pad(PyGPU.arange(3), (1, 2), "edge").tolist()
    [0, 0, 1, 2, 2, 2]
    """
    source = _array(array, "pad")
    widths = _widths(pad_width, source.ndim)
    if callable(mode):
        raise NotImplementedError("pad: a function as the mode is called for each row; take the values by .get()")
    if mode not in _ARGUMENTS:
        raise ValueError(f"mode '{mode}' is not supported")
    unknown = set(kwargs) - set(_ARGUMENTS[mode])
    if unknown:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
    shape = tuple(length + before + after for length, (before, after) in zip(source.shape, widths, strict=True))
    order = "F" if source.flags.f_contiguous and not source.flags.c_contiguous else "C"
    result = _core.empty_like(source, None, order, shape=shape)  # type: ignore[arg-type]
    middle = tuple(slice(before, before + length) for length, (before, _) in zip(source.shape, widths, strict=True))
    result[middle] = source
    if mode == "empty":
        return result
    fill = _filler(mode, _ARGUMENTS[mode] | kwargs, source.ndim)
    for axis, width in enumerate(widths):
        if mode != "constant" and not source.shape[axis]:
            if any(width):
                raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
            continue
        # The view excludes the padding of later axes, which later iterations fill, including the corners.
        fill(_Axis(result[(slice(None),) * (axis + 1) + middle[axis + 1 :]], axis, width))
    return result
