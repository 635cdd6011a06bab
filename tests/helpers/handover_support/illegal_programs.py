"""Define programs that pass memory against `synchronization_rules.py`, each with a legal counterpart.

The other library is the vendor's own functions on a slow stream of the simulated driver. A program returns whether all
values are right. The driver also reports races between accesses without an order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import hostile_consumer
import PyGPU
import simulated_driver

COUNT = 100
DELAY_US = 3000
DEFAULT = 0 if PyGPU.backend_name() == "hip" else 1
"""Integer by which DLPack identifies the legacy default stream."""


@dataclass(frozen=True)
class Program:
    """Describe a program that keeps or breaks one rule.

    Parameters
    ----------
    broken_rule : str
        The rule that the illegal form breaks.
    run : callable
        Function of the driver, the other library's stream, and whether the program keeps the rule. It returns whether
        all values are right.
    """

    broken_rule: str
    run: Callable[[simulated_driver.Driver, int, bool], bool]


class Producer:
    """Imitate an array of another library that exports an array interface without a stream."""

    def __init__(self, array: PyGPU.GPUArray) -> None:
        entries: dict[str, Any] = {"shape": array.shape, "typestr": "|u1", "version": 3, "data": (array.ptr, False)}
        self.__cuda_array_interface__ = entries


def order_behind(stream: int) -> None:
    """Make PyGPU's current stream wait for the work that is already queued on the other library's stream."""
    event = PyGPU.Event(timing=False).record(PyGPU.Stream.from_handle(stream))
    PyGPU.current_stream().wait_event(event)


def interface_without_stream(driver: simulated_driver.Driver, foreign: int, is_legal: bool) -> bool:
    memory = PyGPU.zeros(COUNT, "u1")
    producer = Producer(memory)
    PyGPU.synchronize()
    driver.foreign_fill(memory.ptr, 1, COUNT, foreign)
    if is_legal:
        order_behind(foreign)
    return bool((PyGPU.asarray(producer).get() == 1).all())


def table_without_order(driver: simulated_driver.Driver, foreign: int, is_legal: bool) -> bool:
    library = hostile_consumer.library()
    memory = PyGPU.zeros(COUNT, "u1")
    address = memory.ptr
    PyGPU.synchronize()
    tensor = library.exported(memory)
    driver.foreign_fill(address, 1, COUNT, foreign)
    if is_legal:
        order_behind(foreign)
    return bool((library.imported(library.wrap(tensor, 0), PyGPU.GPUArray).get() == 1).all())


def dlpack_without_wait(driver: simulated_driver.Driver, foreign: int, is_legal: bool) -> bool:
    """Read an array on the consumer's stream `foreign` while PyGPU, the producer, writes the array on another stream.

    The illegal form passes -1 to ``__dlpack__`` instead of `foreign`, so that no stream waits for the write.
    """
    own = PyGPU.Stream(non_blocking=True)
    memory = PyGPU.zeros(COUNT, "u1")
    PyGPU.synchronize()
    driver.delay(2 * DELAY_US, own.handle)
    driver.delay(0, foreign)
    with own:
        memory.fill(1)
        capsule = memory.__dlpack__(stream=foreign if is_legal else -1, max_version=(1, 0))
    host = np.zeros(COUNT, "u1")
    driver.foreign_download(host.ctypes.data, memory.ptr, COUNT, foreign)
    PyGPU.Stream.from_handle(foreign).synchronize()
    del capsule
    driver.delay(0, own.handle)
    return bool((host == 1).all())


def release_while_untold_stream_works(driver: simulated_driver.Driver, foreign: int, is_legal: bool) -> bool:
    """Drop the owner of memory while the consumer still writes to it on a stream that the consumer did not report."""
    memory = PyGPU.zeros(COUNT, "u1")
    address, capsule = memory.ptr, memory.__dlpack__(stream=DEFAULT, max_version=(1, 0))
    PyGPU.synchronize()
    driver.foreign_fill(address, 1, COUNT, foreign)
    if is_legal:
        memory.record_stream(PyGPU.Stream.from_handle(foreign))
    del memory, capsule
    reused = PyGPU.full(COUNT, 2, "u1")
    PyGPU.Stream.from_handle(foreign).synchronize()
    return bool((reused.get() == 2).all())


def write_while_consumer_reads(driver: simulated_driver.Driver, foreign: int, is_legal: bool) -> bool:
    """Write the memory in the producer while the consumer still uses the memory on its stream.

    In the illegal form the consumer does not report that use, so the producer's write does not wait for the end of the
    use.
    """
    memory = PyGPU.full(COUNT, 1, "u1")
    capsule = memory.__dlpack__(stream=foreign, max_version=(1, 0))
    PyGPU.synchronize()
    target = PyGPU.zeros(COUNT, "u1")
    PyGPU.synchronize()
    driver.foreign_fill(target.ptr, 3, COUNT, foreign)
    # In the illegal form, PyGPU's `fill(2)` does not wait for this slow write, which therefore ends last.
    driver.foreign_fill(memory.ptr, 4, COUNT, foreign)
    if is_legal:
        memory.record_stream(PyGPU.Stream.from_handle(foreign))
    memory.fill(2)
    result = memory.get()
    PyGPU.Stream.from_handle(foreign).synchronize()
    del capsule
    return bool((result == 2).all() and (memory.get() == 2).all())


PROGRAMS = {
    "interface without a stream": Program("the program waits for the producer", interface_without_stream),
    "exchange table": Program("the consumer waits for the producer's current_work_stream", table_without_order),
    "DLPack with stream -1": Program("the producer waits only if it is told of the stream", dlpack_without_wait),
    "release": Program(
        "work on a stream of which the owner is not told ends before the release", release_while_untold_stream_works
    ),
    "return": Program(
        "the consumer tells the owner of its work before the owner's next use", write_while_consumer_reads
    ),
}
