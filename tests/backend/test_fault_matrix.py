"""Test every driver call of the library with every kind of failure.

What must come of it: a clear error, no leak, no wrong data, and the next call works, or says that the device is dead.

Every place (the nth time that an exercise makes a call) fails with the plainest error and with some of the others,
chosen so that each call and each exercise meets each way of failing; `PYGPU_FAULTS=all` plants every way everywhere.
The matrix is made from the library's own lists of calls (`vendor_calls.py`): a call that is added there is
covered, or `test_every_driver_call_is_made_by_an_exercise` fails. Faults are planted in a simulated driver.
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

# Made while the driver is opened: `test_opening.py` lets these fail, each in a process of its own.
OPENING = {
    "cuInit",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "hipInit",
    "hipGetDeviceCount",
}
# Not made on this driver, which has their better successors, pools, and no context but the primary ones.
SUPERSEDED = {
    "cuDeviceGetUuid",
    "cuStreamGetCtx",
    "cuCtxGetDevice",
    "hipGetDeviceProperties",
}
# Newer drivers have them, and this one does not.
ABSENT = {call for call in CALLS if call not in DRIVER.calls()} if DRIVER else set()
# What passes the ring of pinned slots, as all copies of ordinary host memory may be told to (test_staging.py), does not
# pass the driver's own staging.
ALL_STAGED = os.environ.get("PYGPU_STAGING_THRESHOLD") == "1"
UNSTAGED = {"cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemcpy3DAsync_v2", "hipMemcpy3DAsync"}
NOT_MADE = OPENING | SUPERSEDED | ABSENT | (UNSTAGED if ALL_STAGED else set())
# Made when something has failed. That they fail too changes the words of the error, or leaves a pool unused.
AFTERWARDS = {
    "cuGetErrorName",
    "cuGetErrorString",
    "cuMemPoolDestroy",
    "hipGetErrorName",
    "hipGetErrorString",
    "hipGetLastError",
    "hipMemPoolDestroy",
}
# Where the driver refuses one of these, what it keeps is its own: better leaked than used again. HIP has no event
# over all streams and waits for the device before lent memory is freed.
GIVING_BACK = re.compile(r"Free|Destroy|Unregister|Unload|Reset|TrimTo|hipDeviceSynchronize")

# So the driver says that a kernel has no more parameters: an answer, not a fault.
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
# Bytes of pinned memory that an exercise has at most.
LARGEST_HOST_BLOCK = 1 << 20
# The first times that an exercise makes a call; what follows is more of the same.
MOST_TIMES = 3

# What is planted in every place: nothing in the library treats it otherwise than any other error.
PLAINEST = "invalid value"
OTHERS = [name for name in FAULTS if name != PLAINEST]
# These errors have answers of their own from such calls (one more try, no error at all), so they too go everywhere.
ANSWERED = {"out of memory": re.compile(r"Alloc|Malloc"), "not ready": re.compile(r"Query")}
EVERYWHERE = os.environ.get("PYGPU_FAULTS") == "all"

COUNTS: Counter[str] = Counter()


@pytest.fixture(scope="module")
def made() -> dict[str, dict[str, int]]:
    """Count each driver call of each exercise, after all objects created once exist."""
    for _ in range(2):
        for exercise in EXERCISES.values():
            exercise()
    return {name: _calls_of(name) for name in EXERCISES}


@pytest.fixture(scope="module", autouse=True)
def _report() -> Iterator[None]:
    """Write the number of planted faults and their outcomes, if the environment requests it."""
    yield
    if path := os.environ.get("PYGPU_FAULT_RESULTS"):
        Path(path).write_text(json.dumps({"backend": BACKEND, "calls": len(CALLS), **COUNTS}, indent=1) + "\n")


def _calls_of(name: str) -> dict[str, int]:
    before = {call: DRIVER.call_count(call) for call in CALLS}
    EXERCISES[name]()
    gc.collect()
    return {call: DRIVER.call_count(call) - before[call] for call in CALLS if DRIVER.call_count(call) > before[call]}


def settle() -> None:
    """Wait until all work is complete and postponed errors are raised."""
    gc.collect()
    last = None
    for _ in range(20):
        try:
            for device in range(PyGPU.device_count()):
                PyGPU.zeros(1, device=device)
                PyGPU.synchronize(device)
        except PyGPU.CudaError as error:
            last = error
            if error.code in FATAL:  # of work that was still under way when the device was revived
                DRIVER.reset_state()
            continue
        return
    raise AssertionError("the errors of the past do not end") from last


def alive() -> dict[str, int]:
    """Return the amount of memory still held after the library has emptied its caches."""
    settle()
    devices = range(PyGPU.device_count())
    for _ in range(2):  # resources of a finished copy are released first, and may be cached for the next use
        for device in devices:
            PyGPU.trim_memory(device=device)
    live = DRIVER.live()
    # The slots through which copies pass stay, and there are more the more copies are under way at once.
    slots = sum(PyGPU.memory_statistics(device)["pinned_bytes"] for device in devices)
    host = sum(block["bytes"] for block in live.pop("host"))
    return {kind: len(things) for kind, things in live.items()} | {"host bytes": host - slots}


def tells_all(error: PyGPU.CudaError, code: int) -> None:
    """Check that an error has the planted code and names the call."""
    assert error.code == code, error
    assert error.name
    assert error.text
    assert error.operation
    assert error.operation in str(error)


def attempt(exercise: str, call: str, code: int) -> str:
    """Run an exercise with a planted fault, and return the outcome."""
    try:
        EXERCISES[exercise]()
    except PyGPU.CudaError as error:
        tells_all(error, code)
        return "raised"
    return "absorbed"


def test_every_driver_call_is_made_by_an_exercise(made: dict[str, dict[str, int]]) -> None:
    reached = set().union(*made.values())
    assert sorted(set(CALLS) - reached - NOT_MADE - AFTERWARDS) == []


def test_exercises_leave_no_resources(made: dict[str, dict[str, int]]) -> None:
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
    """Return the fault positions: an exercise and the number of the failing call."""
    most = MOST_TIMES if FAULTS[fault][1] == ONCE else 1  # a dead device is dead
    found = [(name, nth) for name, calls in made.items() for nth in range(1, min(calls.get(call, 0), most) + 1)]
    if EVERYWHERE or fault == PLAINEST or (fault in ANSWERED and ANSWERED[fault].search(call)):
        return found
    step = max(1, min(len(OTHERS), len(found)))
    # The run in which all copies are staged takes other places than the one before it.
    chosen = found[(OTHERS.index(fault) + CALLS.index(call) + 2 * ALL_STAGED) % step :: step]
    return [place for place in found if place in chosen or (place[1] == 1 and own_call(place[0], made) == call)]


def own_call(exercise: str, made: dict[str, dict[str, int]]) -> str:
    """The call that an exercise shares with the fewest others: there it meets every fault."""
    calls = [call for call in made[exercise] if call not in NOT_MADE | AFTERWARDS]
    return min(calls, key=lambda call: sum(call in others for others in made.values()))


@pytest.mark.parametrize(("call", "fault"), CELLS)
def test_each_driver_call_fails_cleanly(call: str, fault: str, made: dict[str, dict[str, int]]) -> None:
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
            # Nothing runs any more, so that the order of what is freed means nothing.
            _is_told_of_the_dead(code)
            DRIVER.reset_state()
        DRIVER.clear_faults()
        DRIVER.forget_reports()
        settle()
        make_and_fetch()
        assert DRIVER.reports() == []
    assert chosen
    if manner == ONCE:
        _has_no_more_than(before, len(chosen) if GIVING_BACK.search(call) else 0)


def test_every_exercise_covers_every_failure_kind(made: dict[str, dict[str, int]]) -> None:
    met = {(exercise, fault) for call, fault in CELLS for exercise, _ in places(call, fault, made)}
    assert sorted({(exercise, fault) for exercise in EXERCISES for fault in FAULTS} - met) == []


def _is_told_of_the_dead(code: int) -> None:
    """Check that every call after a fatal fault reports it, and that a fault before any work is not fatal."""
    for _ in range(2):
        try:
            PyGPU.synchronize()
            make_and_fetch()
        except PyGPU.CudaError as error:
            tells_all(error, code)
            COUNTS["told of the dead"] += 1


def _has_no_more_than(before: dict[str, int], refused: int) -> None:
    after = alive()
    for kind, slack in [("allocations", 0), ("streams", 0), ("pools", 0), ("events", 4)]:
        assert after[kind] <= before[kind] + slack + refused, (kind, before[kind], after[kind])
    assert after["host bytes"] <= before["host bytes"] + refused * LARGEST_HOST_BLOCK
