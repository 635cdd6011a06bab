"""Run a soak: random operations on arrays, each compared with NumPy, for a given number of operations.


    python tests/helpers/soak.py --operations 1000000 --seed 7 --json report.json

Every array has a NumPy counterpart that receives the same operations. The counterpart of a view is the same view of the
NumPy array, so in both libraries a write to the view also changes the array. After a mismatch, the command prints the
seed, which reproduces the run, and the last operations.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import sys
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import SystemRandom
from typing import Any

import numpy as np

import PyGPU
import soak_operations.arithmetic  # These Python modules register their operations when they are imported.
import soak_operations.arrays
import soak_operations.axes
import soak_operations.sharing
from PyGPU import _core
from soak_operations.operation_registry import OPERATIONS
from soak_operations.random_choices import Choices

MOST_LIVE = 64
MOST_KEPT = 16
LAST_OPERATIONS = 40
# Number of bytes by which a process may grow during a long run. Even without a leak, a process grows,
# because its heap becomes fragmented, and because pages that were used once stay allocated.
GROWTH = 48 << 20
# Bytes of the C heap that PyGPU's caches may use after all arrays are destroyed.
# This limit is not checked with a simulated driver, which uses an unknown part of the same heap.
CACHES = 8 << 20


class Mismatch(AssertionError):
    """Report that PyGPU and NumPy have different values."""


@dataclass(eq=False)
class Family:
    """Describe a set of arrays that share memory.

    `lent` means that a second array or another library also uses the memory, through a protocol such as DLPack. PyGPU
    cannot track the uses by the other array or library.
    """

    lent: bool = False


@dataclass(eq=False)
class Held:
    """Hold an array together with its NumPy counterpart, which receives the same operations."""

    number: int
    array: PyGPU.GPUArray
    twin: np.ndarray
    family: Family = field(default_factory=Family)

    @property
    def writeable(self) -> bool:
        return self.array.flags.writeable and self.twin.flags.writeable

    def __repr__(self) -> str:
        return f"#{self.number} {self.twin.dtype}{list(self.twin.shape)}"


class Soak:
    """Run random operations, and hold the live arrays of the run and the record of its operations."""

    def __init__(self, seed: int, pairs: int = soak_operations.arithmetic.FEW) -> None:
        self.seed = seed
        self.pairs = pairs
        self.choices = Choices(seed)
        self.devices = all_devices()
        self.live: list[Held] = []
        self.kept: list[tuple[np.ndarray, bytes]] = []
        self.streams: list[PyGPU.Stream] = []
        self.device = PyGPU.Device()
        self.counts: Counter[str] = Counter()
        self._next = 0
        self._last: deque[tuple[Any, ...]] = deque(maxlen=LAST_OPERATIONS)
        self._settled = True
        self._within = contextlib.ExitStack()
        self._names = list(OPERATIONS)
        self._weights = np.cumsum([weight for weight, _ in OPERATIONS.values()]).tolist()

    # These methods are called by the operations in the package `soak_operations`.

    def hold(self, array: PyGPU.GPUArray, twin: np.ndarray, family: Family | None = None) -> Held:
        """Add an array to the live arrays; if there are too many live arrays, drop another array."""
        if len(self.live) >= MOST_LIVE:
            self.drop()
        self._next += 1
        held = Held(self._next, array, twin, family or Family())
        self.check_layout(held)
        self.live.append(held)
        self.note(held)
        return held

    def drop(self) -> None:
        place = self.choices.randrange(len(self.live))
        self.live[place], self.live[-1] = self.live[-1], self.live[place]
        self.settle(self.live[-1])
        self.live.pop()

    def keep(self, values: np.ndarray) -> None:
        """Keep a result of `get`. Later the run checks that writes to the array have not changed the kept result."""
        self.kept.append((values, values.tobytes()))
        if len(self.kept) > MOST_KEPT:
            self.check_kept(*self.kept.pop(self.choices.randrange(MOST_KEPT)))

    def pick(self, predicate: Callable[[Held], bool] | None = None) -> Held | None:
        """Return a random live array, or None if no array of a small sample satisfies `predicate`."""
        for _ in range(4):
            if not self.live:
                return None
            held = self.choices.choice(self.live)
            if predicate is None or predicate(held):
                self.settle(held)
                self.note(held)
                return held
        return None

    def settle(self, held: Held) -> None:
        """If another library or array uses the memory of an array (`lent`), synchronize all devices, because PyGPU
        cannot order such uses."""
        if held.family.lent and held.array.device.kind != "cpu":
            self.synchronize()
            self._settled = False

    def synchronize(self) -> None:
        for device in self.devices:
            PyGPU.synchronize(device)

    def go(self, device: PyGPU.Device, stream: PyGPU.Stream | None) -> None:
        """Make a device and a stream current, until the next call of this method."""
        self._within.close()
        self._within.enter_context(device)
        self.device = device
        if stream is not None:
            self._within.enter_context(stream)

    def note(self, *details: Any) -> None:
        """Record the description of an operation as text, which keeps no array alive."""
        self._last[-1] += tuple(repr(detail) if isinstance(detail, Held) else detail for detail in details)

    # Methods that compare arrays with their NumPy counterparts.

    def check_layout(self, held: Held) -> None:
        """Compare the strides of an array and its NumPy counterpart, because later views depend on the strides."""
        twin, array = held.twin, held.array
        long = [axis for axis, length in enumerate(twin.shape) if length != 1] if twin.size else []
        ours, numpys = ([strides[axis] for axis in long] for strides in (array.strides, twin.strides))
        if (array.shape, array.dtype, ours) != (twin.shape, twin.dtype, numpys):
            raise Mismatch(
                f"{held} with strides {twin.strides} is {array.shape} {array.dtype} {array.strides} in PyGPU"
            )

    def check(self, held: Held) -> None:
        self.settle(held)
        got, twin = held.array.get(), held.twin
        if held.array.shape != twin.shape or got.shape != twin.shape or got.dtype != twin.dtype:
            raise Mismatch(f"{held}: PyGPU has {held.array.shape}, and get() {got.shape} of {got.dtype}")
        if got.tobytes() != twin.tobytes():
            raise Mismatch(f"{held}: PyGPU has {got.tobytes()[:64]!r}..., NumPy {twin.tobytes()[:64]!r}...")

    def check_kept(self, values: np.ndarray, expected: bytes) -> None:
        if values.tobytes() != expected:
            raise Mismatch("an ndarray that get() returned has changed since")

    def same(self, what: str, got: Any, expected: Any) -> None:
        got, expected = np.asarray(got), np.asarray(expected)
        if (got.dtype, got.shape, got.tobytes()) != (expected.dtype, expected.shape, expected.tobytes()):
            raise Mismatch(f"{what}: PyGPU gives {got!r}, NumPy {expected!r}")

    # Methods that run the operations.

    def step(self) -> None:
        """Perform one random operation. Then check the array that the operation modified, or else a random array."""
        while True:
            (name,) = self.choices.choices(self._names, cum_weights=self._weights)
            self._last.append((name,))
            with np.errstate(all="ignore"):  # Random bytes can be the bits of any number, including NaN and infinity.
                touched = OPERATIONS[name][1](self)
            if touched is not None:
                break
        self.counts[name] += 1
        if touched is True or self.choices.chance(2):
            touched = self.choices.choice(self.live) if self.live else None
        if touched:
            self.check(touched)
        if not self._settled:
            self.synchronize()
            self._settled = True

    def run(self, operations: int, tell: Callable[[int], None] | None = None) -> None:
        for number in range(operations):
            self.step()
            if tell is not None and number % 1000 == 0:
                tell(number)

    def check_all(self) -> None:
        for held in self.live:
            self.check(held)
        for values, expected in self.kept:
            self.check_kept(values, expected)

    def close(self) -> None:
        """Release all objects of the run, also after a failure."""
        self._within.close()
        self.live.clear()
        self.kept.clear()
        self.streams.clear()
        gc.collect()
        self.synchronize()

    def last_operations(self) -> str:
        return "\n".join(" ".join(map(str, details)) for details in self._last)


def all_devices() -> list[PyGPU.Device]:
    """Return the devices of the backend, and the host device."""
    devices = [PyGPU.Device(index) for index in range(PyGPU.device_count())]
    return devices if PyGPU.backend_name() == "cpu" else [*devices, PyGPU.Device("cpu")]


def bytes_in_use() -> int:
    return sum(PyGPU.memory_statistics(device)["bytes"] for device in all_devices())


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


class _Mallinfo(ctypes.Structure):
    _fields_ = tuple((f"field{number}", ctypes.c_size_t) for number in range(10))


def heap_bytes() -> int:
    """Return the bytes currently allocated on the C heap by the whole process, not only by PyGPU; 0 if unknown."""
    gc.collect()
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if ask is None:
        return 0
    ask.restype = _Mallinfo
    usage = ask()
    # Fields of `mallinfo2`: bytes in blocks that are mapped separately, and bytes in all other blocks.
    return usage.field4 + usage.field7


def simulated_driver() -> ctypes.CDLL | None:
    """Return the simulated driver that PyGPU uses, or None for a real driver."""
    name = {"cuda": "libcuda.so.1", "hip": "libamdhip64.so.7"}.get(PyGPU.backend_name())
    library = ctypes.CDLL(name) if name else None  # `ctypes` returns the library that the process has already loaded.
    return library if hasattr(library, "sim_reports") else None


def _told(function: Any) -> Any:
    function.argtypes, function.restype = (ctypes.c_char_p, ctypes.c_size_t), ctypes.c_size_t
    buffer = ctypes.create_string_buffer(function(None, 0) + 1)
    function(buffer, len(buffer))
    return json.loads(buffer.value)


def findings() -> list[dict[str, str]]:
    """Return PyGPU's misuse of the driver that a simulated driver has reported in this process."""
    driver = simulated_driver()
    return [] if driver is None else _told(driver.sim_reports)


def live_on_driver() -> dict[str, int]:
    """Return the number of live objects of each kind on a simulated driver."""
    driver = simulated_driver()
    return {} if driver is None else {kind: len(objects) for kind, objects in _told(driver.sim_live).items()}


@dataclass
class Outcome:
    """Hold the outcome of one run of random operations (`Soak`)."""

    counts: Counter[str]
    resident: list[int] = field(default_factory=list)
    failure: str | None = None


def outcome_of(seed: int, operations: int, pairs: int, tell: Callable[[int], None] | None = None) -> Outcome:
    """Run random operations, and return the outcome of the run or its failure."""
    run = Soak(seed, pairs)
    outcome = Outcome(run.counts)
    try:
        # On a GPU, the memory use of the process grows until the cache of compiled kernels is full.
        warm = operations // (10 if PyGPU.backend_name() == "cpu" else 2)
        run.run(warm)
        outcome.resident.append(resident_bytes())
        run.run(operations - warm, tell)
        run.check_all()
    except Exception as error:
        text = str(error) if isinstance(error, Mismatch) else traceback.format_exc()
        outcome.failure = f"{type(error).__name__}: {text}\nthe last operations:\n{run.last_operations()}"
    outcome.resident.append(resident_bytes())
    run.close()
    return outcome


def soak(
    operations: int,
    seed: int,
    *,
    threads: int = 1,
    pairs: int = soak_operations.arithmetic.FEW,
    tell: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Run random operations in one or more threads, and return a report.

    The entry `"failure"` describes the first failure, or is None.

    Every thread has separate arrays; thread n has the seed `seed + n`. `pairs` is the number of pairs of operand types
    in arithmetic.
    """
    before, heap_before, found_before = bytes_in_use(), heap_bytes(), len(findings())
    start = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        runs = [pool.submit(outcome_of, seed + n, operations, pairs, None if n else tell) for n in range(threads)]
        outcomes = [run.result() for run in runs]
    seconds = time.perf_counter() - start
    heap = heap_bytes()
    found = findings()[found_before:]
    warm, end = outcomes[0].resident[0], outcomes[0].resident[-1]
    failures = [f"seed {seed + n}: {outcome.failure}" for n, outcome in enumerate(outcomes) if outcome.failure]
    if not failures and bytes_in_use() > before:
        failures.append(f"{bytes_in_use()} bytes are in use after all arrays are gone, {before} were before")
    if not failures and PyGPU.backend_name() == "cpu" and heap - heap_before > CACHES:
        failures.append(f"{heap} bytes of the heap are in use after all arrays are gone, {heap_before} were before")
    if not failures and end - warm > GROWTH:
        failures.append(f"the process grew from {warm} to {end} bytes")
    if found:
        failures.append(f"the simulated driver has {len(found)} findings")
    counts = sum((outcome.counts for outcome in outcomes), Counter[str]())
    return {
        "seed": seed,
        "threads": threads,
        "backend": PyGPU.backend_name(),
        "simulated": simulated_driver() is not None,
        "devices": PyGPU.device_count(),
        "operations": counts.total(),
        "counts": dict(sorted(counts.items())),
        "seconds": round(seconds, 2),
        "operations_per_second": round(counts.total() / seconds),
        "resident_bytes": [warm, end],
        "heap_bytes": [heap_before, heap],
        "bytes_in_use": [before, bytes_in_use()],
        "live_on_driver": live_on_driver(),
        "findings": found,
        "failure": "\n".join(failures) or None,
    }


def text_of(report: dict[str, Any]) -> Iterable[str]:
    name = f"simulated {report['backend']}" if report["simulated"] else report["backend"]
    yield f"seed {report['seed']}, {name}, {report['devices']} devices, {report['threads']} threads"
    yield f"{report['operations']} operations in {report['seconds']} s: {report['operations_per_second']} a second"
    yield ", ".join(f"{kind} {count}" for kind, count in report["counts"].items())
    yield "resident early or midway (on a device) and at the end: {} and {} bytes".format(*report["resident_bytes"])
    yield "of the heap in use before and after: {} and {} bytes".format(*report["heap_bytes"])
    yield "of the device in use before and after: {} and {} bytes".format(*report["bytes_in_use"])
    if report["simulated"]:
        yield f"left on the driver: {report['live_on_driver']}"
        yield f"findings of the driver: {len(report['findings'])}"
        yield from (f"  {finding}" for finding in report["findings"][:20])
    yield f"FAILED, {report['failure']}" if report["failure"] else "no mismatch"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, default=100_000, help="of each thread")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--pairs", type=int, default=len(soak_operations.arithmetic.PAIRS), help="of types, in arithmetic"
    )
    parser.add_argument("--seed", type=int, default=None, help="random by default, and printed")
    parser.add_argument("--json", type=Path, default=None, help="also write the report there")
    arguments = parser.parse_args()
    seed = SystemRandom().randrange(2**32) if arguments.seed is None else arguments.seed
    _core._set_strict(False)  # In strict mode `asarray` copies host memory; the soak shares it.

    def tell(number: int) -> None:
        print(f"\rseed {seed}: {number} operations", end="", file=sys.stderr, flush=True)

    shown = tell if sys.stderr.isatty() else None
    report = soak(arguments.operations, seed, threads=arguments.threads, pairs=arguments.pairs, tell=shown)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(*text_of(report), sep="\n")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    return 1 if report["failure"] else 0


if __name__ == "__main__":
    sys.exit(main())
