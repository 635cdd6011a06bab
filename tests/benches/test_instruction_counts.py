"""Test the comparison of instruction counts of small calls: regressions, and counts that cannot be compared."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.enough_on("cpu")

PROGRAM = Path(__file__).parents[2] / "benches" / "python" / "instruction_counts.py"
VERSIONS = {"python": "3.11.7", "numpy": "2.4.6", "machine": "x86_64"}
BEFORE = {"the loop alone": {"PyGPU": 85, "NumPy": 85}, "a[1]": {"PyGPU": 1000, "NumPy": 1000}, "ptr": {"PyGPU": 400}}


@pytest.fixture(scope="module")
def instructions() -> ModuleType:
    spec = importlib.util.spec_from_file_location("instruction_counts", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def counts(view: int, numpy: int = 1000, ptr: int = 400) -> dict[str, dict[str, int]]:
    """Return the instruction counts of one run, by call and library."""
    return BEFORE | {"a[1]": {"PyGPU": view, "NumPy": numpy}, "ptr": {"PyGPU": ptr}}


def test_call_with_more_instructions_than_baseline_is_regression(instructions: ModuleType) -> None:
    assert instructions.regressions(counts(1049), BEFORE) == []
    assert instructions.regressions(counts(500), BEFORE) == []
    assert instructions.regressions(counts(1051), BEFORE) == ["a[1]: 1051 instructions, 1000 in the baseline"]


def test_call_missing_from_baseline_is_reported(instructions: ModuleType) -> None:
    assert instructions.regressions({"new": {"PyGPU": 1}}, BEFORE) == ["new is not in the baseline"]


def test_instruction_ratio_to_numpy_is_compared_on_other_python_version(instructions: ModuleType) -> None:
    assert instructions.ratio_regressions(counts(2300, 2000, ptr=9000), BEFORE) == []
    found = instructions.ratio_regressions(counts(2500, 2000), BEFORE)
    assert found == ["a[1]: 1.25 of NumPy's instructions, 1.00 in the baseline"]


def test_instruction_counts_of_different_machines_are_not_compared(instructions: ModuleType) -> None:
    baseline = {"versions": VERSIONS, "counts": BEFORE}
    assert instructions.other_machine(counts(5000), VERSIONS, baseline) is None
    assert "3.13.0" in instructions.other_machine(counts(1000), VERSIONS | {"python": "3.13.0"}, baseline)
    other = {"the loop alone": {"PyGPU": 85, "NumPy": 99}, "a[1]": {"PyGPU": 1000, "NumPy": 1100}}
    assert "NumPy's own calls" in instructions.other_machine(other, VERSIONS, baseline)


def test_baseline_contains_every_call(instructions: ModuleType) -> None:
    baseline = json.loads(instructions.BASELINE.read_text())
    assert set(baseline["versions"]) == set(VERSIONS)
    assert list(baseline["counts"]) == list(instructions.CALLS)
