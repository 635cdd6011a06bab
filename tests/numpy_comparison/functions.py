"""Collect the public functions that PyGPU and NumPy both have, from PyGPU's declarations of public names."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import PyGPU
from PyGPU import _core
from PyGPU._names import index
from PyGPU._protocols import function_table

NOT_COMPARED = {
    "get_include": "the folder of PyGPU's headers",
    "show_config": "the configuration of PyGPU",
}
"""Functions of PyGPU that share only the name with NumPy's function, each with a description of its result."""


class Pair(NamedTuple):
    """Hold a function of PyGPU and NumPy's function of the same name."""

    name: str
    ours: Callable[..., Any]
    numpys: Callable[..., Any]

    def parameters(self) -> list[inspect.Parameter]:
        """Return the parameters of NumPy's function, or nothing if NumPy does not publish its signature."""
        try:
            return list(inspect.signature(self.numpys).parameters.values())
        except ValueError:
            return []


def _names() -> list[tuple[str, Any, Any]]:
    """Return each public name, with the namespace in PyGPU and the namespace in NumPy that contain it."""
    own = [(name, PyGPU, np) for name in {*index.HOME, *_core.__all__}]
    for module in sorted(function_table.SUBMODULES):
        ours, numpys = importlib.import_module(f"PyGPU.{module}"), importlib.import_module(f"numpy.{module}")
        own += [(f"{module}.{name}", ours, numpys) for name in ours.__all__]
    return own


@functools.cache
def pairs() -> dict[str, Pair]:
    """Return the functions that both libraries have.

    Classes are omitted, and so are NumPy's functions that do not dispatch on device arrays.
    """
    found = {}
    for name, ours, numpys in _names():
        last = name.rpartition(".")[2]
        numpys_function = getattr(numpys, last, None)
        if not callable(numpys_function) or isinstance(numpys_function, type) or name in NOT_COMPARED:
            continue
        function = getattr(ours, last)
        if function is numpys_function and not function_table.is_dispatched(function):
            continue
        found[name] = Pair(name, function, numpys_function)
    return dict(sorted(found.items()))
