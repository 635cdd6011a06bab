"""Test public calls with a pending operand that a second thread launches, overwrites, exports or drops meanwhile."""

from __future__ import annotations

import contextlib
import functools
import io
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver
from fusion_support import calls
from fusion_support.operation_counts import mode, waiting
from fusion_support.public_name_calls import (
    HOST,
    UNINITIALISED,
    attributes,
    compile_together,
    first_that_works,
    guesses_of,
    hosts,
    public_functions,
    same,
    ways_of,
)
from PyGPU import _core

pytestmark = pytest.mark.filterwarnings("ignore")
# Functions that are not tested here, because their results depend on all threads of the process.
OF_ALL_THREADS = {"memory_statistics", "fusion_report", "trim_memory"}
PARTS = 8


class Operands:
    """Store a pending result `x`, its operand `base`, and another result that is pending in the same queue."""

    def __init__(self) -> None:
        self.base, self.other = PyGPU.to_gpu(HOST - 1), PyGPU.to_gpu(HOST)
        self.x, self.beside = self.base + 1, [self.other * 2]


ACTS: dict[str, Callable[[Operands], Any]] = {
    "get": lambda o: o.x.get(),
    "compute": lambda o: (o.x * 2 - o.base).get(),
    "defer": lambda o: o.x - o.base,
    "overwrite the operand": lambda o: o.base.fill(5),
    "add to the operand": lambda o: o.base.__iadd__(o.other),
    "publish the operand": lambda o: o.base.ptr,
    "publish the result": lambda o: o.x.ptr,
    "export": lambda o: o.x.__dlpack__(),
    "drop": lambda o: o.beside.clear(),
    "synchronize": lambda _: PyGPU.synchronize(),
}


class Second:
    """Run a second thread, which performs one action during each `with` block of `beside`.

    A barrier makes the block and the action start together.
    """

    def __init__(self) -> None:
        self._barrier = threading.Barrier(2, timeout=100)
        self._work: Callable[[], Any] | None = None
        self.errors: list[BaseException] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        _core._set_fusion("auto")
        while True:
            self._barrier.wait()
            if self._work is None:
                return
            try:
                self._work()
            except BaseException as error:
                self.errors.append(error)
            self._barrier.wait()

    @contextlib.contextmanager
    def beside(self, work: Callable[[], Any]) -> Iterator[None]:
        self._work = work
        self._barrier.wait()
        try:
            yield
        finally:
            self._barrier.wait()
        assert self.errors == []

    def now(self, work: Callable[[], Any]) -> None:
        with self.beside(work):
            pass

    def end(self) -> None:
        self._work = None
        self._barrier.wait()
        self._thread.join()


@pytest.fixture
def second() -> Iterator[Second]:
    PyGPU.zeros(1)
    called()  # compiles kernels, for which the second thread would wait too long
    driver, interval = simulated_driver.driver(), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    if driver is not None:
        driver.delay(0, most=50)
    thread = Second()
    yield thread
    thread.end()
    sys.setswitchinterval(interval)
    if driver is not None:
        driver.delay(0)


@functools.cache
def called() -> list[tuple[str, Callable[[], list[Callable[[Any], Any]]]]]:
    """Return every public name with a function that returns the possible calls of the name."""
    functions = [name for name in public_functions() if name not in {*calls.NOT_CALLED, *OF_ALL_THREADS}]
    found = [(name, functools.partial(guesses_of, name)) for name in functions]
    found += [(name, functools.partial(ways_of, name)) for name in attributes()]
    compile_together(ways() for _, ways in found)
    return found


@functools.cache
def cases(part: int) -> tuple[tuple[str, Callable[[Any], Any], Any], ...]:
    """Return every eighth public name, starting at position `part`, with a call that uses the name and the correct
    result."""
    base = PyGPU.to_gpu(HOST - 1)
    with contextlib.redirect_stdout(io.StringIO()):
        return tuple((name, *first_that_works(ways(), base)) for name, ways in called()[part::PARTS])


@pytest.mark.timeout(120)
@pytest.mark.parametrize("owner", ["own queue", "queue of the second thread"])
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.sampled(on="cuda")
def test_public_call_is_correct_while_second_thread_uses_its_operand(
    second: Second, act: str, part: int, owner: str
) -> None:
    made: list[Operands] = []
    for name, call, expected in cases(part):
        made.clear()
        make = functools.partial(lambda: made.append(Operands()))
        make() if owner == "own queue" else second.now(make)
        operands = made[0]
        before = [operands.x, *operands.beside]
        assert waiting() == 2
        with contextlib.redirect_stdout(io.StringIO()):
            with second.beside(lambda operands=operands: ACTS[act](operands)):
                result = call(operands.x)
            if name not in UNINITIALISED:
                assert same(hosts(result), expected), (name, hosts(result), expected)
        np.testing.assert_array_equal(before[1].get(), HOST * 2)
        np.testing.assert_array_equal(operands.other.get(), HOST)
        del result
    with mode("off"):
        PyGPU.flush()
