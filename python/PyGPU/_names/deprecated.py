"""Deprecated names of `PyGPU`, which warn at each access until a later version removes them.

To deprecate a name, delete its declaration and add an entry to `TABLE`. `dir`, the star import and the stubs then omit
the name, and ``PyGPU.__getattr__`` finds it here. To deprecate a parameter or a method, call `warn`.
"""

from __future__ import annotations

import importlib
import warnings
from types import MappingProxyType
from typing import Any, NamedTuple

__all__ = ["TABLE", "Deprecation", "find", "warn"]


class Deprecation(NamedTuple):
    """One deprecated name.

    Parameters
    ----------
    home : str
        Module and name of the object, as ``"PyGPU._functions.shapes:reshape"``.
    instead : str
        The replacement for the user's program, as ``"PyGPU.reshape(a, shape)"``.
    since : str
        First version that warns, as ``"0.3"``.
    removal : str
        First version without the name, as ``"0.4"``.
    """

    home: str
    instead: str
    since: str
    removal: str


TABLE: MappingProxyType[str, Deprecation] = MappingProxyType({})
"""The deprecated names; ``PyGPU.__deprecated__`` is this table."""


def warn(what: str, deprecation: Deprecation, *, stacklevel: int = 2) -> None:
    """Emit the warning for one use of a deprecated name, parameter or method.

    Parameters
    ----------
    what : str
        The deprecated name, parameter or method, as ``"PyGPU.old"``.
    deprecation : Deprecation
        Replacement and versions.
    stacklevel : int, optional
        Number of callers between this function and the user's program, as for `warnings.warn`.
    """
    warnings.warn(
        f"{what} is deprecated since PyGPU {deprecation.since} and will be removed in {deprecation.removal}: "
        f"use {deprecation.instead}",
        DeprecationWarning,
        stacklevel=stacklevel + 1,
    )


def find(name: str, *, stacklevel: int = 2) -> Any:
    """Return the object of a deprecated name, and emit its warning.

    Parameters
    ----------
    name : str
        A key of `TABLE`.
    stacklevel : int, optional
        Number of callers between this function and the user's program.

    Returns
    -------
    object
        The object, which still has its former behaviour.
    """
    deprecation = TABLE[name]
    warn(f"PyGPU.{name}", deprecation, stacklevel=stacklevel + 1)
    module, _, attribute = deprecation.home.partition(":")
    return getattr(importlib.import_module(module), attribute)
