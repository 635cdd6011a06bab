"""Test benches/python/compare.py, which compares PyGPU with other libraries: cases, counts and output."""

import importlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import PyGPU

pytestmark = pytest.mark.enough_on("cpu")

FOLDER = Path(__file__).parents[2] / "benches" / "python"


def module(name: str) -> ModuleType:
    """Import a module from benches/python. The folder is put on the import path, because its modules import each
    other."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    return importlib.import_module(name)


def run(*arguments: str) -> subprocess.CompletedProcess:
    """Run compare.py in a separate process."""
    command = [sys.executable, str(FOLDER / "compare.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a small comparison of PyGPU and NumPy, and return the path of the result file."""
    path = tmp_path_factory.mktemp("compare") / "result.json"
    libraries = ["--libraries", "PyGPU", "NumPy", "cuda.core"]
    done = run("--quick", "--only", "device", "--sizes", "65536", "--json", str(path), *libraries)
    assert done.returncode == 0, done.stderr
    assert "| `a.device` " in done.stdout
    return path


def test_comparison_result_has_spread_and_ratio_of_each_library(measured: Path) -> None:
    results = json.loads(measured.read_text())
    assert results["rounds"] == 2
    row = next(row for row in results["calls"] if row["case"] == "a.device")
    assert set(row["spread"]) == set(row["nanoseconds"]) == {"PyGPU", "NumPy"}
    assert all(spread >= 0 for spread in row["spread"].values())
    assert row["within"] is (row["ratios"]["NumPy"] <= row["limit"])
    assert results["machine"]["PyGPU"]["backend"] == PyGPU.backend_name()


def test_benchmark_measures_transfers_at_requested_sizes(measured: Path) -> None:
    rows = json.loads(measured.read_text())["transfers"]
    ways = {row["way"] for row in rows}
    assert ways >= {"to device", "to device, strided", "from device, dropped", "from device, fresh"}
    assert {row["bytes"] for row in rows} == {65536}
    assert all(row["gigabytes_per_second"]["PyGPU"] > 0 for row in rows)


def test_result_contains_reason_for_each_missing_library(measured: Path) -> None:
    is_there = importlib.util.find_spec("cuda") is not None and PyGPU.backend_name() != "cpu"
    assert ("cuda.core" in json.loads(measured.read_text())["missing"]) is not is_there


def test_compare_from_saved_result_writes_tables_of_that_result(measured: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert run("--from", str(measured), "--markdown", str(page)).returncode == 0
    assert page.read_text() == module("report").document(json.loads(measured.read_text()))


def test_plots_are_drawn_from_saved_result(measured: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    done = run("--from", str(measured), "--plots", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "bandwidth.svg").read_text().count("<svg") == 1


def test_spread_is_difference_between_rounds_adjacent_to_median() -> None:
    assert module("compare").spreads({"PyGPU": [1.0, 2.0, 4.0], "NumPy": [None, 3.0, 3.0]}) == {
        "PyGPU": 1.5,
        "NumPy": 0.0,
    }


def test_lines_of_comparison_result_file_are_short(tmp_path: Path) -> None:
    result = {"rows": [{"what": "sum", "GB/s": 1 / 3, "none": None}] * 9, "machine": {"cores": 2}, "empty": {}}
    module("machine").write(tmp_path / "result.json", result)
    text = (tmp_path / "result.json").read_text()
    assert json.loads(text) == {**result, "rows": [{"what": "sum", "GB/s": 0.333333, "none": None}] * 9}
    assert max(map(len, text.splitlines())) <= module("machine").LINE
    assert len(text.splitlines()) == 15


def test_ratio_between_libraries_is_median_over_ratios_per_round() -> None:
    series = {"PyGPU": [1.0, 20.0, 3.0], "NumPy": [2.0, 40.0, None], "CuPy": [None, None, 1.0]}
    assert module("compare").ratios(series) == {"NumPy": 0.5, "CuPy": 3.0}


def goal(what: str, calls: dict[str, float], transfers: dict[str, float] | None = None) -> dict[str, Any]:
    """Evaluate the goal named `what` for results of one call and one transfer. The arguments map the names of libraries
    to measured values."""
    rows = [{"case": "event.record(stream)", "nanoseconds": calls}]
    ways = [{"way": "to device", "bytes": 1 << 30, "gigabytes_per_second": transfers or {}}]
    results = {"backend": "cuda", "calls": rows, "transfers": ways}
    return next(row for row in module("performance_goals").evaluate(results) if row["what"] == what)


def test_goal_relative_to_driver_time_changes_with_measured_driver_time() -> None:
    row = goal("event record", {"PyGPU": 250, "floor": 200, "CuPy": 1300, "torch": 900, "NumPy": 1})
    assert (row["goal"], row["within"], row["best_peer"], row["floor"]) == (260, True, "torch", 200)
    assert goal("event record", {"PyGPU": 261, "floor": 200})["within"] is False
    assert goal("event record", {"PyGPU": 261})["within"] is None


def test_transfer_goal_is_met_at_required_rate_and_shows_fastest_library() -> None:
    what = "to_gpu, pageable float32, 1 GiB"
    row = goal(what, {}, {"PyGPU": 49.9, "CuPy": 10.1, "torch": 9.3})
    assert (row["within"], row["best_peer"], row["best_peer_figure"]) == (False, "CuPy", 10.1)
    assert goal(what, {}, {"PyGPU": 50.0})["within"] is True
    assert goal(what, {})["PyGPU"] is None


def test_cpu_transfer_goal_is_relative_to_numpy_copy() -> None:
    rates = {"PyGPU": 8.9, "NumPy": 10.0}
    ways = [{"way": "to device", "bytes": size, "gigabytes_per_second": rates} for size in (1 << 16, 1 << 20)]
    (row,) = module("performance_goals").evaluate({"backend": "cpu", "calls": [], "transfers": ways})
    assert (row["what"], row["goal"], row["within"]) == ("to_gpu, 1 MiB", 9.0, False)


def test_every_goal_refers_to_measured_case_or_transfer() -> None:
    cases = {case.name for case in module("small_calls").CASES}
    ways = set(module("transfers").pygpu(module("transfers").Arrays(65536)))
    for row in module("performance_goals").GOALS:
        assert row.name in (ways if row.size else cases), row.what
        assert row.floor in ways or not row.size
