"""Test benches/python/timing.py, which times calls of several libraries alternately."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import PyGPU

FOLDER = Path(__file__).parents[2] / "benches" / "python"


@pytest.fixture(scope="module")
def timing() -> ModuleType:
    """Import timing.py. Its folder is put on the import path, because the modules in the folder import each other."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    return importlib.import_module("timing")


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize(("slow", "is_batch"), [(1, True), (2, True), (3, False)])
def test_compilation_by_first_two_calls_does_not_shorten_measurement(
    timing: ModuleType, monkeypatch: pytest.MonkeyPatch, slow: int, is_batch: bool
) -> None:
    library = timing.Library("PyGPU")
    batches: list[int] = []

    def elapsed(call: Callable[[], Any], calls: int) -> float:
        batches.append(calls)
        return 0.0

    made, now = 0, 0.0
    monkeypatch.setattr(library, "elapsed", elapsed)
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: now))

    def call() -> None:
        nonlocal made, now
        made += 1
        now += 2 * timing.LONG if made == slow else timing.LONG / 100

    library.seconds(call)
    assert batches == [timing.CALLS if is_batch else 1]


@pytest.mark.enough_on("cuda")
@pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="the CPU backend defers nothing")
@pytest.mark.parametrize("deferred", [False, True])
def test_benchmark_defers_operations_only_on_request(
    timing: ModuleType, deferred: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["timing.py", "--rounds", "1", "--bytes", "64"])
    x = PyGPU.ones(16, "float32")

    def large(library: Any, count: int) -> dict[str, Any]:
        return {"add": (lambda: x + x, 3 * 4 * count)}

    with PyGPU.fusion("auto"), PyGPU.fusion_report() as report:
        timing.measure("", "timing", large, lambda library: {}, names=["PyGPU"], deferred=deferred)
    assert (report.operations > 0) == deferred
