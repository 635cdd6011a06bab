"""Time one library in this process; compare.py starts a new process for each library and round.

The command is `python worker.py NAME SETTINGS FILE`. SETTINGS is JSON (see `Settings`), and the worker writes its
figures to FILE.

Statements are timed in batches of some milliseconds, and the value is the median over the batches. The cost of the
timing loop, about 5 ns, is included, except for the driver's own calls. The worker waits for the device between the
batches, outside the timing, so the measured time is the time until the call returns to the host.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import compared_libraries
from small_calls import CASES, Case
from transfers import MOST_STRIDED, WAYS, Arrays, seconds


@dataclass
class Settings:
    """Hold the cases that a worker times, and the number and duration of their repetitions."""

    # Name of PyGPU's backend; empty until PyGPU is imported.
    backend: str = ""
    only: str = ""
    batches: int = 5
    batch_ms: float = 2.0
    sizes: list[int] = field(default_factory=list)
    # Duration in seconds for which each transfer is repeated.
    way_seconds: float = 0.1

    def to_json(self) -> str:
        """Return the settings for a worker's command line."""
        return json.dumps(asdict(self))


def cases_of(library: compared_libraries.Library, settings: Settings) -> list[Case]:
    """Return the cases that the settings select for this library and backend."""
    backend = settings.backend or library.backend
    return [
        case
        for case in CASES
        if case.exchange == (library.name == "exchange")
        and (settings.only in case.name or settings.only in case.group)
        and case.backend in (None, backend or "cuda")
    ]


def nanoseconds(library: compared_libraries.Library, statement: str, settings: Settings) -> float:
    """Return the nanoseconds of one execution of a statement: the median over several batches of executions."""
    timer = library.timer(statement)

    def timed(turns: int) -> float:
        elapsed = timer(turns)
        library.synchronize()
        return elapsed

    timed(3)
    turns, goal = 1, settings.batch_ms / 1000
    while (elapsed := timed(turns)) < goal and turns < 1 << 22:
        turns = max(2 * turns, int(turns * goal / max(elapsed, 1e-7)))
    return 1e9 * statistics.median(timed(turns) for _ in range(settings.batches)) / turns


def measure_calls(library: compared_libraries.Library, settings: Settings) -> dict[str, Any]:
    """Return the nanoseconds of each case by library, and the errors of failed statements."""
    figures: dict[str, dict[str, float]] = {}
    failures: dict[str, str] = {}
    for case in cases_of(library, settings):
        names = list(case.statements) if case.exchange else [library.name]
        for name in names:
            statement = case.statements.get(name)
            if statement is None:
                continue
            try:
                figures.setdefault(case.name, {})[name] = nanoseconds(library, statement, settings)
            except (
                Exception
            ) as error:  # A statement that a version of a library does not support must not end the measurement.
                if case.exchange and isinstance(error, NameError):
                    continue  # The statement needs a missing library, which `note` reports once.
                failures[f"{case.name}, {name}"] = f"{statement}: {type(error).__name__}: {error}"[:300]
    return {"calls": figures, "call_failures": failures}


def measure_transfers(library: compared_libraries.Library, settings: Settings) -> dict[str, Any]:
    """Return the seconds of each transfer by size, and the errors of failed calls."""
    make = getattr(library, "ways", None) or WAYS.get(library.name)
    if library.name == "NumPy" and settings.backend not in ("", "cpu"):
        make = None  # NumPy's copies stay in host memory and do not use the bus to the device.
    figures: dict[str, dict[str, float]] = {}
    failures: dict[str, str] = {}
    for size in settings.sizes if make else []:
        # This variable keeps the arrays alive, because the driver receives only their addresses.
        arrays = Arrays(size)
        try:
            ways = make(arrays)
        except Exception as error:  # The call may fail because the memory is insufficient, for example.
            failures[f"{size} bytes"] = f"{type(error).__name__}: {error}"[:300]
            continue
        for name, way in ways.items():
            if settings.only not in name or ("strided" in name and size > MOST_STRIDED):
                continue
            try:
                figures.setdefault(name, {})[str(size)] = seconds(way, size, settings.way_seconds)
            except Exception as error:
                failures[f"{name}, {size} bytes"] = f"{type(error).__name__}: {error}"[:300]
        for way in ways.values():
            if way.release is not None:
                way.release()
        ways = {}
        del arrays
        gc.collect()
    return {"transfers": figures, "transfer_failures": failures}


def main() -> None:
    """Measure the library that the command line names."""
    name, settings, path = sys.argv[1], Settings(**json.loads(sys.argv[2])), Path(sys.argv[3])
    try:
        library = compared_libraries.PROCESSES[name]()
    except Exception as error:
        path.write_text(json.dumps({"missing": f"{type(error).__name__}: {error}"[:300]}))
        return
    gc.collect()
    gc.freeze()
    result = {"backend": library.backend, "note": library.note}
    result |= measure_calls(library, settings)
    result |= measure_transfers(library, settings)
    path.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
