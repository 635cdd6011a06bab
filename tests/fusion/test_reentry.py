"""Test Python code that runs during a call that flushes, such as finalizers, logging handlers and allocators.

The flush itself runs no Python code. The tested Python code therefore finds each operation either pending or launched.
"""

from __future__ import annotations

import gc
import logging
import operator
import threading
from collections.abc import Callable, Iterator
from random import SystemRandom
from typing import Any

import numpy as np
import pytest

import dlpack_forge
import PyGPU
from fusion_support.operation_counts import limits, waiting
from PyGPU import _core

HOST = (np.arange(12.0).reshape(3, 4) - 5) / 8


def random_expression() -> Callable[[Any], Any]:
    """Return a random expression, whose fused kernel no earlier run has compiled."""
    steps = SystemRandom().choices([operator.add, operator.sub, operator.mul], k=14)

    def of(x: Any) -> Any:
        value = x
        for step in steps:
            value = step(value, x)
        return value

    return of


@pytest.fixture
def collecting() -> Iterator[list[Callable[[], Any]]]:
    """Return a list; functions that a test adds to it run at the start of each garbage collection, like finalizers."""
    work: list[Callable[[], Any]] = []

    def callback(phase: str, _: Any) -> None:
        if phase == "start":
            for one in list(work):
                one()

    gc.callbacks.append(callback)
    yield work
    gc.callbacks.remove(callback)


# Actions that Python code performs during a call of PyGPU. `y` is a pending result, and `x` is its operand.
ACTS: dict[str, Callable[[Any, Any], Any]] = {
    "get": lambda _, y: y.get(),
    "compute": lambda _, y: (y + 1).get(),
    "write an operand": lambda x, _: x.__setitem__(Ellipsis, HOST),
    "flush": lambda _, __: PyGPU.flush(),
    "defer": lambda x, _: x + 1,
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("search", ["candidates", "by_pathfinder"])
def test_code_run_by_compiler_search_in_flush_reads_correct_values(
    monkeypatch: pytest.MonkeyPatch, search: str, act: str
) -> None:
    if PyGPU.backend_name() != "cuda":
        pytest.skip("Python finds compilers for CUDA only")
    from PyGPU._paths import library_files

    x = PyGPU.to_gpu(HOST)
    found, expression = getattr(library_files, search), random_expression()
    seen: list[Any] = []
    state: dict[str, Any] = {}

    def search_with_callback() -> Any:
        if "y" in state:
            seen.append(ACTS[act](x, state["y"]))
        return found()

    with limits(compile_threshold=1):
        (x + 1).get()
        monkeypatch.setattr(library_files, search, search_with_callback)
        state["y"] = expression(x)
        np.testing.assert_array_equal(state["y"].get(), expression(HOST))
    for got in seen:
        if isinstance(got, np.ndarray):
            np.testing.assert_array_equal(got, expression(HOST) + (act == "compute"))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("act", ACTS)
def test_code_run_by_garbage_collection_in_flush_reads_correct_values(
    collecting: list[Callable[[], Any]], act: str
) -> None:
    x = PyGPU.to_gpu(HOST)
    expression = random_expression()
    seen: list[Any] = []
    with limits(compile_threshold=1):
        y = expression(x)
        collecting.append(lambda: seen.append(ACTS[act](x, y)))
        before = gc.get_threshold()
        gc.set_threshold(1)
        try:
            got = y.get()
        finally:
            gc.set_threshold(*before)
            collecting.clear()
    np.testing.assert_array_equal(got, expression(HOST))
    for one in seen:
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, expression(HOST) + (act == "compute"))


@pytest.mark.timeout(60)
def test_logging_handler_in_flushing_call_reads_correct_values(caplog: pytest.LogCaptureFixture) -> None:
    x = PyGPU.to_gpu(HOST)
    expression = random_expression()
    seen: list[Any] = []

    class Reads(logging.Handler):
        def emit(self, _: logging.LogRecord) -> None:
            seen.append(y.get())

    handler = Reads()
    logger = logging.getLogger("PyGPU")
    logger.addHandler(handler)
    try:
        with caplog.at_level(logging.DEBUG, "PyGPU"), limits(compile_threshold=1):
            y = expression(x)
            got = y.get()
    finally:
        logger.removeHandler(handler)
    np.testing.assert_array_equal(got, expression(HOST))
    for one in seen:
        np.testing.assert_array_equal(one, expression(HOST))


# Ways in which code outside PyGPU gets the address of an array.
EXPORTS: dict[str, Callable[[Any], Any]] = {
    "ptr": lambda a: a.ptr,
    "dlpack": lambda a: a.__dlpack__(),
    "the exchange table": dlpack_forge.Exported,
    "a tensor that is lent": dlpack_forge.lent,
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", EXPORTS)
def test_operation_that_logging_handler_defers_during_export_is_launched(
    caplog: pytest.LogCaptureFixture, name: str
) -> None:
    x, unrelated = PyGPU.to_gpu(HOST), PyGPU.to_gpu(HOST)
    deferred: list[Any] = []

    class Defers(logging.Handler):
        def emit(self, _: logging.LogRecord) -> None:
            if not deferred:
                deferred.append(unrelated + 1)

    handler = Defers()
    logger = logging.getLogger("PyGPU")
    with caplog.at_level(logging.DEBUG, "PyGPU"), limits(compile_threshold=1):
        y = random_expression()(x)
        logger.addHandler(handler)
        try:
            shown = EXPORTS[name](y)
        finally:
            logger.removeHandler(handler)
    assert deferred
    assert waiting() == 0
    del shown
    np.testing.assert_array_equal(deferred[0].get(), HOST + 1)


@pytest.mark.timeout(60)
def test_user_allocator_is_not_called_for_pending_results() -> None:
    x = PyGPU.to_gpu(np.ones(5000))
    counts: list[int] = []

    def allocate(size: int) -> Any:
        counts.append(waiting())
        return PyGPU.mem_alloc(size)

    with limits(compile_threshold=1):
        total = ((x + 1) * 2).sum()
        kept = x * 3
        del kept
        with PyGPU.using_allocator(allocate):
            np.testing.assert_array_equal(total.get(), 20000.0)
    assert counts == []


@pytest.mark.timeout(60)
def test_finalizer_of_operand_owner_reads_correct_values() -> None:
    host = HOST.copy()
    x = PyGPU.to_gpu(host)
    seen: list[Any] = []

    class Owner:
        def __init__(self, array: Any) -> None:
            self.array = array

        def __del__(self) -> None:
            seen.append((self.array + 1).get())

    y = x * 2
    owner = Owner(y)
    del owner
    np.testing.assert_array_equal(y.get(), host * 2)
    np.testing.assert_array_equal(seen[0], host * 2 + 1)


@pytest.mark.timeout(60)
def test_concurrent_garbage_collections_in_flushes_read_correct_values() -> None:
    x = PyGPU.to_gpu(HOST)
    wrong: list[Any] = []
    end = threading.Event()

    def collect() -> None:
        while not end.is_set():
            gc.collect(0)

    def compute(number: int) -> None:
        for turn in range(60):
            y = x * number + turn
            z = y - x
            if not np.array_equal(z.get(), (HOST * number + turn) - HOST):
                wrong.append((number, turn))

    collector = threading.Thread(target=collect)
    collector.start()
    workers = [threading.Thread(target=compute, args=(number,)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    end.set()
    collector.join()
    assert wrong == []
    _core.flush()
