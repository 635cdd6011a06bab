"""Measure the peak memory of programs without and with deferral.

Each measurement runs in a separate process, because the peak of a process never falls.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import PyGPU
from fusion_support.operation_counts import limits, mode
from PyGPU import _core

MIB = 1 << 20
# An operand of this many elements has 1 MiB. Smaller operands do not count for the queue's memory limit.
COUNT = MIB // 8
HELD = 4 * MIB


def expression(xp: Any, up: Callable[[Any], Any]) -> Any:
    x, y = up(np.arange(COUNT) / COUNT), up(np.ones(COUNT))
    return [0.9 * x + y - 2 * x * y]


def rebound(xp: Any, up: Callable[[Any], Any]) -> Any:
    x = up(np.arange(COUNT) / COUNT)
    for number in range(40):
        x = (x * 2 + number) / 3 - x
    return [x]


def masks(xp: Any, up: Callable[[Any], Any]) -> Any:
    made = []
    for number in range(24):
        big = up(np.arange(COUNT, dtype="float64") - number)
        made.append(big > 5)
        del big
    return made


def stencil(xp: Any, up: Callable[[Any], Any]) -> Any:
    u = up((np.arange(COUNT) % 100).astype("float64").reshape(256, -1))
    for _ in range(4):
        inner = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u[1:-1, 1:-1] = inner
    return [u]


def in_place(xp: Any, up: Callable[[Any], Any]) -> Any:
    x, y = up(np.arange(COUNT) / COUNT), up(np.ones(COUNT))
    for _ in range(5):
        x += y * 2 - 1
        y -= x * x
    return [x, y]


def reductions(xp: Any, up: Callable[[Any], Any]) -> Any:
    total = []
    for number in range(12):
        x = up((np.arange(COUNT) % 16 + number).astype("float64"))
        total.append(((x - 3) * (x - 3)).sum())
    return total


def dropped(xp: Any, up: Callable[[Any], Any]) -> Any:
    x = up(np.arange(COUNT) / COUNT)
    for number in range(60):
        y = x * number
    return [y]


PROGRAMS = (expression, rebound, masks, stencil, in_place, reductions, dropped)


def run(program: Callable[[Any, Any], Any], threads: int = 1) -> None:
    """Run a program in threads and check its results."""
    wrong: list[Any] = []
    kept: list[Any] = []

    def work() -> None:
        try:
            kept.append(program(PyGPU, PyGPU.to_gpu))
        except BaseException as error:
            wrong.append(error)

    if threads == 1:
        kept.append(program(PyGPU, PyGPU.to_gpu))
    else:
        workers = [threading.Thread(target=work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    PyGPU.synchronize()
    assert not wrong, wrong
    expected = program(np, np.array)
    for results in kept:
        for result, host in zip(results, expected, strict=True):
            np.testing.assert_allclose(result.get(), host, rtol=1e-12)


class Peak:
    """Measure the peak memory during a `with` block, above the bytes that were live before."""

    def __enter__(self) -> Peak:
        PyGPU.synchronize()
        figures = PyGPU.memory_statistics()
        # Allocate memory up to the previous peak, so that any further growth raises the peak.
        self._ballast = PyGPU.empty(max(figures["peak"] - figures["bytes"], 1), "uint8")
        self._base = PyGPU.memory_statistics()["bytes"]
        return self

    def __exit__(self, *_: object) -> None:
        self.bytes = PyGPU.memory_statistics()["peak"] - self._base
        del self._ballast


def eager_peak(program: Callable[[Any, Any], Any], threads: int = 1) -> int:
    with mode("off"), Peak() as eager:
        run(program, threads)
    return eager.bytes


def main() -> None:
    """Check the peak memory of each program. The helper thread is off, because its launches could lower the peak."""
    _core._bound_fusion_age(0)
    for program in PROGRAMS:
        # The first run of a program compiles the kernels, so that all operations of the second run are fused.
        with mode("auto"):
            for _ in range(2):
                run(program)
        eager = eager_peak(program)
        assert eager >= 2 * 8 * COUNT
        for settings, bound in (({"held": HELD}, HELD), ({}, 256 * MIB)):
            with limits(**settings), mode("auto"), Peak() as auto:
                run(program)
            assert auto.bytes <= eager + bound, (program.__name__, eager, auto.bytes, bound)
        # The deferred program must also succeed if the memory is limited to the peak of eager mode.
        PyGPU.synchronize()
        PyGPU.trim_memory()
        PyGPU.set_memory_limit(PyGPU.memory_statistics()["bytes"] + eager)
        try:
            with mode("auto"):
                run(program)
        finally:
            PyGPU.set_memory_limit(None)


def check_threads() -> None:
    """Check that the memory limit of pending queues applies to the sum over the queues of all threads."""
    _core._bound_fusion_age(0)
    kept: list[Any] = []

    def work(name: str) -> None:
        _core._set_fusion(name)
        bigs = [PyGPU.to_gpu(np.arange(COUNT, dtype="float64") - number) for number in range(3)]
        while bigs:
            big = bigs.pop(0)
            kept.append(big > 5)
            del big

    def all_threads(name: str) -> None:
        for _ in range(6):
            worker = threading.Thread(target=work, args=(name,))
            worker.start()
            worker.join()

    peaks = {}
    for name in ("off", "auto"):
        kept.clear()
        with limits(held=HELD), Peak() as peak:
            all_threads(name)
            PyGPU.synchronize()
        peaks[name] = peak.bytes
    assert len(kept) == 18
    for number, mask in enumerate(kept):
        np.testing.assert_array_equal(mask.get(), np.arange(COUNT) - number % 3 > 5)
    assert peaks["auto"] <= peaks["off"] + HELD, peaks
