"""Test the parallel run of test files on a device: order, outcomes, second runs, limits, the result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# The script starts a process of pytest for each file, on any backend.
pytestmark = [pytest.mark.enough_on("cuda"), pytest.mark.starts_processes]
SCRIPT = Path(__file__).with_name("run_tests.py")

PASSES = """
import pytest
def test_passes(): pass
def test_skips(): pytest.skip("a reason")
@pytest.mark.whole_device
def test_fills(): pass
"""
FAILS = "def test_fails(): assert 1 == 2"
# Each of these files is good at its second run only.
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
BREAKS = FIRST + "def test_breaks(): assert not first"
DIES = "import os\ndef test_dies(): os._exit(7)"
LARGE = FIRST + "def test_large():\n    if first: held = bytearray(b'x') * (400 << 20); time.sleep(20)"
INI = """
[pytest]
addopts = --import-mode=importlib
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


def test_run_repeats_files_alone_and_reports_both_outcomes(tmp_path: Path) -> None:
    texts = {"lacks": LACKS, "crashes": CRASHES, "hangs": HANGS, "breaks": BREAKS, "dies": DIES, "fails": FAILS}
    make(tmp_path, passes=PASSES, large=LARGE, **texts)
    done = run(tmp_path, "--limit", "4", "--host-gib", "0.3")
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


def test_run_stops_at_total_limit_and_names_files_without_result(tmp_path: Path) -> None:
    make(tmp_path, hangs="import time\ndef test_hangs(): time.sleep(1000)", other="def test_other(): pass")
    done = run(tmp_path, "--processes", "1", "--total", "2")
    assert done.returncode == 1
    assert result(tmp_path)["not_run"] == ["tests/test_hangs.py", "tests/test_other.py"]
    assert result(tmp_path)["incomplete"] == [{"file": "tests/test_hangs.py", "why": "stopped: total time"}]


def test_files_are_spread_by_earlier_seconds_whatever_the_hash_seed(tmp_path: Path) -> None:
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
    assert orders == {"tests/test_b.py\ntests/test_e.py\ntests/test_c.py tests/test_a.py\ntests/test_d.py\n"}


def test_arguments_after_two_dashes_go_to_pytest_and_marks_are_joined(tmp_path: Path) -> None:
    make(tmp_path, passes=PASSES, other="def test_left_out(): pass")
    done = run(tmp_path, "tests/test_passes.py", "--", "-k", "not skips", "-m", "not absent")
    assert done.returncode == 0, done.stdout + done.stderr
    assert result(tmp_path)["total"] == {"passed": 2}
    assert run(tmp_path, "tests/absent").returncode == 1
