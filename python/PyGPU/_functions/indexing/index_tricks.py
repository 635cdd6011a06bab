"""The objects `r_` and `c_`, whose subscripts concatenate arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.joining import concatenate
from PyGPU._names.public import public_values


class _Joined:
    """Class of `r_` and `c_`, which concatenate the numbers, slices and arrays in a subscript."""

    def __init__(self, name: str, meaning: str) -> None:
        self._name = name
        self.__doc__ = meaning

    def __getitem__(self, key: Any) -> _core.GPUArray:
        items = key if isinstance(key, tuple) else (key,)
        if any(isinstance(item, str) for item in items):
            raise TypeError(f"PyGPU.{self._name} has no directions in texts; use concatenate, stack or reshape")
        device = next((item.device for item in items if isinstance(item, _core.GPUArray)), None)
        # Python scalars do not affect the dtype of the result, unlike arrays and NumPy scalars.
        types = [
            item if isinstance(item, (int, float, complex)) else self._as_array(item, device).dtype for item in items
        ]
        parts = [self._as_joinable(self._as_array(item, device)) for item in items]
        return concatenate(parts, 0 if self._name == "r_" else -1, dtype=np.result_type(*types), casting="unsafe")

    @staticmethod
    def _as_array(item: Any, device: Any) -> _core.GPUArray:
        return _core.asarray(np.r_[item] if isinstance(item, slice) else item, device=device)

    def _as_joinable(self, item: _core.GPUArray) -> _core.GPUArray:
        if self._name == "r_" or item.ndim > 1:
            return item if item.ndim else item.reshape(1)
        return item.reshape(-1, 1)

    def __repr__(self) -> str:
        return f"PyGPU.{self._name}"


r_ = _Joined("r_", "Numbers, ranges and arrays joined along the first axis: ``r_[1:4, 0, a]``.")
c_ = _Joined("c_", "Arrays joined along the last axis, rows as columns: ``c_[a, b]``.")

public_values("Matrices and grids", "c_", "r_")
