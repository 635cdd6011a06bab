"""Test the limits of the pending queue: an operation that exceeds a limit flushes, and the fusion report counts the
reason.
"""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU
import simulated_driver
from fusion_support.operation_counts import OperationCounts, limits, waiting

MIB = 1 << 20
LARGE = np.arange(MIB // 8, dtype="float64")


@pytest.mark.parametrize("most", [1, 2, 3, 32])
def test_number_of_pending_operations_is_limited(most: int) -> None:
    x = PyGPU.to_gpu(np.arange(5.0))
    with limits(nodes=most):
        counted = OperationCounts()
        kept = []
        for number in range(2 * most + 1):
            kept.append(x + number)
            assert 0 < waiting() <= most
        assert counted["closed"] == {"nodes": 2}
    for number, got in enumerate(kept):
        np.testing.assert_array_equal(got.get(), np.arange(5.0) + number)


def test_default_limit_of_pending_queue_is_32_operations() -> None:
    x = PyGPU.to_gpu(np.arange(5.0))
    kept = [x + number for number in range(32)]
    assert waiting() == 32
    kept.append(x + 32)
    assert waiting() == 1


def test_discarded_operations_do_not_count_toward_limit_of_queue() -> None:
    x = PyGPU.to_gpu(LARGE)
    with limits(results=4 * MIB, held=4 * MIB):
        counted = OperationCounts()
        former = last = x
        for number in range(100):
            former, last = last, x + number
            assert waiting() <= 2
        assert counted["closed"] == {}
        np.testing.assert_array_equal(former.get(), LARGE + 98)
    np.testing.assert_array_equal(last.get(), LARGE + 99)


def test_chain_of_300_operations_is_flushed_in_batches_by_node_limit() -> None:
    x = PyGPU.to_gpu(np.arange(5.0))
    counted = OperationCounts()
    last = x
    for number in range(300):
        former, last = last, x + number
    assert counted["closed"] == {"nodes": 2}
    np.testing.assert_array_equal(last.get() - former.get(), np.ones(5))


def test_total_size_of_pending_results_is_limited() -> None:
    x = PyGPU.to_gpu(LARGE)
    with limits(results=2 * MIB):
        counted = OperationCounts()
        kept = [x + 1, x + 2]
        assert (waiting(), counted["closed"]) == (2, {})
        kept.append(x + 3)
        assert (waiting(), counted["closed"]) == (1, {"bytes": 1})
    for number, got in enumerate(kept, 1):
        np.testing.assert_array_equal(got.get(), LARGE + number)


def test_total_size_of_operands_kept_alive_only_by_queue_is_limited() -> None:
    x = PyGPU.to_gpu(LARGE)
    with limits(held=MIB // 2):
        counted = OperationCounts()
        mask = x > 5
        assert waiting() == 1
        del x
        assert (waiting(), counted["closed"]) == (0, {"held": 1})
    np.testing.assert_array_equal(mask.get(), LARGE > 5)


def test_limit_of_operands_held_by_queue_is_checked_at_next_operation() -> None:
    with limits(held=3 * MIB // 2):
        counted = OperationCounts()
        first = PyGPU.to_gpu(LARGE) > 5
        x = PyGPU.to_gpu(LARGE)
        second = x > 6
        del x
        third = first != second
        closed = counted["closed"]
        assert set(closed) <= {"held", "work", "operation", "values"}, closed
    np.testing.assert_array_equal(third.get(), (LARGE > 5) != (LARGE > 6))


def test_operand_freed_after_result_of_same_size_causes_no_flush() -> None:
    x = PyGPU.to_gpu(LARGE)
    with limits(held=MIB // 2):
        counted = OperationCounts()
        x = x * 2
        x = x + 1
        x = x - 3
        assert (waiting(), counted["closed"]) == (3, {})
    np.testing.assert_array_equal(x.get(), LARGE * 2 + 1 - 3)


def test_operand_with_live_view_is_not_counted_as_held_only_by_queue() -> None:
    x = PyGPU.to_gpu(LARGE)
    half = x[::2]
    with limits(held=MIB // 2):
        counted = OperationCounts()
        mask = half > 5
        del x
        assert (waiting(), counted["closed"]) == (1, {})
        del half
        assert (waiting(), counted["closed"]) == (0, {"held": 1})
    np.testing.assert_array_equal(mask.get(), LARGE[::2] > 5)


def test_peak_memory_of_expression_does_not_exceed_eager_mode() -> None:
    x = PyGPU.to_gpu(LARGE)
    PyGPU.synchronize()
    before = PyGPU.memory_statistics()["bytes"]
    largest = 0
    with limits(held=MIB):
        for _ in range(100):
            x = (x * 2 + 1) - x
            largest = max(largest, PyGPU.memory_statistics()["bytes"])
    assert largest <= before + 4 * MIB
    PyGPU.synchronize()
    assert np.isfinite(x.get()).any()


def test_allocation_beyond_memory_limit_flushes_and_succeeds() -> None:
    x = PyGPU.to_gpu(LARGE)
    PyGPU.synchronize()
    PyGPU.trim_memory()
    PyGPU.set_memory_limit(PyGPU.memory_statistics()["bytes"] + MIB // 2)
    try:
        mask = x > 5
        del x
        counted = OperationCounts()
        assert waiting() == 1
        other = PyGPU.empty(MIB, "uint8")
        assert (waiting(), counted["closed"]) == (0, {"memory": 1})
    finally:
        PyGPU.set_memory_limit(None)
    assert other.nbytes == MIB
    np.testing.assert_array_equal(mask.get(), LARGE > 5)


def test_allocation_from_cache_beyond_memory_limit_flushes_first() -> None:
    x = PyGPU.to_gpu(np.arange(1024.0))
    spare = PyGPU.empty(x.nbytes, "uint8")
    del spare
    # The new array fits the limit alone, but not together with the pending result.
    PyGPU.set_memory_limit(PyGPU.memory_statistics()["bytes"] + x.nbytes)
    try:
        mask = x > 5
        del x
        counted = OperationCounts()
        assert waiting() == 1
        other = PyGPU.empty(8192, "uint8")
        assert (waiting(), counted["closed"]) == (0, {"memory": 1})
    finally:
        PyGPU.set_memory_limit(None)
    assert other.nbytes == 8192
    np.testing.assert_array_equal(mask.get(), np.arange(1024.0) > 5)


def test_set_memory_limit_launches_pending_operations_first() -> None:
    x = PyGPU.to_gpu(LARGE)
    before = PyGPU.memory_statistics()["bytes"]
    kept = x + 1
    PyGPU.set_memory_limit(before)
    try:
        np.testing.assert_array_equal(kept.get(), LARGE + 1)
    finally:
        PyGPU.set_memory_limit(None)


@pytest.mark.provokes_errors
def test_allocation_rejected_by_driver_succeeds_after_flush() -> None:
    driver = simulated_driver.driver()
    if driver is None:
        pytest.skip("faults are planted in a simulated driver only")
    x = PyGPU.to_gpu(LARGE)
    PyGPU.synchronize()
    PyGPU.trim_memory()
    mask = x > 5
    del x
    counted = OperationCounts()
    driver.fault("hipMallocFromPoolAsync" if driver.is_hip else "cuMemAllocFromPoolAsync", 2)
    other = PyGPU.empty(MIB, "uint8")
    assert (waiting(), counted["closed"]) == (0, {"memory": 1})
    assert other.nbytes == MIB
    np.testing.assert_array_equal(mask.get(), LARGE > 5)


def test_new_array_within_memory_limit_does_not_flush() -> None:
    x = PyGPU.to_gpu(np.arange(5.0))
    kept = x + 1
    arrays = [PyGPU.empty(3), PyGPU.empty((2, 2), "int8"), PyGPU.empty(1 << 20)]
    assert waiting() == 1
    del arrays
    assert waiting() == 1
    np.testing.assert_array_equal(kept.get(), np.arange(5.0) + 1)
