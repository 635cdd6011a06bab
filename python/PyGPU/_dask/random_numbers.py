"""Random numbers for Dask's arrays, drawn on the device; Dask finds the package by the classes' module."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random.generator import default_rng

__all__: list[str] = []


class Philox(np.random.Philox):
    """NumPy's bit generator, from which `PyGPU.random.default_rng` draws on the device."""


class RandomState:
    """What `da.random.RandomState` calls, over `PyGPU.random.Generator`: the same names, other numbers than NumPy's.

    Parameters
    ----------
    seed : int or sequence of ints, optional
        Where it begins.
    """

    def __init__(self, seed: Any = None) -> None:
        self._generator = default_rng(seed)

    def random_sample(self, size: Any = None) -> _core.GPUArray:
        """Draw from 0 to below 1."""
        return self._generator.random(size)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> _core.GPUArray:
        """Draw whole numbers."""
        return self._generator.integers(low, high, size, dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._generator, name)
