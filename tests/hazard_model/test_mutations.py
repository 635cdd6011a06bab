"""Test the tools that insert defects into the sources: each text that the tools replace exists.

No test builds the changed sources.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.enough_on("cpu")
ROOT = Path(__file__).parents[2]


def test_each_defect_to_insert_changes_text_of_its_source_file() -> None:
    tool = runpy.run_path(str(ROOT / "tests/hazard_model/mutations.py"))
    defects = [(tool["FILE"], *row) for row in tool["MUTATIONS"]] + tool["OF_DEFERRED"]
    assert len(defects) > 40
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file, *_ in defects}
    assert [name for file, name, before, _ in defects if before not in texts[file]] == []
    assert [name for file, name, before, after in defects if texts[file].replace(before, after) == texts[file]] == []


def test_flush_calls_are_found_and_flush_functions_can_be_instrumented() -> None:
    tool = runpy.run_path(str(ROOT / "tests/fusion/flush_mutations.py"))
    changed = tool["instrumented"]()
    for file, text in changed.items():
        assert text != (ROOT / file).read_text(encoding="utf-8")
    functions = {site.function for site in tool["call_sites"]()}
    assert functions >= {"synchronize", "materialize", "push_after_flush", "make_room"}
    assert len(list(tool["call_sites"]())) > 60
