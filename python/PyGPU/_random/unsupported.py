"""Names of `numpy.random` that `PyGPU.random` exports unchanged or does not provide."""

from typing import Any

import numpy as np

__all__: list[str] = []

NUMPYS = ("BitGenerator", "Philox", "SeedSequence")
"""Classes of NumPy that seed a generator."""


def attribute(name: str) -> Any:
    """Return a class of `numpy.random`, or raise an error that explains why `PyGPU.random` lacks the name."""
    if name in NUMPYS:
        return getattr(np.random, name)
    message = f"module 'PyGPU.random' has no attribute {name!r}"
    if name in np.random.__all__:
        message += ": its generators are over numpy.random.Philox, rng = PyGPU.random.default_rng(seed)"
    raise AttributeError(message)
