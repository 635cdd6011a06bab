"""Measure the groups of benchmarks that missed_goals.py lists in its table; each group runs in a separate process.

A row has a value for each library. Rates on the device are measured in a burst of at most 20 calls after a pause, when
the device's clock is highest. For PyGPU and the fastest other library a sustained rate is also measured, after 0.25 s
of calls.
"""

from __future__ import annotations

import functools
import gc
import importlib
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from timing import CALLS, Library, found

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
OWN = "PyGPU"
Calls = dict[str, tuple[Callable[[], Any], int]]
Figures = dict[str, dict[str, float]]
# Durations in seconds: a burst of calls, the pause before it, and the load before a sustained value is measured.
BURST, PAUSE, LOAD = 0.01, 0.01, 0.25
# A call of linear algebra that is expected to take more than this number of seconds is not measured.
LONGEST = 5.0
SIDES, BATCHES = (512, 1024, 2048, 4096), {16: 1000, 32: 1000, 64: 250}
PEERS = ("torch", "cupy")
# For each benchmark file that measures rates, the function that returns the timed calls, and the measured libraries.
FAMILIES = {
    "transforms": ("large", (OWN, *PEERS, "jax")),
    "products": ("from_the_left", (OWN, *PEERS, "jax")),
    "selection": ("large", (OWN, *PEERS)),
    "joining": ("large", (OWN, *PEERS)),
    "arithmetic": ("large", (OWN, *PEERS, "jax")),
    "elementary_functions": ("large", (OWN, *PEERS, "jax")),
}
# Maps the name that compare.py gives to a library to the name of the library's module.
MODULES = {"PyGPU": "PyGPU", "torch": "torch", "CuPy": "cupy", "JAX": "jax", "NumPy": "NumPy", "floor": "floor"}


@dataclass
class Settings:
    """Hold a measurement's array sizes, the names of the calls to measure, and the time at which to stop."""

    bytes: int = GIB
    quick: bool = False
    rounds: int = 5
    until: float = float("inf")
    call_names: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Return the number of four-byte elements of an array."""
        return self.bytes // 4

    def wants(self, name: str) -> bool:
        """Return whether a call is to be measured: a call in `call_names`, or any call if that is empty."""
        return not self.call_names or name in self.call_names


@dataclass
class Results:
    """Collect the values of rows, and the reasons of missing values."""

    rows: Figures = field(default_factory=dict)
    sustained: Figures = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, row: str, library: str, value: float) -> None:
        """Add the value of one library to a row of the table."""
        self.rows.setdefault(row, {})[library] = value

    def attempt(self, what: str, work: Callable[[], Any]) -> Any:
        """Return the result of a function; if it fails, store the reason of the failure and return None."""
        try:
            return work()
        except Exception as error:  # A library that lacks a function must not end the measurement.
            self.failures[what] = f"{type(error).__name__}: {error}"[:300]
            return None

    def content(self) -> dict[str, Any]:
        """Return the results as a dictionary."""
        return asdict(self)


def plain(name: str) -> str:
    """Return the name of a call without the size of its operands."""
    return re.sub(r" of \d\S*$", "", name)


def burst(library: Library, call: Callable[[], Any]) -> float:
    """Return the device seconds per call, in a burst of calls after a pause."""
    time.sleep(PAUSE)
    one = max(library.elapsed(call, 1), 1e-7)
    return one if one > BURST else library.elapsed(call, max(1, min(CALLS, int(BURST / one))))


def sustained(library: Library, call: Callable[[], Any]) -> float:
    """Return the device seconds of a call under sustained load, after the same call was repeated for 0.25 s."""
    seconds = burst(library, call)
    until = time.perf_counter() + LOAD
    while time.perf_counter() < until:
        seconds = library.elapsed(call, max(1, min(CALLS, int(BURST / seconds))))
    return seconds


def rates(results: Results, columns: list[tuple[Library, Calls]], settings: Settings) -> None:
    """Measure each call of all libraries alternately, in GB/s."""
    for name in dict.fromkeys(name for _, calls in columns for name in calls):
        if time.time() > settings.until:
            results.failures[name] = "no time was left"
            continue
        able = []
        for library, calls in columns:
            if name in calls:
                call, work = calls[name]
                # The first call also compiles the kernel, so it is not timed.
                if results.attempt(f"{name}, {library.name}", lambda one=library, call=call: one.elapsed(call, 1)):
                    able.append((library, call, work, []))
        for _ in range(settings.rounds):
            for library, call, _, times in able:
                times.append(burst(library, call))
        for library, _, work, times in able:
            results.add(name, library.name, work / statistics.median(times) / 1e9)
        able.sort(key=lambda one: one[2] / statistics.median(one[3]))
        peers = [one for one in able if one[0].name != OWN]
        for library, call, work, _ in [one for one in able if one[0].name == OWN] + peers[-1:]:
            results.sustained.setdefault(name, {})[library.name] = work / sustained(library, call) / 1e9


def device(results: Results, settings: Settings) -> None:
    """Measure the device rates of calls, and the upper bounds of these rates, in GB/s of bytes that must move."""
    import vendor_limits

    limits, failures = vendor_limits.all_of(settings.count)
    results.failures |= failures
    rates(results, [(Library(OWN), {name: call for name, call in limits.items() if settings.wants(name)})], settings)
    del limits
    for family, (function, names) in FAMILIES.items():
        if settings.call_names and not any(name.startswith(f"{family}: ") for name in settings.call_names):
            continue
        make = getattr(importlib.import_module(family), function)
        columns = []
        for library in found(names):
            made = functools.partial(make, library, settings.count)
            calls = results.attempt(f"{family}, {library.name}", made) or {}
            named = {f"{family}: {plain(name)}": call for name, call in calls.items()}
            columns.append((library, {name: call for name, call in named.items() if settings.wants(name)}))
            del made, calls, named
        rates(results, columns, settings)
        columns.clear()
        gc.collect()


def linear_algebra(results: Results, settings: Settings) -> None:
    """Measure the milliseconds of factorizations of matrices of each side, and of batches of small matrices."""
    import factorizations

    sides = (16, 32) if settings.quick else SIDES
    cases = [(f"{side}, float32", side, np.float32, 0) for side in sides]
    cases += [(f"{side}, float64", side, np.float64, 0) for side in sides[-1:]]
    for side, count in BATCHES.items():
        cases.append((f"{count} x {side}, float32", side, np.float32, 2 if settings.quick else count))
    libraries = found((OWN, *PEERS))
    last: dict[tuple[str, str], float] = {}
    for what, side, dtype, batch in cases:
        columns = [(one, factorizations.of_side(one, side, dtype, batch)) for one in libraries]
        for name in columns[0][1]:
            row = f"{name} of {what}"
            if not settings.wants(row):
                continue
            for library, calls in columns:
                # A matrix of twice the side needs eight times the operations, so the time for the previous side
                # predicts the time for this side.
                expected = 0.0 if batch else 8 * last.get((name, library.name), 0.0)
                if time.time() + 2 * expected > settings.until or expected > LONGEST:
                    results.failures[f"{row}, {library.name}"] = f"not measured: about {expected:.1f} s a call"
                    continue
                seconds = results.attempt(f"{row}, {library.name}", lambda one=library, c=calls[name]: median(one, c))
                if seconds is not None:
                    results.add(row, library.name, 1e3 * seconds)
                    last[name, library.name] = seconds
        columns.clear()
        gc.collect()


def median(library: Library, call: Callable[[], Any]) -> float:
    """Return the seconds of one call, or the median of several calls if a call takes less than 0.1 s.

    The first call is not timed, because it compiles kernels or creates the library's plan.
    """
    library.elapsed(call, 1)
    library.synchronize()
    begun = time.perf_counter()
    seconds = library.elapsed(call, 1)
    took = time.perf_counter() - begun
    rounds = 1 if took > 1 else 3
    return statistics.median([seconds, *(burst(library, call) for _ in range(rounds - 1))])


def small(results: Results, settings: Settings) -> None:
    """Measure the microseconds until calls on 16 elements return; PyGPU launches each operation eagerly."""
    import arithmetic
    import reductions
    import selection

    for library in found((OWN, *PEERS)):
        for bench in (arithmetic, reductions, selection):
            times = [
                results.attempt(f"{bench.__name__}, {library.name}", lambda bench=bench, one=library: bench.small(one))
                for _ in range(1 if settings.quick else 3)
            ]
            for name in times[0] or {}:
                results.add(name, library.name, 1e6 * statistics.median(one[name] for one in times))
    results.attempt("the driver's launch", lambda: results.add("launch", "floor", driver_launch()))


def driver_launch() -> float:
    """Return the microseconds of the driver's launch of an empty kernel with five arguments, in a loop in C."""
    from driver_calls import Floor

    loop = Floor().timer("launch, 5 arguments")
    return statistics.median(1e6 * loop(200) / 200 for _ in range(15))


def fused(results: Results, settings: Settings) -> None:
    """Measure five operations of 16 elements, which PyGPU launches as one kernel, in microseconds."""
    import expression_runners
    import fusion

    for name in ("PyGPU", "torch", "CuPy", "JAX jit"):
        way = expression_runners.found(name)
        if way is None:
            continue
        way.name = name
        figures, failures = fusion.small(way, 50 if settings.quick else 1000)
        results.failures |= {f"{name}, {what}": why for what, why in failures.items()}
        for row, values in figures.items():
            results.add(row, MODULES.get(name, name), statistics.median(values))
    results.attempt("the driver's launch", lambda: results.add("launch", "floor", driver_launch()))


def launch(results: Results, settings: Settings) -> None:
    """Measure the launch of a kernel with five arguments, in microseconds."""
    import launches

    calls: dict[str, Any] = {}
    for make in (launches.pygpu_launches, launches.cupy_launches, launches.cuda_core_launches):
        calls |= results.attempt(make.__name__, make) or {}
    timers = {name: launches.host_time(one) for name, one in calls.items()}
    for name, seconds in launches.medians(timers, 3 if settings.quick else 15).items():
        library, _, form = name.partition(", ")
        results.add(f"launch, {form or 'native'}", MODULES.get(library, library), 1e6 * seconds)
    results.attempt("the driver's launch", lambda: results.add("launch, native", "floor", driver_launch()))


def compared(results: Results, own: list[str], peers: list[str], sizes: list[int], settings: Settings) -> None:
    """Measure small calls (ns) and transfers (GB/s) by compare.py; other libraries than PyGPU run in one round only."""
    import compare
    import worker

    options = worker.Settings(only="device" if sizes else "", sizes=sizes)
    if settings.quick:
        options = worker.Settings(only=options.only, sizes=sizes, batches=2, batch_ms=0.2, way_seconds=0.01)
    for names, rounds in ((own, 1 if settings.quick else 3), (peers, 1)):
        done, missing = compare.measure(names, options, rounds, 200)
        results.failures |= missing
        for row in compare.call_rows(done, options.backend) if not sizes else []:
            for name, value in row["nanoseconds"].items():
                results.add(row["case"], MODULES[name], value)
            if row["ratios"].get("NumPy"):
                results.add(f"{row['case']}, beside NumPy's", OWN, row["ratios"]["NumPy"])
        for row in compare.transfer_rows(done, sizes):
            for name, value in row["gigabytes_per_second"].items():
                results.add(f"{row['way']}, {label(row['bytes'])}", MODULES[name], value)


def label(size: int) -> str:
    """Format a number of bytes with a binary unit."""
    return f"{size // GIB} GiB" if size >= GIB else f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB"


def views(results: Results, settings: Settings) -> None:
    """Measure views and properties of PyGPU's arrays, and of NumPy's arrays for comparison."""
    compared(results, ["PyGPU", "NumPy"], [] if settings.quick else ["torch", "CuPy"], [], settings)


def transfers(results: Results, settings: Settings) -> None:
    """Measure PyGPU's transfers, and the driver's copies of pinned memory for comparison."""
    sizes = [64 * KIB] if settings.quick else [MIB, 16 * MIB, 256 * MIB, GIB]
    own = ["PyGPU", "NumPy" if settings.quick else "floor"]
    compared(results, own, [] if settings.quick else ["torch", "CuPy", "JAX"], sizes, settings)


def import_times(results: Results, settings: Settings) -> None:
    """Measure the milliseconds of `import PyGPU` and of the imports of other libraries, after an import of NumPy."""
    import import_time

    for name, repeats in ((OWN, 2 if settings.quick else 20), ("cupy", 3)):
        done = results.attempt(f"import {name}", lambda name=name, repeats=repeats: import_time.added(name, repeats))
        if done:
            results.add("import", name, done["statement_ms"])
            results.add("import, least", name, done["statement_least_ms"])


GROUPS: dict[str, tuple[Callable[[Results, Settings], None], dict[str, str]]] = {
    "small": (small, {"PYGPU_FUSION": "off"}),
    "fused": (fused, {"PYGPU_FUSION": "auto"}),
    "launch": (launch, {}),
    "views": (views, {}),
    "import": (import_times, {}),
    "transfers": (transfers, {}),
    "device": (device, {"PYGPU_FUSION": "off", "JAX_ENABLE_X64": "1"}),
    "linear algebra": (linear_algebra, {"PYGPU_FUSION": "off"}),
}
"""Map the name of a group to the function that measures it, and to the environment of its process.

Groups whose timed calls delete their results turn deferral off, because PyGPU would never compute the deferred
operations.
"""
