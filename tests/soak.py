"""Random operations by the million, each held against NumPy.

    python tests/soak.py --operations 1000000 --seed 7 --json soak.json

Arrays are made, viewed, written, copied, shared and dropped in random order, on every device and in the order of
changing streams. After each operation a random live array is compared with its NumPy twin, and all of them at the
end. A failure prints the seed, with which the same run is repeated, and the last operations. Runs on any backend
(PYGPU_BACKEND).
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import random
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import PyGPU
import soak_operations as operations
import soak_peers
from soak_operations import Dice, Made, Pair

MOST_LIVE = 60
LAST = 25
# Of the process, beyond what it has after a tenth of the run: in a million operations, 50 bytes lost by each are more.
MOST_GROWTH = 48 << 20


class Mismatch(AssertionError):
    """Something differed; the text says how to repeat it."""


class Soak:
    """One run: live pairs, streams, and the dice by which all is decided."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.dice = Dice(seed)
        self.live: list[Pair] = []
        self.done = 0
        self.counts: Counter[str] = Counter()
        self.last: deque[str] = deque(maxlen=LAST)
        self.devices = [PyGPU.Device(index) for index in range(PyGPU.device_count())]
        if PyGPU.backend_name() != "cpu":
            self.devices.append(PyGPU.Device("cpu"))
        self.streams = {device: self._new_streams(device) for device in self.devices}
        self.table = self._table()
        self.names = list(self.table)
        self.weights = [weight for weight, _ in self.table.values()]

    def _new_streams(self, device: PyGPU.Device) -> list[PyGPU.Stream]:
        kinds = (False, False, True)
        return [device.default_stream, *(PyGPU.Stream(non_blocking=kind, device=device) for kind in kinds)]

    def _table(self) -> dict[str, tuple[int, Callable[[], Made]]]:
        table: dict[str, tuple[int, Callable[[], Made]]] = {
            "make": (20, lambda: operations.make(self.dice, self.any_device())),
            "drop": (35, self.drop),
            "assign": (8, lambda: operations.assign(self.dice, self.any_pair(), self.any_pair())),
            "move": (4, lambda: operations.move_to(self.dice, self.any_pair(), self.any_device())),
            "streams": (4, self.order_streams),
            "new streams": (1, self.replace_streams),
        }
        for weight, group in (
            (8, operations.VIEWS),
            (4, operations.COPIES),
            (8, operations.WRITES),
            (4, operations.READS),
            (3, operations.SHARING),
            (3, soak_peers.available()),
        ):
            for name, operation in group.items():
                table[name] = (weight, lambda run=operation: run(self.dice, self.any_pair(), None))
        for name, operation in operations.WITH_STREAM.items():
            table[name] = (3, lambda run=operation: self.with_stream(run))
        return table

    def any_device(self) -> PyGPU.Device:
        return self.dice.random.choice(self.devices)

    def any_pair(self) -> Pair:
        if not self.live:
            self.live.append(operations.make(self.dice, self.any_device()))
        return self.dice.random.choice(self.live)

    def with_stream(self, operation: operations.Operation) -> Made:
        pair = self.any_pair()
        return operation(self.dice, pair, self.dice.random.choice(self.streams[pair.device.device]))

    def drop(self) -> Made:
        if self.live:
            self.live.pop(self.dice.random.randrange(len(self.live)))
        return None

    def order_streams(self) -> Made:
        """Events and waits between streams, which change nothing that can be seen."""
        streams = self.streams[self.any_device()]
        first, second = self.dice.random.choice(streams), self.dice.random.choice(streams)
        start = first.record()
        second.wait_event(start)
        end = second.record(PyGPU.Event(device=second.device))
        end.synchronize()
        assert start.query(), "an event is not over, and one behind it is"
        assert start.elapsed_time(end) >= 0
        if self.live:
            pair = self.any_pair()
            pair.device.record_stream(self.dice.random.choice(self.streams[pair.device.device]))
        return None

    def replace_streams(self) -> Made:
        """Drop streams while arrays that were used on them live on."""
        device = self.any_device()
        self.streams[device] = self._new_streams(device)
        return None

    def surroundings(self) -> contextlib.AbstractContextManager[Any]:
        """Another current stream or device, now and then."""
        device = self.any_device()
        match self.dice.random.randrange(8):
            case 0 if device.kind == PyGPU.backend_name():  # the host is no device that can be current beside a GPU
                return device
            case 1 | 2 | 3:
                return self.dice.random.choice(self.streams[device])
            case _:
                return contextlib.nullcontext()

    def step(self) -> None:
        (name,) = self.dice.random.choices(self.names, self.weights)
        self.last.append(name)
        try:
            with self.surroundings() as around:
                made = self.table[name][1]()
                self.last[-1] = f"{name} in {around}: {_text(made)}"
                if made is not None:
                    self.check(made)
                    self.keep(made)
                if self.live:
                    self.check(self.any_pair())
        except Exception as error:
            raise Mismatch(self.story(error)) from error
        self.done += 1
        self.counts[name] += 1

    def keep(self, made: Pair) -> None:
        if len(self.live) >= MOST_LIVE:
            self.drop()
        self.live.append(made)

    def check(self, pair: Pair) -> None:
        got = pair.device.get()
        assert operations.equal(got, pair.host), (
            f"an array of shape {pair.host.shape}, dtype {pair.host.dtype} and strides {pair.device.strides} holds\n"
            f"{got}\ninstead of\n{pair.host}"
        )
        assert pair.device.flags.writeable == pair.host.flags.writeable, "one is read-only and the other is not"

    def finish(self) -> None:
        try:
            for pair in self.live:
                self.check(pair)
        except Exception as error:
            raise Mismatch(self.story(error)) from error
        self.live.clear()

    def story(self, error: Exception) -> str:
        lines = "\n".join(f"  {line}" for line in self.last)
        return (
            f"seed {self.seed}, operation {self.done}: {type(error).__name__}: {error}\nthe last operations:\n{lines}"
        )


def _text(made: Made) -> str:
    return "" if made is None else f"{made.host.dtype} {made.host.shape}, strides {made.device.strides}"


def resident_bytes() -> int:
    """What of the process is in memory now, not at its peak."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


class _Mallinfo(ctypes.Structure):
    _fields_ = tuple((f"field{number}", ctypes.c_size_t) for number in range(10))


def heap_bytes() -> int:
    """Bytes that the C library has given out, to PyGPU's host memory and all else; 0 where it does not tell."""
    gc.collect()
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return 0
    ask.restype = _Mallinfo
    told = ask()
    return told.field4 + told.field7  # of mapped blocks, and of all others


def held_blocks() -> int:
    """Blocks of device memory that PyGPU holds; those of the host are in `heap_bytes`."""
    gc.collect()
    PyGPU.synchronize()
    return sum(PyGPU.memory_statistics(device)["count"] for device in range(PyGPU.device_count()))


def run(count: int, seed: int, show: Callable[[int], None] = lambda done: None) -> dict[str, Any]:
    """So many operations; a report, or `Mismatch`."""
    soak = Soak(seed)
    blocks, heap = held_blocks(), heap_bytes()
    start, resident = time.perf_counter(), 0
    for number in range(count):
        # Caches, pools and the heap have their size after a tenth.
        if number == count // 10:
            resident = resident_bytes()
        if number % 1000 == 0:
            show(number)
        soak.step()
    soak.finish()
    seconds = time.perf_counter() - start
    return {
        "backend": PyGPU.backend_name(),
        "devices": len(soak.devices),
        "seed": seed,
        "operations": soak.done,
        "seconds": round(seconds, 2),
        "operations_per_second": round(soak.done / seconds),
        "resident_bytes_after_a_tenth": resident,
        "resident_bytes_at_end": resident_bytes(),
        "heap_bytes_before": heap,
        "heap_bytes_after": heap_bytes(),
        "blocks_before": blocks,
        "blocks_after": held_blocks(),
        "counts": dict(soak.counts.most_common()),
    }


def run_threads(threads: int, count: int, seed: int, show: Callable[[int], None]) -> list[dict[str, Any]]:
    """The same in several threads at once, each with arrays and a seed of its own."""
    if threads == 1:
        return [run(count, seed, show)]
    reports: list[dict[str, Any]] = []
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            reports.append(run(count, seed + number, show if number == 0 else lambda done: None))
        except BaseException as failure:
            failures.append(failure)

    started = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    if failures:
        raise failures[0]
    return reports


def progress(count: int) -> Callable[[int], None]:
    """A line of text on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        return lambda done: None
    return lambda done: print(f"\r{done:>10} of {count} operations", end="", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--operations", type=int, default=100_000, help="for each thread")
    parser.add_argument("--seed", type=int, default=None, help="a random one by default; it is printed")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, default=None, help="where the report goes")
    arguments = parser.parse_args()
    seed = random.SystemRandom().randrange(2**32) if arguments.seed is None else arguments.seed
    print(f"seed {seed}, backend {PyGPU.backend_name()}", flush=True)
    blocks = held_blocks()
    try:
        reports = run_threads(arguments.threads, arguments.operations, seed, progress(arguments.operations))
    except Mismatch as mismatch:
        print(f"\n{mismatch}", file=sys.stderr)
        return 1
    for report in reports:
        print(json.dumps(report, indent=2))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(reports, indent=2) + "\n")
    grown = max(report["resident_bytes_at_end"] - report["resident_bytes_after_a_tenth"] for report in reports)
    if held_blocks() != blocks or grown > MOST_GROWTH:
        print(f"memory was left behind: {held_blocks()} blocks, before {blocks}; {grown} bytes more", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
