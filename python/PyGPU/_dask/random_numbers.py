"""Classes by which Dask draws random numbers on the device.

Dask imports the package that the attribute ``__module__`` of these classes names.
"""

from __future__ import annotations

import numpy as np

from PyGPU._random import random_state

__all__: list[str] = []


class Philox(np.random.Philox):
    """NumPy's bit generator, from which `PyGPU.random.default_rng` draws on the device."""


class RandomState(random_state.RandomState):
    """`PyGPU.random.RandomState`, which `da.random.RandomState` calls."""
