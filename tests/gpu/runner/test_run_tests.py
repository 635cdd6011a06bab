"""Test the parallel run of test files on a device: order of the files, outcomes, second runs, time limits, and the
result."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

# The script starts a process of pytest for each file, on any backend.
pytestmark = [pytest.mark.enough_on("cuda"), pytest.mark.starts_processes]
SCRIPT = Path(__file__).with_name("run_tests.py")


def load(name: str) -> ModuleType:
    """Import a module of this folder, which is on the import path of the scripts only."""
    sys.path.insert(0, str(SCRIPT.parent))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


one_process = load("one_process")
NO_MEMORY = load("reports").NO_MEMORY

PASSES = """
import pytest
def test_passes(): pass
def test_skips(): pytest.skip("a reason")
@pytest.mark.whole_device
def test_fills(): pass
"""
FAILS = "def test_fails(): assert 1 == 2"
# Each of the following test files fails at its first run and passes at its second run. The code `FIRST` detects the
# first run.
FIRST = """
import os, time
from pathlib import Path
mark = Path(__file__).with_suffix(".seen")
first = not mark.exists()
mark.touch()
"""
LACKS = (
    FIRST + "def test_lacks():\n    if first: raise MemoryError('CUDA_ERROR_OUT_OF_MEMORY: no memory for a context')"
)
CRASHES = FIRST + "def test_crashes():\n    if first: os.abort()"
HANGS = FIRST + "def test_hangs():\n    if first: time.sleep(1000)"
MANY = "import pytest\n@pytest.mark.parametrize('number', range(50))\ndef test_many(number): assert number != 20"
BREAKS = FIRST + "def test_breaks(): assert not first"
DIES = "import os\ndef test_dies(): os._exit(7)"
LARGE = FIRST + "def test_large():\n    if first: held = bytearray(b'x') * (400 << 20); time.sleep(20)"
INI = """
[pytest]
addopts = --import-mode=importlib -p no:zarr
markers = whole_device: fills the device
filterwarnings = error
timeout = 100
"""


def make(folder: Path, **texts: str) -> None:
    (folder / "pytest.ini").write_text(INI)
    for name, text in texts.items():
        path = folder / "tests" / f"test_{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def run(folder: Path, *arguments: str, seed: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYGPU_BACKEND": "cpu"}
    command = [sys.executable, str(SCRIPT), "--processes", "2", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def result(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "build" / "results" / "gpu-tests.json").read_text())
    return found


def test_run_repeats_failed_files_alone_and_reports_outcomes_of_both_runs(tmp_path: Path) -> None:
    texts = {"lacks": LACKS, "crashes": CRASHES, "hangs": HANGS, "breaks": BREAKS, "dies": DIES, "fails": FAILS}
    make(tmp_path, passes=PASSES, large=LARGE, **texts)
    done = run(tmp_path, "--limit", "6", "--host-gib", "0.3")
    assert done.returncode == 1, done.stdout + done.stderr
    found = result(tmp_path)
    assert found["total"] == {"passed": 6, "skipped": 1, "failed": 2}
    assert [one["test"] for one in found["failures"]] == [
        "tests.test_breaks::test_breaks",
        "tests.test_fails::test_fails",
    ]
    assert {Path(one["file"]).stem: (one["why"], one["alone"]) for one in found["run_again_alone"]} == {
        "test_breaks": ("a test failed", "passed"),
        "test_crashes": ("crashed: signal 6", "passed"),
        "test_dies": ("exit status 7", "exit status 7"),
        "test_fails": ("a test failed", "1 failed"),
        "test_hangs": ("stopped: time", "passed"),
        "test_large": ("stopped: host memory", "passed"),
        "test_lacks": ("no device memory", "passed"),
    }
    assert [(one["file"], one["why"]) for one in found["incomplete"]] == [("tests/test_dies.py", "exit status 7")]
    assert found["not_run"] == []
    counts = dict(zip(found["columns"], found["files"]["tests"]["test_passes.py"], strict=True))
    assert (counts["passed"], counts["failed"], counts["skipped"]) == (2, 0, 1)
    assert found["skips"] == {"a reason": 1}
    assert found["machine"]["versions"]["numpy"]
    log = min((tmp_path / "build/results/gpu-tests-logs").glob("*-test_hangs.log"))
    assert "test_hangs" in log.read_text(), "the log has no stack"


def test_run_stops_at_total_time_limit_and_names_files_without_result(tmp_path: Path) -> None:
    make(tmp_path, hangs="import time\ndef test_hangs(): time.sleep(1000)", other="def test_other(): pass")
    done = run(tmp_path, "--processes", "1", "--total", "4")
    assert done.returncode == 1
    assert result(tmp_path)["not_run"] == ["tests/test_hangs.py", "tests/test_other.py"]
    assert result(tmp_path)["incomplete"] == [{"file": "tests/test_hangs.py", "why": "stopped: total time"}]


def test_test_files_are_divided_by_earlier_run_times_for_any_hash_seed(tmp_path: Path) -> None:
    names = ["a", "b", "c", "d", "e"]
    make(tmp_path, **{name: "def test_it(): pass" + " " * (10 * (name == "e")) for name in names})
    seconds = {
        "test_a.py": [1, 0, 0, 2.0],
        "test_b.py": [1, 0, 0, 9.0],
        "test_c.py": [1, 0, 0, 3.5],
        "test_d.py": [1, 0, 0, 1],
    }
    earlier = {"columns": ["passed", "failed", "skipped", "seconds"], "files": {"tests": seconds}}
    (tmp_path / "earlier.json").write_text(json.dumps(earlier))
    orders = {run(tmp_path, "--list", "--seconds-of", "earlier.json", seed=seed).stdout for seed in (1, 2)}
    assert orders == {"tests/test_b.py\ntests/test_e.py\ntests/test_c.py, tests/test_a.py\ntests/test_d.py\n"}


def test_parts_of_long_file_run_each_test_once_and_are_rerun_alone(tmp_path: Path) -> None:
    make(tmp_path, many=MANY)
    earlier = {"columns": ["seconds"], "files": {"tests": {"test_many.py": [100.0]}}}
    (tmp_path / "earlier.json").write_text(json.dumps(earlier))
    done = run(tmp_path, "--seconds-of", "earlier.json", "--", "--deselect", "tests/test_many.py::test_many[7]")
    assert done.returncode == 1, done.stdout + done.stderr
    found = result(tmp_path)
    assert found["total"] == {"passed": 48, "failed": 1}
    assert [one["test"] for one in found["failures"]] == ["tests.test_many::test_many[20]"]
    [repeated] = found["run_again_alone"]
    assert repeated == {"file": "tests/test_many.py (2 of 3)", "why": "a test failed", "alone": "1 failed"}
    listed = run(tmp_path, "--list", "--seconds-of", "earlier.json").stdout.splitlines()
    assert listed == [f"tests/test_many.py ({part} of 3)" for part in (1, 2, 3)]


def test_neighbouring_tests_are_in_same_part_and_parts_have_equal_sizes() -> None:
    for count, parts in ((0, 2), (3, 5), (50, 3), (1274, 11)):
        chosen = [one_process.in_part(count, part, parts) for part in range(parts)]
        assert sorted(position for part in chosen for position in part) == list(range(count))
        assert max(map(len, chosen)) - min(map(len, chosen)) <= one_process.NEIGHBOURS
    assert one_process.in_part(1274, 1, 11)[:9] == [*range(8, 16), 96]


def test_process_waits_until_device_has_memory_for_context() -> None:
    def device(errors: list[str]) -> SimpleNamespace:
        def zeros(count: int) -> None:
            if errors:
                raise RuntimeError(errors.pop(0))

        return SimpleNamespace(zeros=zeros)

    full = "cuDevicePrimaryCtxRetain failed on cuda:0: CUDA_ERROR_OUT_OF_MEMORY (2)"
    errors = [full, full]
    assert one_process.wait_for_memory(device(errors), NO_MEMORY, pause=0)
    assert errors == []
    assert not one_process.wait_for_memory(device(["CUDA_ERROR_INVALID_DEVICE", full]), NO_MEMORY, pause=0)
    assert not one_process.wait_for_memory(device([full] * 3), NO_MEMORY, wait=0, pause=0.01)


def test_arguments_after_two_dashes_are_passed_to_pytest(tmp_path: Path) -> None:
    make(tmp_path, passes=PASSES, other="def test_left_out(): pass")
    done = run(tmp_path, "tests/test_passes.py", "--", "-k", "not skips", "-m", "not absent")
    assert done.returncode == 0, done.stdout + done.stderr
    assert result(tmp_path)["total"] == {"passed": 2}
    assert run(tmp_path, "tests/absent").returncode == 1
