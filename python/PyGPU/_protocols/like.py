"""NumPy's functions that make arrays, called with ``like=a``: what they make is where `a` is."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from PyGPU import _core

__all__: list[str] = []


def beside(name: str) -> Callable[..., Any]:
    """Return the package's function of a name, to which the array that ``like=`` names is given first."""
    own: Callable[..., Any] = getattr(importlib.import_module("PyGPU"), name)

    def make(like: _core.GPUArray, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        return own(*args, device=device or like.device, **kwargs)

    return make
