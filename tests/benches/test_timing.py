"""Test benches/python/timing.py, which compares calls of PyGPU with calls of other libraries."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

import PyGPU

pytestmark = pytest.mark.enough_on("cuda")

FOLDER = Path(__file__).parents[2] / "benches" / "python"


@pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="the CPU backend defers nothing")
@pytest.mark.parametrize("deferred", [False, True])
def test_benchmark_defers_operations_only_on_request(deferred: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr(sys, "argv", ["timing.py", "--rounds", "1", "--bytes", "64"])
    x = PyGPU.ones(16, "float32")

    def large(library: Any, count: int) -> dict[str, Any]:
        return {"add": (lambda: x + x, 3 * 4 * count)}

    with PyGPU.fusion("auto"), PyGPU.fusion_report() as report:
        importlib.import_module("timing").measure(
            "", "timing", large, lambda library: {}, names=["PyGPU"], deferred=deferred
        )
    assert (report.operations > 0) == deferred
