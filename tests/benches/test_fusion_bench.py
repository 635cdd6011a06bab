"""Test benches/python/fusion.py, which compares deferred operations with other libraries."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import PyGPU

FOLDER = Path(__file__).parents[2] / "benches" / "python"
CPU = PyGPU.backend_name() == "cpu"


def module(name: str) -> ModuleType:
    """Import a module from benches/python. The folder is put on the import path, because its modules import each
    other."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    return importlib.import_module(name)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run fusion.py in a separate process, in the default mode."""
    command = [sys.executable, str(FOLDER / "fusion.py"), *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYGPU_FUSION"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.starts_processes
@pytest.mark.enough_on("cuda")
@pytest.mark.skipif(CPU, reason="needs a GPU")
def test_fusion_benchmark_launches_one_kernel_for_each_expression(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    small = ["--bytes", "65536", "--rounds", "1", "--turns", "1", "--small", "10", "--unaged"]
    done = run(*small, "--ways", "PyGPU", "--json", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads(path.read_text())
    assert results["failures"] == {}
    expressions = module("expressions")
    assert results["launches"] == {expression.what: 1 for expression in expressions.LARGE}
    assert len(results["rows"]) == len(expressions.LARGE) + 5
    assert all(row["PyGPU"] > 0 for row in results["rows"].values())
    assert results["machine"]["PyGPU"]["backend"] == PyGPU.backend_name()


@pytest.mark.enough_on("cpu")
@pytest.mark.skipif(not CPU, reason="of the CPU")
def test_fusion_benchmark_without_gpu_fails() -> None:
    done = run()
    assert done.returncode == 1
    assert "needs a GPU" in done.stderr


@pytest.mark.enough_on("cpu")
def test_fusion_benchmark_rejects_wrong_result_of_expression() -> None:
    expressions = module("expressions")
    for expression in expressions.LARGE:
        operands = expression.operands(1 << 16)
        results = expression.function(expressions.NUMPY, *(operand.astype(np.float64) for operand in operands))
        expression.check(operands, results, np.asarray)
        first, *others = results if isinstance(results, tuple) else (results,)
        wrong = np.array(first)
        wrong[(-1,) * wrong.ndim] += 1 + abs(wrong[(-1,) * wrong.ndim])
        with pytest.raises(AssertionError):
            expression.check(operands, (wrong, *others), np.asarray)


@pytest.mark.enough_on("cpu")
def test_fusion_benchmark_judges_goals_by_measured_values() -> None:
    fusion = module("fusion")
    rows = {
        "0.9*x + y - 2*x*y (GB/s)": {"PyGPU": 4200.0},
        f"{fusion.DROPPED} (us)": {"PyGPU": 0.5},
        f"{fusion.EACH} (us)": {"PyGPU": 6.0},
        f"{fusion.FLOOR} (us)": {"floor": 2.95},
        "Black-Scholes (GB/s)": {"PyGPU": 900.0, "CuPy": 200.0, "torch.compile": 950.0},
    }
    judged = fusion.goals(rows, {"0.9*x + y - 2*x*y": 2})
    assert [goal["within"] for goal in judged if goal["within"] is not None] == [True, False, True, True, False, False]
