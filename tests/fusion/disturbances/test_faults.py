"""Test flushes in which one driver call fails; the tests repeat a flush with a fault in each of its driver calls.

A fault must cause no wrong value, no unexpected error, no lost operation and no memory leak.
"""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver
from fusion_support.operation_counts import allocation_calls, launch_call, limits, waiting
from fusion_support.programs import PROGRAMS, Operands, Program
from PyGPU import _core

INVALID, OUT_OF_MEMORY, OUT_OF_RESOURCES = 1, 2, 701
ALWAYS = 1 << 30
REFUSED = (PyGPU.CudaError, MemoryError)
# Each operand's values are repeated this often, so that results have at least 64 KiB and come from the driver's memory
# pool.
REPEATS = 1 << 10

pytestmark = pytest.mark.provokes_errors


@pytest.fixture(autouse=True)
def driver() -> Iterator[simulated_driver.Driver]:
    PyGPU.zeros(1)
    found = simulated_driver.driver()
    if found is None:
        pytest.skip("faults are planted in a simulated driver only")
    PyGPU.synchronize()
    yield found
    found.clear_faults()
    PyGPU.set_memory_limit(None)


def in_use(driver: simulated_driver.Driver) -> dict[str, int]:
    """Empty all caches, and count PyGPU's live blocks and bytes and the live driver objects of each kind."""
    gc.collect()
    PyGPU.synchronize()
    PyGPU.trim_memory()
    statistics = PyGPU.memory_statistics()
    made = {kind: len(living) for kind, living in driver.live().items()}
    return {"bytes": statistics["bytes"], "count": statistics["count"], **made}


ERRORS_OF_OTHER_THREADS: list[BaseException] = []
"""Errors that `synchronize` raised in another thread, possibly those of failed releases."""


def has_failed_to_release() -> bool:
    """Wait for the device.

    Return whether this wait, or a wait of another thread, raised the error of a failed release.
    """
    try:
        PyGPU.synchronize()
    except REFUSED:
        return True
    has_failed = bool(ERRORS_OF_OTHER_THREADS)
    ERRORS_OF_OTHER_THREADS.clear()
    return has_failed


def assert_names_deferred_operation(error: BaseException) -> None:
    assert "deferred operation" in str(error)


def flush_raises() -> bool:
    """Flush, and return whether the flush raised an error; check that the error names a deferred operation."""
    try:
        PyGPU.flush()
    except REFUSED as error:
        assert_names_deferred_operation(error)
        return True
    return False


class Run:
    """Run a program of deferred operations repeatedly, and check its arrays after each run."""

    def __init__(self, program: Program, operands: Operands) -> None:
        self.program, self.operands = program, operands
        self.results, self.targets = operands.expected(program)
        self.has_stopped = False
        self.made: list[Any] = []

    def begin(self) -> None:
        """Drop the arrays of the previous run, and create the arrays that the program needs."""
        self.end()
        self.arrays = self.operands.on_device()
        self.bystander = PyGPU.to_gpu(self.operands.old[0])
        PyGPU.synchronize()
        PyGPU.trim_memory()

    def flush(self, by: Callable[[], Any] = lambda: None) -> bool:
        """Run the program and flush; return whether the final flush raised an error.

        An operation of the program may flush by itself and raise an error; the rest of the program is then skipped. The
        function `by` runs before this thread flushes, and may launch the pending operations, for example in another
        thread.
        """
        self.has_stopped = False
        try:
            self.program.run(self.arrays, self.made)
        except REFUSED as error:
            assert_names_deferred_operation(error)
            self.has_stopped = True
        by()
        return flush_raises()

    def end(self) -> None:
        """Drop all arrays of the run."""
        self.made = []
        self.arrays = self.bystander = None

    def check(self) -> int:
        """Check that each array has correct values or raises an error; return the number of arrays that raised an
        error."""
        self.bystander.fill(3)
        np.testing.assert_array_equal(self.bystander.get(), np.full_like(self.operands.old[0], 3))
        made = zip(self.made, self.results, strict=not self.has_stopped)
        failed = sum(self.check_result(*pair) for pair in made)
        writes = zip(self.arrays.targets, self.operands.old, self.targets, strict=True)
        failed += sum(self.check_target(*one) for one in writes)
        # The operands must be unchanged, and usable in new operations.
        for array, host in ((self.arrays.x, self.operands.x), (self.arrays.row, self.operands.row)):
            np.testing.assert_array_equal(array.get(), host)
        np.testing.assert_array_equal((self.arrays.x + 1).get(), self.operands.x + 1)
        # Each of these errors was raised above, when its array was used, and must not be raised again by a later call.
        PyGPU.flush()
        assert waiting() == 0
        return failed

    def check_result(self, array: Any, expected: np.ndarray) -> bool:
        """Check that a result has correct values, or raises an error at each use; return whether the result raised an
        error."""
        try:
            got = array.get()
        except REFUSED as error:
            assert_names_deferred_operation(error)
            for use in (array.get, lambda: array + 1, lambda: array.ptr):
                with pytest.raises(REFUSED, match="deferred operation"):
                    use()
            return True
        np.testing.assert_array_equal(got, expected)
        return False

    def check_target(self, array: Any, old: np.ndarray, expected: np.ndarray) -> bool:
        """Check that an assigned array has its new values, or raises one error and has its old values.

        Return whether the array raised an error.
        """
        try:
            got = array.get()
        except REFUSED as error:
            assert_names_deferred_operation(error)
            np.testing.assert_array_equal(array.get(), old)
            return True
        is_left_out = self.has_stopped and np.array_equal(got, old)
        np.testing.assert_array_equal(got, old if is_left_out else expected)
        return False


def calls_of_flush(run: Run, driver: simulated_driver.Driver, by: Callable[[], Any] = lambda: None) -> dict[str, int]:
    """Run a program without faults, and count how often the program makes each driver call."""
    run.begin()
    before = {name: driver.call_count(name) for name in driver.calls()}
    assert not run.flush(by)
    return {name: made for name, count in before.items() if (made := driver.call_count(name) - count)}


def check_each_call(
    driver: simulated_driver.Driver, program: Program, code: int, times: int, by: Callable[[], Any] = lambda: None
) -> int:
    """Run a program once for each driver call of its flush, with a fault in that call; check arrays and memory.

    Return the largest number of arrays that raised an error after one fault.
    """
    operands = Operands()
    operands.warm(program)
    run = Run(program, operands)
    most = 0
    with limits(**program.limits):
        counts = calls_of_flush(run, driver, by)
        assert run.check() == 0
        assert counts[launch_call()] >= 1
        before: dict[str, int] = {}
        for call, count in counts.items():
            for nth in range(1, count + 1):
                run.begin()
                driver.fault(call, code, nth=nth, times=times)
                is_told = run.flush(by)
                driver.clear_faults()
                failed = run.check()
                assert is_told == (failed > 0) or run.has_stopped, f"{call} {nth}"
                most = max(most, failed)
                run.end()
                if has_failed_to_release():
                    before = {}  # PyGPU leaks the block on purpose, because reuse of its memory would be unsafe.
                now = in_use(driver)
                before = before or now
                assert now == before, f"{call} {nth}"
    return most


# Fatal error codes are not injected, because the process could not use the device afterwards.
@pytest.mark.parametrize("times", [1, ALWAYS], ids=["once", "from then on"])
@pytest.mark.parametrize("code", [INVALID, OUT_OF_MEMORY, OUT_OF_RESOURCES])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sampled(on="cuda")
def test_fault_in_any_driver_call_of_flush_gives_error_or_correct_values(
    driver: simulated_driver.Driver, name: str, code: int, times: int
) -> None:
    most = check_each_call(driver, PROGRAMS[name], code, times)
    assert most > 0 or times == 1


def flush_in_another_thread() -> None:
    def launch() -> None:
        assert not flush_raises(), "another thread is told"
        PyGPU.synchronize()

    # The flush must not raise errors of operations that another thread deferred.
    # Errors of the driver calls that the program itself makes, such as `synchronize`, are suppressed.
    with ThreadPoolExecutor(1) as pool:
        try:
            pool.submit(launch).result()
        except REFUSED as error:
            ERRORS_OF_OTHER_THREADS.append(error)


def wait_for_helper() -> None:
    end = time.perf_counter() + 10
    while waiting() > 0 and time.perf_counter() < end:
        _core._bound_fusion_age(100)
        time.sleep(0.0005)
    _core._bound_fusion_age(0)
    assert waiting() == 0


@pytest.mark.parametrize("by", [flush_in_another_thread, wait_for_helper], ids=["another thread", "helper"])
@pytest.mark.parametrize("code", [INVALID, OUT_OF_MEMORY])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sampled(on="cuda")
def test_fault_in_flush_of_other_thread_gives_error_or_correct_values(
    driver: simulated_driver.Driver, name: str, code: int, by: Callable[[], Any]
) -> None:
    check_each_call(driver, PROGRAMS[name], code, 1, by)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sampled(on="cuda")
def test_flush_at_memory_limit_loses_only_results_that_get_no_memory(
    driver: simulated_driver.Driver, name: str
) -> None:
    program, operands = PROGRAMS[name], Operands(REPEATS)
    operands.warm(program)
    run = Run(program, operands)
    failed: list[int] = []
    with limits(**program.limits):
        run.begin()
        assert not run.flush()
        assert run.check() == 0
        run.end()
        before = in_use(driver)
        step = operands.x.nbytes // 4
        for room in range(0, 10 * operands.x.nbytes, step):
            run.begin()
            PyGPU.set_memory_limit(PyGPU.memory_statistics()["bytes"] + room)
            is_told = run.flush()
            PyGPU.set_memory_limit(None)
            failed.append(run.check() + run.has_stopped)
            assert is_told == (failed[-1] > 0) or run.has_stopped, room
            run.end()
            assert in_use(driver) == before, room
            if failed[-1] == 0:
                break
    assert failed[0] > 0
    assert failed[-1] == 0


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sampled(on="cuda")
def test_flush_raises_if_driver_rejects_nth_and_later_allocations(driver: simulated_driver.Driver, name: str) -> None:
    program, operands = PROGRAMS[name], Operands(REPEATS)
    operands.warm(program)
    run = Run(program, operands)
    with limits(**program.limits):
        counts = calls_of_flush(run, driver)
        assert run.check() == 0
        most = max(counts.get(call, 0) for call in allocation_calls())
        assert most >= 1
        for nth in range(1, most + 1):
            run.begin()
            for call in allocation_calls():
                driver.fault(call, OUT_OF_MEMORY, nth=nth, times=ALWAYS)
            run.flush()
            driver.clear_faults()
            assert run.check() > 0, nth


def test_flush_with_failing_user_allocator_leaves_other_results_correct(driver: simulated_driver.Driver) -> None:
    host = np.arange(5000.0)
    requests = 0

    def allocate(bound: int) -> Any:
        def one(size: int) -> Any:
            nonlocal requests
            requests += 1
            if requests > bound:
                raise MemoryError(f"{size} bytes are refused")
            return PyGPU.driver.mem_alloc(size)

        return one

    before = in_use(driver)
    for bound in range(6):
        requests = 0
        x = PyGPU.to_gpu(host)
        y = x * 2 + 1  # The operations are still pending here, so their flush also calls the allocator below.
        made: list[Any] = []
        with PyGPU.using_allocator(allocate(bound)), contextlib.suppress(MemoryError):
            for number in range(5):
                made.append((y + number) * x)
        assert len(made) * 2 <= bound + 1
        for number, array in enumerate(made):
            np.testing.assert_array_equal(array.get(), (host * 2 + 1 + number) * host)
        np.testing.assert_array_equal(y.get(), host * 2 + 1)
        np.testing.assert_array_equal(x.get(), host)
        PyGPU.flush()
        del x, y
        made.clear()
        array = None
        assert in_use(driver) == before


def test_fault_in_flush_of_other_thread_raises_in_deferring_thread(driver: simulated_driver.Driver) -> None:
    program, operands = PROGRAMS["fused group"], Operands()
    operands.warm(program)
    run = Run(program, operands)
    with limits(**program.limits):
        run.begin()
        program.run(run.arrays, run.made)
        driver.fault(launch_call(), INVALID, times=ALWAYS)
        with ThreadPoolExecutor(1) as pool:
            array = pool.submit(PyGPU.to_gpu, operands.x).result()
            with pytest.raises(REFUSED, match="deferred operation"):
                pool.submit(run.made[0].get).result()
            assert not pool.submit(flush_raises).result()
            np.testing.assert_array_equal(pool.submit(array.get).result(), operands.x)
        driver.clear_faults()
        assert run.check() == 2
