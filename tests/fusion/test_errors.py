"""Test errors of deferred operations.

The flush and each later use of the failed operation's result raise the operation's error. Other operations succeed.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver
from fusion_support.operation_counts import OperationCounts, launch_call, limits, waiting
from PyGPU import _core

HOST = np.linspace(-1, 2, 12).reshape(3, 4)
INVALID = 1
KIB = 1 << 10


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


pytestmark = pytest.mark.provokes_errors


def failing_next(driver: simulated_driver.Driver, times: int = 1, nth: int = 1) -> None:
    driver.fault(launch_call(), INVALID, nth=nth, times=times)


def warm(*expressions: Callable[[], Any]) -> None:
    """Compile the fused kernel and the separate kernels of each expression, by evaluating it three times."""
    for _ in range(3):
        kept = [expression() for expression in expressions]
        _core.flush()
        del kept


def test_flush_raises_error_naming_failed_operation(driver: simulated_driver.Driver) -> None:
    x = PyGPU.to_gpu(HOST)
    warm(lambda: x + 1)
    y = x + 1
    failing_next(driver)
    with pytest.raises(PyGPU.CudaError, match=r"deferred operation: add of float64 with the shape \(3, 4\)") as caught:
        _core.flush()
    assert caught.value.code == INVALID
    assert waiting() == 0
    with pytest.raises(PyGPU.CudaError, match="add of float64"):
        y.get()


def test_flush_error_contains_number_of_failed_operations(driver: simulated_driver.Driver) -> None:
    x = PyGPU.to_gpu(HOST)
    warm(lambda: (x + 1) * 2)
    counted = OperationCounts()
    y = (x + 1) * 2
    failing_next(driver, times=3)  # The launches of the fused kernel and of both operations fail.
    with pytest.raises(PyGPU.CudaError, match="2 deferred operations, among them add of float64"):
        _core.flush()
    assert counted["failures"] == 2
    with pytest.raises(PyGPU.CudaError, match="multiply of float64"):
        y.get()


USES: dict[str, Callable[[Any, Any], Any]] = {
    "get": lambda y, _: y.get(),
    "an operator": lambda y, _: y + 1,
    "an operator with another": lambda y, x: x * y,
    "in place": lambda y, _: y.__iadd__(1),
    "as a source": lambda y, x: x.__setitem__(Ellipsis, y),
    "as a target": lambda y, x: y.__setitem__(Ellipsis, x),
    "a view": lambda y, _: y[1:],
    "T": lambda y, _: y.T,
    "repr": lambda y, _: repr(y),
    "ptr": lambda y, _: y.ptr,
    "dlpack": lambda y, _: y.__dlpack__(),
    "sum": lambda y, _: y.sum(),
    "sort": lambda y, _: PyGPU.sort(y),
    "copy": lambda y, _: y.copy(),
    "astype": lambda y, _: y.astype("float32"),
    "fill": lambda y, _: y.fill(1),
    "out": lambda y, x: PyGPU.add(x, 1, out=y),
    "a mask": lambda y, _: y[y > 0],
    "reshape": lambda y, _: y.reshape(-1),
    "iteration": lambda y, _: list(y),
}


@pytest.mark.parametrize("use", USES)
def test_failed_operation_raises_at_each_use_of_its_result(driver: simulated_driver.Driver, use: str) -> None:
    x = PyGPU.to_gpu(HOST)
    warm(lambda: x + 1)
    y = x + 1
    failing_next(driver)
    with pytest.raises(PyGPU.CudaError):
        _core.flush()
    for _ in range(2):
        with pytest.raises(PyGPU.CudaError, match="deferred operation: add of float64"):
            USES[use](y, x)
    assert waiting() == 0
    np.testing.assert_array_equal(x.get(), HOST)


def test_result_of_failed_operation_has_readable_shape_and_dtype(driver: simulated_driver.Driver) -> None:
    x = PyGPU.to_gpu(HOST)
    warm(lambda: x + 1)
    y = x + 1
    failing_next(driver)
    with pytest.raises(PyGPU.CudaError):
        _core.flush()
    assert (y.shape, y.dtype, y.nbytes, len(y)) == (HOST.shape, HOST.dtype, HOST.nbytes, 3)


def test_independent_operations_succeed_after_failed_operation(driver: simulated_driver.Driver) -> None:
    x, row = PyGPU.to_gpu(HOST), PyGPU.to_gpu(HOST[0])
    warm(lambda: x + 1, lambda: row * 2)
    bad, good = x + 1, row * 2  # The operations have different shapes, so PyGPU launches two kernels.
    failing_next(driver)
    counted = OperationCounts()
    with pytest.raises(PyGPU.CudaError, match="add of float64"):
        _core.flush()
    assert counted["kernels"] == 1
    np.testing.assert_array_equal(good.get(), HOST[0] * 2)
    del bad
    np.testing.assert_array_equal((x + 1).get(), HOST + 1)


def test_operation_on_result_of_failed_operation_fails_too(driver: simulated_driver.Driver) -> None:
    x, cube = PyGPU.to_gpu(HOST), PyGPU.to_gpu(np.ones((2, 3, 4)))
    warm(lambda: (x + 1) * cube)
    first = x + 1
    second = first * cube  # The product has another shape than `first`, so a separate kernel computes it.
    failing_next(driver)
    with pytest.raises(PyGPU.CudaError, match="2 deferred operations, among them add"):
        _core.flush()
    for array in (first, second):
        with pytest.raises(PyGPU.CudaError):
            array.get()


def test_operands_of_failed_operation_are_released(driver: simulated_driver.Driver) -> None:
    x = PyGPU.to_gpu(HOST)
    warm(lambda: x + 1)
    gc.collect()
    PyGPU.synchronize()
    before = PyGPU.memory_statistics()["bytes"]
    z = PyGPU.to_gpu(np.ones((3, 4)))
    y = z + 1
    del z
    failing_next(driver)
    with pytest.raises(PyGPU.CudaError):
        _core.flush()
    del y
    gc.collect()
    PyGPU.synchronize()
    assert PyGPU.memory_statistics()["bytes"] == before


def test_later_operations_succeed_after_failed_result_is_dropped(driver: simulated_driver.Driver) -> None:
    x = PyGPU.to_gpu(HOST)
    warm(lambda: x + 1)
    for _ in range(20):
        y = x + 1
        failing_next(driver)
        with pytest.raises(PyGPU.CudaError):
            _core.flush()
        del y
    np.testing.assert_array_equal((x + 1).get(), HOST + 1)


def test_compile_error_of_fused_kernel_contains_deferred_operation(driver: simulated_driver.Driver) -> None:
    loading = "hipModuleLoadData" if driver.is_hip else "cuModuleLoadData"
    names = [name for name in driver.calls() if name.startswith(loading) or "LibraryLoadData" in name]
    x = PyGPU.to_gpu(HOST.astype("int8"))
    with limits(compile_threshold=1):
        y = (x ^ 3) << x
        for name in names:
            driver.fault(
                name, INVALID, times=10
            )  # The driver rejects the kernel's image twice, because PyGPU recompiles the kernel once.
        try:
            with pytest.raises(PyGPU.CudaError, match="deferred operation"):
                y.get()
        finally:
            driver.clear_faults()
    with pytest.raises(PyGPU.CudaError):
        y.get()


def limit_memory_to_use_plus(extra: int) -> None:
    """Set the memory limit to the memory in use plus `extra` bytes."""
    PyGPU.synchronize()
    PyGPU.trim_memory()
    PyGPU.set_memory_limit(PyGPU.memory_statistics()["bytes"] + extra)


def test_pending_result_beyond_memory_limit_raises_at_each_use(driver: simulated_driver.Driver) -> None:
    x = PyGPU.to_gpu(np.ones(64 * KIB))
    limit_memory_to_use_plus(100 * KIB)
    y = x + 1
    with pytest.raises(PyGPU.OutOfMemoryError, match="deferred operation: add of float64") as caught:
        _core.flush()
    assert str(512 * KIB) in str(caught.value)
    with pytest.raises(MemoryError):
        y.get()
    PyGPU.set_memory_limit(None)
    with pytest.raises(MemoryError):
        y.get()
    np.testing.assert_array_equal((x + 1).get(), np.full(64 * KIB, 2.0))


def test_pending_result_within_memory_limit_is_valid_if_another_fails(driver: simulated_driver.Driver) -> None:
    x = PyGPU.to_gpu(np.ones(64 * KIB))
    warm(lambda: x + 1, lambda: x * 2)
    limit_memory_to_use_plus(800 * KIB)
    first, second = x + 1, x * 2
    with pytest.raises(PyGPU.OutOfMemoryError, match="multiply of float64"):
        _core.flush()
    np.testing.assert_array_equal(first.get(), np.full(64 * KIB, 2.0))
    with pytest.raises(MemoryError):
        second.get()
    PyGPU.set_memory_limit(None)


def test_memory_of_dropped_operand_is_reused_for_later_result(driver: simulated_driver.Driver) -> None:
    x = PyGPU.to_gpu(np.ones(64 * KIB))
    limit_memory_to_use_plus(700 * KIB)
    mask = x > 1
    y = x * 2
    del x
    np.testing.assert_array_equal(y.get(), np.full(64 * KIB, 2.0))
    assert not mask.get().any()


def test_driver_allocation_that_fails_in_flush_is_retried_once(driver: simulated_driver.Driver) -> None:
    x = PyGPU.to_gpu(np.ones(64 * KIB))
    y = x + 1
    name = "hipMallocFromPoolAsync" if driver.is_hip else "cuMemAllocFromPoolAsync"
    driver.fault(name, 2)
    np.testing.assert_array_equal(y.get(), np.full(64 * KIB, 2.0))


def test_failed_operations_leak_no_memory(driver: simulated_driver.Driver) -> None:
    gc.collect()
    PyGPU.synchronize()
    before = PyGPU.memory_statistics()["bytes"]
    x = PyGPU.to_gpu(np.ones(64 * KIB))
    for _ in range(5):
        limit_memory_to_use_plus(100 * KIB)
        kept = [x + 1, x * 2, x - 3]
        with pytest.raises(MemoryError):
            _core.flush()
        PyGPU.set_memory_limit(None)
        del kept
    del x
    gc.collect()
    PyGPU.synchronize()
    assert PyGPU.memory_statistics()["bytes"] == before
