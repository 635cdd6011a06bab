"""Test every driver call of PyGPU with every kind of failure, which a simulated driver injects.

A failed call must cause an error with the driver's code, no leak and no wrong data. Afterwards the next call must work,
or report that the device has failed permanently.

The test programs are the functions of `helpers/faults/exercises.py`. A fault position is the nth time that a test
program makes a driver call. At each position the error `PLAINEST` is injected; the other errors are distributed over
the positions, so that each call and each test program is tested with each kind of failure. `PYGPU_FAULTS=all` injects
every kind at every position. The names of the driver calls come from PyGPU's own lists (`vendor_calls.py`). If no test
program makes one of the listed calls, `test_every_listed_driver_call_is_made_by_a_program` fails.
"""

from __future__ import annotations

import gc
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import PyGPU
import simulated_driver
import vendor_calls
from faults.exercises import EXERCISES, make_and_fetch

BACKEND = PyGPU.backend_name()


def _simulated() -> simulated_driver.Driver | None:
    if BACKEND == "cpu":
        return None
    PyGPU.zeros(1)
    return simulated_driver.driver()


DRIVER = _simulated()
if DRIVER is None:
    pytest.skip("faults are planted in a simulated driver only", allow_module_level=True)

CALLS = vendor_calls.all_of(BACKEND)

# Calls that PyGPU makes while it opens the driver. `test_driver_opening.py` injects a failure into each of these calls.
OPENING = {
    "cuInit",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "hipInit",
    "hipGetDeviceCount",
}
# Calls that PyGPU does not make with the simulated driver, because this driver has newer functions that replace them,
# or memory pools, or because it creates primary contexts only.
SUPERSEDED = {
    "cuDeviceGetUuid",
    "cuStreamGetCtx",
    "cuCtxGetDevice",
    "hipGetDeviceProperties",
}
# Functions that exist only in drivers newer than the simulated driver.
ABSENT = {call for call in CALLS if call not in DRIVER.calls()} if DRIVER else set()
# `ALL_STAGED` is true if all copies between host and device use the ring of pinned buffers (test_staging.py). PyGPU
# then makes none of the calls in `UNSTAGED`.
ALL_STAGED = os.environ.get("PYGPU_STAGING_THRESHOLD") == "1"
UNSTAGED = {"cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemcpy3DAsync_v2", "hipMemcpy3DAsync"}
NOT_MADE = OPENING | SUPERSEDED | ABSENT | (UNSTAGED if ALL_STAGED else set())
# Calls that PyGPU makes only after a failed call. If such a call fails too, an error text is shorter or a pool leaks.
AFTERWARDS = {
    "cuGetErrorName",
    "cuGetErrorString",
    "cuMemPoolDestroy",
    "hipGetErrorName",
    "hipGetErrorString",
    "hipGetLastError",
    "hipMemPoolDestroy",
}
# Calls that release a resource. If the driver rejects such a call, PyGPU leaks the resource, because reuse is unsafe.
# On HIP, `hipDeviceSynchronize` precedes the release of exported memory, because no event covers all streams.
GIVING_BACK = re.compile(r"Free|Destroy|Unregister|Unload|Reset|TrimTo|hipDeviceSynchronize")

# Pairs of a call and an error that is a normal reply: "invalid value" means that a kernel has no further parameters.
ANSWERS = {("cuFuncGetParamInfo", "invalid value")}

ONCE = 1
FAULTS = {
    "out of memory": (2, ONCE),
    "invalid value": (1, ONCE),
    "not ready": (600, ONCE),
    "launch failure": (719, simulated_driver.ASYNCHRONOUS),
    "context lost": (700, simulated_driver.STICKY),
    "device lost": (214, simulated_driver.STICKY),
}
FATAL = {code for code, manner in FAULTS.values() if manner != ONCE}
# Largest amount of pinned memory that a test program uses, in bytes.
LARGEST_HOST_BLOCK = 1 << 20
# A fault is injected only at the first three times that a test program makes a call, because later times are similar.
MOST_TIMES = 3

# PyGPU has no special treatment for the error `PLAINEST`. The tests inject this error at every fault position.
PLAINEST = "invalid value"
OTHERS = [name for name in FAULTS if name != PLAINEST]
# Errors to which PyGPU reacts in a special way, such as by a retry, for the calls that match the pattern.
# The tests inject such an error at every position of these calls.
ANSWERED = {"out of memory": re.compile(r"Alloc|Malloc"), "not ready": re.compile(r"Query")}
EVERYWHERE = os.environ.get("PYGPU_FAULTS") == "all"

COUNTS: Counter[str] = Counter()


@pytest.fixture(scope="module")
def made() -> dict[str, dict[str, int]]:
    """Count the driver calls of each test program, after two runs that create all cached objects."""
    for _ in range(2):
        for exercise in EXERCISES.values():
            exercise()
    return {name: _calls_of(name) for name in EXERCISES}


@pytest.fixture(scope="module", autouse=True)
def _report() -> Iterator[None]:
    """Write how many faults were injected, and with which outcomes, to the file that `PYGPU_FAULT_RESULTS` names."""
    yield
    if path := os.environ.get("PYGPU_FAULT_RESULTS"):
        Path(path).write_text(json.dumps({"backend": BACKEND, "calls": len(CALLS), **COUNTS}, indent=1) + "\n")


def _calls_of(name: str) -> dict[str, int]:
    before = {call: DRIVER.call_count(call) for call in CALLS}
    EXERCISES[name]()
    gc.collect()
    return {call: DRIVER.call_count(call) - before[call] for call in CALLS if DRIVER.call_count(call) > before[call]}


def wait_until_errors_end() -> None:
    """Wait until all work is complete and all asynchronous errors have been raised."""
    gc.collect()
    last = None
    for _ in range(20):
        try:
            for device in range(PyGPU.device_count()):
                PyGPU.zeros(1, device=device)
                PyGPU.synchronize(device)
        except PyGPU.CudaError as error:
            last = error
            # Work that was running when the device was reset reports its failure only now.
            if error.code in FATAL:
                DRIVER.reset_state()
            continue
        return
    raise AssertionError("the errors of the past do not end") from last


def alive() -> dict[str, int]:
    """Empty all caches, and return how many driver objects are alive and how many bytes of host memory are pinned."""
    wait_until_errors_end()
    devices = range(PyGPU.device_count())
    for _ in range(2):  # The first pass may move resources of a copy into a cache, which the second pass empties.
        for device in devices:
            PyGPU.trim_memory(device=device)
    live = DRIVER.live()
    # Subtract the slots of the copy ring, because slots stay allocated, and concurrent copies add slots.
    slots = sum(PyGPU.memory_statistics(device)["pinned_bytes"] for device in devices)
    host = sum(block["bytes"] for block in live.pop("host"))
    return {kind: len(things) for kind, things in live.items()} | {"host bytes": host - slots}


def assert_describes_fault(error: PyGPU.CudaError, code: int) -> None:
    """Check that an error has the injected code, and contains the name of the driver call."""
    assert error.code == code, error
    assert error.name
    assert error.text
    assert error.operation
    assert error.operation in str(error)


def attempt(exercise: str, call: str, code: int) -> str:
    """Run a test program in which a fault is injected.

    Return "raised" if PyGPU raised an error, "absorbed" if it did not.
    """
    try:
        EXERCISES[exercise]()
    except PyGPU.CudaError as error:
        assert_describes_fault(error, code)
        return "raised"
    return "absorbed"


def test_every_listed_driver_call_is_made_by_a_program(made: dict[str, dict[str, int]]) -> None:
    reached = set().union(*made.values())
    assert sorted(set(CALLS) - reached - NOT_MADE - AFTERWARDS) == []


def test_programs_without_faults_leak_no_resources(made: dict[str, dict[str, int]]) -> None:
    before = alive()
    for exercise in EXERCISES.values():
        exercise()
    after = alive()
    for kind in ("allocations", "streams", "host bytes"):
        assert after[kind] <= before[kind], kind
    assert after["events"] <= before["events"] + 4
    assert DRIVER.reports() == []


CELLS = [
    (call, fault)
    for call in CALLS
    for fault in FAULTS
    if call not in NOT_MADE | AFTERWARDS and (call, fault) not in ANSWERS
]


def fault_positions(call: str, fault: str, made: dict[str, dict[str, int]]) -> list[tuple[str, int]]:
    """Return the positions at which the tests inject a fault.

    A position is a test program and the number n of one call: the fault affects the nth time that the program makes the
    driver call `call`.
    """
    most = MOST_TIMES if FAULTS[fault][1] == ONCE else 1  # After a fatal fault all later calls fail too.
    found = [(name, nth) for name, calls in made.items() for nth in range(1, min(calls.get(call, 0), most) + 1)]
    if EVERYWHERE or fault == PLAINEST or (fault in ANSWERED and ANSWERED[fault].search(call)):
        return found
    step = max(1, min(len(OTHERS), len(found)))
    # With `ALL_STAGED`, select other positions than in a normal run, so that the two runs together test more positions.
    chosen = found[(OTHERS.index(fault) + CALLS.index(call) + 2 * ALL_STAGED) % step :: step]
    return [place for place in found if place in chosen or (place[1] == 1 and rarest_call(place[0], made) == call)]


def rarest_call(exercise: str, made: dict[str, dict[str, int]]) -> str:
    """Return the rarest driver call of a test program: the call that the fewest other test programs make.

    The tests inject every fault into this call of the test program.
    """
    calls = [call for call in made[exercise] if call not in NOT_MADE | AFTERWARDS]
    return min(calls, key=lambda call: sum(call in others for others in made.values()))


@pytest.mark.parametrize(("call", "fault"), CELLS)
def test_fault_in_driver_call_raises_injected_code_and_leaks_nothing(
    call: str, fault: str, made: dict[str, dict[str, int]]
) -> None:
    code, manner = FAULTS[fault]
    before = alive()
    chosen = fault_positions(call, fault, made)
    for exercise, nth in chosen:
        DRIVER.fault(call, code, nth, manner)
        outcome = attempt(exercise, call, code)
        COUNTS["planted"] += 1
        COUNTS[outcome] += 1
        if manner == ONCE:
            assert [report for report in DRIVER.reports() if report["kind"] != "bad_handle"] == []
        else:
            # Ignore the driver's reports of misuse. They state that work uses a freed object, but after a fatal fault
            # no work can run.
            _count_errors_after_fatal_fault(code)
            DRIVER.reset_state()
        DRIVER.clear_faults()
        DRIVER.forget_reports()
        wait_until_errors_end()
        make_and_fetch()
        assert DRIVER.reports() == []
    assert chosen
    if manner == ONCE:
        _assert_no_leaks(before, len(chosen) if GIVING_BACK.search(call) else 0)


def test_every_program_is_tested_with_every_failure_kind(made: dict[str, dict[str, int]]) -> None:
    met = {(exercise, fault) for call, fault in CELLS for exercise, _ in fault_positions(call, fault, made)}
    assert sorted({(exercise, fault) for exercise in EXERCISES for fault in FAULTS} - met) == []


def _count_errors_after_fatal_fault(code: int) -> None:
    """Count the errors of later calls after a fatal fault, and check that each error has the code of this fault."""
    for _ in range(2):
        try:
            PyGPU.synchronize()
            make_and_fetch()
        except PyGPU.CudaError as error:
            assert_describes_fault(error, code)
            COUNTS["device failed"] += 1


def _assert_no_leaks(before: dict[str, int], refused: int) -> None:
    after = alive()
    for kind, slack in [("allocations", 0), ("streams", 0), ("pools", 0), ("events", 4)]:
        assert after[kind] <= before[kind] + slack + refused, (kind, before[kind], after[kind])
    assert after["host bytes"] <= before["host bytes"] + refused * LARGEST_HOST_BLOCK
