"""The calls of a vendor's library that the Rust core makes, read from its lists of symbols."""

from __future__ import annotations

import re
from pathlib import Path

BACKEND = Path(__file__).parents[2] / "src" / "backend"


def own(vendor: str, group: str | None = None) -> list[str]:
    """The functions that only one vendor has, or has in its own form; of one group of the list, if it is named."""
    text = (BACKEND / vendor / "sys.rs").read_text()
    if group is not None:
        found = re.search(rf"^ +{group} \{{\n(.*?)^ +\}}\n", text, re.MULTILINE | re.DOTALL)
        text = found.group(1) if found else ""
    return re.findall(r"^ +fn ((?:cu|hip)\w+)\(", text, re.MULTILINE)


def shared(vendor: str) -> list[str]:
    """The functions that both vendors have, by the vendor's names; all of them are required."""
    names = re.findall(r"= (cu\w+), (hip\w+);", (BACKEND / "vendor" / "symbols.rs").read_text())
    return [pair[("cuda", "hip").index(vendor)] for pair in names]


def required(vendor: str) -> list[str]:
    """What a library must have to be taken."""
    return own(vendor, "required") + shared(vendor)


def all_of(vendor: str) -> list[str]:
    """Every function, also those that a library may lack."""
    return own(vendor) + shared(vendor)
