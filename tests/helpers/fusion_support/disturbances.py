"""Disturb random programs without changing their values.

The disturbances are finalisers that use arrays, and requests for memory that fail at the first attempt.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

import PyGPU
import simulated_driver

if TYPE_CHECKING:
    from fusion_support.executors import Device

OUT_OF_MEMORY = 2
# Driver calls that PyGPU repeats: if such a call fails, PyGPU first releases memory.
ALLOCATIONS = {False: ("cuMemAllocFromPoolAsync", "cuMemAlloc_v2"), True: ("hipMallocFromPoolAsync", "hipMalloc")}
HOST = np.arange(24, dtype="float32").reshape(4, 6)


class Cycle:
    """Define an object in a reference cycle, whose finaliser causes a disturbance.

    Only the garbage collector destroys the object.
    """

    def __init__(self, finalisers: Finalisers) -> None:
        self.finalisers, self.itself = finalisers, self

    def __del__(self) -> None:
        self.finalisers.act()


class Finalisers:
    """Run finalisers whenever Python collects garbage.

    The finalisers compute, import, export, flush and drop arrays.
    """

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.world: Device | None = None
        self.kept: list[Any] = []
        self.wrong: list[str] = []
        self.runs = 0
        self._is_within = False
        # Import the Python modules that finalisers need, because an import within a finaliser may fail:
        # CPython raises KeyError if the finaliser runs while the import lock is held (gh-106176).
        PyGPU.from_dlpack(PyGPU.to_gpu(HOST).__dlpack__()).get()
        importlib.import_module("PyGPU.driver")

    @contextlib.contextmanager
    def of(self, world: Device) -> Iterator[None]:
        """During the `with` block, let finalisers modify the arrays of one run of a program (`World`)."""
        self.world = world
        before = gc.get_threshold()
        gc.set_threshold(40, 5, 5)
        gc.callbacks.append(self._collected)
        try:
            yield
        finally:
            gc.callbacks.remove(self._collected)
            gc.set_threshold(*before)
            self.world = None
            self.kept.clear()

    def _collected(self, phase: str, _: Any) -> None:
        if phase == "stop" and self.world is not None:
            Cycle(self)  # The next garbage collection destroys this object and runs its finaliser.

    def act(self) -> None:
        world = self.world
        if world is None or world.is_quiet or self._is_within:
            return
        self._is_within = True
        self.runs += 1
        try:
            self._act(world)
        except MemoryError:
            pass  # A finaliser's request for memory fails if the program limits the memory at this moment.
        except Exception as error:
            self.wrong.append(f"a finaliser: {type(error).__name__}: {error}")
        finally:
            self._is_within = False

    def _act(self, world: Device) -> None:
        arrays = list(world.arrays.values())
        one = self.random.choice(arrays) if arrays else None
        match self.random.randrange(9):
            case 0 | 1:
                x = PyGPU.to_gpu(HOST)
                made = (x * 2 + x) - 1
                if not np.array_equal(made.get(), HOST * 3 - 1):
                    self.wrong.append("a finaliser computes another value")
            case 2 if one is not None:
                one.get()
            case 3 if one is not None and self.random.random() < 0.2:
                _ = one.ptr
            case 4 if one is not None and self.random.random() < 0.2:
                self.kept.append(PyGPU.from_dlpack(one.__dlpack__()))
            case 5:
                PyGPU.flush()
            case 6:
                self.kept.append(PyGPU.to_gpu(HOST) + 1)
            case 7:
                self.kept.clear()
            case 8 if one is not None:
                self.kept.append(one[...])


class Refusals:
    """Make the simulated driver reject single requests for memory, at random."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.driver = simulated_driver.driver()
        self.planted = 0

    @contextlib.contextmanager
    def during(self, step: str) -> Iterator[None]:
        """Make the driver reject one memory request during a step of a single-threaded program.

        The driver rejects only one request, because PyGPU repeats a rejected request. During a capture the library
        neither releases memory nor repeats the request.
        """
        driver = self.driver
        if driver is None or step == "captured" or self.random.random() > 0.2:
            yield
            return
        driver.fault(self.random.choice(ALLOCATIONS[driver.is_hip]), OUT_OF_MEMORY, nth=self.random.randrange(1, 4))
        self.planted += 1
        try:
            yield
        finally:
            driver.clear_faults()

    def allocate(self, size: int) -> Any:
        """Allocate device memory for an array, or raise MemoryError at random."""
        if self.random.random() < 0.4:
            self.planted += 1
            raise MemoryError(f"{size} bytes are refused")
        return PyGPU.driver.mem_alloc(size)
