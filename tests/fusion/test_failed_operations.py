"""Test results of failed deferred operations.

Such a result is lost, and each use of it raises an error. If a deferred write to an existing array fails, the error is
raised once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver
from fusion_support.operation_counts import allocation_calls, launch_call, limits, mode, waiting
from PyGPU import _core

HOST = np.linspace(-1, 2, 12).reshape(3, 4)
LONG = 64 << 10
INVALID, OUT_OF_MEMORY, OUT_OF_RESOURCES = 1, 2, 701

pytestmark = pytest.mark.provokes_errors


@pytest.fixture(autouse=True)
def driver() -> Iterator[simulated_driver.Driver]:
    PyGPU.zeros(1)
    found = simulated_driver.driver()
    if found is None:
        pytest.skip("faults are planted in a simulated driver only")
    PyGPU.synchronize()
    before = len(found.reports())
    yield found
    found.clear_faults()
    PyGPU.set_memory_limit(None)
    assert found.reports()[before:] == []


def in_a_thread(function: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def warm(x: Any) -> None:
    """Compile the kernels that the tests launch, so that an injected fault affects a launch and not a compilation."""
    for _ in range(3):
        (x + 1).get()
        (x * 2).get()


def flush_ignoring_errors() -> None:
    """Flush and ignore errors, so that later uses of the results raise the errors."""
    with contextlib.suppress(PyGPU.CudaError, MemoryError):
        _core.flush()


def test_unrelated_call_of_another_thread_does_not_raise_deferred_error(driver: simulated_driver.Driver) -> None:
    x, other = PyGPU.to_gpu(HOST), PyGPU.to_gpu(HOST)
    warm(x)
    y = x + 1
    driver.fault(launch_call(), INVALID)

    def upload() -> None:
        with mode("off"):
            other.set(np.full_like(HOST, 7))

    in_a_thread(upload)
    np.testing.assert_array_equal(other.get(), np.full_like(HOST, 7))
    for _ in range(2):
        with pytest.raises(PyGPU.CudaError, match="add of float64"):
            y.get()


UNRELATED: dict[str, Callable[[Any], Any]] = {
    "fill": lambda other: other.fill(7),
    "eager operation": lambda other: PyGPU.sort(other.reshape(-1)),
    "upload": lambda other: other.set(np.full_like(HOST, 7)),
    "allocation": lambda _: PyGPU.zeros(5),
    "download": lambda other: other.get(),
    "copy": lambda other: other.copy(),
}


@pytest.mark.parametrize("name", UNRELATED)
def test_unrelated_call_of_same_thread_does_not_raise_deferred_error(
    driver: simulated_driver.Driver, name: str
) -> None:
    x, other = PyGPU.to_gpu(HOST), PyGPU.to_gpu(HOST)
    warm(x)
    UNRELATED[name](other)
    y = x + 1
    driver.fault(launch_call(), INVALID)
    UNRELATED[name](other)
    if name in ("fill", "upload"):
        np.testing.assert_array_equal(other.get(), np.full_like(HOST, 7))
    with pytest.raises(PyGPU.CudaError, match="add of float64"):
        y.get()


@pytest.mark.parametrize("report", ["flush", "synchronize"])
def test_deferred_operation_error_raises_in_next_flush_of_same_thread(
    driver: simulated_driver.Driver, report: str
) -> None:
    x, other = PyGPU.to_gpu(HOST), PyGPU.to_gpu(HOST)
    warm(x)
    y = x + 1
    driver.fault(launch_call(), INVALID)
    other.fill(7)
    report_errors = getattr(PyGPU, report)
    with pytest.raises(PyGPU.CudaError, match=r"add of float64 with the shape \(3, 4\)"):
        report_errors()
    report_errors()
    with pytest.raises(PyGPU.CudaError):
        y.get()


def test_deferred_operation_error_does_not_raise_in_other_thread(driver: simulated_driver.Driver) -> None:
    x = PyGPU.to_gpu(HOST)
    warm(x)
    y = x + 1
    driver.fault(launch_call(), INVALID)
    in_a_thread(PyGPU.flush)
    in_a_thread(PyGPU.synchronize)
    with pytest.raises(PyGPU.CudaError, match="add of float64"):
        PyGPU.flush()
    with pytest.raises(PyGPU.CudaError):
        y.get()


def test_array_is_unchanged_if_operation_before_its_pending_write_fails(driver: simulated_driver.Driver) -> None:
    x, a = PyGPU.to_gpu(np.ones(LONG)), PyGPU.to_gpu(np.arange(20.0))
    PyGPU.synchronize()
    PyGPU.trim_memory()
    y = x + x
    PyGPU.add(a[:10], y[:10], out=a[:10])
    assert waiting() == 2
    for call in allocation_calls():
        driver.fault(call, OUT_OF_MEMORY, times=1000)
    flush_ignoring_errors()
    driver.clear_faults()
    with pytest.raises(MemoryError):
        a.get()
    np.testing.assert_array_equal(a.get(), np.arange(20.0))
    a += 1
    np.testing.assert_array_equal(a.get(), np.arange(20.0) + 1)
    with pytest.raises(MemoryError):
        y.get()


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "+=": lambda a, y: a.__iadd__(y),
    "slice": lambda a, y: a.__setitem__(slice(1, None), y[1:]),
    "out": lambda a, y: PyGPU.add(y, 1, out=a),
}


@pytest.mark.parametrize("name", WRITES)
def test_failed_deferred_write_raises_once_and_leaves_old_values(driver: simulated_driver.Driver, name: str) -> None:
    x, a = PyGPU.to_gpu(HOST), PyGPU.to_gpu(HOST)
    with limits(compile_threshold=1):
        WRITES[name](a, x * 2)
        a.get()
        a[...] = HOST
        WRITES[name](a, x * 2)
        if waiting() == 0:
            pytest.skip("this write is not deferred")
        driver.fault(launch_call(), INVALID, times=20)
        flush_ignoring_errors()
        driver.clear_faults()
        with pytest.raises(PyGPU.CudaError):
            a.get()
        np.testing.assert_array_equal(a.get(), HOST)


class Calls:
    """Run a function when PyGPU converts this object to an index by `__index__`."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work

    def __index__(self) -> int:
        self.work()
        return 1


class Exports:
    """Imitate an array of another library that runs a function when PyGPU reads its memory interface."""

    def __init__(self, work: Callable[[], Any], array: Any) -> None:
        self.work, self.array = work, array

    @property
    def __cuda_array_interface__(self) -> Any:
        self.work()
        return self.array.__cuda_array_interface__

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **keywords: Any) -> Any:
        self.work()
        return self.array.__dlpack__(**keywords)


# Calls with the pending operand `y`. Each call first reads attributes of `y`, then runs user code
# (`key.__index__` or the memory interface of `other`), and finally uses the values of `y`.
INSPECTED: dict[str, Callable[[Any, Calls, Any], Any]] = {
    "assignment of a number": lambda y, key, _: y.__setitem__(slice(key, None), 5),
    "assignment of an array": lambda y, key, _: y.__setitem__(slice(key, None), np.zeros((2, 4))),
    "assignment to an element": lambda y, key, _: y.__setitem__((key, key), 5),
    "element": lambda y, key, _: y[key, key].get(),
    "slice": lambda y, key, _: y[key:].get(),
    "reduction": lambda y, key, _: y.sum(axis=key).get(),
    "reduction of a slice": lambda y, key, _: y[key:].sum().get(),
    "cumulative sum": lambda y, key, _: PyGPU.cumsum(y, axis=key).get(),
    "sorting": lambda y, key, _: PyGPU.sort(y, axis=key).get(),
    "reshape": lambda y, key, _: y.reshape((key, 12)).get(),
    "operand of another library": lambda y, _, other: (y + other).get(),
    "second operand": lambda y, _, other: PyGPU.add(other, y).get(),
    "operation into an array": lambda y, _, other: PyGPU.add(y, other, out=y).get(),
    "in place": lambda y, _, other: y.__iadd__(other).get(),
    "choice": lambda y, _, other: PyGPU.where(y > 0, y, other).get(),
}


@pytest.mark.parametrize("thread", ["same thread", "second thread"])
@pytest.mark.parametrize("use", INSPECTED)
def test_call_raises_if_deferred_operation_for_its_operand_fails(
    driver: simulated_driver.Driver, use: str, thread: str
) -> None:
    if driver.is_hip and "other" in INSPECTED[use].__code__.co_names:
        pytest.skip("the interface is CUDA's")
    x, plain = PyGPU.to_gpu(HOST), PyGPU.to_gpu(HOST.copy())
    assert plain.ptr

    def nothing() -> None:
        pass

    # Compile the kernels before the fault is injected, so that the fault affects a launch.
    INSPECTED[use](x + 1, Calls(nothing), Exports(nothing, plain))
    y = x + 1
    done: list[int] = []

    def lose() -> None:
        if done:
            return
        done.append(1)
        driver.fault(launch_call(), INVALID, times=5)
        flush_ignoring_errors() if thread == "same thread" else in_a_thread(lambda: get_ignoring_errors(y))
        driver.clear_faults()

    with pytest.raises(PyGPU.CudaError, match=r"(add|greater) of float64"):
        INSPECTED[use](y, Calls(lose), Exports(lose, plain))
    assert done, "the use does not run the program's code"
    with pytest.raises(PyGPU.CudaError, match="add of float64"):
        y.get()
    np.testing.assert_array_equal(x.get(), HOST)
    np.testing.assert_array_equal(plain.get(), HOST)


def get_ignoring_errors(y: Any) -> None:
    with contextlib.suppress(PyGPU.CudaError, MemoryError):
        y.get()


def program(x: Any, row: Any, a: Any) -> list[Any]:
    """Defer operations of several fusion groups: elementwise functions, a reduction, and a write into the array `a`."""
    first = x + 1
    second = first * x
    total = (second - 3).sum()
    short = row * 2 + 1
    a += second * 2
    return [first, second, total, short]


def expected() -> list[np.ndarray]:
    a = HOST.copy()
    results = program(HOST, HOST[0], a)
    return [*results, a]


def calls_of(work: Callable[[], Any], driver: simulated_driver.Driver) -> dict[str, int]:
    names = driver.calls()
    before = {name: driver.call_count(name) for name in names}
    work()
    counts = {name: driver.call_count(name) - before[name] for name in names}
    return {name: count for name, count in counts.items() if count}


def run_with_fault(driver: simulated_driver.Driver, name: str, nth: int, code: int) -> None:
    x, row, a = PyGPU.to_gpu(HOST), PyGPU.to_gpu(HOST[0]), PyGPU.to_gpu(HOST)
    bystander = PyGPU.to_gpu(HOST)
    made = program(x, row, a)
    driver.fault(name, code, nth=nth)
    flush_ignoring_errors()
    driver.clear_faults()
    bystander.fill(3)
    np.testing.assert_array_equal(bystander.get(), np.full_like(HOST, 3))
    failed = 0
    for array, host in zip([*made, a], expected(), strict=True):
        try:
            got = array.get()
        except (PyGPU.CudaError, MemoryError, ValueError):
            failed += 1
            if array is a:
                np.testing.assert_array_equal(a.get(), HOST)
            else:
                with pytest.raises((PyGPU.CudaError, MemoryError, ValueError)):
                    array.get()
        else:
            np.testing.assert_allclose(got, host, rtol=1e-12)
    np.testing.assert_array_equal(x.get(), HOST)
    np.testing.assert_array_equal(row.get(), HOST[0])
    np.testing.assert_array_equal((x + 1).get(), HOST + 1)
    assert waiting() == 0


# Fatal error codes are not injected, because the process could not use the device afterwards.
@pytest.mark.parametrize("code", [INVALID, OUT_OF_MEMORY, OUT_OF_RESOURCES])
def test_flush_with_fault_in_any_driver_call_gives_no_wrong_value(driver: simulated_driver.Driver, code: int) -> None:
    x, row = PyGPU.to_gpu(HOST), PyGPU.to_gpu(HOST[0])
    for _ in range(4):
        program(x, row, PyGPU.to_gpu(HOST))
        _core.flush()
    a = PyGPU.to_gpu(HOST)
    kept = program(x, row, a)
    counts = calls_of(_core.flush, driver)
    del kept
    assert launch_call() in counts
    for name, count in counts.items():
        for nth in range(1, count + 1):
            run_with_fault(driver, name, nth, code)


def test_driver_allocation_that_fails_once_in_flush_raises_no_error(driver: simulated_driver.Driver) -> None:
    x = PyGPU.to_gpu(np.ones(LONG))
    for name in allocation_calls():
        y = x + 1
        driver.fault(name, OUT_OF_MEMORY)
        np.testing.assert_array_equal(y.get(), np.full(LONG, 2.0))
        driver.clear_faults()
