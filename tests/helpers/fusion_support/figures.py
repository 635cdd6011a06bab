"""Count operations between two moments, by the counts of the library and of the driver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import simulated
from PyGPU import _core

CAUSES = ("values", "work", "order", "operation", "nodes", "bytes", "held", "memory", "asked", "age")
LAUNCHES = {False: "cuLaunchKernel", True: "hipModuleLaunchKernel"}


def waiting() -> int:
    """Return the number of pending operations."""
    return _core._count_waiting()


def launches() -> int:
    """Return the number of launches on a simulated driver so far."""
    driver = simulated.driver()
    assert driver is not None
    return sum(driver.call_count(call) for call in driver.calls() if "LaunchKernel" in call or "LaunchCoop" in call)


def launch_call() -> str:
    """The call of the simulated driver by which a kernel is launched, for faults."""
    driver = simulated.driver()
    assert driver is not None
    return LAUNCHES[driver.is_hip]


def allocation_calls() -> list[str]:
    """The calls of the simulated driver by which memory is had, for faults."""
    driver = simulated.driver()
    assert driver is not None
    return [call for call in driver.calls() if call.startswith(("cuMemAlloc", "hipMalloc"))]


class Counted:
    """The counts of a block: those of `_fusion_figures` by their names, and `launches` where a driver counts."""

    def __init__(self) -> None:
        self._before = _core._fusion_figures()
        self._launches = launches() if simulated.driver() is not None else 0

    def __getitem__(self, name: str) -> Any:
        if name == "launches":
            return launches() - self._launches
        now = _core._fusion_figures()[name]
        before = self._before[name]
        if isinstance(now, dict):
            return {key: now[key] - before[key] for key in now if now[key] != before[key]}
        return now - before


@contextmanager
def limits(**wanted: int) -> Iterator[None]:
    """Other limits than the usual ones."""
    _core._limit_fusion(**wanted)
    try:
        yield
    finally:
        _core._limit_fusion()


@contextmanager
def mode(name: str) -> Iterator[None]:
    """Another mode of the calling thread."""
    before = _core._set_fusion(name)
    try:
        yield
    finally:
        _core._set_fusion(before)
