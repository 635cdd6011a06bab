"""Random numbers on a device, as in `numpy.random`: `default_rng` creates a `Generator` over NumPy's Philox."""

from typing import TYPE_CHECKING, Any

from PyGPU._random import unsupported
from PyGPU._random.generator import Generator, default_rng

__all__ = ["Generator", "default_rng"]

if not TYPE_CHECKING:  # if type checkers saw `__getattr__`, they would accept any attribute

    def __getattr__(name: str) -> Any:
        raise AttributeError(unsupported.module_attribute_error(name))
