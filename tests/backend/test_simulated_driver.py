"""Test the simulated driver: which functions it simulates, which faults it injects, and which misuse it reports.

Each test runs in a separate process, because a process loads only one driver.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import vendor_calls

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "simulated"

pytestmark = [
    pytest.mark.enough_on("cpu"),
    pytest.mark.skipif(
        not (FOLDER / "libcuda.so.1").exists(), reason="the simulated driver is not built: make build/simulated/.ready"
    ),
]

# Beginning of each script: imports and functions.
# The function `sim.call` calls a driver function without PyGPU, as another library would.
PRELUDE = """
import ctypes, numpy, PyGPU, simulated_driver
PyGPU.zeros(1)
sim = simulated_driver.driver()
def raises(kind, function, *arguments):
    try:
        function(*arguments)
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")
"""


def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {name: value for name, value in os.environ.items() if not name.startswith(("PYGPU_", "CUDA_"))}
    settings |= {"PYGPU_BACKEND": "cuda", "LD_LIBRARY_PATH": str(FOLDER), "PYTHONPATH": str(ROOT / "tests" / "helpers")}
    settings |= {
        "PYGPU_RECYCLE": "0"
    }  # With `PYGPU_RECYCLE=0`, PyGPU returns each freed block to the driver at once, instead of keeping it for reuse.
    command = [sys.executable, "-c", PRELUDE + textwrap.dedent(script)]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, env=settings | environment)


def clean(script: str, **environment: str) -> str:
    """Run a script, check that it exits cleanly and that the driver reports no misuse, and return its output."""
    done = run(script, **environment)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.strip()


def test_arrays_are_unchanged_after_copy_to_simulated_device_and_back() -> None:
    script = """
        a = numpy.arange(24).reshape(2, 3, 4)
        b = PyGPU.to_gpu(a)
        assert (b[:, ::-1, 1::2].get() == a[:, ::-1, 1::2]).all()
        print(PyGPU.backend_name(), PyGPU.device_count())
    """
    assert clean(script) == "cuda 2"


def test_simulated_driver_has_every_required_function() -> None:
    listed = vendor_calls.required("cuda")
    assert len(listed) > 50
    assert set(listed) <= set(json.loads(clean("import json; print(json.dumps(sim.calls()))")))


def test_simulated_device_address_is_not_readable_by_host() -> None:
    assert run("ctypes.string_at(PyGPU.zeros(4).ptr, 4)").returncode == -signal.SIGSEGV


def test_new_simulated_memory_is_filled_with_pattern() -> None:
    assert clean("print(set(PyGPU.empty(100, 'uint8').get().tolist()))") == str({0xA5})


def test_injected_fault_fails_only_requested_calls() -> None:
    script = """
        sim.fault("cuMemcpyHtoD_v2", 999, nth=2, times=2)
        a = PyGPU.to_gpu(numpy.ones(3))
        for _ in range(2):
            assert "CUDA_ERROR_UNKNOWN (999)" in raises(PyGPU.CudaError, PyGPU.to_gpu, numpy.ones(3))
        assert PyGPU.to_gpu(numpy.ones(3)).tolist() == [1, 1, 1]
        assert sim.call_count("cuMemcpyHtoD_v2") == 4
        raises(ValueError, sim.fault, "cuNoSuchCall", 1)
        raises(ValueError, sim.fault, "cuInit", 0)
    """
    clean(script)


def test_allocation_that_runs_out_of_memory_is_retried_once() -> None:
    script = """
        sim.fault("cuMemAllocFromPoolAsync", 2)
        assert PyGPU.zeros(3).tolist() == [0, 0, 0]
        sim.set_memory_limit(0, 8 << 20)
        assert PyGPU.zeros(6 << 20, "uint8").get().sum() == 0
        assert "8388608" in raises(MemoryError, PyGPU.zeros, 9 << 20, "uint8").replace(",", "")
    """
    clean(script)


def test_unusable_context_fails_every_call_until_driver_state_is_reset() -> None:
    script = """
        sim.fault("cuMemcpyDtoH_v2", 700, times=simulated_driver.STICKY)
        a = PyGPU.zeros(3)
        assert "700" in raises(PyGPU.CudaError, a.get)
        assert "700" in raises(PyGPU.CudaError, PyGPU.synchronize)
        with PyGPU.Device(1):
            PyGPU.synchronize()
        sim.reset_state()
        assert a.tolist() == [0, 0, 0]
    """
    clean(script)


def test_injected_asynchronous_failure_is_raised_at_next_wait() -> None:
    script = """
        sim.fault("cuMemsetD8Async", 719, times=simulated_driver.ASYNCHRONOUS)
        sim.delay(20_000)
        a = PyGPU.full(100, 5, "uint8")
        assert "719" in raises(PyGPU.CudaError, PyGPU.synchronize)
        sim.reset_state()
    """
    clean(script)


def test_delayed_work_of_simulated_driver_is_pending_until_synchronization() -> None:
    script = """
        stream = PyGPU.Stream(non_blocking=True)
        sim.delay(50_000, stream.handle)
        with stream:
            a = PyGPU.full(100, 5, "uint8")
        assert not stream.query()
        assert PyGPU.synchronize() is None
        assert stream.query()
    """
    clean(script)


def test_unordered_work_of_other_library_is_reported_as_race() -> None:
    script = """
        a = PyGPU.zeros(100, "uint8")
        stream = PyGPU.Stream(non_blocking=True)
        with sim.expecting("race"):
            assert sim.call('cuMemsetD8Async', a.ptr, 1, 100, stream.handle) == 0
    """
    clean(script)


def test_copy_waits_for_foreign_work_on_stream_passed_to_record_stream() -> None:
    script = """
        stream = PyGPU.Stream(non_blocking=True)
        sim.delay(20_000, stream.handle)
        a = PyGPU.zeros(100, "uint8")
        PyGPU.synchronize()
        assert sim.call('cuMemsetD8Async', a.ptr, 7, 100, stream.handle) == 0
        a.record_stream(stream)
        assert (a.copy().get() == 7).all()
        del a
        PyGPU.synchronize()
    """
    clean(script)


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        ("out_of_bounds", "assert sim.call('cuMemsetD8Async', a.ptr, 1, 101, 0) == 1"),
        ("bad_address", "assert sim.call('cuMemsetD8Async', numpy.zeros(9).ctypes.data, 1, 8, 0) == 1"),
        ("bad_handle", "assert sim.call('cuStreamSynchronize', 0x1234560) == 400"),
        ("overlap", "assert sim.call('cuMemcpyDtoDAsync_v2', a.ptr, a.ptr + 1, 50, 0) == 0"),
        (
            "double_free",
            "assert [sim.call('cuMemFreeAsync', a.ptr, 0) for _ in range(2)] == [0, 1]",
        ),
        ("use_after_free", "p = a.ptr; del a; assert sim.call('cuMemsetD8Async', p, 1, 1, 0) == 1"),
    ],
)
def test_misuse_of_driver_is_reported_at_exit(kind: str, call: str, tmp_path: Path) -> None:
    script = f"""
        import os
        a = PyGPU.zeros(100, "uint8")
        {call}
    """
    report = tmp_path / "report"
    done = run(script, PYGPU_SIM_REPORT=str(report))
    assert done.returncode == 0, done.stderr
    assert "simulated driver: 1 findings" in done.stderr
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert [line["kind"] for line in lines] == [kind, "live_at_exit"]


def test_live_objects_at_exit_are_reported_without_error(tmp_path: Path) -> None:
    report = tmp_path / "report"
    script = """
        kept = PyGPU.zeros(100, "uint8"), PyGPU.Stream(), PyGPU.Event(), PyGPU.zeros_pinned(10)
        import atexit, gc
        atexit.register(gc.disable)
        __import__("builtins").kept = kept
    """
    clean(script, PYGPU_SIM_REPORT=str(report))
    live = json.loads(report.read_text())["live"]
    assert [len(live[name]) for name in ("streams", "pools")] == [1, 1]
    assert [block["bytes"] for block in live["allocations"]] == [100]


def test_driver_call_in_forked_child_fails_and_is_not_reported(tmp_path: Path) -> None:
    report = tmp_path / "report"
    script = """
        import os
        a = PyGPU.zeros(3)
        child = os.fork()
        if child == 0:
            assert sim.call('cuCtxSynchronize') == 3
            raises(PyGPU.ForkError, a.get)
            raise SystemExit(0)
        assert os.waitpid(child, 0)[1] == 0
    """
    clean(script, PYGPU_SIM_REPORT=str(report))
    assert len(report.read_text().splitlines()) == 1


def test_environment_variables_configure_simulated_driver() -> None:
    script = """
        assert PyGPU.device_count() == 3
        assert PyGPU.memory_info(2)[1] == 1 << 24
        raises(PyGPU.CudaError, PyGPU.Stream)
    """
    fault = "cuStreamCreateWithPriority:1:304"
    clean(script, PYGPU_SIM_DEVICES="3", PYGPU_SIM_MEMORY=str(1 << 24), PYGPU_SIM_FAULT=fault)
    assert "PYGPU_SIM_DEVICES=many is not understood" in run("", PYGPU_SIM_DEVICES="many").stderr


def test_driver_without_devices_raises_backend_unavailable_error() -> None:
    done = run("", PYGPU_SIM_DEVICES="0")
    assert "BackendUnavailableError" in done.stderr
    assert "CUDA_ERROR_NO_DEVICE" in done.stderr
