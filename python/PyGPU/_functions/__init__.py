"""Functions of arrays that are a few calls of others: loaded when they are first asked for.

A function is written once, here or in the native module, and is found as ``PyGPU.f(a)`` and as ``np.f(a)`` (NEP 18).
"""

from __future__ import annotations

import importlib
from typing import Any

from PyGPU._names import index


def find(name: str) -> Any:
    """Return the function of a name."""
    return getattr(importlib.import_module(index.HOME[name]), name)
