"""Test the script that checks large arrays: the script passes for small arrays, and detects each kind of error."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import PyGPU
from large_array_support import case_registry, element_rules
from large_array_support.array_checker import ArrayChecker
from large_array_support.element_rules import BYTES, P, Rule
from support import child_environment

# A run on CUDA alone suffices, because the script is the same on every backend.
pytestmark = pytest.mark.enough_on("cuda")

SCRIPT = Path(__file__).with_name("run_large.py")
ELEMENTS = 5000
LOST: list[PyGPU.GPUArray] = []


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """Return the script as a module."""
    spec = importlib.util.spec_from_file_location("run_large", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[[case_registry.Case], None]:
    """Return a function that replaces the script's cases by one case, in a case family named "planted"."""

    def replace(function: case_registry.Case) -> None:
        monkeypatch.setattr(case_registry, "CASES", {})
        case_registry.CASES["planted"] = {"case": function}

    return replace


@pytest.mark.starts_processes
def test_large_array_cases_pass_with_small_arrays_on_cpu(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    environment = {**child_environment(), "PYGPU_BACKEND": "cpu"}
    arguments = ["--elements", str(ELEMENTS), "--fusion", "auto", "--json", str(report)]
    done = subprocess.run(
        [sys.executable, SCRIPT, *arguments], env=environment, capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(report.read_text())
    assert [one for one in found["cases"] if one["failure"]] == []
    case_registry.load()
    assert {one["family"] for one in found["cases"]} == set(case_registry.CASES)
    assert all(one["elements"] >= ELEMENTS // P * P for one in found["cases"])


def test_large_array_cases_run_in_both_fusion_modes(script: ModuleType, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    before = PyGPU._core._get_fusion()
    assert script.main(["--elements", str(ELEMENTS), "--family", "elementwise", "--json", str(report)]) == 0
    assert PyGPU._core._get_fusion() == before
    found = json.loads(report.read_text())
    assert [one["mode"] for one in found["cases"]] == sorted(one["mode"] for one in found["cases"])
    assert {(one["mode"], one["family"]) for one in found["cases"]} == {("auto", "elementwise"), ("off", "elementwise")}
    assert found["failed"] == 0
    assert found["peak_bytes"] > ELEMENTS


def test_large_array_check_fails_if_one_element_of_result_is_wrong(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong_at_end(*arguments: Any, **options: Any) -> PyGPU.GPUArray:
        sums = cumsum(*arguments, **options)
        sums.reshape(-1)[-1:] += 1
        return sums

    cumsum = PyGPU.cumsum
    monkeypatch.setattr(PyGPU, "cumsum", wrong_at_end)
    assert script.main(["--elements", str(ELEMENTS), "--family", "scans", "--fusion", "off"]) == 1
    assert "5 cases, 3 failed" in capsys.readouterr().out


def last_element_is_wrong(large: ArrayChecker) -> None:
    array = large.bytes(large.elements)
    array[-1] = 255
    large.check(array, Rule(BYTES))


def rule_is_wrong(large: ArrayChecker) -> None:
    large.check(large.bytes(large.elements), Rule(np.roll(BYTES, 1)))


def one_part_is_read_wrongly(large: ArrayChecker) -> None:
    # Call only the comparison on the host, with expected values that are shifted by one element.
    array = large.bytes(large.elements)
    large._check_parts(array, Rule(BYTES, start=1), None, "")


def difference_is_wrong(large: ArrayChecker) -> None:
    sums = PyGPU.cumsum(large.bytes(large.elements), dtype=np.uint8)
    sums[7:] += 1
    large.check_steps(sums, Rule(BYTES), axis=0)


def number_is_not_near(large: ArrayChecker) -> None:
    large.check(large.bytes(large.elements, np.ones(1, np.float32)), Rule(np.full(1, 1.01, np.float32)), least=1e-3)


def number_is_nan(large: ArrayChecker) -> None:
    large.check(large.bytes(large.elements, np.full(1, np.nan, np.float32)), Rule(np.ones(1, np.float32)), least=1e-3)


def value_is_wrong(large: ArrayChecker) -> None:
    large.check_value(large.bytes(large.elements).sum(), element_rules.total(BYTES, large.elements) + 1, "sum")


def type_is_wrong(large: ArrayChecker) -> None:
    large.check(large.bytes(large.elements).astype(np.uint16), Rule(BYTES))


def order_is_wrong(large: ArrayChecker) -> None:
    large.check(large.bytes((10, 10)).T, Rule(BYTES))


def array_is_kept(large: ArrayChecker) -> None:
    LOST.append(large.bytes(large.elements))


def operation_raises(large: ArrayChecker) -> None:
    large.bytes(large.elements).reshape(3, 7)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (last_element_is_wrong, f"1 of {ELEMENTS} elements are wrong; the first is {ELEMENTS - 1} of"),
        (rule_is_wrong, f"{ELEMENTS} of {ELEMENTS} elements are wrong; the first is 0"),
        (one_part_is_read_wrongly, "elements 0 to 7 are"),
        (difference_is_wrong, f"1 of {ELEMENTS} elements are wrong; the first is 7"),
        (number_is_not_near, f"{ELEMENTS} of {ELEMENTS} elements are wrong"),
        (number_is_nan, f"{ELEMENTS} of {ELEMENTS} elements are wrong"),
        (value_is_wrong, "sum: "),
        (type_is_wrong, "the result is uint16"),
        (order_is_wrong, "expected uint8 in C order"),
        (array_is_kept, "bytes of arrays are in use after the case"),
        (operation_raises, "ValueError: "),
    ],
)
def test_large_array_check_fails_and_names_case_with_wrong_result(
    case: case_registry.Case,
    message: str,
    script: ModuleType,
    only: Callable[[case_registry.Case], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    only(case)
    monkeypatch.setattr(script, "CASES", case_registry.CASES)
    assert script.main(["--elements", str(ELEMENTS), "--fusion", "off"]) == 1
    LOST.clear()
    printed = capsys.readouterr().out
    assert "off  planted: case:" in printed
    assert message in printed
    assert "1 cases, 1 failed" in printed


def test_rule_for_elements_of_large_array_gives_numpys_values() -> None:
    size = (1 << 32) + 5
    positions = np.array([0, (1 << 31) - 1, 1 << 31, (1 << 32) + 4])
    np.testing.assert_array_equal(Rule(BYTES).at(positions), BYTES[positions % P])
    backwards = Rule(BYTES).over((size,), -1, start=size - 1)
    np.testing.assert_array_equal(backwards.at(positions), BYTES[(size - 1 - positions) % P])
    growing = Rule(np.arange(P, dtype=np.uint32), growth=P)
    np.testing.assert_array_equal(growing.at(positions), positions.astype(np.uint32))
    rows = Rule(BYTES).over((1 << 20, 5000), 7, 3)
    np.testing.assert_array_equal(rows.at(positions), BYTES[(positions // 5000 * 7 + positions % 5000 * 3) % P])
    steps = element_rules.joint((2, 1), (5, 0))
    found = (3 * steps[0] + 10 * steps[1]) % (P * element_rules.Q)
    assert (found % P, found % element_rules.Q) == (16, 15)
    for function in element_rules.REDUCTIONS:
        elements = BYTES[(np.arange(P)[:, None] + 5 * np.arange(1000)) % P]
        np.testing.assert_allclose(
            element_rules.reduced(function, BYTES, 5, 1000), getattr(np, function)(elements, axis=1)
        )
