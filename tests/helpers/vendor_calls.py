"""Read which functions of the vendors' libraries the Rust core calls, from its lists of symbols."""

from __future__ import annotations

import re
from pathlib import Path

BACKEND = Path(__file__).parents[2] / "src" / "backend"


def own(vendor: str, group: str | None = None) -> list[str]:
    """Return the functions that PyGPU lists for one vendor alone, because the other vendor has no counterpart."""
    text = (BACKEND / vendor / "sys.rs").read_text()
    return re.findall(r"^ +fn ((?:cu|hip)\w+)\(", text if group is None else _group(text, group), re.MULTILINE)


def shared(vendor: str, group: str | None = None) -> list[str]:
    """Return one vendor's names of the functions that PyGPU lists for both vendors: of all, or of one group."""
    text = (BACKEND / "cuda_and_hip" / "symbols.rs").read_text()
    names = re.findall(r"= (cu\w+), (hip\w+);", text if group is None else _group(text, group))
    return [pair[("cuda", "hip").index(vendor)] for pair in names]


def _group(text: str, group: str) -> str:
    found = re.search(rf"^ +{group} \{{\n(.*?)^ +\}}\n", text, re.MULTILINE | re.DOTALL)
    return found.group(1) if found else ""


def required(vendor: str) -> list[str]:
    """Return the functions that a vendor's library must have: PyGPU rejects a library without them."""
    return own(vendor, "required") + shared(vendor, "required")


def all_of(vendor: str) -> list[str]:
    """Return all functions that PyGPU calls, including those that a library may lack."""
    return own(vendor) + shared(vendor)
