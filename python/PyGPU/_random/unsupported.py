"""Error messages for missing names of `numpy.random`."""

import numpy as np

__all__: list[str] = []


def of_the_module(name: str) -> str:
    """Explain why `PyGPU.random` lacks a function."""
    told = f"module 'PyGPU.random' has no attribute {name!r}"
    if name == "seed":
        return f"{told}: a seed is given to a generator, rng = PyGPU.random.default_rng(seed)"
    if name in dir(np.random) and name.islower():
        return f"{told}: numbers are drawn by a generator, rng = PyGPU.random.default_rng(seed)"
    return told


def of_a_generator(name: str) -> str:
    """Explain why a generator lacks a method."""
    told = f"'Generator' object has no attribute {name!r}"
    if not name.startswith("_") and name in dir(np.random.Generator):
        return f"{told}: draw them by NumPy, PyGPU.to_gpu(numpy.random.default_rng(seed).{name}(...))"
    return told
