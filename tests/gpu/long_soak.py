"""Run long random tests in turn in one process, and check that the memory use of the process does not grow.

    PYTHONPATH=tests/helpers python tests/gpu/long_soak.py --seconds 1200 --seed 7 --json report.json

A round consists of random operations (`soak.py`), random programs of deferred operations (`fusion_soak.py`), and
handovers between the installed libraries (`handovers.py`), and compares all values with NumPy. In the first half of the
time, each round has new seeds; its programs compile kernels, which stay loaded. The second half repeats these rounds,
so the memory use of the process must stay constant. The command records it after each round, and fails if a value is
wrong, or if the process uses more memory at the end of the second half than at its beginning. All threads allocate from
one arena of the C library, because the free memory of further arenas would be counted as growth.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import SystemRandom
from typing import Any

import fusion_soak
import handovers
import hostile_consumer
import PyGPU
import soak
from PyGPU import _core

# Growth in bytes that is not a leak: fragmentation of the heap, and caches of the other libraries.
HOST_GROWTH = 16 << 20
DEVICE_GROWTH = 16 << 20
# Operations of a round: random operations, operations of deferred programs, and handovers.
SHARES = (4000, 4000, 2000)
# A parameter of `mallopt` in glibc's malloc.h.
M_ARENA_MAX = -8
# The fewest rounds in each half of the time.
FEWEST_ROUNDS = 4


def use_one_arena() -> None:
    """Limit glibc's allocator to one arena for all threads. Other C libraries are left as they are."""
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def device_bytes() -> int:
    """Return the bytes that PyGPU's arrays and memory pools occupy on the devices."""
    totals = [PyGPU.memory_statistics(device) for device in soak.all_devices()]
    return sum(max(total["pool_reserved"], total["bytes"]) for total in totals)


def sample() -> dict[str, int]:
    """Return the present memory use of the process in bytes."""
    gc.collect()
    PyGPU.synchronize()
    return {"resident": soak.resident_bytes(), "device": device_bytes(), "in_use": soak.bytes_in_use()}


def round_of(seed: int, peers: Sequence[str] | None) -> tuple[int, list[str]]:
    """Run one round; return the number of operations and the failures."""
    plain, deferred, exchanged = SHARES
    reports = [soak.soak(plain, seed)]
    if PyGPU.backend_name() != "cpu":
        reports.append(fusion_soak.soak(deferred, seed))
    failures = [report["failure"] for report in reports if report["failure"]]
    done = sum(report["operations"] for report in reports)
    if hostile_consumer.compiler() is not None:
        report = handovers.hand_over(exchanged, seed, names=peers)
        done, failures = done + exchanged, failures + report["failures"]
    return done, failures


def growth(samples: Sequence[dict[str, int]], name: str) -> int:
    """Return the growth of memory use: the median of the last quarter of the samples minus the median of the first."""
    quarter = max(1, len(samples) // 4)
    values = [one[name] for one in samples]
    return round(statistics.median(values[-quarter:]) - statistics.median(values[:quarter]))


def rounds(seconds: float) -> Iterator[int]:
    """Yield the numbers of the rounds: each number once in the first half of the time, then these numbers again."""
    begun, different, repeated = time.monotonic(), 0, 0
    while different < FEWEST_ROUNDS or time.monotonic() < begun + seconds / 2:
        yield different
        different += 1
    while repeated < FEWEST_ROUNDS or time.monotonic() < begun + seconds:
        yield repeated % different
        repeated += 1


def run(seconds: float, seed: int, peers: Sequence[str] | None) -> dict[str, Any]:
    """Run rounds until the time has passed or a round fails, and return a report."""
    begun, operations, samples, numbers = time.monotonic(), 0, [], []
    failures: list[str] = []
    for number in rounds(seconds):
        done, failures = round_of(seed + 1000 * number, peers)
        operations += done
        samples.append(sample())
        numbers.append(number)
        if sys.stderr.isatty():
            print(f"\r{operations} operations, {samples[-1]}", end="", file=sys.stderr, flush=True)
        if failures:
            break
    repeated = samples if failures else samples[numbers.index(0, 1) :]
    grown = {} if failures else {name: growth(repeated, name) for name in samples[0]}
    for name, most in (("resident", HOST_GROWTH), ("device", DEVICE_GROWTH), ("in_use", 0)):
        if grown.get(name, 0) > most:
            failures.append(f"{name} memory grew by {grown[name]} bytes, more than {most}")
    return {
        "backend": PyGPU.backend_name(),
        "simulated": soak.simulated_driver() is not None,
        "mode": os.environ.get("PYGPU_FUSION", "auto"),
        "seed": seed,
        "seconds": round(time.monotonic() - begun),
        "rounds": len(samples),
        "repeated_rounds": 0 if failures else len(repeated),
        "operations": operations,
        "growth": grown,
        "samples": samples[:: max(1, len(samples) // 20)],
        "failures": failures,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--seed", type=int, default=None, help="random by default, and printed")
    parser.add_argument(
        "--peers", nargs="*", metavar="NAME", help="libraries that take part in handovers; default: all"
    )
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    use_one_arena()
    seed = SystemRandom().randrange(2**24) if arguments.seed is None else arguments.seed
    _core._set_strict(False)  # In strict mode `asarray` copies host memory; handovers must share it.
    report = run(arguments.seconds, seed, arguments.peers)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    print(*report["failures"], sep="\n")
    print(
        f"seed {seed}, {report['backend']}: {report['operations']} operations in {report['rounds']} rounds and "
        f"{report['seconds']} s, growth in bytes {report['growth']}, {len(report['failures'])} failures"
    )
    return bool(report["failures"])


if __name__ == "__main__":
    sys.exit(main())
