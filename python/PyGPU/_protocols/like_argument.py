"""Support of ``like=a`` (NEP 35) in NumPy's creation functions: the result is on the device of `a`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from PyGPU import _core

__all__: list[str] = []


def with_like(name: str) -> Callable[..., Any]:
    """Return a function that calls PyGPU's creation function `name`, by default on the device of the array ``like``."""
    function: Callable[..., Any] = getattr(importlib.import_module("PyGPU"), name)

    def call(like: _core.GPUArray, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        return function(*args, device=device or like.device, **kwargs)

    return call
