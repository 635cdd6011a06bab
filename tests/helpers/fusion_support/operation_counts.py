"""Count the operations in a `with` block, by the counters of PyGPU and of the simulated driver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import simulated_driver
from PyGPU import _core

CAUSES = ("values", "work", "order", "operation", "nodes", "bytes", "held", "memory", "asked", "age")
LAUNCHES = {False: "cuLaunchKernel", True: "hipModuleLaunchKernel"}


def waiting() -> int:
    """Return the number of pending operations."""
    return _core._count_waiting()


def launches() -> int:
    """Return the number of kernel launches on a simulated driver so far."""
    driver = simulated_driver.driver()
    assert driver is not None
    return sum(driver.call_count(call) for call in driver.calls() if "LaunchKernel" in call or "LaunchCoop" in call)


def launch_call() -> str:
    """Return the name of the driver function that launches kernels, for the injection of faults."""
    driver = simulated_driver.driver()
    assert driver is not None
    return LAUNCHES[driver.is_hip]


def allocation_calls() -> list[str]:
    """Return the names of the driver functions that allocate memory, for the injection of faults."""
    driver = simulated_driver.driver()
    assert driver is not None
    return [call for call in driver.calls() if call.startswith(("cuMemAlloc", "hipMalloc"))]


class OperationCounts:
    """Count the operations in a `with` block.

    The counts have the names of `_fusion_figures`; on a simulated driver `launches` is counted too.
    """

    def __init__(self) -> None:
        self._before = _core._fusion_figures()
        self._launches = launches() if simulated_driver.driver() is not None else 0

    def __getitem__(self, name: str) -> Any:
        if name == "launches":
            return launches() - self._launches
        now = _core._fusion_figures()[name]
        before = self._before[name]
        if isinstance(now, dict):
            return {key: now[key] - before[key] for key in now if now[key] != before[key]}
        return now - before


@contextmanager
def limits(**settings: int) -> Iterator[None]:
    """Change limits of deferral for a `with` block."""
    _core._limit_fusion(**settings)
    try:
        yield
    finally:
        _core._limit_fusion()


@contextmanager
def mode(name: str) -> Iterator[None]:
    """Change the fusion mode of the calling thread for a `with` block."""
    before = _core._set_fusion(name)
    try:
        yield
    finally:
        _core._set_fusion(before)
