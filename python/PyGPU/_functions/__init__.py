"""Functions of arrays that are a few calls of others: loaded when they are first asked for.

A function is written once, here or in the native module, and is found as ``PyGPU.f(a)`` and as ``np.f(a)`` (NEP 18).
"""

from __future__ import annotations

import importlib
from typing import Any

NAMES = {
    "manipulation": ("rot90",),
    "statistics": ("average", "cumulative_prod", "cumulative_sum", "norm"),
    "masks": ("argwhere", "compress", "extract", "flatnonzero", "nonzero", "place", "putmask"),
    "selection": ("choose", "put", "put_along_axis", "repeat", "select", "take", "take_along_axis"),
}
"""The names of each module; ``tests/functions/test_names.py`` holds it to what they define."""

_HOMES = {name: module for module, names in NAMES.items() for name in names}


def find(name: str) -> Any:
    """Return the function of a name; None if it has no home here."""
    home = _HOMES.get(name)
    return None if home is None else getattr(importlib.import_module(f"PyGPU._functions.{home}"), name)


def names() -> set[str]:
    """Return the names of all of them."""
    return set(_HOMES)
