"""Test calls of PyGPU that have a pending result as operand, and during which user code runs that uses arrays too."""

from __future__ import annotations

import contextlib
import gc
import logging
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import PyGPU
from fusion_support.operation_counts import limits, mode, waiting
from PyGPU import _core

HOST = (np.arange(12.0).reshape(3, 4) - 5) / 8
EXPECTED = HOST * 2 + 1


class Case:
    """Hold a pending result `y`, its operand `x`, other pending results, and the action that the user code performs."""

    def __init__(self, act: Callable[[Case], Any]) -> None:
        self.x = PyGPU.to_gpu(HOST)
        self.other = PyGPU.to_gpu(HOST)
        self.kept = [self.x - number for number in range(3)]
        self.y = self.x * 2 + 1
        self.held: list[Any] = []
        self._act = act
        self.runs = 0

    def act(self, *_: Any) -> None:
        """Perform the action at the first call only, because the action itself can call the same user code again."""
        self.runs += 1
        if self.runs == 1:
            self._act(self)

    def check(self) -> None:
        assert self.runs > 0, "the call does not run the program's code"
        np.testing.assert_array_equal(self.y.get(), EXPECTED)
        for number, array in enumerate(self.kept):
            np.testing.assert_array_equal(array.get(), HOST - number)
        PyGPU.flush()
        assert waiting() == 0


def check_values(array: Any, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(array.get(), expected)


def in_a_thread(function: Callable[[], Any]) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(function).result()


def exchange(case: Case) -> None:
    """Export the operand and the pending result by DLPack, and import them again."""
    case.held += [PyGPU.from_dlpack(array.__dlpack__()) for array in (case.x, case.y)]
    check_values(case.held[-1], EXPECTED)


def capture(case: Case) -> None:
    """Capture a kernel on an unrelated array into a graph, and launch the graph."""
    target = PyGPU.zeros(4)
    graph = PyGPU.Graph()
    with graph:
        target.fill(1)
    graph.launch()
    check_values(target, np.ones(4))


def eager(case: Case) -> None:
    with mode("off"):
        check_values(case.y + case.x, EXPECTED + HOST)


ACTS: dict[str, Callable[[Case], Any]] = {
    "nothing": lambda _: None,
    "get": lambda case: check_values(case.y, EXPECTED),
    "compute": lambda case: check_values(case.y * case.y - 1, EXPECTED * EXPECTED - 1),
    "reduce": lambda case: check_values((case.y - case.y).sum(), np.zeros(())),
    "defer": lambda case: case.held.append(case.y - case.other),
    "flush": lambda _: PyGPU.flush(),
    "synchronize": lambda _: PyGPU.synchronize(),
    "overwrite an operand": lambda case: case.x.fill(9),
    "publish the operand": lambda case: case.held.append(case.x.ptr),
    "publish the result": lambda case: case.held.append(case.y.ptr),
    "exchange": exchange,
    "drop pending results": lambda case: case.kept.clear(),
    "collect": lambda _: gc.collect(),
    "eager mode": eager,
    "capture": capture,
    "stream": lambda case: PyGPU.Stream(non_blocking=True).wait_stream(PyGPU.default_stream()),
    "thread that gets": lambda case: in_a_thread(lambda: check_values(case.y, EXPECTED)),
    "thread that overwrites": lambda case: in_a_thread(lambda: case.x.fill(9)),
    "thread that drops": lambda case: in_a_thread(case.kept.clear),
    "trim": lambda _: PyGPU.trim_memory(),
}


class Index:
    def __init__(self, case: Case) -> None:
        self.case = case

    def __index__(self) -> int:
        self.case.act()
        return 1


class Number:
    def __init__(self, case: Case) -> None:
        self.case = case

    def __float__(self) -> float:
        self.case.act()
        return 2.0


class Exports:
    """Imitate an array of another library whose DLPack methods run the action."""

    def __init__(self, case: Case) -> None:
        self.case, self.array = case, case.other

    def __dlpack_device__(self) -> Any:
        self.case.act()
        return self.array.__dlpack_device__()

    def __dlpack__(self, **keywords: Any) -> Any:
        self.case.act()
        return self.array.__dlpack__(**keywords)


class Interface:
    def __init__(self, case: Case) -> None:
        self.case, self.array = case, case.other

    @property
    def __cuda_array_interface__(self) -> Any:
        self.case.act()
        return self.array.__cuda_array_interface__


class Sequence:
    """Define a host value whose conversion to an ndarray runs the action."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        self.case.act()
        return np.asarray(HOST, dtype)


class Defers:
    """Define an operand that runs the action and then computes with PyGPU arrays when an operator is applied to it."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        self.case.act()
        arrays = [self.case.other if one is self else one for one in inputs]
        return function(*arrays, **keywords)

    __array_priority__ = 1e6

    def __radd__(self, array: Any) -> Any:
        self.case.act()
        return array + self.case.other


def dropped(case: Case) -> None:
    """Drop a pending result. The finalizer of the result performs the action."""
    result = case.y + 5
    weakref.finalize(result, case.act)
    del result


def dropped_owner(case: Case) -> None:
    """Drop an array imported from another library. The array's owner has a finalizer that performs the action."""

    class Owner:
        def __init__(self, array: Any) -> None:
            self.array = array

        def __dlpack_device__(self) -> Any:
            return self.array.__dlpack_device__()

        def __dlpack__(self, **keywords: Any) -> Any:
            return self.array.__dlpack__(**keywords)

    owner = case.other
    imported = PyGPU.from_dlpack(Owner(owner))
    weakref.finalize(imported, case.act)
    sums = imported + case.y
    del imported
    check_values(sums, HOST + EXPECTED)


def cyclic(case: Case) -> None:
    """Create a reference cycle with a method `__del__` that performs the action."""

    class Cycle:
        def __del__(self) -> None:
            case.act()

    garbage = Cycle()
    garbage.itself = garbage  # type: ignore[attr-defined]
    del garbage
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        check_values((case.y + case.other) * 2, (EXPECTED + HOST) * 2)
    finally:
        gc.set_threshold(*before)
    gc.collect()


def collecting(case: Case) -> None:
    def callback(phase: str, _: Any) -> None:
        case.act()

    gc.callbacks.append(callback)
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        check_values((case.y - 3).sum(axis=0), (EXPECTED - 3).sum(axis=0))
        gc.collect()
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(callback)


def logged(case: Case) -> None:
    class Handler(logging.Handler):
        def emit(self, _: logging.LogRecord) -> None:
            case.act()

    logger, handler = logging.getLogger("PyGPU"), Handler()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        with PyGPU.fusion_report():
            check_values(case.y + 1, EXPECTED + 1)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def allocated(case: Case) -> None:
    def allocate(size: int) -> Any:
        case.act()
        return PyGPU.driver.mem_alloc(size)

    with PyGPU.using_allocator(allocate):
        made = case.y + case.other
    check_values(made, EXPECTED + HOST)


def printed(case: Case) -> None:
    def shown(_: float) -> str:
        case.act()
        return "1"

    with np.printoptions(formatter={"float": shown}):
        assert repr(case.y)


CALLS: dict[str, Callable[[Case], Any]] = {
    "slice": lambda case: check_values(case.y[Index(case) :], EXPECTED[1:]),
    "element": lambda case: check_values(case.y[Index(case), Index(case)], EXPECTED[1, 1]),
    "assignment": lambda case: case.other.__setitem__(slice(Index(case), None), case.y[1:]),
    "axis": lambda case: check_values(case.y.sum(axis=Index(case)), EXPECTED.sum(axis=1)),
    "maximum": lambda case: check_values(PyGPU.max(case.y, axis=Index(case)), EXPECTED.max(axis=1)),
    "cumulative sum": lambda case: check_values(PyGPU.cumsum(case.y, axis=Index(case)), EXPECTED.cumsum(axis=1)),
    "sorting": lambda case: check_values(PyGPU.sort(case.y, axis=Index(case)), np.sort(EXPECTED, axis=1)),
    "reshape": lambda case: check_values(case.y.reshape((Index(case), 12)), EXPECTED.reshape(1, 12)),
    "number": lambda case: check_values(PyGPU.full_like(case.y, Number(case)), np.full_like(EXPECTED, 2)),
    "fill": lambda case: case.other.fill(Number(case)),
    "operand by DLPack": lambda case: check_values(case.y + PyGPU.from_dlpack(Exports(case)), EXPECTED + HOST),
    "operand of another library": lambda case: check_values(case.y + Interface(case), EXPECTED + HOST),
    "choice": lambda case: check_values(
        PyGPU.where(case.y > 1, case.y, PyGPU.from_dlpack(Exports(case))), np.where(EXPECTED > 1, EXPECTED, HOST)
    ),
    "conversion": lambda case: check_values(PyGPU.asarray(Exports(case)) + case.y, EXPECTED + HOST),
    "upload": lambda case: case.other.__setitem__(Ellipsis, Sequence(case)),
    "operand that computes": lambda case: check_values(case.y + Defers(case), EXPECTED + HOST),
    "function along an axis": lambda case: check_values(
        PyGPU.apply_along_axis(lambda row: (case.act(), row.sum())[1], 0, case.y), EXPECTED.sum(axis=0)
    ),
    "piecewise": lambda case: check_values(
        PyGPU.piecewise(case.y, [case.y > 1], [lambda part: (case.act(), part * 2)[1], 0.0]),
        np.where(EXPECTED > 1, EXPECTED * 2, 0.0),
    ),
    "finaliser of a result": dropped,
    "finaliser of imported memory": dropped_owner,
    "finaliser in a collection": cyclic,
    "callback of the collector": collecting,
    "handler of logging": logged,
    "allocator": allocated,
    "formatter": printed,
}


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    with contextlib.suppress(Exception):
        _core.flush()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.sampled(on="cuda")
def test_pending_results_are_correct_if_user_callback_uses_arrays(call: str, act: str) -> None:
    if PyGPU.backend_name() != "cuda" and "Interface" in CALLS[call].__code__.co_names:
        pytest.skip("the interface is CUDA's")
    with limits(compile_threshold=1):
        case = Case(ACTS[act])
        assert waiting() > 0
        CALLS[call](case)
        case.check()
