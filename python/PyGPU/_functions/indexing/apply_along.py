"""Functions that apply a user's function to parts of an array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array, normalize_axis
from PyGPU._functions.joining import stack
from PyGPU._names.public import public


@public("Functions applied to parts of an array")
def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> _core.GPUArray:
    """Call a function for each one-dimensional row along an axis, one after the other, and join the results.

    Parameters
    ----------
    func1d : callable
        Function of a one-dimensional array that returns an array or a number.
    axis : int
        Axis of the rows.
    arr : GPUArray
        The array.
    *args, **kwargs
        Further arguments of the function.

    Returns
    -------
    GPUArray
        Array in which the axes of the function's results replace `axis`.

    Raises
    ------
    ValueError
        If the array has no row along the axis.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.apply_along_axis(PyGPU.max, 1, PyGPU.to_gpu([[1, 5], [7, 3]])).tolist()
    [5, 7]
    """
    source = array(arr, "apply_along_axis")
    axis_index = normalize_axis(axis, source.ndim)
    moved = _core.moveaxis(source, axis_index, -1)
    outer_shape = moved.shape[:-1]
    if 0 in outer_shape:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = [
        _core.asarray(func1d(moved[position], *args, **kwargs), device=source.device)
        for position in np.ndindex(*outer_shape)
    ]
    joined = stack(results).reshape(outer_shape + results[0].shape)
    count = results[0].ndim
    return _core.moveaxis(joined, tuple(range(-count, 0)), tuple(range(axis_index, axis_index + count)))


@public("Functions applied to parts of an array")
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> _core.GPUArray:
    """Call a function for several axes, one after the other; each call receives the result of the previous call.

    Parameters
    ----------
    func : callable
        Function of an array and an axis; it removes the axis or keeps it with length 1.
    a : GPUArray
        The array.
    axes : int or sequence of ints
        Axes for which the function is called.

    Returns
    -------
    GPUArray
        Array with as many axes as the input.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.apply_over_axes(PyGPU.sum, PyGPU.ones((2, 3), "int64"), [0, 1]).tolist()
    [[6]]
    """
    result = array(a, "apply_over_axes")
    ndim = result.ndim
    for axis in np.atleast_1d(axes).tolist():
        axis_index = axis + ndim if axis < 0 else axis  # `func` itself checks whether the axis exists
        reduced = _core.asarray(func(result, axis_index), device=result.device)
        if reduced.ndim != ndim:
            reduced = _core.expand_dims(reduced, axis_index)
            if reduced.ndim != ndim:
                raise ValueError("function is not returning an array of the correct shape")
        result = reduced
    return result


def _is_single_condition(conditions: Any, ndim: int) -> bool:
    """Test whether `conditions` is a single condition, not a sequence of them, for an array of `ndim` axes."""
    if np.isscalar(conditions):
        return True
    if len(conditions) == 0:
        raise IndexError("piecewise: index 0 is out of bounds for conditions of length 0")
    if isinstance(conditions, _core.GPUArray):
        return ndim > 0 and conditions.ndim < 2
    return ndim > 0 and not isinstance(conditions[0], (list, np.ndarray, _core.GPUArray))


@public("Functions applied to parts of an array")
def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> _core.GPUArray:
    """Evaluate, for each element, the function whose condition is true; the host waits for the device.

    Parameters
    ----------
    x : GPUArray
        Elements that are passed to the functions.
    condlist : sequence of GPUArray
        Condition of each function; if several are true for an element, the last one applies.
    funclist : sequence of callables or numbers
        Functions, or numbers as constant functions. One more function than conditions may be given: it applies to the
        elements without a true condition. Without it these elements are 0.
    *args, **kw
        Further arguments of the functions.

    Returns
    -------
    GPUArray
        Array of the dtype of `x`.

    Raises
    ------
    ValueError
        If the number of functions is neither the number of conditions nor one more.
    IndexError
        If there is no condition.

    Examples
    --------
    >>> import PyGPU
    >>> x = PyGPU.to_gpu([-2.0, 3.0])
    >>> PyGPU.piecewise(x, [x < 0], [lambda x: -x, 7]).tolist()
    [2.0, 7.0]
    """
    source = array(x, "piecewise")
    condition_list = [condlist] if _is_single_condition(condlist, source.ndim) else list(condlist)
    conditions = [_core.asarray(condition, device=source.device).astype(bool) for condition in condition_list]
    if len(funclist) == len(conditions) + 1:
        any_condition = conditions[0]
        for condition in conditions[1:]:
            any_condition = any_condition | condition
        conditions.append(_core.logical_not(any_condition))
    elif len(funclist) != len(conditions):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions are "
            "expected"
        )
    result = _core.zeros_like(source)
    for condition, function in zip(conditions, funclist, strict=True):
        if not callable(function):
            result[condition] = function
            continue
        elements = source[condition]
        if elements.size:
            result[condition] = function(elements, *args, **kw)
    return result
