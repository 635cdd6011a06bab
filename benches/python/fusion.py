"""Compare expressions as written for NumPy between PyGPU, torch, torch.compile, CuPy, cupy.fuse and JAX.

    python benches/python/fusion.py [--bytes N] [--rounds 5] [--turns 2] [--small 1000] [--json FILE] [--ways NAME ...]

Expressions of large arrays are measured in gigabytes per second of necessary traffic: operands read once and results
written once. All results are kept. Each call of PyGPU is followed by a flush, so that calls are independent. If a call
makes more than one launch, the program reports the call at the end and returns exit status 1. Expressions of small
arrays are measured in microseconds until the call returns, without a wait for the device. Every result is compared with
NumPy's in float64. Values are medians over rounds and turns; a turn is a series of rounds in a new process for each
library.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import numpy as np
from expression_runners import WAYS, ExpressionRunner, found
from expressions import BLACK_SCHOLES, LARGE, PERIOD, POLYNOMIAL, SQUARES, STENCIL, TWO, Names, polynomial

import PyGPU

# Number of calls between two waits for the device. The results of these calls are kept until the wait.
CALLS = 16
BATCHES = 20
# Time limit of one process, in seconds.
LIMIT = 100

DROPPED, KEPT, EACH = (
    "s + s2, deferred and dropped",
    "s + s2, kept, then launched",
    f"{POLYNOMIAL} of 16, launched each",
)
OFF, FETCHED, FLOOR = "s + s2, launched eagerly, dropped", "(s + s2) fetched", "launch by the driver alone"


def large(
    way: ExpressionRunner, nbytes: int, rounds: int
) -> tuple[dict[str, list[float]], dict[str, float], dict[str, str]]:
    """Return the gigabytes per second and the launches per call of each expression, and the reasons of failures."""
    speeds: dict[str, list[float]] = {}
    launches: dict[str, float] = {}
    failures: dict[str, str] = {}
    for expression in LARGE:
        operands = expression.operands(nbytes)
        arrays = [way.array(operand) for operand in operands]
        try:
            function = way.compiled(of_names(expression.function, way.names))
            for _ in range(3):  # PyGPU compiles a fused kernel at the second use.
                results = function(*arrays)
            expression.check(operands, results, way.fetch)
            before = launched()
            for turn in range(rounds + 1):
                kept: list[Any] = [None] * CALLS
                way.wait()
                begun = time.perf_counter()
                for index in range(CALLS):
                    kept[index] = function(*arrays)
                way.wait()
                seconds = (time.perf_counter() - begun) / CALLS
                if turn:  # The first call also allocates memory for kept results, so it is not timed.
                    speeds.setdefault(expression.what, []).append(expression.nbytes(operands) / seconds / 1e9)
            if way.name == "PyGPU":
                launches[expression.what] = (launched() - before) / CALLS / (rounds + 1)
                is_same_unfused(way, expression.function, arrays, results)
            del kept, results
        except Exception as error:  # An expression that a compiler rejects must not end the measurement.
            failures[expression.what] = f"{type(error).__name__}: {error}"[:300]
        del arrays
    return speeds, launches, failures


def of_names(work: Callable[..., Any], names: Names) -> Callable[..., Any]:
    """Bind an expression to the functions of one library; the returned function takes only the operand arrays."""

    def function(*arrays: Any) -> Any:
        return work(names, *arrays)

    return function


def launched() -> int:
    """Return the number of kernels that PyGPU has launched for deferred operations in this process so far."""
    return PyGPU.fusion_report().kernels


def is_same_unfused(way: ExpressionRunner, function: Callable[..., Any], arrays: list[Any], results: Any) -> None:
    """Test that the first elements of a result have the same bits if PyGPU launches each operation eagerly."""
    with PyGPU.fusion("off"):
        plain = function(way.names, *arrays)
    pairs = zip(plain, results, strict=True) if isinstance(plain, tuple) else [(plain, results)]
    for one, other in pairs:
        head = (slice(None, 8 if one.ndim > 1 else PERIOD),) if one.ndim else ()
        np.testing.assert_array_equal(one[head].get(), other[head].get())


def least(call: Callable[[], Any], wait: Callable[[], None], per: int) -> list[float]:
    """Return the microseconds per operation: the minimum over several batches, each of which contains `per` operations.

    The device completes its work between two batches, outside of the timing.
    """
    seconds = []
    for _ in range(BATCHES):
        begun = time.perf_counter()
        call()
        seconds.append((time.perf_counter() - begun) / per)
        wait()
    return [1e6 * min(seconds)]


def small(way: ExpressionRunner, count: int) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Return the microseconds until calls on small arrays return to the host, and the reasons of failures."""
    s, s2 = (way.array(np.full(5, value, np.float32)) for value in (1, 2))
    few, more = (way.array(np.full(16, value, np.float32)) for value in (1, 2))
    function = way.compiled(of_names(polynomial, way.names))
    kept: list[Any] = [None] * count

    def keep() -> None:
        for index in range(count):
            kept[index] = s + s2
        way.flush()

    def each() -> None:
        for index in range(len(kept)):
            kept[index] = function(few, more)

    def drop() -> None:
        for _ in range(count):
            s + s2

    def fetch() -> None:
        for _ in range(100):
            way.fetch(s + s2)

    def check(value: float) -> None:
        if any(np.abs(way.fetch(result) - np.float32(value)).max() > 1e-6 for result in kept):
            raise AssertionError(f"a result is not {value}")

    def plain() -> dict[str, list[float]]:
        rows = {KEPT: least(keep, way.wait, count)}
        check(3)
        return rows | {OFF: dropped(), FETCHED: least(fetch, way.wait, 100)}

    def dropped() -> list[float]:
        if way.name != "PyGPU":
            return least(drop, way.wait, count)
        with PyGPU.fusion("off"), PyGPU.fusion_report() as report:
            figures = least(drop, way.wait, count)
        expect(report.at_once["off"], count * BATCHES, "eager launches")
        return figures

    def deferred() -> dict[str, list[float]]:
        with PyGPU.fusion_report() as report:
            rows = {DROPPED: least(drop, way.wait, count)}
        expect(report.dropped, count * BATCHES, "operations that were never computed")
        expect(report.kernels, 0, "launches")
        return rows

    def one_by_one() -> dict[str, list[float]]:
        for _ in range(3):
            function(few, more)
        before = launched()
        rows = {EACH: least(each, way.wait, count)}
        if way.name == "PyGPU":
            expect(launched() - before, count * BATCHES, "launches")
        check(np.float32(0.9) + np.float32(2) - np.float32(4))
        return rows

    parts = [one_by_one]
    if way.name not in ("torch.compile", "cupy.fuse", "JAX jit"):
        parts = [plain, one_by_one, *([deferred] if way.name == "PyGPU" else [])]
    figures: dict[str, list[float]] = {}
    failures = {}
    for part in parts:
        try:
            figures |= part()
        except Exception as error:
            failures[f"small calls, {part.__name__}"] = f"{type(error).__name__}: {error}"[:300]
    return figures, failures


def expect(actual: int, expected: int, what: str) -> None:
    """Raise an error if the number of launches differs from the expected number."""
    if actual != expected:
        raise AssertionError(f"{actual} {what}, and not {expected}")


def floor(count: int) -> dict[str, list[float]]:
    """Return the microseconds that a call of the driver's launch function with five kernel arguments takes."""
    from handwritten_kernels import floor

    loop = floor().timer("launch, 5 arguments")
    return {FLOOR: [1e6 * min(loop(count) for _ in range(BATCHES)) / count]}


def work(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Run all measurements of one process, and return their results."""
    if name == FLOOR:
        return {"small": floor(300)}
    way = found(name)
    if way is None:
        return {"missing": True}
    way.name = name
    if arguments.unaged:
        from PyGPU import _core

        _core._bound_fusion_age(0)
    figures, failures = small(way, arguments.small)
    speeds, launches, more = large(way, arguments.bytes, arguments.rounds) if name != "JAX" else ({}, {}, {})
    return {"small": figures, "large": speeds, "launches": launches, "failures": failures | more}


def in_a_process(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure a library in a separate process; return the results, or the reason of the failure."""
    # Without XLA_PYTHON_CLIENT_PREALLOCATE=false, JAX reserves most of the device's memory.
    environment = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "PYGPU_FUSION": "auto"} | os.environ
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "found.json"
        options = [f"--{option}={getattr(arguments, option)}" for option in ("bytes", "rounds", "small")]
        options += ["--unaged"] if arguments.unaged else []
        command = [sys.executable, __file__, *options, "--work", name, "--json", str(file)]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False)
        except subprocess.TimeoutExpired:
            return {"failures": {"all": f"took more than {LIMIT} s"}}
        if not file.exists():
            return {"failures": {"all": done.stderr.strip()[-300:]}}
        return json.loads(file.read_text())


class Results:
    """Collect the results of all processes."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments, self.machine = arguments, machine.describe()
        self.measured: dict[str, dict[str, list[float]]] = {}
        self.launches: dict[str, float] = {}
        self.failures: dict[str, str] = {}

    def add(self, name: str, results: dict[str, Any]) -> None:
        """Add the results of one process to the results of earlier processes."""
        for part, unit in (("large", "GB/s"), ("small", "us")):
            for row, figures in results.get(part, {}).items():
                self.measured.setdefault(f"{row} ({unit})", {}).setdefault(name, []).extend(figures)
        for what, count in results.get("launches", {}).items():
            self.launches[what] = max(count, self.launches.get(what, 0))
        self.failures |= {f"{name}, {what}": why for what, why in results.get("failures", {}).items()}

    def rows(self) -> dict[str, dict[str, float]]:
        """Return the medians for each row of the table; rows with speeds precede rows with times."""
        rows = {row: {way: statistics.median(all_) for way, all_ in of.items()} for row, of in self.measured.items()}
        return dict(sorted(rows.items(), key=lambda row: row[0].endswith("(us)")))

    def content(self) -> dict[str, Any]:
        """Return the content of the result file, as a dictionary."""
        rows = self.rows()
        return {
            "benchmark": "fusion",
            "bytes": self.arguments.bytes,
            "small": self.arguments.small,
            "rows": rows,
            "launches": self.launches,
            "goals": goals(rows, self.launches),
            "failures": self.failures,
            "machine": self.machine,
        }

    def show(self) -> None:
        """Print the tables of results, and the failures."""
        rows = self.rows()
        names = [name for name in (*WAYS, "floor") if any(name in row for row in rows.values())]
        table = [[row, *(f"{of[name]:.4g}" if name in of else "" for name in names)] for row, of in rows.items()]
        machine.print_table(table, ["", *names])
        judged = []
        for goal in goals(rows, self.launches):
            figures = [f"{goal[key]:.4g}" if goal[key] is not None else "" for key in ("PyGPU", "goal")]
            judged.append(
                [goal["what"], *figures, {True: "yes", False: "no", None: ""}[goal["within"]], goal["goal_is"]]
            )
        machine.print_table(judged, ["goal", "PyGPU", "goal", "within?", ""])
        for what, why in self.failures.items():
            print(f"{what}: {why}")

    def is_wrong(self) -> bool:
        """Return whether PyGPU failed for an expression, or needed more than one launch per call."""
        failed = any(what.startswith("PyGPU") for what in self.failures)
        return failed or any(count != 1 for count in self.launches.values())


def goals(rows: dict[str, dict[str, float]], launches: dict[str, float]) -> list[dict[str, Any]]:
    """Return the performance goals for one H200 and whether each was reached, or None if it was not measured."""
    floor_of = rows.get(f"{FLOOR} (us)", {}).get("floor")
    limits: list[tuple[str, float | None, str]] = [
        (f"{POLYNOMIAL} (GB/s)", 4150, ""),
        (f"{TWO} (GB/s)", 4000, ""),
        (f"{SQUARES} (GB/s)", 4150, ""),
        (f"{DROPPED} (us)", 0.35, ""),
        (f"{KEPT} (us)", 1.5, ""),
        (f"{EACH} (us)", None if floor_of is None else floor_of + 3.1, "driver + 3.1"),
        (f"{OFF} (us)", 4.0, ""),
    ]
    for what in (BLACK_SCHOLES, STENCIL):
        row = rows.get(f"{what} (GB/s)", {})
        limits.append((f"{what} (GB/s)", 3 * row["CuPy"] if "CuPy" in row else None, "3 times CuPy"))
        limits.append((f"{what} (GB/s)", row.get("torch.compile"), "torch.compile"))
    judged = []
    for row_name, limit, why in limits:
        own = rows.get(row_name, {}).get("PyGPU")
        is_speed = row_name.endswith("(GB/s)")
        within = None if own is None or limit is None else own >= limit if is_speed else own <= limit
        judged.append({"what": row_name, "PyGPU": own, "goal": limit, "goal_is": why, "within": within})
    judged += [
        {"what": f"{what}, launches", "PyGPU": count, "goal": 1, "goal_is": "", "within": count == 1}
        for what, count in launches.items()
    ]
    return judged


def main() -> None:
    """Measure all libraries, print a table, and write the JSON file if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=1 << 30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--small", type=int, default=1000, help="results of small calls that are kept")
    parser.add_argument("--seconds", type=float, default=270, help="after so many no process is started")
    parser.add_argument("--ways", nargs="+", default=[*WAYS, FLOOR], choices=[*WAYS, FLOOR])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--unaged", action="store_true", help="launch nothing for its age: for slow drivers, to count")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        arguments.json.write_text(json.dumps(work(arguments.work, arguments)))
        return
    if PyGPU.backend_name() == "cpu":
        raise SystemExit("needs a GPU: on the CPU backend nothing is deferred")
    results = Results(arguments)
    begun = time.perf_counter()
    for turn in range(arguments.turns):
        for name in arguments.ways:
            if not turn or time.perf_counter() - begun < arguments.seconds:
                results.add("floor" if name == FLOOR else name, in_a_process(name, arguments))
                # The file is written after each process, so that its results survive a failure of a later process.
                if arguments.json:
                    machine.write(arguments.json, results.content())
    results.show()
    if results.is_wrong():
        raise SystemExit("PyGPU failed at something, or took more than one launch for an expression: see above")


if __name__ == "__main__":
    main()
