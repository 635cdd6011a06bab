"""Define programs for tests with injected faults.

The flushes of the programs cover fused and split groups, in-place writes, reductions and streams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import PyGPU
from fusion_support.operation_counts import limits

SHAPE = (6, 8)


@dataclass
class Arrays:
    """Hold the operands of a program, and the streams on which it computes."""

    xp: Any
    x: Any
    y: Any
    row: Any
    # Arrays that exist before the program runs. The program writes into them.
    targets: list[Any]
    streams: list[Any] = field(default_factory=list)

    @contextmanager
    def on(self, number: int) -> Iterator[None]:
        if not self.streams:
            yield
            return
        with self.streams[number]:
            yield


@dataclass(frozen=True)
class Program:
    """Hold a program whose deferred operations are launched by one flush."""

    # A function that appends each result to its argument, a list, so that results computed before an error remain
    # available.
    run: Callable[[Arrays, list[Any]], None]
    limits: dict[str, int] = field(default_factory=lambda: {"compile_threshold": 1})


Made = list[Any]


def fused(a: Arrays, made: Made) -> None:
    made.append(a.x * 2 + a.y)
    made.append(made[0] * a.x - 3)


def cut(a: Arrays, made: Made) -> None:
    value = a.x
    for number in range(4):
        value = (value + a.y) * a.row - number
        made.append(value)


def one_by_one(a: Arrays, made: Made) -> None:
    made.append((a.x + 1) * a.y)
    made.append(a.row - 2)
    made.append(a.x < a.y)


def in_place(a: Arrays, made: Made) -> None:
    made.append((a.x * 2) - a.y)
    target = a.targets[0]
    target += made[0] * a.x


def assigned(a: Arrays, made: Made) -> None:
    made.append(a.x * a.y)
    a.targets[0][1:] = made[0][1:] + 1


def barriers(a: Arrays, made: Made) -> None:
    made.append(a.x + a.y)
    first, second = a.targets
    first += made[0]
    second -= made[0] * 2


def reduction(a: Arrays, made: Made) -> None:
    made.append(a.x - a.y)
    made.append((made[0] * made[0]).sum())
    made.append((a.x * a.y).max(axis=0))
    made.append((a.x + 1).sum(axis=1))


def streams(a: Arrays, made: Made) -> None:
    with a.on(0):
        made.append(a.x * 2 + 1)
    with a.on(1):
        made.append(made[0] * a.y)
        made.append(a.row - 4)
    made.append(made[1] + a.x)


PROGRAMS: dict[str, Program] = {
    "fused group": Program(fused),
    "cut group": Program(cut, {"compile_threshold": 1, "arrays": 4, "outputs": 2}),
    "one by one": Program(one_by_one, {"compile_threshold": 1 << 30}),
    "in place": Program(in_place),
    "assignment": Program(assigned),
    "barriers": Program(barriers),
    "reduction": Program(reduction),
    "several streams": Program(streams),
}


class Operands:
    """Hold the operands of a program on the host, and copy them to the device."""

    def __init__(self, repeats: int = 1, streams: int = 2) -> None:
        # The values are small integers, whose sums are exact in any order.
        source = np.random.default_rng(3)
        shape = (SHAPE[0], SHAPE[1] * repeats)
        draw = lambda shape: source.integers(-9, 10, shape).astype("float64")  # noqa: E731
        self.x, self.y, self.row = draw(shape), draw(shape), draw(shape[1:])
        self.old = [draw(shape), draw(shape)]
        self.streams = [PyGPU.Stream(non_blocking=bool(number)) for number in range(streams)]

    def on_device(self) -> Arrays:
        up = PyGPU.to_gpu
        return Arrays(PyGPU, up(self.x), up(self.y), up(self.row), [up(old) for old in self.old], self.streams)

    def expected(self, program: Program) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return the expected results of a program, and the expected values of the arrays that the program changes."""
        arrays = Arrays(np, self.x, self.y, self.row, [old.copy() for old in self.old])
        made: list[Any] = []
        program.run(arrays, made)
        return [np.asarray(result) for result in made], arrays.targets

    def warm(self, program: Program) -> None:
        """Compile a program's fused kernels and the kernels of its operations, and fill the caches of small blocks."""
        for settings in ({"compile_threshold": 1 << 30}, program.limits, program.limits):
            with limits(**settings):
                kept: list[Any] = []
                program.run(self.on_device(), kept)
                PyGPU.flush()
                del kept
        PyGPU.synchronize()
