"""Test benches/python/missed_goals.py, which compares single benchmarks with other libraries, goals and limits."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.enough_on("cpu")

FOLDER = Path(__file__).parents[2] / "benches" / "python"


@pytest.fixture(scope="module")
def rows() -> ModuleType:
    """Import missed_goals.py. Its folder is put on the import path, because the modules in the folder import each
    other."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    return importlib.import_module("missed_goals")


def test_benchmark_rate_equal_to_goal_or_higher_reaches_goal(rows: ModuleType) -> None:
    row = rows.rate("tile", "tile", 4000)
    values = {"tile": {"PyGPU": 3900.0, "torch": 1000.0, "cupy": 1300.0}, rows.COPY: {"PyGPU": 4100.0}}
    found = row.evaluate({"device": rows.Results(values, {"tile": {"PyGPU": 3800.0}})})
    assert (found["met"], found["ratio"], found["best_peer"], found["limit"]) == (False, 3.0, "cupy", 4100.0)
    assert found["kind"] == "burst"
    values["tile"]["PyGPU"] = 4000.0
    assert row.evaluate({"device": rows.Results(values)})["met"] is True


def test_benchmark_without_goal_is_compared_with_fastest_other_library(rows: ModuleType) -> None:
    row = next(row for row in rows.ROWS if row.what == "cholesky of 4096, float32")
    for own, met in ((10.1, True), (10.3, False)):
        found = row.evaluate({row.group: rows.Results({row.call: {"PyGPU": own, "torch": 10.0, "cupy": 12.0}})})
        assert (found["met"], found["best_peer"]) == (met, "torch")
    assert row.evaluate({})["met"] is None


def test_goal_relative_to_driver_requires_measured_time_of_driver(rows: ModuleType) -> None:
    row = next(row for row in rows.ROWS if row.what == "launch, 5 arguments")
    assert row.evaluate({"launch": rows.Results({row.call: {"PyGPU": 3.0}})})["met"] is None
    found = row.evaluate({"launch": rows.Results({row.call: {"PyGPU": 3.0, "floor": 2.75}})})
    assert (found["met"], found["goal"]) == (True, 3.05)


def test_benchmarks_of_missed_goals_have_known_groups_and_distinct_names(rows: ModuleType) -> None:
    assert len({row.what for row in rows.ROWS}) == len(rows.ROWS)
    assert {row.group for row in rows.ROWS} == set(rows.GROUPS)


def test_quick_run_of_missed_goals_measures_selected_benchmarks(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    command = [sys.executable, str(FOLDER / "missed_goals.py"), "--quick", "--json", str(path)]
    command += ["--rows", "tril", "cholesky of 1000 x 16"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = json.loads(path.read_text())
    assert [row["what"] for row in results["rows"]] == ["tril", "cholesky of 1000 x 16, float32"]
    assert all(row["PyGPU"] > 0 for row in results["rows"])
    assert results["rows"][0]["sustained"]["PyGPU"] > 0
    assert "not met" in done.stdout
