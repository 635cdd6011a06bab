"""Run programs with ``PYGPU_CHECK_STREAMS=1`` on the simulated driver, and print the reports as JSON.

    PYGPU_CHECK_STREAMS=1 python tests/helpers/handover_support/stream_check_run.py [name form]

A stand-in for the module `torch` has the functions that the check calls. Its current stream is the stream on which the
programs of `illegal_programs.py` work, as if they were another library. Each program runs in its legal and its illegal
form.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import hostile_consumer
import PyGPU
import simulated_driver
from handover_support import illegal_programs
from PyGPU._streams import stream_check

# Delay of each operation of a slow stream. With a shorter delay, the operation could end before a busy machine executes
# the next call.
DELAY_US = 40_000
Run = Callable[[simulated_driver.Driver, int, bool], object]
WRITE = PyGPU.Kernel('extern "C" __global__ void write(unsigned char *x) { x[threadIdx.x] = 5; }', "write")


class TorchStream:
    """Imitate a stream of PyTorch."""

    def __init__(self, handle: int) -> None:
        self.cuda_stream = handle


def stand_in(current: TorchStream) -> ModuleType:
    """Return a module with the attributes of `torch` that the check reads."""
    module = ModuleType("torch")
    functions = {"is_initialized": lambda: True, "current_stream": lambda device: current}
    module.cuda = SimpleNamespace(**functions)  # type: ignore[attr-defined]
    return module


def address_on_unordered_stream(driver: simulated_driver.Driver, foreign: int, is_legal: bool) -> None:
    """Pass the address of an array to a launch on a stream that does not wait for the fill of the array."""
    first, second = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True)
    memory = PyGPU.zeros(illegal_programs.COUNT, "u1")
    address = memory.ptr
    PyGPU.synchronize()
    driver.delay(DELAY_US, first.handle)
    memory.fill(1, stream=first)
    if is_legal:
        second.wait_stream(first)
    WRITE[1, illegal_programs.COUNT, second](address)
    second.synchronize()
    driver.delay(0, first.handle)


def use_after_launch_with_address(driver: simulated_driver.Driver, foreign: int, is_legal: bool) -> None:
    """Fill an array while a launch that received the array's address is pending on another stream."""
    stream = PyGPU.Stream(non_blocking=True)
    memory = PyGPU.zeros(illegal_programs.COUNT, "u1")
    address = memory.ptr
    PyGPU.synchronize()
    driver.delay(DELAY_US, stream.handle)
    WRITE[1, illegal_programs.COUNT, stream](address)
    if is_legal:
        memory.record_stream(stream)
    memory.fill(2)
    PyGPU.synchronize()
    driver.delay(0, stream.handle)


def import_on_non_blocking_stream(driver: simulated_driver.Driver, foreign: int, is_legal: bool) -> None:
    """Import memory on a non-blocking stream while work on the default stream is pending.

    In the legal form the pending work was enqueued by PyGPU and uses other memory. In the illegal form another library
    enqueued the work, which uses the imported memory.
    """
    torch, own = sys.modules["torch"], PyGPU.Stream(non_blocking=True)
    current = torch.cuda.current_stream  # type: ignore[attr-defined]
    torch.cuda.current_stream = lambda device: TorchStream(0)  # type: ignore[attr-defined]
    memory, other = PyGPU.zeros(illegal_programs.COUNT, "u1"), PyGPU.zeros(illegal_programs.COUNT, "u1")
    producer = illegal_programs.Producer(memory)
    PyGPU.synchronize()
    driver.delay(DELAY_US, simulated_driver.DEFAULT_STREAMS)
    if is_legal:
        other.fill(1)
    else:
        driver.foreign_fill(memory.ptr, 1, illegal_programs.COUNT, 0)
    with own:
        PyGPU.asarray(producer)
    PyGPU.synchronize()
    driver.delay(0, simulated_driver.DEFAULT_STREAMS)
    torch.cuda.current_stream = current  # type: ignore[attr-defined]


def work_of_other_library(driver: simulated_driver.Driver, foreign: int, is_legal: bool) -> None:
    """Import an object of an unknown library while another stream is busy.

    The check reports nothing, because it cannot detect that the object uses the busy stream.
    """

    class Unknown(illegal_programs.Producer):
        __module__ = "unknown"

    memory = PyGPU.zeros(illegal_programs.COUNT, "u1")
    producer = SimpleNamespace(__cuda_array_interface__=Unknown(memory).__cuda_array_interface__)
    busy = PyGPU.zeros(illegal_programs.COUNT, "u1")
    PyGPU.synchronize()
    driver.foreign_fill(busy.ptr, 1, illegal_programs.COUNT, foreign)
    PyGPU.asarray(producer)
    PyGPU.Stream.from_handle(foreign).synchronize()


PROGRAMS: dict[str, Run] = {name: program.run for name, program in illegal_programs.PROGRAMS.items()}
PROGRAMS |= {
    "address on another stream": address_on_unordered_stream,
    "use after a launch with an address": use_after_launch_with_address,
    "import on a non-blocking stream": import_on_non_blocking_stream,
    "unknown library": work_of_other_library,
}


def main() -> None:
    """Run each program in both forms, and print the reports.

    With arguments, run the named form of the named program, and turn reports into warnings.
    """
    PyGPU.zeros(1)
    PyGPU.synchronize()
    driver = simulated_driver.driver()
    assert driver is not None
    hostile_consumer.library()
    foreign = driver.foreign_stream()
    sys.modules["torch"] = stand_in(TorchStream(foreign))
    illegal_programs.Producer.__module__ = "torch"
    illegal_programs.DELAY_US = DELAY_US
    found: dict[str, list[list[str]]] = {}
    only = sys.argv[1:]
    for name in only[:1] or PROGRAMS:
        for form in only[1:] or ("legal", "illegal"):
            reports: list[str] = []
            if not only:
                stream_check.listener = reports.append
            driver.delay(DELAY_US, foreign)
            PROGRAMS[name](driver, foreign, form == "legal")
            driver.delay(0, foreign)
            PyGPU.synchronize()
            found.setdefault(name, []).append(reports)
    if not only:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
