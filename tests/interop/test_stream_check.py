"""Test the check of streams (`PYGPU_CHECK_STREAMS=1`): it reports unordered handovers of arrays, and no ordered
handovers.

A process reads `PYGPU_CHECK_STREAMS` once, so the checked programs run in separate processes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import hostile_consumer
import PyGPU
import simulated_driver
from PyGPU._streams import library_streams, stream_check
from support import child_environment

HELPERS = Path(__file__).parents[1] / "helpers"
CHECKED = HELPERS / "handover_support" / "stream_check_run.py"
PyGPU.device_count()
pytestmark = pytest.mark.starts_processes
simulated_gpu = pytest.mark.usefixtures("_needs_simulated_gpu")
IMPORT = "PyGPU imports "
USE = "PyGPU uses memory on "
RELEASE = "PyGPU frees memory in the order of "
EXPECTED = {
    "interface without a stream": IMPORT + "an array of torch without a stream",
    "exchange table": IMPORT + "a tensor, by the exchange table, without a stream",
    "DLPack with stream -1": "__dlpack__(stream=-1) exports memory while work on ",
    "release": RELEASE,
    "return": USE,
    "address on another stream": "a launch on the stream ",
    "use after a launch with an address": USE,
    "import on a non-blocking stream": IMPORT + "an array of torch without a stream",
}
"""Programs whose illegal form the stream check reports, each with the beginning of its report."""
UNSEEN = {"unknown library"}
"""Programs whose illegal form the stream check cannot detect."""


@pytest.fixture
def _needs_simulated_gpu() -> None:
    if PyGPU.backend_name() == "cpu" or simulated_driver.driver() is None:
        pytest.skip("the simulated driver delays the other library's work")
    if hostile_consumer.compiler() is None:
        pytest.skip("there is no C compiler, or Python's headers are missing")


def run(*command: str, check: str = "1") -> subprocess.CompletedProcess[str]:
    variables = {**child_environment(), "PYGPU_CHECK_STREAMS": check}
    command = (sys.executable, *command)
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=110)


@simulated_gpu
def test_stream_check_reports_each_illegal_program_and_no_legal_program() -> None:
    done = run(str(CHECKED))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found) == set(EXPECTED) | UNSEEN
    for name, (legal, illegal) in found.items():
        assert legal == [], name
        begin = EXPECTED.get(name)
        assert (begin is None and illegal == []) or any(report.startswith(begin) for report in illegal), (name, illegal)


@simulated_gpu
def test_stream_report_has_lines_of_conflicting_call_and_handover() -> None:
    done = run("-W", "always", str(CHECKED), "release", "illegal")
    assert done.returncode == 0, done.stderr
    assert "illegal_programs.py:107: StreamOrderWarning: PyGPU frees memory" in done.stderr, done.stderr
    found, handed_over = done.stderr.split("The memory was handed over by __dlpack__ at (most recent call last):\n")
    assert "    del memory, capsule\n" in found
    assert "memory.ptr, memory.__dlpack__(stream=DEFAULT, max_version=(1, 0))\n" in handed_over


@simulated_gpu
def test_disabled_stream_check_reports_nothing() -> None:
    done = run(str(CHECKED), check="0")
    assert done.returncode == 0, done.stderr
    assert set(map(str, json.loads(done.stdout).values())) == {"[[], []]"}


@simulated_gpu
def test_warning_for_import_without_stream_can_be_turned_into_error() -> None:
    done = run("-W", "error::RuntimeWarning", str(CHECKED), "interface without a stream", "illegal")
    assert done.returncode == 1
    assert "PyGPU.StreamOrderWarning: PyGPU imports an array of torch" in done.stderr.splitlines()[-1] + done.stderr
    assert "Exception ignored" not in done.stderr.partition("PyGPU imports")[0]


@simulated_gpu
def test_random_legal_handovers_are_not_reported() -> None:
    script = """if True:
        import sys
        import handovers
        from PyGPU._streams import stream_check
        reports = []
        stream_check.listener = reports.append
        for seed in (7, 8):
            assert handovers.hand_over(500, seed, threads=2)["failures"] == []
        assert not reports, reports[0]
        """
    done = run("-c", script)
    assert done.returncode == 0, done.stderr


@simulated_gpu
def test_check_streams_command_prints_reports_and_exits_with_1(tmp_path: Path) -> None:
    command = ("-m", "PyGPU", "check", "--streams", str(CHECKED))
    done = run(*command, "release", "illegal")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("1. PyGPU frees memory in the order of the default stream")
    assert "StreamOrderWarning" not in done.stderr
    done = run(*command, "release", "legal")
    assert (done.returncode, done.stdout[:13]) == (0, "nothing found"), done.stdout + done.stderr
    program = tmp_path / "program.py"
    program.write_text("raise SystemExit(3)")
    done = run("-m", "PyGPU", "check", "--streams", str(program))
    assert (done.returncode, done.stdout) == (1, "1. the program failed: exit status 3\n")


@pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="the command refuses the CPU backend only")
def test_check_streams_command_rejects_cpu_backend() -> None:
    done = run("-m", "PyGPU", "check", "--streams", str(CHECKED))
    assert done.returncode == 2
    assert "--streams needs a GPU: on the CPU backend each call completes its work" in done.stderr


@pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="GPU arrays are checked by the other tests")
def test_stream_check_on_cpu_backend_reports_nothing() -> None:
    script = """if True:
        import numpy as np
        import PyGPU
        a = PyGPU.asarray(np.ones(5))
        assert np.from_dlpack(a)[1] == 1
        a.ptr
        with PyGPU.Stream(non_blocking=True):
            a.fill(2)
        assert a.get()[0] == 2
        """
    done = run("-W", "error", "-c", script)
    assert (done.returncode, done.stderr) == (0, "")


def test_stream_check_ignores_library_whose_stream_query_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "cupy", "numba", "numba.cuda"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert list(library_streams.current_streams(0)) == []
    torch, cupy, numba = (ModuleType(name) for name in ("torch", "cupy", "numba"))
    stream = SimpleNamespace(cuda_stream=1, ptr=0x70)
    calls: list[int] = []
    is_initialized = [False]
    torch.cuda = SimpleNamespace(  # type: ignore[attr-defined]
        is_initialized=lambda: is_initialized[0], current_stream=lambda device: calls.append(device) or stream
    )
    cupy.cuda = SimpleNamespace(get_current_stream=lambda device: stream)  # type: ignore[attr-defined]
    numba.config = SimpleNamespace(CUDA_PER_THREAD_DEFAULT_STREAM=1)  # type: ignore[attr-defined]
    for module in (torch, cupy, numba):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    assert list(library_streams.current_streams(3)) == [("cupy", 0x70, stream)]
    assert calls == []  # A query of the current stream of torch would initialize torch, and thereby every device.
    is_initialized[0] = True
    monkeypatch.setitem(sys.modules, "numba.cuda", ModuleType("numba.cuda"))
    expected = [("torch", 0, stream), ("cupy", 0x70, stream), ("numba", 2, None)]
    assert list(library_streams.current_streams(3)) == expected
    assert calls == [3]
    del cupy.cuda
    assert [one.library for one in library_streams.current_streams(3)] == ["torch", "numba"]
    monkeypatch.setitem(sys.modules, "cupy", PyGPU)  # As after `as_cupy`, the name `cupy` refers to PyGPU.
    assert [one.library for one in library_streams.current_streams(3)] == ["torch", "numba"]


def test_stream_check_finds_library_of_value_by_class_or_base_class() -> None:
    tensor = type("Tensor", (), {"__module__": "torch._tensor"})
    assert library_streams.library_of(tensor()) == "torch"
    assert library_streams.library_of(type("Parameter", (tensor,), {"__module__": "mine"})()) == "torch"
    assert library_streams.library_of(type("torchlike", (), {"__module__": "torchvision"})()) is None
    assert library_streams.library_of(3) is None


def test_stream_report_of_thread_without_python_code_has_no_traceback() -> None:
    reports: list[str] = []
    stream_check.listener = reports.append
    try:
        stream_check.report("use", 0, 16, None, -1)
    finally:
        stream_check.listener = None
    assert "the default stream, which does not wait for the pending work on the stream 0x10" in reports[0]
    assert "(a thread without Python code)" in reports[0]
    with pytest.warns(PyGPU.StreamOrderWarning, match="without Python code"):
        stream_check.report("use", 0, 16, None, -1)
