"""Test the helper thread, which launches operations that are pending for more than 200 us, without taking the GIL."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver
from fusion_support.operation_counts import OperationCounts, limits, waiting
from gpu import support
from PyGPU import _core
from support import at_once

HOST = np.linspace(-1, 2, 12).reshape(3, 4)
NAME = "PyGPU flush"


@pytest.fixture(autouse=True)
def aging() -> Iterator[None]:
    # The helper thread uses its default interval, but unlike by default it also launches small operations.
    _core._bound_fusion_age(100)
    yield
    _core._bound_fusion_age(0)


def is_true_within(holds: Any, seconds: float = 5.0) -> bool:
    end = time.perf_counter() + seconds
    while not holds():
        if time.perf_counter() > end:
            return False
        time.sleep(0.001)
    return True


def helpers() -> list[Path]:
    """Return the helper threads of this process, as the operating system lists them."""
    tasks = Path("/proc/self/task").iterdir()
    return [task for task in tasks if (task / "comm").read_text().strip() == NAME]


def switches() -> int:
    """Return the number of context switches that the helper thread has made."""
    text = (helpers()[0] / "status").read_text()
    return int(text.split("voluntary_ctxt_switches:")[1].split()[0])


def test_pending_operation_is_launched_while_python_sleeps() -> None:
    x = PyGPU.to_gpu(HOST)
    (x + 1).get()
    counted = OperationCounts()
    y = x + 1
    assert is_true_within(lambda: counted["closed"] == {"age": 1})
    assert waiting() == 0
    np.testing.assert_array_equal(y.get(), HOST + 1)


def test_pending_operation_is_launched_while_the_interpreter_is_busy() -> None:
    x = PyGPU.to_gpu(HOST)
    (x + 1).get()
    counted = OperationCounts()
    y = x + 1
    end = time.perf_counter() + 5
    while not counted["closed"] and time.perf_counter() < end:
        pass  # This loop holds the GIL almost all the time.
    assert counted["closed"] == {"age": 1}
    np.testing.assert_array_equal(y.get(), HOST + 1)


def test_launch_by_helper_thread_neither_compiles_nor_counts_as_use() -> None:
    x = PyGPU.to_gpu(HOST)
    (x + 1).get()
    counted = OperationCounts()
    with limits(compile_threshold=2):
        for _ in range(3):
            # The helper launches each operation separately, so the fused kernel of the expression is not compiled.
            y = ((x + 1) + 1) + 1 + x
            is_true_within(lambda: waiting() == 0, 0.5)
            np.testing.assert_array_equal(y.get(), ((HOST + 1) + 1) + 1 + HOST)
    assert counted["fused"] <= 1


def test_helper_thread_sleeps_while_no_operation_is_pending() -> None:
    x = PyGPU.to_gpu(HOST)
    (x + 1).get()
    y = x + 1
    is_true_within(lambda: waiting() == 0)
    time.sleep(0.05)
    assert len(helpers()) == 1
    before = switches()
    time.sleep(0.3)
    assert switches() <= before + 1
    np.testing.assert_array_equal(y.get(), HOST + 1)


def test_small_operation_does_not_wake_sleeping_helper_thread() -> None:
    x = PyGPU.to_gpu(HOST)
    (x + 1).get()
    _core._bound_fusion_age()
    time.sleep(0.05)
    before = switches()
    y = x + 1
    time.sleep(0.02)
    assert (waiting(), switches()) == (1, before)
    np.testing.assert_array_equal(y.get(), HOST + 1)


def test_large_operation_wakes_sleeping_helper_thread() -> None:
    x = PyGPU.ones(1 << 20, np.float32)
    (x + 1).get()
    _core._bound_fusion_age()
    time.sleep(0.05)
    y = x + 1
    assert is_true_within(lambda: waiting() == 0)
    assert (y == 2).all()


def test_launch_that_fails_in_helper_thread_raises_when_result_is_used() -> None:
    driver = simulated_driver.driver()
    if driver is None:
        pytest.skip("faults are planted in a simulated driver only")
    x = PyGPU.to_gpu(HOST)
    (x + 1).get()
    driver.fault("hipModuleLaunchKernel" if driver.is_hip else "cuLaunchKernel", 1)
    y = x + 1
    is_true_within(lambda: waiting() == 0)
    with pytest.raises(PyGPU.CudaError, match="add of float64"):
        y.get()
    PyGPU.flush()  # This flush must not raise the error again, because the use of the result above has raised it.
    driver.clear_faults()


def test_results_of_threads_are_correct_while_helper_thread_launches() -> None:
    x = PyGPU.to_gpu(HOST)
    wrong: list[tuple[int, int]] = []

    def work(number: int) -> None:
        for turn in range(40):
            y = x * number + turn
            z = y - x
            if turn % 3 == 0:
                time.sleep(0.0003)
            if turn % 5 == 0:
                z += x
                z -= x
            if not np.allclose(z.get(), HOST * number + turn - HOST):
                wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.starts_processes
def test_attempts_of_helper_thread_during_compilation_are_not_counted(tmp_path: Path) -> None:
    script = """
import PyGPU
from PyGPU import _core
_core._bound_fusion_age(100)
x = PyGPU.arange(12.0)
with PyGPU.fusion_report() as report:
    y = PyGPU.sinh(x)
    y.get()  # compiles the kernel, while the helper thread finds the operation pending
assert report.operations == 1 and sum(report.closed.values()) <= 2, report
"""
    # Without images of earlier runs the simulated driver, too, compiles for longer than an interval of the helper.
    support.ended_well(support.run_script(script, PYGPU_CACHE_DIR=str(tmp_path), PYGPU_SIM_IMAGES=str(tmp_path)))


@pytest.mark.starts_processes
def test_process_with_helper_thread_can_fork_and_exit() -> None:
    script = """
import os, numpy as np, PyGPU, time
from PyGPU import _core

x = PyGPU.to_gpu(np.arange(5.0))
assert _core._get_fusion() == "auto"
for turn in range(30):
    y = x + turn
    time.sleep(0.0002)
    if turn % 5 == 0:
        child = os.fork()
        if child == 0:
            try:
                x + 1
            except PyGPU.ForkError:
                os._exit(0)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
    assert y.tolist() == [n + turn for n in range(5)]
z = x * 2
"""
    support.ended_well(support.run_script(script))


@pytest.mark.starts_processes
def test_process_without_deferred_operations_has_no_helper_thread() -> None:
    script = """
from pathlib import Path
import numpy as np, PyGPU
PyGPU.to_gpu(np.arange(5.0)).get()
names = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
assert "PyGPU flush" not in names, names
"""
    support.ended_well(support.run_script(script))


def begin_end(driver: simulated_driver.Driver) -> tuple[str, str]:
    if driver.is_hip:
        return "hipStreamBeginCapture", "hipStreamEndCapture"
    return "cuStreamBeginCapture_v2", "cuStreamEndCapture"


@pytest.mark.parametrize("non_blocking", [True, False])
def test_helper_thread_does_not_launch_into_capture_by_another_library(non_blocking: bool) -> None:
    driver = simulated_driver.driver()
    if driver is None:
        pytest.skip("the other library is a simulated driver's caller")
    x = PyGPU.to_gpu(HOST)
    (x + 1).get()
    stream = PyGPU.Stream(non_blocking=non_blocking)
    handle = stream.handle
    begin, end = begin_end(driver)
    graph = ctypes.c_void_p()
    with limits():
        _core._bound_fusion_age(0)
        y = x + 1  # The addition is pending on the legacy default stream.
        # Begin a capture in the global mode, during which unsafe calls of any thread would end the capture.
        assert driver.call(begin, handle, 0) == 0
        _core._bound_fusion_age(100)
        time.sleep(0.02)  # During this wait, the helper thread checks the pending queue many times.
        code = driver.call(end, handle, ctypes.addressof(graph))
    assert (code, bool(graph)) == (0, True)
    np.testing.assert_array_equal(y.get(), HOST + 1)


def test_kernel_compiled_in_loop_of_one_thread_is_used_by_other_threads() -> None:
    _core._bound_fusion_age(0)
    x = PyGPU.to_gpu(HOST)

    def loop(_: int) -> None:
        for turn in range(30):
            a = x * 2.5 + turn
            b = a - x
            np.testing.assert_allclose(((a + b) * x).get(), ((HOST * 2.5 + turn) * 2 - HOST) * HOST)

    loop(0)
    loop(0)
    counted = OperationCounts()
    at_once(4, loop)
    assert counted["first_meetings"] == 0
