"""Test the memory pool, the memory statistics, and allocations that exceed the free device memory."""

from __future__ import annotations

import gc
import re
import threading
from collections.abc import Iterator

import numpy
import pytest

import PyGPU
import simulated_driver
from gpu import support

support.require_gpu()
# Several tests fill the device, or compare the device's free memory before and after the test.
pytestmark = pytest.mark.whole_device

MIB = 1 << 20
# A size in bytes that exceeds all memory cached in PyGPU's pool. The size is smaller on a simulated GPU, because a
# simulated GPU fills all new and freed memory with a pattern.
MUCH = 64 * MIB if support.is_simulated() else 1 << 30


@pytest.fixture(autouse=True)
def release_cached_memory() -> None:
    gc.collect()
    PyGPU.synchronize()
    PyGPU.trim_memory()


@pytest.fixture(scope="module", autouse=True)
def limit_simulated_memory() -> Iterator[None]:
    """Limit the memory of a simulated GPU to the memory in use plus four times `MUCH`, because the tests fill all
    memory."""
    driver = simulated_driver.driver()
    if driver is None:
        yield
        return
    gc.collect()
    PyGPU.synchronize()
    PyGPU.trim_memory()
    free, total = PyGPU.memory_info()
    driver.set_memory_limit(0, total - free + 4 * MUCH)
    yield
    driver.set_memory_limit(0, total)


def figures() -> dict[str, int]:
    PyGPU.synchronize()
    return PyGPU.memory_statistics()


def has_pool() -> bool:
    return bool(PyGPU.device_properties(PyGPU.current_device())["memory_pools"])


def test_memory_statistics_follow_allocation_and_last_release() -> None:
    before = figures()
    array = PyGPU.empty(MUCH // 16, "uint8")
    during = figures()
    assert during["bytes"] == before["bytes"] + MUCH // 16
    assert during["count"] == before["count"] + 1
    assert during["peak"] >= during["bytes"]
    view, shared = array[5:], PyGPU.from_dlpack(array)
    assert figures()["count"] == during["count"], "a view has made an allocation"
    del array
    assert figures()["bytes"] == during["bytes"], "memory was freed under a view"
    del view, shared
    after = figures()
    assert after["bytes"] == before["bytes"]
    assert after["count"] == before["count"]
    assert after["peak"] >= before["bytes"] + MUCH // 16


def test_new_array_counts_as_one_allocation_and_empty_array_as_zero() -> None:
    before = figures()["count"]
    arrays = [PyGPU.zeros(3), PyGPU.to_gpu(numpy.ones(5)), PyGPU.arange(7), PyGPU.full((2, 2), 1.5)]
    assert figures()["count"] == before + len(arrays)
    arrays.append(PyGPU.empty((0, 5)))
    assert figures()["count"] == before + len(arrays) - 1


def test_freed_memory_stays_in_pool_until_trim_memory() -> None:
    if not has_pool():
        pytest.skip("the driver has no pools here")
    before = figures()
    array = PyGPU.empty(MUCH, "uint8")
    used = figures()
    assert used["pool_used"] >= before["pool_used"] + MUCH
    free_while_used, _ = PyGPU.memory_info()
    del array
    kept = figures()
    assert kept["pool_used"] < used["pool_used"]
    assert kept["pool_reserved"] >= MUCH, "freed memory went back at once"
    PyGPU.trim_memory()
    trimmed = figures()
    assert trimmed["pool_reserved"] < MUCH
    assert PyGPU.memory_info()[0] >= free_while_used + MUCH // 2
    assert trimmed["pool_reserved_peak"] >= MUCH


def test_freed_memory_is_reused_by_arrays_of_same_size() -> None:
    if not has_pool():
        pytest.skip("the driver has no pools here")
    for _ in range(50):
        array = PyGPU.empty(MUCH // 4, "uint8")
        del array
    assert figures()["pool_reserved"] < MUCH


def test_pinned_memory_is_reused_after_synchronization() -> None:
    addresses = set()
    for _ in range(20):
        array = PyGPU.empty_pinned(12_347, "uint8")
        addresses.add(array.ctypes.data)
        del array
        PyGPU.synchronize()
    assert len(addresses) == 1


def test_release_threshold_of_zero_disables_caching() -> None:
    if not has_pool():
        pytest.skip("the driver has no pools here")
    before = PyGPU.memory_release_threshold()
    try:
        PyGPU.set_memory_release_threshold(0)
        assert PyGPU.memory_release_threshold() == 0
        array = PyGPU.empty(MUCH, "uint8")
        del array
        assert figures()["pool_reserved"] < MUCH
    finally:
        PyGPU.set_memory_release_threshold(before)


def test_memory_info_matches_values_of_driver() -> None:
    free, total = PyGPU.memory_info()
    assert 0 < free <= total
    assert abs(total - PyGPU.device_properties(PyGPU.current_device())["total_memory"]) < 2 << 30
    array = PyGPU.empty(4 * MUCH, "uint8") if free > 6 * MUCH else PyGPU.empty(free // 2, "uint8")
    assert PyGPU.memory_info()[0] <= free - array.nbytes // 2


@pytest.mark.provokes_errors
def test_allocation_beyond_device_memory_raises_memory_error_with_sizes() -> None:
    _, total = PyGPU.memory_info()
    with pytest.raises(PyGPU.OutOfMemoryError) as caught:
        PyGPU.empty(2 * total, "uint8")
    assert isinstance(caught.value, MemoryError)
    assert isinstance(caught.value, PyGPU.CudaError)
    assert caught.value.code == 2
    assert caught.value.device == support.device_name()
    numbers = {int(number) for number in re.findall(r"\d+", str(caught.value))}
    assert 2 * total in numbers
    assert total in numbers, str(caught.value)
    assert PyGPU.full(5, 3).tolist() == [3] * 5
    PyGPU.synchronize()


@pytest.mark.provokes_errors
@pytest.mark.parametrize("shape", [(1 << 62,), (1 << 40, 1 << 40), (1 << 31, 1 << 31, 4)], ids=str)
def test_empty_of_impossible_shape_raises_without_side_effects(shape: tuple[int, ...]) -> None:
    before = figures()
    with pytest.raises((ValueError, MemoryError)):
        PyGPU.empty(shape, "float64")
    assert figures()["bytes"] == before["bytes"]
    assert PyGPU.zeros(3).tolist() == [0, 0, 0]


@pytest.mark.provokes_errors
def test_device_memory_is_filled_freed_and_filled_again() -> None:
    free, _ = PyGPU.memory_info()
    size = free // 10
    for turn in range(2):
        arrays = []
        for number in range(8):
            arrays.append(PyGPU.full(size, number + turn, "uint8"))
        assert [int(array[-1]) for array in arrays] == [number + turn for number in range(8)]
        with pytest.raises(PyGPU.OutOfMemoryError):
            PyGPU.empty(6 * size, "uint8")
        assert [int(array[0]) for array in arrays] == [number + turn for number in range(8)]
        del arrays
    # This array is as large as the eight dropped arrays together. It fits only if the pool does not keep the memory of
    # the dropped arrays as separate blocks.
    whole = PyGPU.empty(8 * size, "uint8")
    whole[-1] = 3
    assert int(whole[-1]) == 3


@pytest.mark.provokes_errors
def test_trim_memory_releases_memory_for_other_libraries() -> None:
    free, _ = PyGPU.memory_info()
    array = PyGPU.empty(free // 2, "uint8")
    del array
    PyGPU.synchronize()
    PyGPU.trim_memory()
    assert PyGPU.memory_info()[0] >= free - free // 20


@pytest.mark.provokes_errors
def test_allocation_waits_for_work_that_still_uses_freed_memory() -> None:
    free, _ = PyGPU.memory_info()
    size = int(free * 0.6)
    for turn in range(3):
        with PyGPU.Stream(non_blocking=True):
            array = PyGPU.full(size, turn, "uint8")
            del array
    array = PyGPU.full(size, 9, "uint8")
    assert int(array[size // 2]) == 9


def test_arrays_of_six_allocating_threads_are_correct_and_leak_nothing() -> None:
    before = figures()
    failures: list[str] = []

    def work(seed: int) -> None:
        random = numpy.random.default_rng(seed)
        with PyGPU.Stream(non_blocking=True):
            held: list[tuple[PyGPU.GPUArray, int]] = []
            for turn in range(100):
                value = int(random.integers(0, 256))
                held.append((PyGPU.full(int(random.integers(1, MUCH // 256)), value, "uint8"), value))
                if len(held) > 8:
                    array, expected = held.pop(int(random.integers(0, len(held))))
                    if int(array[-1]) != expected:
                        failures.append(f"thread {seed}, turn {turn}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    gc.collect()
    after = figures()
    assert after["bytes"] == before["bytes"]
    assert after["count"] == before["count"]


def test_arrays_in_reference_cycles_are_collected() -> None:
    before = figures()["count"]
    array = PyGPU.zeros(1000)
    array.myself = array  # type: ignore[attr-defined]
    del array
    gc.collect()
    assert figures()["count"] == before


def test_pinned_array_does_not_count_as_device_memory() -> None:
    before = figures()["bytes"]
    pinned = PyGPU.empty_pinned((1000, 1000), "float32")
    assert isinstance(pinned, numpy.ndarray)
    assert figures()["bytes"] == before
    pinned[:] = 4
    assert float(PyGPU.to_gpu(pinned)[500, 500]) == 4
    ptr = pinned.ctypes.data
    del pinned
    assert ptr % 64 == 0
