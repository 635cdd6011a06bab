"""Random numbers on a device, as `numpy.random` has them: `default_rng` makes a `Generator` over NumPy's Philox."""

from PyGPU._random.generator import Generator, default_rng

__all__ = ["Generator", "default_rng"]
