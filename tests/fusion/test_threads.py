"""Threads share one window: what one of them wrote down another may launch, need, write over or let go of."""

from __future__ import annotations

import contextlib
import gc
import operator
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import SystemRandom
from typing import Any

import numpy as np
import pytest

import forge
import PyGPU
import simulated
from fusing.figures import launch_call, limits, waiting
from PyGPU import _core
from support import at_once

HOST = np.linspace(-1, 2, 12).reshape(3, 4)


def in_a_thread(function: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def test_another_thread_gets_the_values() -> None:
    x = PyGPU.to_gpu(HOST)
    y = x + 1
    np.testing.assert_array_equal(in_a_thread(y.get), HOST + 1)
    assert waiting() == 0


def test_another_threads_write_comes_behind_what_waits() -> None:
    x = PyGPU.to_gpu(HOST)
    y = x + 1
    in_a_thread(lambda: x.fill(5))
    np.testing.assert_array_equal(y.get(), HOST + 1)
    np.testing.assert_array_equal(x.get(), np.full_like(HOST, 5))


def test_another_thread_computes_with_what_waits() -> None:
    x = PyGPU.to_gpu(HOST)
    y = x + 1
    z = in_a_thread(lambda: y * 2)
    assert waiting() == 2
    np.testing.assert_array_equal(z.get(), (HOST + 1) * 2)
    np.testing.assert_array_equal(y.get(), HOST + 1)


def test_another_thread_may_let_go_of_it() -> None:
    box = [PyGPU.to_gpu(HOST) + 1]
    in_a_thread(box.clear)
    assert waiting() == 0


def test_the_mode_is_each_threads_own() -> None:
    before = in_a_thread(_core._get_fusion)
    _core._set_fusion("off")
    assert in_a_thread(_core._get_fusion) == before
    _core._set_fusion("auto")


def structure() -> Callable[[Any], Any]:
    """An expression that has been met never before: it takes a while to compile."""
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


@pytest.mark.parametrize("name", MEANWHILE)
def test_who_comes_while_another_thread_launches_waits_for_it(name: str) -> None:
    twin = (np.arange(12.0).reshape(3, 4) - 5) / 8
    x = PyGPU.to_gpu(twin)
    expression = structure()
    with limits(meetings=1):
        y, wanted = expression(x), expression(twin)
        kept = [y]
        launching = threading.Thread(target=_core.flush)
        launching.start()
        while waiting():  # the other thread has taken it out, and compiles
            pass
        MEANWHILE[name](x, y)
        if name == "drop":
            kept.clear()
            del y
        launching.join()
    if kept:
        np.testing.assert_array_equal(kept[0].get(), wanted)


def test_who_computes_with_what_another_thread_launches_has_its_values() -> None:
    twin = (np.arange(12.0).reshape(3, 4) - 5) / 8
    x = PyGPU.to_gpu(twin)
    expression = structure()
    with limits(meetings=1):
        y = expression(x)
        launching = threading.Thread(target=_core.flush)
        launching.start()
        while waiting():
            pass
        z = y + x
        x.fill(0)
        launching.join()
    np.testing.assert_array_equal(z.get(), expression(twin) + twin)


SHOWN: dict[str, Callable[[Any], Any]] = {
    "ptr": lambda x: x.ptr,
    "dlpack": lambda x: x.__dlpack__(),
    "parameter": lambda x: x._as_parameter_,
    "gpudata": lambda x: int(x.gpudata),
    "interface": lambda x: x.__cuda_array_interface__,
    "the exchange table": forge.Exported,
    "a tensor that is lent": forge.lent,
}


@pytest.mark.parametrize("name", SHOWN)
def test_nothing_waits_over_an_array_whose_address_was_given_out_meanwhile(name: str) -> None:
    if name == "interface" and PyGPU.backend_name() != "cuda":
        pytest.skip("the interface is CUDA's")
    x = PyGPU.to_gpu((np.arange(12.0).reshape(3, 4) - 5) / 8)
    shown: list[Any] = []
    with limits(meetings=1):
        y = structure()(x)
        showing = threading.Thread(target=lambda: shown.append(SHOWN[name](x)))
        showing.start()
        while waiting():
            pass
        z = x + 1  # while the other thread launches, and has not said yet that `x` is shown
        showing.join()
        assert waiting() == 0
    assert y.shape == z.shape


def test_nor_does_an_operation_that_came_when_the_window_was_full() -> None:
    x = PyGPU.to_gpu((np.arange(12.0).reshape(3, 4) - 5) / 8)
    memory = x.gpudata
    made: list[Any] = []
    shown: list[int] = []
    y = structure()(x)
    with limits(meetings=1, nodes=waiting()):
        computing = threading.Thread(target=lambda: made.append(x + 1))
        computing.start()
        while waiting() and computing.is_alive():
            pass
        # While the other thread launches what was there, before it writes its own down.
        showing = threading.Thread(target=lambda: shown.append(int(memory)))
        showing.start()
        while showing.is_alive() or computing.is_alive():
            pass  # with Python's lock, so that who writes down comes behind who shows
        assert waiting() == 0
    np.testing.assert_array_equal(made[0].get(), x.get() + 1)
    assert y.shape == x.shape


def test_nor_does_one_that_the_collector_shows_while_the_operation_is_written_down() -> None:
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
        y = x + 1  # on Python 3.11 the result is what starts the collection; later ones collect behind it
        assert waiting() == 0
    finally:
        gc.set_threshold(*before)
    np.testing.assert_array_equal(y.get(), HOST + 1)


@pytest.mark.provokes_errors
@pytest.mark.timeout(30)
def test_who_computes_with_what_fails_in_another_thread_is_told() -> None:
    driver = simulated.driver()
    if driver is None:
        pytest.skip("faults are planted in a simulated driver only")
    x = PyGPU.to_gpu((np.arange(12.0).reshape(3, 4) - 5) / 8)
    (x + 1).get()
    expression = structure()

    def flush() -> None:
        with contextlib.suppress(PyGPU.CudaError):
            _core.flush()

    with limits(meetings=1):
        y = expression(x)
        driver.fault(launch_call(), 1)
        launching = threading.Thread(target=flush)
        launching.start()
        while waiting():
            pass
        with pytest.raises(PyGPU.CudaError, match="put off"):
            (y + x).get()
        launching.join()
    np.testing.assert_array_equal((x + 1).get(), x.get() + 1)


def test_threads_that_compute_with_the_same_arrays_all_get_it_right() -> None:
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


def test_threads_on_streams_of_their_own_hand_results_on() -> None:
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
        # `x += 1; x -= 1` rounds: what comes of it is NumPy's too, but is asked of the first rows only.
        assert [number for number in consumer.result() if number <= 0] == []


def test_a_thread_that_ends_leaves_what_it_wrote_down() -> None:
    x = PyGPU.to_gpu(HOST)
    kept = in_a_thread(lambda: [x + number for number in range(3)])
    assert waiting() == 3
    for number, got in enumerate(kept):
        np.testing.assert_array_equal(got.get(), HOST + number)
