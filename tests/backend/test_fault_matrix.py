"""Test every driver call of PyGPU with every kind of failure, which a simulated driver injects.

A failed call must cause an error with the driver's code, no leak and no wrong data. Afterwards the next call must work,
or report that the device has failed permanently.

An exercise is a short program that uses PyGPU. A fault position is the nth time that an exercise makes a driver call.
At each position the error `PLAINEST` is injected; the other errors are distributed over the positions, so that each
call and each exercise is tested with each kind of failure. `PYGPU_FAULTS=all` injects every kind at every position. The
names of the driver calls come from PyGPU's own lists (`vendor_calls.py`). If no exercise makes one of the listed calls,
`test_every_listed_driver_call_is_made_by_an_exercise` fails.
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
import simulated
import vendor_calls
from faults.exercises import EXERCISES, make_and_fetch

BACKEND = PyGPU.backend_name()


def _simulated() -> simulated.Driver | None:
    if BACKEND == "cpu":
        return None
    PyGPU.zeros(1)
    return simulated.driver()


DRIVER = _simulated()
if DRIVER is None:
    pytest.skip("faults are planted in a simulated driver only", allow_module_level=True)

CALLS = vendor_calls.all_of(BACKEND)

# Calls made while PyGPU opens the driver. `test_opening.py` makes each of them fail in a separate process.
OPENING = {
    "cuInit",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "hipInit",
    "hipGetDeviceCount",
}
# Calls that PyGPU does not make with the simulated driver.
# The driver has newer replacements for them, or has memory pools, or creates only primary contexts.
SUPERSEDED = {
    "cuDeviceGetUuid",
    "cuStreamGetCtx",
    "cuCtxGetDevice",
    "hipGetDeviceProperties",
}
# Calls that only drivers newer than the simulated one have.
ABSENT = {call for call in CALLS if call not in DRIVER.calls()} if DRIVER else set()
# Whether all copies use the ring of pinned slots (see test_staging.py), and the driver calls that PyGPU then omits.
ALL_STAGED = os.environ.get("PYGPU_STAGING_THRESHOLD") == "1"
UNSTAGED = {"cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemcpy3DAsync_v2", "hipMemcpy3DAsync"}
NOT_MADE = OPENING | SUPERSEDED | ABSENT | (UNSTAGED if ALL_STAGED else set())
# Calls made only after another call has failed. If such a call fails too, the error text is shorter or a pool leaks.
AFTERWARDS = {
    "cuGetErrorName",
    "cuGetErrorString",
    "cuMemPoolDestroy",
    "hipGetErrorName",
    "hipGetErrorString",
    "hipGetLastError",
    "hipMemPoolDestroy",
}
# Calls that release a resource.
# If the driver rejects such a call, PyGPU leaks the resource, because its reuse would be unsafe.
# On HIP, the host waits for the device before exported memory is freed, because no event covers all streams.
GIVING_BACK = re.compile(r"Free|Destroy|Unregister|Unload|Reset|TrimTo|hipDeviceSynchronize")

# Pairs of call and error that are no failure: the error reports that the kernel has no further parameters.
ANSWERS = {("cuFuncGetParamInfo", "invalid value")}

ONCE = 1
FAULTS = {
    "out of memory": (2, ONCE),
    "invalid value": (1, ONCE),
    "not ready": (600, ONCE),
    "launch failure": (719, simulated.ASYNCHRONOUS),
    "context lost": (700, simulated.STICKY),
    "device lost": (214, simulated.STICKY),
}
FATAL = {code for code, manner in FAULTS.values() if manner != ONCE}
# Largest amount of pinned memory that an exercise uses, in bytes.
LARGEST_HOST_BLOCK = 1 << 20
# A fault is injected into at most the first three times that an exercise makes a call; later times are similar.
MOST_TIMES = 3

# The error that is injected at every position. PyGPU handles it like any error without a special meaning.
PLAINEST = "invalid value"
OTHERS = [name for name in FAULTS if name != PLAINEST]
# Errors that are injected at every position of the matching calls.
# PyGPU handles these pairs in a special way, for example by a retry.
ANSWERED = {"out of memory": re.compile(r"Alloc|Malloc"), "not ready": re.compile(r"Query")}
EVERYWHERE = os.environ.get("PYGPU_FAULTS") == "all"

COUNTS: Counter[str] = Counter()


@pytest.fixture(scope="module")
def made() -> dict[str, dict[str, int]]:
    """Count the driver calls of each exercise, after two runs that create all cached objects."""
    for _ in range(2):
        for exercise in EXERCISES.values():
            exercise()
    return {name: _calls_of(name) for name in EXERCISES}


@pytest.fixture(scope="module", autouse=True)
def _report() -> Iterator[None]:
    """Write the numbers of injected faults and of their outcomes to the file that `PYGPU_FAULT_RESULTS` names."""
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
            if error.code in FATAL:  # Work that ran when the device was reset reports its failure only now.
                DRIVER.reset_state()
            continue
        return
    raise AssertionError("the errors of the past do not end") from last


def alive() -> dict[str, int]:
    """Return the numbers of live driver objects, and of bytes of pinned memory, after all caches were emptied."""
    wait_until_errors_end()
    devices = range(PyGPU.device_count())
    for _ in range(2):  # The first pass may move resources of a finished copy into a cache; the second empties it.
        for device in devices:
            PyGPU.trim_memory(device=device)
    live = DRIVER.live()
    # The ring's slots are subtracted: they stay allocated, and their number depends on the number of concurrent copies.
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
    """Run an exercise with an injected fault, and return whether PyGPU raised an error or handled the fault itself."""
    try:
        EXERCISES[exercise]()
    except PyGPU.CudaError as error:
        assert_describes_fault(error, code)
        return "raised"
    return "absorbed"


def test_every_listed_driver_call_is_made_by_an_exercise(made: dict[str, dict[str, int]]) -> None:
    reached = set().union(*made.values())
    assert sorted(set(CALLS) - reached - NOT_MADE - AFTERWARDS) == []


def test_exercises_without_faults_leak_no_resources(made: dict[str, dict[str, int]]) -> None:
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


def places(call: str, fault: str, made: dict[str, dict[str, int]]) -> list[tuple[str, int]]:
    """Return where faults are injected into a driver call: pairs of an exercise and n, for its nth use of the call."""
    most = MOST_TIMES if FAULTS[fault][1] == ONCE else 1  # After a fatal fault all later calls fail too.
    found = [(name, nth) for name, calls in made.items() for nth in range(1, min(calls.get(call, 0), most) + 1)]
    if EVERYWHERE or fault == PLAINEST or (fault in ANSWERED and ANSWERED[fault].search(call)):
        return found
    step = max(1, min(len(OTHERS), len(found)))
    # The run in which all copies are staged (`ALL_STAGED`) tests other positions than the run without it.
    chosen = found[(OTHERS.index(fault) + CALLS.index(call) + 2 * ALL_STAGED) % step :: step]
    return [place for place in found if place in chosen or (place[1] == 1 and rarest_call(place[0], made) == call)]


def rarest_call(exercise: str, made: dict[str, dict[str, int]]) -> str:
    """Return the call of an exercise that the fewest other exercises make.

    The exercise tests this call with every fault.
    """
    calls = [call for call in made[exercise] if call not in NOT_MADE | AFTERWARDS]
    return min(calls, key=lambda call: sum(call in others for others in made.values()))


@pytest.mark.parametrize(("call", "fault"), CELLS)
def test_fault_in_driver_call_raises_injected_code_and_leaks_nothing(
    call: str, fault: str, made: dict[str, dict[str, int]]
) -> None:
    code, manner = FAULTS[fault]
    before = alive()
    chosen = places(call, fault, made)
    for exercise, nth in chosen:
        DRIVER.fault(call, code, nth, manner)
        outcome = attempt(exercise, call, code)
        COUNTS["planted"] += 1
        COUNTS[outcome] += 1
        if manner == ONCE:
            assert [report for report in DRIVER.reports() if report["kind"] != "bad_handle"] == []
        else:
            # The driver's reports of misuse are ignored: after a fatal fault no work can still use a freed object.
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


def test_every_exercise_is_tested_with_every_failure_kind(made: dict[str, dict[str, int]]) -> None:
    met = {(exercise, fault) for call, fault in CELLS for exercise, _ in places(call, fault, made)}
    assert sorted({(exercise, fault) for exercise in EXERCISES for fault in FAULTS} - met) == []


def _count_errors_after_fatal_fault(code: int) -> None:
    """Count the errors of later calls after a fatal fault, and check that each error has the code of the fault."""
    for _ in range(2):
        try:
            PyGPU.synchronize()
            make_and_fetch()
        except PyGPU.CudaError as error:
            assert_describes_fault(error, code)
            COUNTS["told of the dead"] += 1


def _assert_no_leaks(before: dict[str, int], refused: int) -> None:
    after = alive()
    for kind, slack in [("allocations", 0), ("streams", 0), ("pools", 0), ("events", 4)]:
        assert after[kind] <= before[kind] + slack + refused, (kind, before[kind], after[kind])
    assert after["host bytes"] <= before["host bytes"] + refused * LARGEST_HOST_BLOCK
