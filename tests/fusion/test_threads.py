"""Test the pending queues of threads: another thread launches, reads, overwrites or drops results that are pending."""

from __future__ import annotations

import gc
import operator
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import SystemRandom
from typing import Any

import numpy as np
import pytest

import dlpack_forge
import PyGPU
import simulated_driver
from fusion_support.operation_counts import limits, waiting
from PyGPU import _core
from support import at_once

HOST = np.linspace(-1, 2, 12).reshape(3, 4)


def in_a_thread(function: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def test_another_thread_reads_correct_values_of_pending_result() -> None:
    x = PyGPU.to_gpu(HOST)
    y = x + 1
    np.testing.assert_array_equal(in_a_thread(y.get), HOST + 1)
    assert waiting() == 0


def test_write_by_another_thread_waits_for_pending_reads_of_array() -> None:
    x = PyGPU.to_gpu(HOST)
    y = x + 1
    in_a_thread(lambda: x.fill(5))
    np.testing.assert_array_equal(y.get(), HOST + 1)
    np.testing.assert_array_equal(x.get(), np.full_like(HOST, 5))


def test_operation_of_another_thread_on_pending_result_is_correct() -> None:
    x = PyGPU.to_gpu(HOST)
    y = x + 1
    z = in_a_thread(lambda: y * 2)
    assert waiting() == 1  # Only `y * 2` is still pending, because the other thread's use of `y` has launched `x + 1`.
    np.testing.assert_array_equal(z.get(), (HOST + 1) * 2)
    np.testing.assert_array_equal(y.get(), HOST + 1)


def discard_alone(x: PyGPU.GPUArray, y: PyGPU.GPUArray) -> list[PyGPU.GPUArray]:
    del y
    _ = x + 1
    return []


def discard_behind_a_pending_operation(x: PyGPU.GPUArray, y: PyGPU.GPUArray) -> list[PyGPU.GPUArray]:
    kept = y + 1
    _ = x + 1
    return [kept]


def discard_behind_a_flushed_operation(x: PyGPU.GPUArray, y: PyGPU.GPUArray) -> list[PyGPU.GPUArray]:
    kept = y + 1
    _ = x + 1
    del _
    PyGPU.flush()
    return [kept]


def discard_two_of_three(x: PyGPU.GPUArray, y: PyGPU.GPUArray) -> list[PyGPU.GPUArray]:
    first, kept, last = x + 1, y + 1, x + 2
    del last, first
    return [kept]


def discard_all_and_defer_one(x: PyGPU.GPUArray, y: PyGPU.GPUArray) -> list[PyGPU.GPUArray]:
    first, last = x + 1, x + 2
    del last, first
    return [y + 1]


@pytest.mark.parametrize(
    "discard",
    [
        discard_alone,
        discard_behind_a_pending_operation,
        discard_behind_a_flushed_operation,
        discard_two_of_three,
        discard_all_and_defer_one,
    ],
)
def test_discarded_operation_does_not_block_write_by_another_thread(
    discard: Callable[..., list[PyGPU.GPUArray]],
) -> None:
    # A former defect: a discarded operation left its operands marked as used by a pending operation. A thread that
    # wrote to these operands then flushed an empty queue again and again.
    x, y = PyGPU.to_gpu(HOST), PyGPU.to_gpu(HOST)
    PyGPU.flush()
    kept = discard(x, y)

    def write() -> None:
        target = x
        target += y * 2

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    np.testing.assert_array_equal(x.get(), HOST + HOST * 2)
    for array in kept:
        np.testing.assert_array_equal(array.get(), HOST + 1)
    assert waiting() == 0


def test_pending_result_dropped_by_other_thread_is_discarded() -> None:
    box = [PyGPU.to_gpu(HOST) + 1]
    in_a_thread(box.clear)
    assert waiting() == 0


def test_fusion_mode_is_separate_for_each_thread() -> None:
    before = in_a_thread(_core._get_fusion)
    _core._set_fusion("off")
    assert in_a_thread(_core._get_fusion) == before
    _core._set_fusion("auto")


def random_expression() -> Callable[[Any], Any]:
    """Return a random expression whose fused kernel must be compiled first, so that the flush takes long."""
    steps = SystemRandom().choices([operator.add, operator.sub, operator.mul], k=14)

    def of(x: Any) -> Any:
        value = x
        for step in steps:
            value = step(value, x)
        return value

    return of


MEANWHILE: dict[str, Callable[[Any, Any], Any]] = {
    "fill": lambda x, _: x.fill(5),
    "+=": lambda x, _: x.__iadd__(1),
    "get": lambda _, y: y.get(),
    "compute with the result": lambda _, y: (y * 2).get(),
    "view": lambda _, y: y[1:].get(),
    "ptr": lambda x, _: x.ptr,
    "synchronize": lambda _, __: PyGPU.synchronize(),
    "drop": lambda _, __: None,
}


@pytest.fixture
def delayed() -> Iterator[simulated_driver.Driver]:
    """Delay the work of launches at random, so that other threads use arrays while a batch is being launched."""
    PyGPU.zeros(1)
    driver = simulated_driver.driver()
    if driver is None:
        pytest.skip("calls are delayed in a simulated driver only")
    driver.delay(0, most=300)
    yield driver
    driver.delay(0)


@pytest.mark.parametrize("name", MEANWHILE)
def test_use_of_array_during_launch_by_other_thread_is_correct(name: str, delayed: simulated_driver.Driver) -> None:
    twin = (np.arange(12.0).reshape(3, 4) - 5) / 8
    for _ in range(10):
        x = PyGPU.to_gpu(twin)
        kept = [in_a_thread(lambda x=x: (x + 1) * x)]  # The result is pending in the queue of a terminated thread.
        launching = threading.Thread(target=kept[0].get)
        launching.start()
        MEANWHILE[name](x, kept[0])
        launching.join()
        np.testing.assert_array_equal(kept[0].get(), (twin + 1) * twin)


def test_operation_on_result_during_launch_by_other_thread_is_correct(delayed: simulated_driver.Driver) -> None:
    twin = (np.arange(12.0).reshape(3, 4) - 5) / 8
    for _ in range(10):
        x = PyGPU.to_gpu(twin)
        y = in_a_thread(lambda x=x: (x + 1) * x)
        launching = threading.Thread(target=y.get)
        launching.start()
        z = y + x
        x.fill(0)
        launching.join()
        np.testing.assert_array_equal(z.get(), (twin + 1) * twin + twin)


SHOWN: dict[str, Callable[[Any], Any]] = {
    "ptr": lambda x: x.ptr,
    "dlpack": lambda x: x.__dlpack__(),
    "parameter": lambda x: x._as_parameter_,
    "gpudata": lambda x: int(x.gpudata),
    "interface": lambda x: x.__cuda_array_interface__,
    "the exchange table": dlpack_forge.Exported,
    "a tensor that is lent": dlpack_forge.lent,
}


@pytest.mark.parametrize("name", SHOWN)
def test_no_operation_is_pending_after_address_request_of_other_thread(name: str) -> None:
    if name == "interface" and PyGPU.backend_name() != "cuda":
        pytest.skip("the interface is CUDA's")
    shown: list[Any] = []
    for _ in range(30):
        x = PyGPU.to_gpu((np.arange(12.0).reshape(3, 4) - 5) / 8)
        showing = threading.Thread(target=lambda x=x: shown.append(SHOWN[name](x)))
        showing.start()
        z = x + 1
        showing.join()
        # The other thread requests the address of `x`. If `x + 1` was deferred before the request, the request has
        # launched it. If `x + 1` is called after the request, `x + 1` is launched at once.
        assert waiting() == 0
        np.testing.assert_array_equal(z.get(), x.get() + 1)
        shown.clear()


@pytest.mark.parametrize("name", ["ptr", "gpudata", "interface"])
def test_second_address_request_waits_for_flush_of_first_request(name: str) -> None:
    PyGPU.zeros(1)
    driver = simulated_driver.driver()
    if driver is None or (name == "interface" and driver.is_hip):
        pytest.skip("the other library is a simulated driver's caller; the interface is CUDA's")
    twin = (np.arange(12.0).reshape(3, 4) - 5) / 8
    x, host = PyGPU.to_gpu(twin), np.zeros_like(twin)
    view, expression = x[:], random_expression()
    PyGPU.synchronize()
    with limits(compile_threshold=1):
        # The operation that computes `y` is pending in the queue of this thread.
        # Meanwhile, the thread `showing` flushes the queue and compiles the kernel.
        y = expression(x)
        showing = threading.Thread(target=lambda: SHOWN[name](x))
        showing.start()
        time.sleep(0.01)
        shown = in_a_thread(lambda: SHOWN[name](view))
        address = shown["data"][0] if isinstance(shown, dict) else getattr(shown, "value", shown)
        driver.foreign_upload(address, host.ctypes.data, host.nbytes, 0)
        showing.join()
    np.testing.assert_array_equal(y.get(), expression(twin))
    np.testing.assert_array_equal(x.get(), host)


def test_no_operation_pending_after_address_request_in_garbage_collection() -> None:
    x = PyGPU.to_gpu(HOST)

    class Shows:
        def __del__(self) -> None:
            assert x.ptr

    before = gc.get_threshold()
    gc.collect()
    gc.disable()
    garbage = Shows()
    garbage.itself = garbage  # type: ignore[attr-defined]
    del garbage
    try:
        gc.set_threshold(1)
        gc.enable()
        # Python 3.11 collects garbage when the result is allocated, later versions collect it after the operation.
        y = x + 1
        assert waiting() == 0
    finally:
        gc.set_threshold(*before)
    np.testing.assert_array_equal(y.get(), HOST + 1)


def test_results_of_threads_that_share_operands_are_correct() -> None:
    x, y = PyGPU.to_gpu(HOST), PyGPU.to_gpu(HOST[::-1].copy())

    def work(number: int) -> None:
        for turn in range(150):
            a = x * number + y
            b = a - x
            if turn % 3 == 0:
                del a
            if turn % 5 == number:
                x[0:1].get()
            np.testing.assert_array_equal(b.get(), (HOST * number + HOST[::-1]) - HOST)

    at_once(4, work)
    assert waiting() == 0


def test_threads_with_separate_streams_pass_results_to_each_other() -> None:
    count = 60
    made: list[Any] = []
    lock = threading.Condition()

    def produce() -> None:
        with PyGPU.Stream(non_blocking=True):
            x = PyGPU.to_gpu(HOST)
            for number in range(count):
                y = x * 2 + number
                with lock:
                    made.append((number, y))
                    lock.notify()
                if number % 7 == 0:
                    x += 1
                    x -= 1

    def consume() -> list[int]:
        wrong = []
        with PyGPU.Stream(non_blocking=True):
            for _ in range(count):
                with lock:
                    lock.wait_for(lambda: made)
                    number, y = made.pop(0)
                if not np.array_equal((y - number).get(), HOST * 2 + number - number):
                    wrong.append(number)
        return wrong

    with ThreadPoolExecutor(2) as pool:
        consumer = pool.submit(consume)
        pool.submit(produce).result()
        # `x += 1; x -= 1` changes most values of `x` by rounding, so only the result with number 0 must be exact.
        assert [number for number in consumer.result() if number <= 0] == []


def compiled(work: Callable[[], Any]) -> int:
    """Run `work`, and return how many modules `work` loads into the simulated driver."""
    driver = simulated_driver.driver()
    assert driver is not None
    calls = [call for call in driver.calls() if "LoadData" in call]
    before = sum(map(driver.call_count, calls))
    work()
    return sum(map(driver.call_count, calls)) - before


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_with_same_loop_compile_no_more_kernels_than_one_thread(threads: int) -> None:
    x = PyGPU.to_gpu(HOST)
    if simulated_driver.driver() is None:
        pytest.skip("modules are counted in a simulated driver only")
    for step in (operator.add, operator.sub, operator.mul):
        step(x, x).get()

    def loop(expression: Callable[[Any], Any]) -> None:
        for turn in range(6):
            made = expression(x)
            total = (made * made).sum()
            np.testing.assert_array_equal(made.get(), expression(HOST))
            if turn % 2:
                total.get()

    alone, together, apart = random_expression(), random_expression(), [random_expression() for _ in range(threads)]
    loop(
        random_expression()
    )  # Compile the kernels of the single operations, which are used at the first evaluation of an expression.
    one = compiled(lambda: loop(alone))
    assert one >= 1
    assert compiled(lambda: at_once(threads, lambda _: loop(together))) == one
    # Each thread evaluates its own expression. Together the threads compile as many kernels as one thread would.
    assert compiled(lambda: at_once(threads, lambda number: loop(apart[number]))) == one * threads


def test_operations_of_ended_thread_stay_pending_and_are_computed() -> None:
    x = PyGPU.to_gpu(HOST)
    kept = in_a_thread(lambda: [x + number for number in range(3)])
    assert waiting() == 3
    for number, got in enumerate(kept):
        np.testing.assert_array_equal(got.get(), HOST + number)
