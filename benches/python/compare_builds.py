"""Compare builds of PyGPU by alternating the same calls, to measure the cost of a change.

    python benches/python/compare_builds.py FOLDER ... [--this FOLDER ...] [--rounds 7] [--sizes BYTES ...]
        [--json FILE]

Two sides are compared: the packages in each FOLDER (`pip install --target FOLDER other.whl`), and those of `--this`, by
default the installed package. Builds run alternately in separate processes. The linker's placement of functions changes
the speed of a build. To average this out, give each side several builds of one source
(`tools/link_function_orders.sh`).

The speed of a whole process varies by up to a third, so the value of a build is the minimum over the rounds. The value
of a side, FOLDER or `--this`, is the median over its builds. `ratio` is the value of the `--this` side divided by that
of the other side, so that 1.05 is five percent slower. `medians` is the ratio of the medians over all rounds. `spread`
is (highest - lowest) / median of the other side's builds, or of its rounds for one build: a difference below the spread
proves nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SIZES = [64 << 10, 1 << 20, 16 << 20, 256 << 20]
Figures = dict[str, float]


def measure(sizes: list[int], path: Path) -> None:
    """Measure all timed calls with the build of PyGPU that this process imports, and return each call's seconds."""
    import compared_libraries
    from launches import host_time, medians, pygpu_graph, pygpu_launches, replay_time
    from worker import Settings, measure_calls, measure_transfers

    import PyGPU

    library = compared_libraries.PROCESSES["PyGPU"]()
    settings = Settings(backend=library.backend, sizes=sizes)
    seconds_by_call: Figures = {}
    for name, figures in measure_calls(library, settings)["calls"].items():
        seconds_by_call[name] = figures["PyGPU"] / 1e9
    for way, by_size in measure_transfers(library, settings)["transfers"].items():
        seconds_by_call |= {f"{way}, {size} bytes": seconds for size, seconds in by_size.items()}
    timers = {name: host_time(launch) for name, launch in pygpu_launches().items()}
    if PyGPU.backend_name() != "cpu":
        timers["a kernel of a graph"] = replay_time(pygpu_graph())
    seconds_by_call |= medians(timers, 7)
    path.write_text(json.dumps(seconds_by_call))


def run(folder: str | None, sizes: list[int]) -> Figures:
    """Measure the build of PyGPU in `folder`, or the installed build, in a new process; return the seconds per call."""
    environment = dict(os.environ)
    if folder is not None:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, environment.get("PYTHONPATH")]))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "figures.json"
        command = [sys.executable, __file__, "--measure", str(path), "--sizes", *map(str, sizes)]
        subprocess.run(command, check=True, env=environment)
        figures: Figures = json.loads(path.read_text())
        return figures


def figure(side: list[list[float]]) -> float:
    """Return the median over the builds of one side, after taking the fastest round of each build."""
    return statistics.median(min(rounds) for rounds in side)


def spread(side: list[list[float]]) -> float:
    """Return the relative range of several builds' fastest rounds, or the interquartile range of one build's rounds."""
    if len(side) > 1:
        least = [min(rounds) for rounds in side]
        return (max(least) - min(least)) / statistics.median(least)
    if len(side[0]) < 2:
        return 0.0
    lower, middle, upper = statistics.quantiles(side[0], n=4)
    return (upper - lower) / middle


def row(name: str, this: list[list[float]], other: list[list[float]]) -> dict[str, Any]:
    """Return a row of the printed table: the times of one call with the two sides, in microseconds."""
    medians = [statistics.median(value for rounds in side for value in rounds) for side in (this, other)]
    return {
        "what": name,
        "this_us": round(1e6 * figure(this), 3),
        "other_us": round(1e6 * figure(other), 3),
        "ratio": round(figure(this) / figure(other), 3),
        "medians": round(medians[0] / medians[1], 3),
        "spread": round(spread(other), 3),
    }


def main() -> None:
    """Measure all builds alternately and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--this", nargs="+", default=[None], metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        return measure(arguments.sizes, arguments.measure)
    if not arguments.folders:
        parser.error("name the folder of the other PyGPU")
    sides = [arguments.this, arguments.folders]
    results: list[list[list[Figures]]] = [[[] for _ in side] for side in sides]
    for turn in range(arguments.rounds):
        for index in range(max(map(len, sides))):
            for side in (0, 1) if (turn + index) % 2 == 0 else (1, 0):
                if index < len(sides[side]):
                    results[side][index].append(run(sides[side][index], arguments.sizes))
    processes = [figures for side in results for build in side for figures in build]
    names = [name for name in processes[0] if all(name in figures for figures in processes)]
    rows = [
        row(name, *([[figures[name] for figures in build] for build in side] for side in results)) for name in names
    ]
    for one in sorted(rows, key=lambda one: -one["ratio"]):
        print(
            f"{one['what']:45}{one['this_us']:12.3f}{one['other_us']:12.3f}{one['ratio']:8.3f}{one['medians']:8.3f}"
            f"  ±{one['spread']:.3f}"
        )
    if arguments.json:
        import machine

        # The description of the machine imports PyGPU, which may be in the folders only.
        sys.path[:0] = [folder for folder in arguments.this if folder is not None]
        builds = {"rounds": arguments.rounds, "builds": [len(side) for side in sides]}
        machine.write(arguments.json, {"benchmark": "against", **builds, "rows": rows})


if __name__ == "__main__":
    main()
