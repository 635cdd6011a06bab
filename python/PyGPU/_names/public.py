"""Decorators that mark public names; ``tools/name_index.py`` reads them and writes ``PyGPU._names.index``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["public", "public_values"]

_Object = TypeVar("_Object")


def public(group: str, /, *, host: tuple[str, ...] = ()) -> Callable[[_Object], _Object]:
    """Mark a function or a class as a public name of `PyGPU`.

    Parameters
    ----------
    group : str
        Group of docs/reference.md in which the name is listed.
    host : tuple of str, optional
        Parameters for which NumPy's function of the same name accepts an ndarray together with device arrays.

    Returns
    -------
    function
        Decorator that returns the decorated object unchanged.
    """
    del group, host
    return _unchanged


def public_values(group: str, /, *names: str) -> None:
    """Mark values of a module, such as constants, as public names of `PyGPU`.

    Parameters
    ----------
    group : str
        Group of docs/reference.md in which the names are listed.
    *names : str
        Names of values that the module defines or imports.
    """
    del group, names


def _unchanged(marked: _Object) -> _Object:
    return marked
