"""Check and convert the parameters of distributions."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random.random_source import Parameter

_numpy_generator = np.random.Generator(np.random.Philox(0))

_PAIRWISE = ("triangular", "hypergeometric")
"""Distributions whose check by NumPy compares the parameters of each element with each other."""


def is_scalar(argument: Any) -> bool:
    """Test whether the argument is a single number instead of an array."""
    return type(argument) in (int, float) or (not isinstance(argument, _core.GPUArray) and np.ndim(argument) == 0)


def check(name: str, *arguments: Any, size: Any = 0, **keywords: Any) -> Any:
    """Check arguments by a call of NumPy's method with size 0, which draws no numbers, but raises NumPy's errors."""
    return getattr(_numpy_generator, name)(*arguments, size=size, **keywords)


def shape_of_size(size: Any) -> tuple[int, ...]:
    """Convert a parameter `size` to a shape."""
    if size is None:
        return ()
    try:
        shape: tuple[int, ...] = (operator.index(size),)
    except TypeError:
        shape = tuple(operator.index(length) for length in size)
    if any(length < 0 for length in shape):
        raise ValueError("negative dimensions are not allowed")
    return shape


def is_capturing(device: _core.Device) -> bool:
    """Test whether the current stream of a device is captured, so that the host cannot wait for values."""
    return _core.current_stream(device).is_capturing


def on_host(values: Any) -> Any:
    """Copy a device array to the host and wait for the copy; return other arguments unchanged."""
    return values.get() if isinstance(values, _core.GPUArray) else values


def as_float64(values: Any) -> Any:
    """Convert numbers to float64: a device array on its device, other arguments on the host."""
    return values.astype(np.float64) if isinstance(values, _core.GPUArray) else np.asarray(values, np.float64)


def result_shape(size: Any, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the result for a parameter `size` and the shapes of the other parameters."""
    shape: tuple[int, ...] = np.broadcast_shapes(*shapes)
    if size is None:
        return shape
    requested = shape_of_size(size)
    try:
        fits = np.broadcast_shapes(requested, shape) == requested
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"Output size {requested} is not compatible with broadcast dimensions of inputs {shape}.")
    return requested


def _limits(values: Any) -> Any:
    """Return the least and the greatest element of an array; both are NaN if an element is NaN."""
    if isinstance(values, _core.GPUArray):
        return np.array([values.min().item(), values.max().item()], values.dtype)
    array = np.asarray(values)
    return array if array.ndim == 0 or array.dtype.kind not in "biuf" else np.array([array.min(), array.max()])


def _check_all(name: str, arguments: tuple[Any, ...], device: _core.Device) -> None:
    """Check parameters of a distribution. The host waits for extrema of device arrays, except in a capture."""
    if any(isinstance(argument, _core.GPUArray) for argument in arguments):
        if is_capturing(device) or any(np.size(argument) == 0 for argument in arguments):
            return
        examine = on_host if name in _PAIRWISE else _limits
        arguments = tuple(examine(argument) for argument in arguments)
    shape = np.broadcast_shapes(*(np.shape(argument) for argument in arguments))
    check(name, *arguments, size=(0, *shape))


def prepared(
    name: str, arguments: tuple[Any, ...], size: Any, device: _core.Device
) -> tuple[tuple[int, ...], tuple[Parameter, ...]]:
    """Check the parameters of a distribution, and broadcast them.

    Parameters
    ----------
    name : str
        Method of NumPy's generator.
    arguments : tuple
        Numbers, host arrays or device arrays.
    size : int or tuple of ints, optional
        Size of the result.
    device : Device
        Device of the result.

    Returns
    -------
    tuple
        Shape of the result, and the parameters for `RandomSource.sample`.
    """
    if all(is_scalar(argument) for argument in arguments):
        check(name, *arguments)
        return shape_of_size(size), tuple(float(argument) for argument in arguments)
    _check_all(name, arguments, device)
    shape = result_shape(size, *(np.shape(argument) for argument in arguments))
    return shape, tuple(spread(argument, shape, device) for argument in arguments)


def spread(argument: Any, shape: tuple[int, ...], device: _core.Device) -> Parameter:
    """Convert a parameter to a number, or broadcast it to a contiguous float64 array on a device."""
    if is_scalar(argument):
        return float(argument)
    if not isinstance(argument, _core.GPUArray):
        host = np.ascontiguousarray(np.broadcast_to(np.asarray(argument, np.float64), shape))
        return _core.asarray(host, device=device)
    if argument.shape == shape and argument.dtype == np.float64 and argument.flags.c_contiguous:
        return argument
    array = _core.empty(shape, np.float64, device=device)
    array[...] = argument
    return array
