"""Table of NumPy's functions and the PyGPU functions that implement them (NEP 18).

A NumPy function that is not in the table raises an error. Only the functions in ``ON_HOST`` copy arrays to the host.
"""

from __future__ import annotations

import functools

import numpy as np

from PyGPU import _core
from PyGPU._names import index

ON_HOST = frozenset({
    "array2string", "array_repr", "array_str", "save", "savetxt", "savez", "savez_compressed",
})  # fmt: skip
"""Functions that write files or strings: NumPy's function runs on host copies of the arrays."""

WITH_HOST_ARRAYS = frozenset({"array_equal"})
"""Functions that also accept host arrays: NumPy's function runs on the host, where the program reads the result."""

SUBMODULES = frozenset({"fft", "lib.scimath", "lib.stride_tricks", "linalg"})
"""NumPy's modules whose functions are looked up in PyGPU's module of the same name."""

OTHER_MODULES = {"numpy.lib._scimath_impl": "numpy.lib.scimath"}
"""Modules of NumPy's functions before NumPy 2.2, and their public names."""

OTHER_NAMES = {"a_max": "max", "a_min": "min", "newshape": "shape"}
"""NumPy's names of parameters, in any version, and PyGPU's names for them."""

WITHOUT_EFFECT = frozenset({"subok"})
"""Parameters that are ignored: a result always has the class of the array."""


_DISPATCHED = type(np.sum)
"""The class of NumPy's functions that dispatch on the classes of their arguments (NEP 18)."""


def is_dispatched(function: object) -> bool:
    """Test whether a NumPy function dispatches on its array arguments (NEP 18) and not only on ``like=`` (NEP 35)."""
    return isinstance(function, _DISPATCHED)


def has(name: str) -> bool:
    """Test whether PyGPU implements a function of the module `numpy`."""
    return name not in ON_HOST and (name in index.HOME or name in _core.__all__)


@functools.cache
def names() -> frozenset[str]:
    """Return the names of the functions in the module `numpy` that dispatch by NEP 18 or NEP 35."""
    implemented = {name for name in {*index.HOME, *_core.__all__} if is_dispatched(getattr(np, name, None))}
    return frozenset(implemented | ON_HOST | names_with_like())


@functools.cache
def names_with_like() -> frozenset[str]:
    """Return the names of NumPy's functions with ``like=`` (NEP 35) that PyGPU implements."""
    not_dispatched = {name for name in {*index.HOME, *_core.__all__} if not is_dispatched(getattr(np, name, None))}
    return frozenset(name for name in not_dispatched if "like : array_like" in (getattr(np, name, None).__doc__ or ""))
