"""Which functions of NumPy's compute with which of ours (NEP 18): the one table.

A function that is in no part of it is refused; nothing is converted but by the functions of ``ON_HOST``.
"""

from __future__ import annotations

import functools

import numpy as np

from PyGPU import _core
from PyGPU._names import index

ON_HOST = frozenset({
    "array2string", "array_repr", "array_str", "save", "savetxt", "savez", "savez_compressed",
})  # fmt: skip
"""Functions whose purpose is the host, files and texts: NumPy's own, on what ``get()`` brings there."""

WITH_HOST_ARRAYS = frozenset({"array_equal"})
"""Functions that take arrays in host memory beside ours, since somebody who looks at the values asks: on the host."""

SUBMODULES = frozenset({"fft", "linalg"})
"""Modules of NumPy's whose functions are those of our modules of the same names, as far as these have them."""

OTHER_NAMES = {"a_max": "max", "a_min": "min"}
"""NumPy's names of parameters that have others with us."""

WITHOUT_EFFECT = frozenset({"subok"})
"""Parameters that change nothing here: the class of a result is always that of our array."""


_DISPATCHED = type(np.sum)
"""The class of NumPy's functions that ask the classes of their arguments (NEP 18)."""


def is_dispatched(function: object) -> bool:
    """Whether a function of NumPy's asks the classes of its arguments; others ask only the array of ``like=``."""
    return isinstance(function, _DISPATCHED)


def has(name: str) -> bool:
    """Whether the package has a function of its own for one of NumPy's main module."""
    return name not in ON_HOST and (name in index.HOME or name in _core.__all__)


@functools.cache
def names() -> frozenset[str]:
    """Return the names of NumPy's main module that compute by NEP 18 or NEP 35."""
    own = {name for name in {*index.HOME, *_core.__all__} if is_dispatched(getattr(np, name, None))}
    return frozenset(own | ON_HOST | names_with_like())


@functools.cache
def names_with_like() -> frozenset[str]:
    """Return the names of NumPy's functions with ``like=`` that the package has (NEP 35)."""
    alone = {name for name in {*index.HOME, *_core.__all__} if not is_dispatched(getattr(np, name, None))}
    return frozenset(name for name in alone if "like : array_like" in (getattr(np, name, None).__doc__ or ""))
