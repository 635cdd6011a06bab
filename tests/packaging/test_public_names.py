"""Test that every import path of PyGPU 0.1.0 still exists and gives the same kind of object."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TABLE = Path(__file__).parent / "public_names_0.1.0.txt"
FUNCTION = re.compile(r"function\((.*)\)")


def read(lines: Iterable[str]) -> dict[tuple[str, str], str]:
    """Read a list of public names, and return the kind of each name by its path."""
    found = {}
    for line in lines:
        where, name, kind = line.split(" ", 2)
        found[where, name] = kind
    return found


def lost(old: dict[tuple[str, str], str], new: dict[tuple[str, str], str]) -> list[str]:
    """Return a message for each name of `old` that is missing in `new` or has an incompatible kind in `new`."""
    missing = [f"{where}.{name}, a {kind}, is gone" for (where, name), kind in old.items() if (where, name) not in new]
    common = {key: (kind, new[key]) for key, kind in old.items() if key in new}
    changed = [
        f"{where}.{name} was a {before}, and is a {now}"
        for (where, name), (before, now) in common.items()
        if not still(before, now)
    ]
    return missing + changed


def still(before: str, now: str) -> bool:
    """Return whether a name of kind `now` can replace one of kind `before`: a function may get further parameters.

    A class may also replace a function.
    """
    if now == "class" and before.startswith("function("):
        return True
    took, takes = FUNCTION.fullmatch(before), FUNCTION.fullmatch(now)
    if took is None or takes is None:
        return before == now
    known = [name for name in took[1].split(", ") if name and not name.startswith("*")]
    return [name for name in takes[1].split(", ") if name in known] == known


def test_every_name_of_0_1_0_still_exists() -> None:
    script = ROOT / "tools" / "public_names.py"
    # Run the import in a separate process, because the import of `autoinit` makes a context current.
    said = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout
    assert lost(read(TABLE.read_text().splitlines()), read(said.splitlines())) == []


def test_comparison_of_public_names_reports_lost_and_changed_names() -> None:
    old = read(["PyGPU empty function(shape, dtype)", "PyGPU ones function(shape)", "PyGPU Stream class"])
    new = read(["PyGPU empty function(dtype, shape)", "PyGPU Stream function()"])
    assert lost(old, new) == [
        "PyGPU.ones, a function(shape), is gone",
        "PyGPU.empty was a function(shape, dtype), and is a function(dtype, shape)",
        "PyGPU.Stream was a class, and is a function()",
    ]


def test_comparison_of_public_names_accepts_additional_parameter() -> None:
    assert lost(read(["PyGPU empty function(shape)"]), read(["PyGPU empty function(shape, dtype)"])) == []
