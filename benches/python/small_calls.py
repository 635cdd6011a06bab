"""Small calls: what views, properties, new arrays and exchanges cost in PyGPU, NumPy and the peers, in one process.

    python benches/python/small_calls.py [--peers] [--json FILE] [--rounds N] [--only TEXT]

Every statement is timed in batches of about --batch milliseconds. In each round every library runs the statement once,
so that a slow phase of the machine meets all of them; a figure is the median over the rounds, a ratio the median of the
rounds' own ratios. The loop's cost (about 5 ns) is in all figures. Work that was put on a device is waited for between
the batches, outside the clock: what is timed is the host's call.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import timeit
from typing import Any

import machine
from small_calls_cases import CASES, Case
from small_calls_libraries import Library, libraries

import PyGPU

REFERENCE = "NumPy"
SUBJECT = "PyGPU"


class Batch:
    """One statement in one library, with as many turns as fill a batch."""

    def __init__(self, library: Library, statement: str, seconds: float) -> None:
        self.library = library
        self.statement = statement
        self.times: list[float] = []
        self._timer = timeit.Timer(statement, globals=library.names)
        self._timer.timeit(3)
        self._turns = 1
        while (elapsed := self._time()) < seconds and self._turns < 1 << 22:
            self._turns = max(2 * self._turns, int(self._turns * seconds / max(elapsed, 1e-7)))

    def _time(self) -> float:
        elapsed = self._timer.timeit(self._turns)
        self.library.synchronize()
        return elapsed

    def run(self) -> None:
        """Add the nanoseconds of a call, measured once."""
        self.times.append(1e9 * self._time() / self._turns)


def prepare(case: Case, found: list[Library], seconds: float) -> tuple[dict[str, Batch], dict[str, str]]:
    """The batches of a case, and why there is none for a library that should have one."""
    batches, failures = {}, {}
    for library in found:
        statement = case.statements.get(library.name)
        if statement is None:
            continue
        try:
            batches[library.name] = Batch(library, statement, seconds)
        except Exception as error:  # one statement that a version lacks must not end the measurement
            failures[library.name] = f"{statement}: {type(error).__name__}: {error}"
    return batches, failures


def measure(batches: dict[str, Batch], rounds: int) -> dict[str, float]:
    """Run the rounds of one case; the median ratio of PyGPU to each other library."""
    order = list(batches.values())
    for turn in range(rounds):
        for batch in order if turn % 2 == 0 else reversed(order):
            batch.run()
    if SUBJECT not in batches:
        return {}
    own = batches[SUBJECT].times
    return {
        name: statistics.median(ours / theirs for ours, theirs in zip(own, batch.times, strict=True))
        for name, batch in batches.items()
        if name != SUBJECT
    }


def row(case: Case, batches: dict[str, Batch], ratios: dict[str, float], failures: dict[str, str]) -> dict[str, Any]:
    """One case as it goes into the file."""
    limit = case.limit(on_cpu=SUBJECT in batches and batches[SUBJECT].library.on_cpu)
    ratio = ratios.get(REFERENCE)
    return {
        "case": case.name,
        "group": case.group,
        "statements": {name: batch.statement for name, batch in batches.items()},
        "nanoseconds": {name: round(statistics.median(batch.times), 2) for name, batch in batches.items()},
        "quickest": {name: round(min(batch.times), 2) for name, batch in batches.items()},
        "ratios": {name: round(value, 3) for name, value in ratios.items()},
        "limit": limit,
        "within": None if limit is None or ratio is None else ratio <= limit,
        "failures": failures,
    }


def table(results: list[dict[str, Any]], names: list[str]) -> None:
    """Print nanoseconds, the ratio to NumPy and its limit."""
    others = [name for name in names if name not in (SUBJECT, REFERENCE)]
    lines = []
    for result in results:
        times, ratio = result["nanoseconds"], result["ratios"].get(REFERENCE)
        limit, within = result["limit"], result["within"]
        mark = "" if limit is None or ratio is None else f"{limit}" + ("" if within else " OVER")
        lines.append(
            [result["case"]]
            + [f"{times[name]:.0f}" if name in times else "-" for name in (SUBJECT, REFERENCE)]
            + [f"{ratio:.2f}" if ratio else "-", mark]
            + [f"{times[name]:.0f}" if name in times else "-" for name in others]
        )
    machine.print_table(lines, ["ns per call", SUBJECT, REFERENCE, "ratio", "limit", *others])
    for result in results:
        for name, why in result["failures"].items():
            print(f"not measured: {name}: {why}")


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write the result there")
    parser.add_argument("--peers", action="store_true", help="on CUDA also CuPy, PyTorch, numba-cuda and cuda.core")
    parser.add_argument("--rounds", type=int, default=25, help="how often each batch is timed (25)")
    parser.add_argument("--batch", type=float, default=2.0, help="milliseconds of a batch (2)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases with this in the name or group")
    arguments = parser.parse_args()
    found, missing = libraries(peers=arguments.peers)
    backend = PyGPU.backend_name()
    cases = [case for case in CASES if arguments.only in case.name or arguments.only in case.group]
    cases = [case for case in cases if case.backend in (None, backend)]
    results = []
    gc.collect()
    gc.freeze()
    for case in cases:
        batches, failures = prepare(case, found, arguments.batch / 1000)
        ratios = measure(batches, arguments.rounds)
        results.append(row(case, batches, ratios, failures))
    if arguments.json:
        content = {"benchmark": "small_calls", "unit": "ns per call", "rounds": arguments.rounds, "missing": missing}
        machine.write(arguments.json, {**content, "cases": results})
    machine.print_header()
    for name, why in missing.items():
        print(f"without {name}: {why}")
    table(results, [library.name for library in found])


if __name__ == "__main__":
    main()
