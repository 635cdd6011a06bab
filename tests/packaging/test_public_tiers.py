"""Test the tiers of public names: each name has one tier, and docs/policies.md contains the number of names in each
tier."""

from __future__ import annotations

import builtins
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import PyGPU
from PyGPU._names import index
from PyGPU._protocols import lazy_names
from PyGPU._protocols.tiers import TIERS, tier_of

pytestmark = pytest.mark.enough_on("cpu")
ROOT = Path(__file__).parents[2]
STUB = (ROOT / "python/PyGPU/__init__.pyi").read_text(encoding="utf-8")


def names() -> set[str]:
    """Return all public names of `PyGPU`: declared names, PybindGPU's names and modules."""
    of_python = {name for name in dir(PyGPU) if hasattr(builtins, name)}
    return {*lazy_names.everything(), *of_python, *lazy_names.MODULES}


@pytest.fixture
def tiers(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Return the module `tiers` from the folder `tools`."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import tiers

    yield tiers
    sys.modules.pop("tiers", None)


def test_policies_page_states_how_many_names_each_tier_has() -> None:
    page = (ROOT / "docs/policies.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| (\d+) \|", page, re.MULTILINE)
    assert {tier: int(count) for tier, count in rows} == Counter(map(tier_of, names()))


def test_each_public_name_has_one_tier_and_tables_have_no_other_names(tiers: ModuleType) -> None:
    listed = [name for one in index.TIERS.values() for name in one]
    assert len(listed) == len(set(listed))
    assert set(listed) <= names()
    assert set(tiers.MODULES) == set(lazy_names.MODULES)
    assert {tiers.STABLE, *index.TIERS} == set(TIERS)


def test_name_has_tier_of_its_group_unless_listed_with_other_tier(tiers: ModuleType) -> None:
    for group, members in index.GROUPS.items():
        for name in members:
            assert tier_of(name) == tiers.EXCEPTIONS.get(name, tiers.GROUPS[group]), name
    assert tier_of("GPUArray") == "stable"
    assert tier_of("TensorMap") == "experimental"
    assert tier_of("cudaMalloc") == tier_of("DeviceArray_float32") == tier_of("as_cupy") == "compatibility"


def test_tier_of_unknown_name_raises() -> None:
    with pytest.raises(KeyError, match="PyGPU has no public name 'nothing'"):
        tier_of("nothing")


def test_stub_shows_tier_of_each_name_that_is_not_stable() -> None:
    shown = dict(re.findall(r"^    (\w+) as \w+,  # (\w+)$", STUB, re.MULTILINE))
    assert shown == {name: tier for tier, members in index.TIERS.items() for name in members}


def test_check_of_tiers_finds_unknown_names_and_modules(tiers: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    declared, modules = ["fusion_report"], [*tiers.MODULES, "added"]
    monkeypatch.setattr(tiers, "EXCEPTIONS", {"fusion_report": "experimental", "gone": "experimental"})
    monkeypatch.setattr(tiers, "MODULES", {**tiers.MODULES, "old": "stable"})
    assert list(tiers.errors(declared, modules)) == [
        "tools/tiers.py: EXCEPTIONS: no declared name 'gone'",
        "tools/tiers.py: MODULES: no module 'old'",
        "tools/tiers.py: MODULES: added has no tier",
    ]
