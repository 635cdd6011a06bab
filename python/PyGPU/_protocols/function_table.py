"""Table of NumPy's functions and the PyGPU functions that implement them (NEP 18).

Functions outside the table are rejected; only the functions of ``ON_HOST`` convert arrays.
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
    """Test whether a NumPy function dispatches on its arguments; others dispatch only on ``like=``."""
    return isinstance(function, _DISPATCHED)


def has(name: str) -> bool:
    """Test whether the package implements a function of NumPy's main module."""
    return name not in ON_HOST and (name in index.HOME or name in _core.__all__)


@functools.cache
def names() -> frozenset[str]:
    """Return the names of NumPy's main module that dispatch by NEP 18 or NEP 35."""
    own = {name for name in {*index.HOME, *_core.__all__} if is_dispatched(getattr(np, name, None))}
    return frozenset(own | ON_HOST | names_with_like())


@functools.cache
def names_with_like() -> frozenset[str]:
    """Return the names of NumPy's functions with ``like=`` that the package implements (NEP 35)."""
    alone = {name for name in {*index.HOME, *_core.__all__} if not is_dispatched(getattr(np, name, None))}
    return frozenset(name for name in alone if "like : array_like" in (getattr(np, name, None).__doc__ or ""))
