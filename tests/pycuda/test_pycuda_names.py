"""Test the table of PyCUDA's names in docs/porting_from_pycuda.md."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.enough_on("cpu")

PAGE = Path(__file__).parents[2] / "docs" / "porting_from_pycuda.md"


def rows() -> Iterator[tuple[str, str, str]]:
    """Yield a PyCUDA module, a name in the module and its status (same, different or absent) from each row of the
    table."""
    module = ""
    for line in PAGE.read_text().split("## Every name")[1].splitlines():
        if heading := re.fullmatch(r"### `([\w.]+)`", line):
            module = heading[1]
        elif (row := line.split("|")) and len(row) == 5 and row[2].strip() in ("same", "differs", "no"):
            for name in re.findall(r"`(\w+)`", row[1]):
                yield module, name, row[2].strip()


@pytest.mark.parametrize(("module", "name", "how"), list(rows()))
def test_pycuda_name_exists_unless_porting_table_lists_it_as_absent(module, name, how):
    try:
        found = hasattr(importlib.import_module(module), name)
    except ModuleNotFoundError:
        found = False
    assert found == (how != "no")


def test_porting_table_has_over_150_rows():
    assert len(list(rows())) > 150
