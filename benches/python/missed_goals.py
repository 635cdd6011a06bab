"""Measure the benchmarks in which PyGPU's last result was slower than torch, CuPy or JAX, or than PyGPU's goal.

    python benches/python/missed_goals.py [--rows TEXT ...] [--seconds 290] [--bytes N] [--json FILE] [--quick]

All libraries run in one session. The table shows for each benchmark the median of PyGPU, the median of the best other
library, their ratio (PyGPU is faster if it exceeds 1), the goal, and the limit: the value of the driver, of the
vendor's library alone, or of a kernel written by hand. Rates count the bytes that must move. The table has the rates of
short bursts of calls; the JSON file also has the rates under sustained load. `--rows` selects benchmarks whose name
contains one of the texts. Each group of benchmarks runs in a separate process. The JSON file is written after each
group.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine
from missed_goal_groups import BATCHES, GROUPS, OWN, SIDES, Results, Settings

# PyGPU reaches its goal even if it is slower than the best other library by this fraction, because times are noisy.
NOISE = 0.02
NUMPY, FLOOR = "NumPy", "floor"
BEST_PEER = "the best peer, less 2 % of noise"


@dataclass(frozen=True)
class Row:
    """Define one row of the table: a benchmark with its group, its goal, and the limit of its value."""

    what: str
    group: str
    call: str
    unit: str
    # The goal as a number; None if it is the value of the best other library. If `over_floor` is true, `goal` is added
    # to the driver's value in the row `limit`.
    goal: float | None = None
    over_floor: bool = False
    # Name of the row whose time is the lower limit of this row's time. If that row has times of several libraries, the
    # time of the plain driver calls is the limit.
    limit: str = ""

    @property
    def is_rate(self) -> bool:
        """Return whether the value is a rate, so that greater values are better."""
        return self.unit == "GB/s"

    def evaluate(self, results: dict[str, Results]) -> dict[str, Any]:
        """Return a dictionary with the values of this row, the goal, and whether PyGPU reaches the goal."""
        of_group = results.get(self.group, Results())
        values = of_group.rows.get(self.call, {})
        bound = self._limit(of_group)
        peers = {name: value for name, value in values.items() if name not in (OWN, NUMPY, FLOOR)}
        best = (max if self.is_rate else min)(peers, key=peers.__getitem__) if peers else None
        own, goal = values.get(OWN), self._goal(peers.get(best) if best else None, bound)
        met = None if own is None or goal is None else own >= goal if self.is_rate else own <= goal
        ratio = None
        if own and best:
            ratio = own / peers[best] if self.is_rate else peers[best] / own
        sustained = of_group.sustained.get(self.call, {})
        return {
            "what": self.what,
            "unit": self.unit,
            "kind": "burst" if sustained else "median",
            OWN: own,
            "peers": peers,
            "best_peer": best,
            "ratio": ratio,
            "goal": goal,
            "goal_is": BEST_PEER if self.goal is None else f"driver + {self.goal}" if self.over_floor else "",
            "met": met,
            "limit": bound,
            "limit_is": self.limit if bound is not None else "",
            "sustained": sustained,
        }

    def _goal(self, best: float | None, bound: float | None) -> float | None:
        if self.goal is None:
            return None if best is None else best * (1 - NOISE if self.is_rate else 1 + NOISE)
        if self.over_floor:
            return None if bound is None else bound + self.goal
        return self.goal

    def _limit(self, results: Results) -> float | None:
        values = results.rows.get(self.limit, {})
        return values.get(FLOOR) if self.over_floor else values.get(FLOOR, values.get(OWN))


COPY = "cuMemcpyDtoD"


def rate(what: str, call: str, goal: float | None = None, limit: str = COPY) -> Row:
    """Define a row of the table whose value is a rate on the device."""
    return Row(what, "device", call, "GB/s", goal, limit=limit)


def factorizations() -> list[Row]:
    """Define the table rows of linear algebra: each function for each matrix side, dtype and batch size."""
    sizes = [f"{side}, float32" for side in SIDES] + [f"{SIDES[-1]}, float64"]
    sizes += [f"{count} x {side}, float32" for side, count in BATCHES.items()]
    calls = [f"{name} of {size}" for name in ("cholesky", "solve", "inv", "eigh", "svd") for size in sizes]
    return [Row(call, "linear algebra", call, "ms") for call in calls]


def view(statement: str) -> Row:
    """Define a table row for a view or an array property, whose goal is nine tenths of NumPy's time."""
    return Row(f"{statement}, of NumPy's time", "views", f"{statement}, beside NumPy's", "1", 0.9)


UP, DOWN = "to device, pinned", "into pinned"
ROWS = [
    rate("fft along the first axis, complex64", "transforms: fft of columns", 1600, "cuFFT, columns"),
    rate("rfft2", "transforms: rfft2", limit="cuFFT, rfft2"),
    rate("fftn of 3 axes", "transforms: fftn", limit="cuFFT, fftn"),
    *(
        rate(f"x @ A, {form}, {dtype}", f"products: {form} by n x n {dtype}", 3600)
        for dtype in ("float16", "bfloat16", "float32")
        for form in ("n", "1 x n")
    ),
    rate("take of single elements", "selection: take elements", 1400, "take by hand"),
    rate("tril", "joining: tril", 3300, "tril by hand"),
    *(
        rate(f"{name}, {dtype}", f"elementary_functions: {name} {dtype}")
        for name in ("pow", "logaddexp", "arctan2", "tan", "exp", "erf")
        for dtype in ("float32", "float64")
    ),
    *(rate(f"x.T + y, {dtype}", f"arithmetic: x.T + y, {dtype}", 3900) for dtype in ("int8", "float16")),
    rate("tile", "joining: tile, 4 x", 4000),
    rate("tile of a square", "joining: tile, 4 x, a square", 4000),
    rate("put rows, each once", "selection: put rows, each once", 3900),
    rate("nonzero", "selection: nonzero", 2900),
    rate("x[mask]", "selection: x[mask]", 3400),
    *(
        Row(f"to_gpu, {size}", "transfers", f"to device, {size}", "GB/s", goal, limit=f"{UP}, {size}")
        for size, goal in (("1 MiB", 20), ("16 MiB", 40), ("256 MiB", 50))
    ),
    Row("get, result dropped, 1 GiB", "transfers", "from device, dropped, 1 GiB", "GB/s", 52, limit=f"{DOWN}, 1 GiB"),
    Row("five operations of 16, fused", "fused", "0.9*x + y - 2*x*y of 16, launched each", "us", 3.1, True, "launch"),
    Row("s + s2", "small", "s + t", "us", 3.6, limit="launch"),
    Row("sum of 16", "small", "sum of 16", "us", 4.6, limit="launch"),
    Row("numpy.where of 16", "small", "numpy.where(mask, s, s) of 16", "us", 5.5, limit="launch"),
    Row("where of 16", "small", "where(m, x, y) of 16", "us", 5.5, limit="launch"),
    Row("s[mask] of 16", "small", "s[mask] of 16", "us", 11, limit="launch"),
    Row("s[s > 3] of 16", "small", "s[s > 3] of 16", "us", 11, limit="launch"),
    *(view(statement) for statement in ("a[1:3]", "a[1]", "a[..., ::2]", "a.dtype", "a.shape")),
    Row("import PyGPU after NumPy", "import", "import", "ms", 1.5, limit="import, least"),
    Row("launch, 5 arguments", "launch", "launch, native", "us", 0.3, True, "launch, native"),
    *factorizations(),
]


def measure(group: str, calls: list[str], settings: Settings) -> Results:
    """Measure one group of benchmarks in a new process."""
    _, environment = GROUPS[group]
    # Without XLA_PYTHON_CLIENT_PREALLOCATE=false, JAX reserves most of the device's memory.
    variables = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"} | environment | os.environ
    left = settings.until - time.time()
    if left <= 0:
        return Results(failures={group: "no time was left"})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.json"
        options = vars(settings) | {"call_names": calls}
        command = [sys.executable, __file__, "--work", group, json.dumps(options), str(path)]
        try:
            done = subprocess.run(
                command,
                env=variables,
                stdout=sys.stderr,
                stderr=subprocess.PIPE,
                text=True,
                timeout=left + 30,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Results(failures={group: f"took more than {left + 30:.0f} s"})
        if not path.exists():
            return Results(failures={group: f"ended with {done.returncode}: {done.stderr.strip()[-300:]}"})
        return Results(**json.loads(path.read_text()))


def work(group: str, options: str, path: str) -> None:
    """Run the benchmarks of one group in this process, and write their times to the result file."""
    results = Results()
    GROUPS[group][0](results, Settings(**json.loads(options)))
    Path(path).write_text(json.dumps(results.content()))


def content(rows: list[Row], results: dict[str, Results], about: dict[str, Any]) -> dict[str, Any]:
    """Return the content of the result file, as a dictionary."""
    failures = {f"{group}: {what}": why for group, one in results.items() for what, why in one.failures.items()}
    return {
        "benchmark": "missed_goals",
        "rows": [row.evaluate(results) for row in rows],
        "measured": {group: one.rows for group, one in results.items()},
        "failures": failures,
        "machine": about,
    }


def show(rows: list[dict[str, Any]]) -> None:
    """Print the table of rows."""
    verdict = {True: "met", False: "not met", None: "?"}

    def number(value: float | None) -> str:
        return "" if value is None else f"{value:.4g}"

    table = []
    for row in rows:
        best = row["best_peer"]
        figures = [row[OWN], row["peers"].get(best), row["ratio"], row["goal"], row["limit"], row["sustained"].get(OWN)]
        texts = list(map(number, figures))
        texts[1] += f" {best}" if best else ""
        table.append([row["what"], row["unit"], *texts, verdict[row["met"]]])
    machine.print_table(table, ["", "unit", OWN, "best peer", "ratio", "goal", "limit", "sustained", "goal is"])


def main() -> None:
    """Measure the selected rows, print the table, and write the JSON file if requested."""
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:5])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", default=[], metavar="TEXT", help="only rows with one of these in the name")
    parser.add_argument("--bytes", type=int, help="bytes of an operand on the device (1 GiB)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=290, help="begin no row later (290)")
    parser.add_argument("--quick", action="store_true", help="small operands, on any machine")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = [row for row in ROWS if not arguments.rows or any(text in row.what for text in arguments.rows)]
    if not rows:
        parser.error(f"no row has one of {arguments.rows} in its name; the rows: {[row.what for row in ROWS]}")
    nbytes = arguments.bytes or (1 << 18 if arguments.quick else 1 << 30)
    settings = Settings(
        nbytes, arguments.quick, 2 if arguments.quick else arguments.rounds, time.time() + arguments.seconds
    )
    results: dict[str, Results] = {}
    about = machine.describe()
    for group in dict.fromkeys(row.group for row in sorted(rows, key=lambda row: list(GROUPS).index(row.group))):
        begun = time.monotonic()
        calls = {call for row in rows if row.group == group for call in (row.call, row.limit)}
        results[group] = measure(group, sorted(calls), settings)
        print(f"{group}: {time.monotonic() - begun:.1f} s", file=sys.stderr, flush=True)
        if arguments.json:
            machine.write(arguments.json, content(rows, results, about))
    show(content(rows, results, about)["rows"])
    for group, one in results.items():
        for what, why in one.failures.items():
            print(f"{group}: {what}: {why}")


if __name__ == "__main__":
    main()
