"""Random numbers for Dask arrays, drawn on the device; Dask finds the package by ``__module__`` of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random.generator import default_rng

__all__: list[str] = []


class Philox(np.random.Philox):
    """NumPy's bit generator, from which `PyGPU.random.default_rng` draws on the device."""


class RandomState:
    """Methods that `da.random.RandomState` calls: NumPy's names, but different numbers for the same seed.

    Parameters
    ----------
    seed : int or sequence of ints, optional
        Seed of the generator.
    """

    def __init__(self, seed: Any = None) -> None:
        self._generator = default_rng(seed)

    def random_sample(self, size: Any = None) -> _core.GPUArray:
        """Draw uniform numbers from the half-open interval [0, 1)."""
        return self._generator.random(size)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> _core.GPUArray:
        """Draw uniform integers."""
        return self._generator.integers(low, high, size, dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._generator, name)
