"""Error messages for missing names of `numpy.random`."""

import numpy as np

__all__: list[str] = []


def module_attribute_error(name: str) -> str:
    """Explain why `PyGPU.random` lacks a function."""
    message = f"module 'PyGPU.random' has no attribute {name!r}"
    if name == "seed":
        return f"{message}: a seed is given to a generator, rng = PyGPU.random.default_rng(seed)"
    if name in dir(np.random) and name.islower():
        return f"{message}: numbers are drawn by a generator, rng = PyGPU.random.default_rng(seed)"
    return message


def generator_attribute_error(name: str) -> str:
    """Explain why a generator lacks a method."""
    message = f"'Generator' object has no attribute {name!r}"
    if not name.startswith("_") and name in dir(np.random.Generator):
        return f"{message}: draw them by NumPy, PyGPU.to_gpu(numpy.random.default_rng(seed).{name}(...))"
    return message
