"""This PyGPU beside another one, the same calls in turns: what a change costs.

    python benches/python/against.py FOLDER [--rounds 7] [--sizes BYTES ...] [--json FILE]

FOLDER holds the other package (`pip install --target FOLDER other.whl`); this one is found as usual. Each runs in
processes of its own, in turns; the ratio is the median over the rounds of this one's time divided by the other's, so
that 1.05 is five percent slower. Beside it stands how far the other one's own rounds lie apart, as (upper - lower
quartile) / median: a difference below that is noise.
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

SIZES = [64 << 10, 1 << 20, 16 << 20, 256 << 20]
Figures = dict[str, float]


def measure(sizes: list[int], path: Path) -> None:
    """Seconds of everything that is timed, of the PyGPU that this process finds."""
    import libraries
    from launches import host_time, medians, pygpu_graph, pygpu_launches, replay_time
    from worker import Settings, measure_calls, measure_transfers

    import PyGPU

    library = libraries.PROCESSES["PyGPU"]()
    settings = Settings(backend=library.backend, sizes=sizes)
    found: Figures = {}
    for name, figures in measure_calls(library, settings)["calls"].items():
        found[name] = figures["PyGPU"] / 1e9
    for way, by_size in measure_transfers(library, settings)["transfers"].items():
        found |= {f"{way}, {size} bytes": seconds for size, seconds in by_size.items()}
    timers = {name: host_time(launch) for name, launch in pygpu_launches().items()}
    if PyGPU.backend_name() != "cpu":
        timers["a kernel of a graph"] = replay_time(pygpu_graph())
    found |= medians(timers, 7)
    path.write_text(json.dumps(found))


def run(folder: str | None, sizes: list[int]) -> Figures:
    """The figures of one process."""
    environment = dict(os.environ)
    if folder is not None:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, environment.get("PYTHONPATH")]))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "figures.json"
        command = [sys.executable, __file__, "--measure", str(path), "--sizes", *map(str, sizes)]
        subprocess.run(command, check=True, env=environment)
        figures: Figures = json.loads(path.read_text())
        return figures


def spread(values: list[float]) -> float:
    """How far apart they lie, for their size."""
    if len(values) < 2:
        return 0.0
    lower, middle, upper = statistics.quantiles(values, n=4)
    return (upper - lower) / middle


def main() -> None:
    """Measure both in turns and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        return measure(arguments.sizes, arguments.measure)
    if arguments.folder is None:
        parser.error("name the folder of the other PyGPU")
    this: list[Figures] = []
    other: list[Figures] = []
    for turn in range(arguments.rounds):
        sides = [(this, None), (other, arguments.folder)]
        for rounds, folder in sides if turn % 2 == 0 else reversed(sides):
            rounds.append(run(folder, arguments.sizes))
    rows = []
    for name in this[0]:
        pairs = [(one[name], two[name]) for one, two in zip(this, other, strict=True) if name in one and name in two]
        if pairs:
            ratio = statistics.median(one / two for one, two in pairs)
            middles = [statistics.median(side) for side in zip(*pairs, strict=True)]
            rows.append(
                {
                    "what": name,
                    "this_us": round(1e6 * middles[0], 3),
                    "other_us": round(1e6 * middles[1], 3),
                    "ratio": round(ratio, 3),
                    "spread": round(spread([two for _, two in pairs]), 3),
                }
            )
    for row in sorted(rows, key=lambda row: -row["ratio"]):
        print(f"{row['what']:45}{row['this_us']:12.3f}{row['other_us']:12.3f}{row['ratio']:8.3f}  ±{row['spread']:.3f}")
    if arguments.json:
        import machine

        machine.write(arguments.json, {"benchmark": "against", "rounds": arguments.rounds, "rows": rows})


if __name__ == "__main__":
    main()
