"""Backend of einops for device arrays; this module is imported when einops is imported.

einops finds backends by the subclasses of its base class, and requires that the module that its attribute
`framework_name` names is imported.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from einops._backends import AbstractBackend

from PyGPU import _core
from PyGPU._functions.joining import concatenate, stack
from PyGPU._functions.manipulation import tile
from PyGPU._functions.products.einsum import einsum

__all__: list[str] = []

_FLOAT_TYPES = ("float16", "float32", "float64", "bfloat16")


class Backend(AbstractBackend):  # type: ignore[misc]
    """Functions that einops calls for device arrays; each result is on the device of its argument."""

    framework_name = "PyGPU"

    def is_appropriate_type(self, tensor: Any) -> bool:
        """Test whether this backend supports an object."""
        return isinstance(tensor, _core.GPUArray)

    def from_numpy(self, x: np.ndarray[Any, Any]) -> _core.GPUArray:
        """Copy a host array to the current device."""
        return _core.to_gpu(x)

    def to_numpy(self, x: _core.GPUArray) -> np.ndarray[Any, Any]:
        """Copy an array to the host, for `einops.asnumpy`."""
        return x.get()

    def arange(self, start: int, stop: int) -> _core.GPUArray:
        """Return the integers from `start` to `stop - 1`."""
        return _core.arange(start, stop)

    def stack_on_zeroth_dimension(self, tensors: list[_core.GPUArray]) -> _core.GPUArray:
        """Join arrays along a new first axis."""
        return stack(tensors)

    def add_axis(self, x: _core.GPUArray, new_position: int) -> _core.GPUArray:
        """Insert an axis of length 1."""
        return _core.expand_dims(x, new_position)

    def tile(self, x: _core.GPUArray, repeats: tuple[int, ...]) -> _core.GPUArray:
        """Repeat an array along its axes."""
        return tile(x, repeats)

    def concat(self, tensors: list[_core.GPUArray], axis: int) -> _core.GPUArray:
        """Join arrays along an axis."""
        return concatenate(tensors, axis)

    def is_float_type(self, x: _core.GPUArray) -> bool:
        """Test whether an array has a floating-point dtype, which einops requires for means."""
        return x.dtype.name in _FLOAT_TYPES

    def einsum(self, pattern: str, *x: _core.GPUArray) -> _core.GPUArray:
        """Evaluate an Einstein summation."""
        return einsum(pattern, *x)
