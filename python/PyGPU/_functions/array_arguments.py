"""Convert arguments, which may be device arrays of any library or numbers, to GPU arrays."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from PyGPU import _core
from PyGPU._arguments.argument_errors import output_error

__all__: list[str] = []


def invalid_array_error(invalid: Any, function: str | None = None) -> TypeError:
    """Return the error for an object that is not a GPUArray; the message names the object's type and a conversion."""
    kind = type(invalid).__name__
    is_list = isinstance(invalid, (list, tuple))
    if is_list and any(isinstance(element, _core.GPUArray) for element in invalid):
        text = f"expected a GPUArray, not a {kind} of arrays; PyGPU.asarray(x) joins arrays of one shape"
    elif is_list or isinstance(invalid, np.ndarray):
        try:
            values = np.asarray(invalid)
            kind, is_numeric = f"{kind} of shape {values.shape}", values.dtype.kind in "biufcV"
        except ValueError:  # Nested sequences of different lengths have no shape.
            kind, is_numeric = f"{kind} of length {len(invalid)}", False
        if is_numeric:
            text = f"the {kind} is in host memory; copy it to a device first, with PyGPU.to_gpu(x)"
        else:
            text = f"the {kind} has elements other than numbers; expected an array, a number, or a list of numbers"
    else:
        shown = "None" if invalid is None else kind
        text = f"expected a GPUArray, not {shown}; PyGPU.asarray(x) makes one from numbers"
    return TypeError(f"{function}: {text}" if function else text)


def sequence(argument: Any, function: str | None = None, device: Any = None) -> _core.GPUArray:
    """Copy a list or tuple of numbers, nested or not, to a device; reject every other object."""
    if not (isinstance(argument, (list, tuple)) and _is_of_numbers(argument)):
        raise invalid_array_error(argument, function)
    return _core.asarray(np.array(argument), device=device)


def _is_of_numbers(elements: list[Any] | tuple[Any, ...]) -> bool:
    """Test whether all elements of a nested sequence are numbers."""
    return all(
        _is_of_numbers(element)
        if isinstance(element, (list, tuple))
        else isinstance(element, (int, float, complex, np.number, np.bool))
        for element in elements
    )


def array(argument: Any, function: str) -> _core.GPUArray:
    """Convert a device array, a number, or a list or tuple of numbers to a GPUArray; reject ndarrays with axes."""
    if isinstance(argument, _core.GPUArray):
        return argument
    if isinstance(argument, (list, tuple)):
        return sequence(argument, function)
    if isinstance(argument, np.ndarray) and argument.ndim:
        raise invalid_array_error(argument, function)
    if argument is None or isinstance(argument, (str, bytes, dict, set)):
        raise invalid_array_error(argument, function)
    return _core.asarray(argument)


def target(argument: Any, function: str) -> _core.GPUArray:
    """Return the array into which a function writes; reject lists and tuples, which would be copied first."""
    if isinstance(argument, (list, tuple)):
        raise invalid_array_error(argument, function)
    return array(argument, function)


def arrays(arguments: Any, function: str) -> list[_core.GPUArray]:
    """Convert several arguments to GPUArrays on one device."""
    result = list(arguments)
    if not all(isinstance(element, _core.GPUArray) for element in result):
        result = _converted(result, function)
    for element in result:
        if element.device != result[0].device:
            raise ValueError(
                f"{function}: the arrays are on {result[0].device} and {element.device}; copy them to one device "
                f"first, with PyGPU.asarray(a, device='{result[0].device}')"
            )
    return result


def _converted(arguments: list[Any], function: str) -> list[_core.GPUArray]:
    """Convert arguments to GPUArrays; numbers and sequences of numbers are copied to the device of the arrays."""
    converted = [
        None if isinstance(argument, (int, float, complex, np.generic, list, tuple)) else array(argument, function)
        for argument in arguments
    ]
    device = next((argument.device for argument in converted if argument is not None), None)
    return [
        _on_device(host, function, device) if one is None else one
        for one, host in zip(converted, arguments, strict=True)
    ]


def _on_device(host: Any, function: str, device: Any) -> _core.GPUArray:
    """Copy a number, or a list or tuple of numbers, to a device."""
    if isinstance(host, (list, tuple)):
        return sequence(host, function, device)
    return _core.asarray(host, device=device)


def check_out(out: Any, function: str) -> None:
    """Raise a TypeError for an output that is not a GPUArray."""
    if not isinstance(out, _core.GPUArray):
        raise output_error(out, function)


def normalize_axis(axis: Any, ndim: int) -> int:
    """Convert an axis to a non-negative number, or raise NumPy's error."""
    index = operator.index(axis)
    if not -ndim <= index < ndim:
        raise AxisError(index, ndim)
    return index % ndim


def normalize_axes(axes: Any, ndim: int) -> tuple[int, ...]:
    """Convert one axis or several axes to a tuple of non-negative numbers."""
    sequence = axes if isinstance(axes, Sequence) else (axes,)
    result = tuple(normalize_axis(axis, ndim) for axis in sequence)
    if len(set(result)) != len(result):
        raise ValueError("repeated axis")
    return result


def along(axis: int, part: Any) -> tuple[Any, ...]:
    """Return an index tuple that selects `part` along one axis, and all elements along all axes before it."""
    return (slice(None),) * axis + (part,)
