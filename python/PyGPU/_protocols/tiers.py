"""The tiers of public names: ``stable``, ``compatibility`` and ``experimental``, as docs/policies.md defines them."""

from __future__ import annotations

from PyGPU._names import index
from PyGPU._protocols import lazy_names

__all__ = ["TIERS", "tier_of"]

TIERS = ("stable", *index.TIERS)
"""The tiers; each public name has one."""

_TIER_OF = {name: tier for tier, names in index.TIERS.items() for name in names}


def tier_of(name: str) -> str:
    """Return the tier of a public name of `PyGPU`: a function, a class, a value or a module.

    Parameters
    ----------
    name : str
        The name, without ``PyGPU.``.

    Returns
    -------
    str
        One of `TIERS`.

    Raises
    ------
    KeyError
        If the name is not public.
    """
    if name in _TIER_OF:
        return _TIER_OF[name]
    if name in lazy_names.shown():
        return "stable"
    # `PyGPU.backend` also exports PybindGPU's names, which no declaration lists.
    if name in lazy_names.everything():
        return "compatibility"
    raise KeyError(f"PyGPU has no public name {name!r}")
