"""Test interop regressions 9, 10, 14 and 19 of docs/design/interop_regressions.md: synchronization."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import PyGPU
import regression_support
import simulated_driver
from gpu.kernel_library import Kernels
from gpu.support import COUNT, SECONDS, Interface
from regression_support import run

BACKEND = PyGPU.backend_name()
gpu_only = pytest.mark.skipif(BACKEND == "cpu", reason="host memory has no streams")

# Parts of the names of CUDA's and HIP's driver calls that make the host wait.
WAITS = ("Synchronize",)


@contextlib.contextmanager
def no_host_wait() -> Iterator[None]:
    """Assert that the `with` block makes no driver call that blocks the host, if the driver counts its calls."""
    driver = simulated_driver.driver()
    names = [name for name in driver.calls() if any(word in name for word in WAITS)] if driver else []
    before = [driver.call_count(name) for name in names] if driver else []
    yield
    after = [driver.call_count(name) for name in names] if driver else []
    assert dict(zip(names, after, strict=True)) == dict(zip(names, before, strict=True))


def holds(array: PyGPU.GPUArray, value: float) -> bool:
    return bool((array.get() == value).all())


# Regression 9: unclear responsibility for synchronization.


@gpu_only
@pytest.mark.parametrize("protocol", ["dlpack", "interface"])
def test_regression_09_consumer_stream_waits_for_write_but_host_does_not(
    kernels: Kernels, slow: PyGPU.Stream, other: PyGPU.Stream, block: PyGPU.GPUArray, protocol: str
) -> None:
    """Rule out the defect that the consumer reads old values, or every exchange blocks the host."""
    result = PyGPU.zeros(COUNT, "float32")
    PyGPU.synchronize()
    if protocol == "interface" and BACKEND == "hip":
        pytest.skip("on ROCm the interface names no stream, so the host does wait")
    with slow:
        kernels.spin(SECONDS, slow.handle)
        block.fill(2)
    with no_host_wait():
        if protocol == "dlpack":
            kept: Any = block.__dlpack__(stream=other.handle)
        else:
            kept = block.__cuda_array_interface__["stream"]
            other.wait_stream(kept)
        kernels.read(result.ptr, block.ptr, COUNT, other.handle)
    assert not slow.query(), "the write was not late: this test shows nothing"
    other.synchronize()
    assert holds(result, 2)
    del kept


@gpu_only
def test_regression_09_export_for_stream_none_makes_default_stream_wait(
    kernels: Kernels, slow: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    """Rule out the defect that `stream=None` omits ordering or blocks the host, and `stream=-1` does not disable
    ordering."""
    result = PyGPU.zeros(COUNT, "float32")
    PyGPU.synchronize()
    block.fill(3, stream=slow)
    kernels.spin(SECONDS, slow.handle)
    with no_host_wait():
        block.__dlpack__(stream=-1)
        assert PyGPU.default_stream().query(), "-1 has ordered something"
        block.__dlpack__(stream=None)
        kernels.read(result.ptr, block.ptr, COUNT)
    assert not slow.query(), "the write was not late: this test shows nothing"
    assert holds(result, 3)


# Regression 10: memory that is freed too early.


@gpu_only
@pytest.mark.parametrize("tell", ["export", "record_stream"])
def test_regression_10_memory_is_not_reused_while_consumer_reads_it(
    kernels: Kernels, slow: PyGPU.Stream, tell: str
) -> None:
    """Rule out the defect that the allocator reuses memory while a foreign kernel still reads it."""
    result = PyGPU.zeros(COUNT, "float32")
    array = PyGPU.full(COUNT, 4, "float32")
    PyGPU.synchronize()
    capsule = array.__dlpack__(stream=slow.handle) if tell == "export" else None
    kernels.spin(SECONDS, slow.handle)
    kernels.read(result.ptr, array.ptr, COUNT, slow.handle)
    if tell == "record_stream":
        array.record_stream(slow.handle)
    del array, capsule
    overwriting = [PyGPU.full(COUNT, -1, "float32") for _ in range(8)]
    slow.synchronize()
    assert holds(result, 4)
    del overwriting


@gpu_only
@pytest.mark.parametrize("known_by", ["record_stream", "export", "interface", "current"])
def test_regression_10_arrays_stay_valid_after_stream_is_destroyed(
    kernels: Kernels, block: PyGPU.GPUArray, known_by: str
) -> None:
    """Rule out the defect that a library uses a stream that another library has destroyed, and crashes or runs work in
    the wrong order."""
    if known_by == "interface" and BACKEND == "hip":
        pytest.skip("on ROCm the interface names no stream")
    foreign = regression_support.Vendor()
    stream = foreign.create_stream()
    kernels.spin(SECONDS / 4, stream)
    kernels.fill(block.ptr, 5, COUNT, stream)
    arrays = [block]
    match known_by:
        case "record_stream":
            block.record_stream(stream)
        case "export":
            block.record_stream(stream)
            capsule = block.__dlpack__(stream=stream)
            del capsule
        case "interface":
            block.record_stream(stream)
            arrays.append(PyGPU.asarray(Interface(block, stream=stream)))
            arrays.append(arrays[1].copy())
        case "current":
            block.record_stream(stream)
            with PyGPU.Stream.from_handle(stream):
                arrays.append(block.copy())
                arrays.append(PyGPU.full(COUNT, 5, "float32"))
                block.fill(5)
    foreign.destroy_stream(stream)
    assert all(holds(array, 5) for array in arrays)
    copied = block.copy()
    block.fill(6)
    assert holds(copied, 5)
    assert holds(block, 6)
    del arrays, copied
    PyGPU.synchronize()
    # If a destructor had failed, this call would raise the destructor's error.
    assert PyGPU.zeros(3).tolist() == [0, 0, 0]


@pytest.mark.provokes_findings
@pytest.mark.skipif(BACKEND == "cpu", reason="host memory has no streams")
def test_regression_10_work_on_destroyed_stream_raises_error(block: PyGPU.GPUArray) -> None:
    """Rule out the defect that work on a destroyed stream raises no error, or a late error that does not name the
    stream."""
    if simulated_driver.driver() is None:
        pytest.skip("a real driver takes the number for an address")
    foreign = regression_support.Vendor()
    stream = foreign.create_stream()
    known = PyGPU.Stream.from_handle(stream)
    foreign.destroy_stream(stream)
    for call in (known.synchronize, known.query, known.record, lambda: block.fill(2, stream=known)):
        with pytest.raises((PyGPU.CudaError, ValueError), match=r"(?i)handle|stream"):
            call()
    with pytest.raises((PyGPU.CudaError, ValueError), match=r"(?i)handle|stream"), known:
        PyGPU.zeros(3).fill(1)
    assert PyGPU.current_stream().is_default
    assert holds(block, 1)


# Regression 14: deadlocks between the GIL and the driver's lock.


def test_regression_14_allocations_and_drops_in_threads_do_not_deadlock() -> None:
    """Rule out the defect that a thread inside the driver waits for the GIL, while the thread that holds the GIL waits
    for the driver."""
    script = """
import random, threading
import PyGPU
import simulated_driver
PyGPU.zeros(1)
driver = simulated_driver.driver()
if driver is not None:
    driver.delay(0, most=300)
handed, failures = [[] for _ in range(3)], []
def allocate(number):
    try:
        with PyGPU.Stream(non_blocking=True):
            for turn in range(60):
                array = PyGPU.full(500, number, "int32")
                array.itself = array if turn % 3 == 0 else None
                handed[number].append((array[::2], array.__dlpack__()))
                assert array.get()[0] == number
    except BaseException as failure:
        failures.append(failure)
def drop():
    try:
        while any(thread.is_alive() for thread in allocating):
            random.choice(handed).clear()
            PyGPU.synchronize()
    except BaseException as failure:
        failures.append(failure)
allocating = [threading.Thread(target=allocate, args=(number,)) for number in range(3)]
dropping = [threading.Thread(target=drop) for _ in range(2)]
for thread in allocating + dropping:
    thread.start()
for thread in allocating + dropping:
    thread.join()
assert failures == [], failures
print("ended")
"""
    assert run(script) == "ended"


@pytest.mark.sampled(on="cuda")
@gpu_only
@pytest.mark.starts_processes
@pytest.mark.parametrize(
    "call",
    [
        "stream.synchronize()",
        "PyGPU.synchronize()",
        "array.get()",
        "array.item()",
        "array.synchronize()",
        "PyGPU.trim_memory()",
        "PyGPU.zeros(10, 'float32').fill(3)",
        "del lent",
        "del pinned",
        "del array",
        "stream.record().synchronize()",
        "array[...] = numpy.ones(1)",
    ],
)
def test_regression_14_blocking_call_releases_gil_for_host_function(call: str) -> None:
    """Rule out the defect that a host function waits for the GIL, while the thread that holds the GIL waits for the
    stream of the host function."""
    script = f"""
import time, numpy
import PyGPU
import regression_support
stream = PyGPU.Stream(non_blocking=True)
with stream:
    array = PyGPU.full(1, 2, "float32")
    lent = PyGPU.full(1000, 2, "float32")
capsule = lent.__dlpack__(stream=stream.handle)
del capsule
pinned = PyGPU.empty_pinned(1 << 16, "float32")
PyGPU.synchronize()
called = []
function = regression_support.HOST_FUNCTION(lambda _: (time.sleep(0.02), called.append(1)))
regression_support.Vendor().launch_host_function(stream.handle, function)
array.fill(3, stream=stream)
PyGPU.to_gpu_async(pinned, stream=stream)
{call}
stream.synchronize()
assert called == [1]
print("ended")
"""
    assert run(script) == "ended"


# Regression 19: asynchronous copies.


@gpu_only
@pytest.mark.parametrize("count", [5, COUNT])
def test_regression_19_host_array_may_change_after_async_upload_returns(
    kernels: Kernels, slow: PyGPU.Stream, count: int
) -> None:
    """Rule out the defect that the copy engine reads data that the host wrote after the call of `to_gpu_async`."""
    host = np.full(count, 5, "float32")
    kernels.spin(SECONDS / 2, slow.handle)
    array = PyGPU.to_gpu_async(host, stream=slow)
    host[:] = -1
    del host
    assert holds(array, 5)


@gpu_only
def test_regression_19_pinned_memory_stays_allocated_during_async_copy(kernels: Kernels, slow: PyGPU.Stream) -> None:
    """Rule out the defect that an asynchronous copy waits for the stream, or frees pinned memory too early."""
    pinned = PyGPU.empty_pinned(COUNT, "float32")
    pinned[:] = 6
    array = PyGPU.empty(COUNT, "float32")
    PyGPU.synchronize()
    kernels.spin(SECONDS, slow.handle)
    with no_host_wait():
        array.set_async(pinned, slow)
        del pinned
    assert not slow.query(), "the copy was not late: this test shows nothing"
    PyGPU.empty_pinned(COUNT, "float32")[:] = -1
    assert holds(array, 6)
