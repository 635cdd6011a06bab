"""Marks of public names; ``tools/names.py`` reads them from the source and writes ``PyGPU._names.index``."""

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
        Group of the reference to which the name belongs.
    host : tuple of str, optional
        Parameters for which NumPy's function of the name accepts an ndarray besides device arrays.

    Returns
    -------
    function
        Decorator that returns its argument.
    """
    del group, host
    return _unchanged


def public_values(group: str, /, *names: str) -> None:
    """Mark values of a module, such as constants, as names of `PyGPU`.

    Parameters
    ----------
    group : str
        Group of the reference to which the names belong.
    *names : str
        Names that the module defines or imports.
    """
    del group, names


def _unchanged(marked: _Object) -> _Object:
    return marked
