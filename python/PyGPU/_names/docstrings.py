"""The decorator `documented_like`, which completes a docstring from the docstring of a similar function."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, TypeVar, cast

__all__ = ["documented_like"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_HEADING = re.compile(r"\n\n(?=(\w+)\n-{3,}\n)")
_NOT_INHERITED = ("", "Examples")
"""Sections that are not inherited: the summary and the examples."""


def documented_like(base: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """Return a decorator that copies missing sections and parameters from the docstring of a similar function.

    Parameters
    ----------
    base : callable
        The similar function; its docstring is complete, with all sections in order.

    Returns
    -------
    callable
        Decorator that completes the docstring and returns the function itself.

    Examples
    --------
    >>> from PyGPU._names.docstrings import documented_like
    >>> def scale(a, by):
    ...     '''Multiply.
    ...
    ...     Parameters
    ...     ----------
    ...     a : GPUArray
    ...     by : float
    ...     '''
    >>> @documented_like(scale)
    ... def shift(a, by):
    ...     '''Add.'''
    >>> print(shift.__doc__)
    Add.
    <BLANKLINE>

    Parameters
    ----------
    a : GPUArray
    by : float
    """

    def complete(function: _Function) -> _Function:
        # In `python -OO` docstrings are None.
        if base.__doc__ is not None and function.__doc__ is not None:
            inherited, own_sections = _sections(base.__doc__), _sections(function.__doc__)
            sections = {name: text for name, text in inherited.items() if name not in _NOT_INHERITED} | own_sections
            if "Parameters" in inherited:
                entries = {**_parameters(inherited["Parameters"]), **_parameters(own_sections.get("Parameters", ""))}
                sections["Parameters"] = "\n".join(_parameter_section(function, entries))
            names = ["", *(name for name in inherited if name in sections and name not in _NOT_INHERITED), "Examples"]
            function.__doc__ = "\n\n".join(sections[name] for name in names if name in sections)
        return function

    return complete


@functools.lru_cache(maxsize=8)
def _sections(text: str) -> dict[str, str]:
    """Split a docstring into its sections, by headings; the summary has an empty heading."""
    summary, *parts = _HEADING.split(inspect.cleandoc(text))
    return {"": summary, **dict(zip(parts[::2], parts[1::2], strict=True))}


def _parameters(section: str) -> dict[str, str]:
    """Split the section ``Parameters`` into the texts of its parameters; several parameters may share one text."""
    entries = re.split(r"\n(?=\S)", section)[2:]
    return {name: entry for entry in entries for name in entry.partition("\n")[0].partition(" : ")[0].split(", ")}


def _parameter_section(function: Callable[..., Any], entries: dict[str, str]) -> Iterator[str]:
    """Yield the section ``Parameters`` of a function, in the order of its signature."""
    code = cast(FunctionType, function).__code__
    yield "Parameters\n----------"
    yield from dict.fromkeys(entries[name] for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
