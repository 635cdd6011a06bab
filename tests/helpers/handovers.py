"""Pass memory at random between PyGPU and all installed GPU libraries, on delayed streams and in several threads.


    python tests/helpers/handovers.py --operations 10000 --processes 20 --seed 7 --json report.json

A baton is a piece of memory with known values. An operation passes a baton to another library, writes a part of it,
compares it with the expected values, passes it to another thread, or deletes the array of an earlier library. A baton
is passed by DLPack, by DLPack's C exchange table, by an array interface, or by its address. Writes run on a busy
stream. The other libraries are NumPy; PyTorch, CuPy, numba-cuda, JAX and cuda.core if installed; and
`hostile_consumer`, whose deleters release the GIL before they call PyGPU's deleters. No value may be read too early,
and no process may crash.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import os
import queue
import subprocess
import sys
import threading
import traceback
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import hostile_consumer
import PyGPU
import simulated_driver
from handover_support.libraries import Baton, Host, Library, Own, peers
from handover_support.protocols import ways_to
from handover_support.synchronization_rules import PROGRAM, rule_of

BATONS_PER_THREAD = 6
MOST_KEPT = 4
LENGTHS = (1, 7, 1024, 4099, 1 << 15)
# Delay of one operation on the simulated driver, in microseconds.
DELAY_US = 200


class Mismatch(AssertionError):
    """Report that memory which was passed between libraries does not have the expected values."""


class Thread:
    """Hold the pieces of memory that one thread passes between libraries (batons), and its random number generator."""

    def __init__(self, run: Run, number: int) -> None:
        self.run, self.choices = run, Random(f"{run.seed}/{number}")
        self.batons: list[Baton] = []
        self.counts: Counter[str] = Counter()

    def new(self) -> Baton:
        """Return a new baton, which is memory of a new PyGPU array."""
        device = self.choices.choice(list(self.run.libraries))
        expected = np.arange(self.choices.choice(LENGTHS), dtype=np.float32) + self.choices.randrange(1000)
        own = self.run.libraries[device][0]
        baton = Baton(PyGPU.to_gpu(expected, device=device), own, expected, device, own.stream(self.choices))
        baton.history.append(f"made on {device} at {baton.holder.ptr:#x}")
        return baton

    def step(self) -> None:
        """Perform one random operation with a baton, i.e. with a piece of memory that libraries pass to each other."""
        if len(self.batons) < BATONS_PER_THREAD:
            self.batons.append(self.new())
        baton = self.choices.choice(self.batons)
        try:
            name = self.choices.choices(
                ["hand over", "write", "check", "let go", "pass on", "end"], [10, 6, 4, 4, 1, 1]
            )[0]
            getattr(self, name.replace(" ", "_"))(baton)
        except Exception as error:
            steps = "\n    ".join(baton.history)
            raise type(error)(
                f"{error}\n  the baton ({baton.expected.size} values, {baton.library.name}):\n    {steps}"
            ) from error

    def hand_over(self, baton: Baton) -> None:
        """Pass the memory of a baton to a random library, by a random protocol."""
        target = self.choices.choice(self.run.libraries[baton.device])
        ways = ways_to(baton, target)
        if not ways:
            return
        way = self.choices.choice(sorted(ways))
        rule = rule_of(baton.library.name, target.name, way)
        label = f"{baton.library.name} -> {target.name} by {way}"
        baton.history.append(label)
        stream = target.stream(self.choices)
        before = baton.holder
        ahead = Baton(None, target, baton.expected, baton.device, stream)
        with baton.library.working(baton), target.working(ahead), stream_of(target, stream):
            if rule.first_use == PROGRAM:
                baton.library.finish(baton)
            baton.holder = ways[way](before, baton, self.choices)
        # The owner of the memory receives the consumer's stream only if each library passes that stream to the library
        # before it.
        baton.is_stream_known &= rule.end != PROGRAM
        baton.library, baton.stream = target, stream
        if self.choices.random() < 0.6:
            baton.kept.append(before)
        del before
        if len(baton.kept) > MOST_KEPT:
            del baton.kept[0]
        self.counts[label] += 1

    def write(self, baton: Baton) -> None:
        """Write into a part of the baton's memory on its library's stream; PyGPU may use another stream each time."""
        size = baton.expected.size
        first = self.choices.randrange(size)
        part = slice(first, self.choices.randrange(first, size) + 1)
        value = float(self.choices.randrange(1 << 20))
        if isinstance(baton.library, Own):
            baton.stream = baton.library.stream(self.choices)
        baton.history.append(f"{value} into {part.start}:{part.stop}")
        with baton.library.working(baton):
            baton.library.write(baton, part, value)
        baton.expected[part] = value
        self.run.writes.append((value, list(baton.history)))
        self.counts["write"] += 1

    def check(self, baton: Baton) -> None:
        """Compare the values in the baton's memory with the expected values."""
        with baton.library.working(baton):
            found = baton.library.read(baton)
        if not np.array_equal(found, baton.expected):
            wrong = np.flatnonzero(found != baton.expected)
            first = wrong[0]
            raise Mismatch(
                f"{wrong.size} values differ; [{first}] is {found[first]}, not {baton.expected[first]}"
                + "".join(
                    "\n  a baton to which the wrong value was written:\n    " + "\n    ".join(history)
                    for value, history in list(self.run.writes)
                    if value == found[first]
                )
            )
        self.counts["check"] += 1

    def let_go(self, baton: Baton) -> None:
        """Delete an earlier library's array over the memory, in this thread or in a thread without Python state."""
        if not baton.kept:
            return
        holder = baton.kept.pop(self.choices.randrange(len(baton.kept)))
        baton.history.append("a holder is let go of")
        if isinstance(holder, PyGPU.GPUArray) and self.choices.random() < 0.5:
            capsule = holder.__dlpack__(max_version=(1, 0))
            del holder
            hostile_consumer.library().end_in_threads([hostile_consumer.library().wrap(capsule, 3)], 1)
        self.counts["let go"] += 1

    def pass_on(self, baton: Baton) -> None:
        """Exchange a baton, i.e. a piece of memory, with another thread."""
        with baton.library.working(baton), contextlib.suppress(queue.Empty):
            self.batons.remove(baton)
            baton.history.append("to another thread")
            self.run.between.put(baton)
            self.batons.append(self.run.between.get_nowait())
        self.counts["pass on"] += 1

    def end(self, baton: Baton) -> None:
        """Delete all arrays over the baton's memory.

        Wait for the work on the memory first, unless the owner of the memory has received the stream of this work.
        """
        self.batons.remove(baton)
        if not baton.is_stream_known or baton.is_of_jax:
            with baton.library.working(baton):
                baton.library.finish(baton)
        self.counts["end"] += 1


@contextlib.contextmanager
def stream_of(library: Library, stream: Any) -> Iterator[None]:
    """If PyGPU is the importer, make `stream` current in a `with` block; the import makes the current stream wait."""
    with stream if isinstance(library, Own) and stream is not None else contextlib.nullcontext():
        yield


class Run:
    """Hold the libraries, threads and failures of one process."""

    def __init__(self, seed: int, threads: int, names: Sequence[str] | None) -> None:
        self.seed = seed
        self.libraries: dict[str, list[Library]] = {"cpu": [Own("cpu"), Host()]}
        self.between: queue.Queue[Baton] = queue.Queue()
        self.failures: list[str] = []
        # The most recent writes into memory that is passed between libraries: each value with the memory's history at
        # that time. After a mismatch, this list shows where the wrong value comes from.
        self.writes: deque[tuple[float, list[str]]] = deque(maxlen=3000)
        backend = PyGPU.backend_name()
        if backend != "cpu":
            name = str(PyGPU.zeros(1).device)
            self.libraries[name] = [Own(name), *peers(names)]
        self.threads = [Thread(self, number) for number in range(threads)]

    def work(self, thread: Thread, operations: int) -> None:
        """Run all operations of one thread."""
        try:
            for _ in range(operations):
                if self.failures:
                    return
                thread.step()
            for baton in thread.batons:
                thread.check(baton)
        except BaseException:
            self.failures.append(f"seed {self.seed}: {traceback.format_exc()}")
        finally:
            thread.batons.clear()


def hand_over(operations: int, seed: int, threads: int = 3, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Run the operations with the named libraries, or with all, in this process; return a report."""
    driver = simulated_driver.driver()
    before = len(driver.reports()) if driver else 0
    run = Run(seed, threads, names)
    if driver:
        driver.delay(0, most=DELAY_US)
    try:
        workers = [
            threading.Thread(target=run.work, args=(thread, operations // threads + (at < operations % threads)))
            for at, thread in enumerate(run.threads)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        while not run.between.empty():
            baton = run.between.get()
            try:
                run.threads[0].check(baton)
            except Mismatch as error:
                run.failures.append(f"seed {seed}: {error}\n" + "\n".join(baton.history))
            del baton
        if PyGPU.backend_name() != "cpu":
            PyGPU.synchronize()
    finally:
        if driver:
            driver.delay(0)
    counts = sum((thread.counts for thread in run.threads), Counter())
    findings = driver.reports()[before:] if driver else []
    return {
        "backend": PyGPU.backend_name(),
        "simulated": driver is not None,
        "peers": sorted({library.name for libraries in run.libraries.values() for library in libraries}),
        "seed": seed,
        "operations": operations,
        "counts": dict(sorted(counts.items())),
        "failures": run.failures + [f"the simulated driver: {finding}" for finding in findings[:10]],
    }


def in_processes(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Run the operations in several concurrent processes, and return their reports."""
    share = -(-arguments.operations // arguments.processes)
    running = []
    for number in range(arguments.processes):
        command = [
            sys.executable,
            __file__,
            "--worker",
            "--operations",
            str(share),
            "--threads",
            str(arguments.threads),
        ]
        command += ["--seed", str(arguments.seed + number)]
        command += [] if arguments.peers is None else ["--peers", *arguments.peers]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        running.append((arguments.seed + number, subprocess.Popen(command, **pipes)))
    return [_report_of(seed, share, process) for seed, process in running]


def _report_of(seed: int, share: int, process: subprocess.Popen[str]) -> dict[str, Any]:
    printed, complaints = process.communicate()
    try:
        report = json.loads(printed.splitlines()[-1])
    except (IndexError, ValueError):
        report = {"seed": seed, "operations": share, "counts": {}, "failures": []}
    if process.returncode != 0 and not report["failures"]:
        report["failures"] = [f"seed {seed}: the process ended with {process.returncode}\n{complaints[-4000:]}"]
    return report


def main() -> int:
    """Run the operations that the command line specifies, and print counts and failures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, default=2000, help="of all processes together")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--threads", type=int, default=3, help="of each process")
    parser.add_argument("--peers", nargs="*", metavar="NAME", help="torch, CuPy, numba, JAX, cuda.core; default: all")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        faulthandler.enable()
        faulthandler.dump_traceback_later(500, exit=True)
        report = hand_over(arguments.operations, arguments.seed, arguments.threads, arguments.peers)
        print(json.dumps(report))
        return bool(report["failures"])
    hostile_consumer.library()  # Build the C extension once, because otherwise each of the processes would build it.
    reports = in_processes(arguments)
    failures = [failure for report in reports for failure in report["failures"]]
    counts: Counter[str] = sum((Counter(report["counts"]) for report in reports), Counter())
    if arguments.json:
        arguments.json.write_text(json.dumps({"reports": reports, "counts": dict(counts)}, indent=1) + "\n")
    print("\n".join(failures))
    for label, count in sorted(counts.items()):
        print(f"{count:7} {label}")
    done = sum(report["operations"] for report in reports)
    print(f"{done} operations in {len(reports)} processes from seed {arguments.seed}: {len(failures)} failures")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
