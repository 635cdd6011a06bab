"""Compare PyGPU with NumPy, the driver's own calls and every other installed GPU library, alternating between them.

    python benches/python/compare.py [--quick] [--json FILE] [--markdown FILE] [--plots FOLDER] [--from FILE] ...

Each library runs in a separate process (worker.py), once per round; the order is reversed every round, so that a slow
phase of the machine affects all libraries. A value is the median over the rounds. A ratio is computed for each round,
and the result is the median of these ratios. Without a GPU only PyGPU's CPU backend and NumPy are compared. With --from
nothing is measured: tables and plots are created from an earlier result file, so that the machine with the GPU needs no
matplotlib.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import machine
import performance_goals
import report
from compared_libraries import PEERS, PROCESSES
from performance_goals import REFERENCE, SUBJECT
from small_calls import CASES
from worker import Settings

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SIZES = [64 * KIB, MIB, 16 * MIB, 64 * MIB, 256 * MIB, GIB]
QUICK_SIZES = [64 * KIB, MIB, 16 * MIB]
# Time limit in seconds of one worker process. A round of one library takes some seconds, so a worker that exceeds the
# limit hangs.
WORKER_SECONDS = 240
Round = dict[str, dict[str, Any]]


def run_worker(name: str, settings: Settings) -> dict[str, Any]:
    """Run the worker process of one library; return the measured values, or the reason of the worker's failure."""
    # Without XLA_PYTHON_CLIENT_PREALLOCATE=false, JAX reserves three quarters of the device's memory.
    environment = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", **os.environ}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.json"
        command = [sys.executable, str(Path(__file__).parent / "worker.py"), name, settings.to_json(), str(path)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=WORKER_SECONDS, check=False, env=environment
            )
        except subprocess.TimeoutExpired:
            return {"missing": f"took longer than {WORKER_SECONDS} s"}
        if not path.exists():
            last = (done.stderr.strip().splitlines() or ["no output"])[-1]
            return {"missing": f"ended with {done.returncode}: {last}"[:300]}
        result: dict[str, Any] = json.loads(path.read_text())
        return result


def measure(names: list[str], settings: Settings, rounds: int, seconds: float) -> tuple[list[Round], dict[str, str]]:
    """Run the workers in as many rounds as the time limit permits, and collect the reasons of omitted measurements."""
    results: list[Round] = []
    missing: dict[str, str] = {}
    began = time.monotonic()
    for number in range(rounds):
        start = time.monotonic()
        done: Round = {}
        for name in names if number % 2 == 0 else list(reversed(names)):
            if name in missing:
                continue
            if settings.backend == "cpu" and name in (*PEERS, performance_goals.FLOOR):
                missing[name] = "it computes on CUDA, and PyGPU's backend here is 'cpu'"
                continue
            begun = time.monotonic()
            result = run_worker(name, settings)
            took = time.monotonic() - begun
            print(f"round {number + 1} of {rounds}: {name} {took:.1f} s", file=sys.stderr, flush=True)
            if "missing" in result:
                missing[name] = result["missing"]
                continue
            done[name] = result
            settings.backend = settings.backend or result["backend"]
        results.append(done)
        if time.monotonic() - began + (time.monotonic() - start) > seconds:
            break
    return results, missing


def by_round(rounds: list[Round], kind: str, *keys: str) -> dict[str, list[float | None]]:
    """Return the values of each library, one per round, with None for each round without a value."""
    series: dict[str, list[float | None]] = {}
    for number, done in enumerate(rounds):
        for process, result in done.items():
            figures = result[kind].get(keys[0], {})
            # The dictionary of a call's values has the library as key, because one process may time several libraries.
            # That of a transfer's values has the size as key.
            named = figures if kind == "calls" else {process: figures[keys[1]]} if keys[1] in figures else {}
            for name, value in named.items():
                series.setdefault(name, [None] * len(rounds))[number] = value
    return series


def medians(series: dict[str, list[float | None]], digits: int) -> dict[str, float]:
    """Return the median of each library's values over the rounds."""
    return {
        name: round(statistics.median(value for value in values if value is not None), digits)
        for name, values in series.items()
    }


def ratios(series: dict[str, list[float | None]]) -> dict[str, float]:
    """Return, for each other library, the median over the rounds of PyGPU's time divided by that library's time."""
    own = series.get(SUBJECT)
    if own is None:
        return {}
    result = {}
    for name, values in series.items():
        pairs = [ours / theirs for ours, theirs in zip(own, values, strict=True) if ours and theirs]
        if name != SUBJECT and pairs:
            result[name] = round(statistics.median(pairs), 3)
    return result


def spreads(series: dict[str, list[float | None]]) -> dict[str, float]:
    """Return, for each library, the range of the library's values over the rounds, relative to their median."""
    result = {}
    for name, values in series.items():
        known = [value for value in values if value is not None]
        middle = statistics.median(known)
        result[name] = round((max(known) - min(known)) / middle, 3) if middle else 0.0
    return result


def call_rows(rounds: list[Round], backend: str) -> list[dict[str, Any]]:
    """Return a dictionary of results for each small call that was measured."""
    rows = []
    for case in CASES:
        series = by_round(rounds, "calls", case.name)
        if not series:
            continue
        limit, relative = case.limit(on_cpu=backend == "cpu"), ratios(series)
        rows.append(
            {
                "case": case.name,
                "group": case.group,
                "statements": {name: case.statements[name] for name in series},
                "nanoseconds": medians(series, 1),
                "ratios": relative,
                "limit": limit,
                "within": None if limit is None or REFERENCE not in relative else relative[REFERENCE] <= limit,
                "spread": spreads(series),
            }
        )
    return rows


def transfer_rows(rounds: list[Round], sizes: list[int]) -> list[dict[str, Any]]:
    """Return a dictionary of results for each transfer and size that was measured."""
    ways = list(dict.fromkeys(way for done in rounds for result in done.values() for way in result["transfers"]))
    rows = []
    for way in sorted(ways):
        for size in sizes:
            series = by_round(rounds, "transfers", way, str(size))
            if series:
                rates = {name: round(size / value / 1e9, 3) for name, value in medians(series, 9).items()}
                rows.append(
                    {
                        "way": way,
                        "bytes": size,
                        "gigabytes_per_second": rates,
                        "ratios": ratios(series),
                        "spread": spreads(series),
                    }
                )
    return rows


def results_of(rounds: list[Round], missing: dict[str, str], names: list[str], settings: Settings) -> dict[str, Any]:
    """Return the content of the result file, as a dictionary."""
    first: Round = {}
    for done in rounds:
        first = {**done, **first}
    results: dict[str, Any] = {
        "benchmark": "compare",
        "command": shlex.join(["python", "benches/python/compare.py", *sys.argv[1:]]),
        "backend": settings.backend,
        "rounds": len(rounds),
        "libraries": [name for name in (SUBJECT, REFERENCE, performance_goals.FLOOR, *PEERS) if name in names],
        "missing": missing,
        "notes": {name: result["note"] for name, result in first.items() if result["note"]},
        "calls": call_rows(rounds, settings.backend),
        "transfers": transfer_rows(rounds, settings.sizes),
        "failures": {
            f"{name}: {what}": why
            for name, result in first.items()
            for what, why in (result["call_failures"] | result["transfer_failures"]).items()
        },
    }
    results["goals"] = performance_goals.evaluate(results)
    return results


def parse() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two rounds, short batches, up to 16 MiB")
    parser.add_argument("--rounds", type=int, default=5, help="how often each library is run (5)")
    parser.add_argument("--minutes", type=float, default=8, help="begin no round that would end later (8)")
    parser.add_argument("--sizes", type=int, nargs="*", metavar="BYTES", help="sizes of transfers, multiples of 4096")
    parser.add_argument("--only", default="", metavar="TEXT", help="only what has this in its name or group")
    parser.add_argument("--libraries", nargs="*", choices=list(PROCESSES), help="only these (all that are installed)")
    parser.add_argument("--json", metavar="FILE", help="write the result there")
    parser.add_argument("--markdown", metavar="FILE", help="write the tables there; else they are printed")
    parser.add_argument("--plots", metavar="FOLDER", help="write plots there (needs matplotlib)")
    parser.add_argument("--from", dest="earlier", metavar="FILE", help="measure nothing: read this result")
    return parser.parse_args()


def settings_of(arguments: argparse.Namespace) -> Settings:
    """Return the settings of the workers from the command line's options."""
    settings = Settings(only=arguments.only, sizes=SIZES)
    if arguments.quick:
        settings = Settings(only=arguments.only, sizes=QUICK_SIZES, batches=3, batch_ms=0.5, way_seconds=0.02)
    if arguments.sizes is not None:
        settings.sizes = arguments.sizes
    return settings


def main() -> None:
    """Measure the results or read them from a file, and write the requested tables, plots and JSON file."""
    arguments = parse()
    if arguments.plots:
        # This early import of matplotlib ends the program before the long measurement if matplotlib is missing.
        try:
            import plots
        except ImportError as error:
            sys.exit(
                f"--plots needs matplotlib ({error}): pip install matplotlib, or draw later from --json with --from"
            )
    if arguments.earlier:
        results = json.loads(Path(arguments.earlier).read_text())
    else:
        settings = settings_of(arguments)
        names = [name for name in PROCESSES if arguments.libraries is None or name in arguments.libraries]
        rounds = 2 if arguments.quick else arguments.rounds
        results_by_round, missing = measure(names, settings, rounds, 60 * arguments.minutes)
        results = results_of(results_by_round, missing, names, settings) | {"machine": machine.describe()}
    if arguments.json:
        machine.write(arguments.json, results)
    text = report.document(results)
    if arguments.markdown:
        Path(arguments.markdown).parent.mkdir(parents=True, exist_ok=True)
        Path(arguments.markdown).write_text(text)
    else:
        print(text)
    if arguments.plots:
        plots.write(results, Path(arguments.plots))
    if SUBJECT in results["missing"]:
        sys.exit(f"PyGPU was not measured: {results['missing'][SUBJECT]}")


if __name__ == "__main__":
    main()
