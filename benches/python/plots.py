"""Draw result files: bandwidth by size and times of small calls for results of compare.py, bars for other results.

    python benches/python/plots.py arithmetic.json arithmetic.svg
    python benches/python/plots.py docs/results build/plots

The first command draws one result; a third argument, such as `us`, selects the entries by their unit. The second
command draws all results of a folder.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from performance_goals import FLOOR, REFERENCE, SUBJECT
from report import BARS, PANELS, TITLES, label, table

# With these settings of matplotlib, equal results give identical files, and SVG files contain text as text, not as
# outlines.
STYLE = {"svg.hashsalt": "PyGPU", "svg.fonttype": "none", "font.size": 9}
COLOURS = {
    "PyGPU": "#d62728", "NumPy": "#7f7f7f", "floor": "#000000", "CuPy": "#1f77b4", "torch": "#ff7f0e",
    "PyCUDA": "#2ca02c", "PybindGPU": "#9467bd", "numba-cuda": "#8c564b", "JAX": "#e377c2", "cuda.core": "#17becf",
    "OpenMP": "#1f77b4", "CuPy ReductionKernel": "#aec7e8", "by hand": "#404040", "the driver alone": "#000000",
    "torch.compile": "#d9a441", "cupy.fuse": "#17becf", "JAX jit": "#f7b6d2",
}  # fmt: skip
# Units in the result files, each with the axis label of its plots.
UNITS = {
    "GB/s": "GB/s of what must move", "Gkey/s": "thousand million keys a second", "calls/s": "calls a second",
    "a second": "what the row says, a second", "us": "microseconds", "ms": "milliseconds",
}  # fmt: skip


def _style(name: str) -> dict[str, Any]:
    return {
        "color": COLOURS.get(name, "#bcbd22"),
        "linestyle": "--" if name in (FLOOR, REFERENCE) else "-",
        "linewidth": 2.2 if name == SUBJECT else 1.2,
        "marker": "" if name == FLOOR else "o",
        "markersize": 3,
        "zorder": 3 if name == SUBJECT else 2,
    }


def _series(results: dict[str, Any], way: str, name: str) -> tuple[list[int], list[float]]:
    rows = [row for row in results["transfers"] if row["way"] == way and name in row["gigabytes_per_second"]]
    return [row["bytes"] for row in rows], [row["gigabytes_per_second"][name] for row in rows]


def _panel(axes: Axes, results: dict[str, Any], title: str, way: str, bus: str) -> None:
    for name in results["libraries"]:
        sizes, rates = _series(results, bus if name == FLOOR else way, name)
        if sizes:
            axes.plot(sizes, rates, label="pinned, driver alone" if name == FLOOR else name, **_style(name))
    axes.set_title(title)
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: label(int(size))))
    axes.tick_params(axis="x", rotation=30)
    axes.grid(alpha=0.3)


def bandwidth(results: dict[str, Any], path: Path) -> None:
    """Draw GB/s over size, with a panel for each transfer."""
    figure = Figure(figsize=(9, 12), layout="constrained")
    grid = figure.subplots(4, 2, sharey=True)
    lines: dict[str, Any] = {}
    for axes, (title, way, bus) in zip(grid.flat, PANELS, strict=True):
        _panel(axes, results, title, way, bus)
        handles, names = axes.get_legend_handles_labels()
        lines.update(zip(names, handles, strict=True))
    for axes in grid[:, 0]:
        axes.set_ylabel("GB/s")
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=5)
    figure.savefig(path, metadata={"Date": None})


def latency(results: dict[str, Any], path: Path) -> None:
    """Draw the times of small calls, as a group of bars for each call."""
    by_name = {case["case"]: case["nanoseconds"] for case in results["calls"]}
    cases = [name for name in BARS if name in by_name]
    names = [name for name in results["libraries"] if any(name in by_name[case] for case in cases)]
    height = 1.5 + 0.16 * sum(len(by_name[case]) for case in cases)
    figure = Figure(figsize=(9, height), layout="constrained")
    axes = figure.subplots()
    position, ticks, drawn = 0.0, [], set[str]()
    for case in reversed(cases):
        libraries = [name for name in reversed(names) if name in by_name[case]]
        ticks.append(position + (len(libraries) - 1) / 2)
        for name in libraries:
            value = by_name[case][name]
            title = "the driver alone" if name == FLOOR else name
            axes.barh(position, value, color=COLOURS.get(name), label=None if name in drawn else title)
            axes.text(value, position, f" {value:.0f}", va="center", fontsize=6)
            drawn.add(name)
            position += 1
        position += 1
    axes.set_yticks(ticks, list(reversed(cases)))
    axes.set_xscale("log")
    axes.margins(x=0.1, y=0.01)
    axes.set_xlabel("nanoseconds per call")
    axes.grid(axis="x", alpha=0.3)
    bars = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    titles = [title for name in names if (title := "the driver alone" if name == FLOOR else name) in bars]
    figure.legend([bars[title] for title in titles], titles, loc="outside lower center", ncols=5)
    figure.savefig(path, metadata={"Date": None})


def write(results: dict[str, Any], folder: Path) -> None:
    """Write a file for each plot for which the results contain values."""
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(STYLE):
        if results["transfers"]:
            bandwidth(results, folder / "bandwidth.svg")
        if results["calls"]:
            latency(results, folder / "latency.svg")


def speeds(results: dict[str, Any], path: Path, unit: str = "") -> None:
    """Draw each table row with the given unit, or with the most frequent unit, as a group of bars."""
    rows = table(results)
    units = [unit for unit in UNITS for name in rows if name.endswith(f"({unit})")]
    unit = unit or max(UNITS, key=units.count)
    shown = {name.removesuffix(f" ({unit})"): row for name, row in rows.items() if name.endswith(f"({unit})")}
    names = [name for name in TITLES if any(name in row for row in shown.values())]
    count = sum(len([name for name in names if name in row]) for row in shown.values())
    figure = Figure(figsize=(9, 1.0 + 0.14 * count + 0.1 * len(shown)), layout="constrained")
    axes = figure.subplots()
    position, ticks, drawn = 0.0, [], set[str]()
    for row in reversed(shown.values()):
        libraries = [name for name in reversed(names) if name in row]
        ticks.append(position + (len(libraries) - 1) / 2)
        for name in libraries:
            value, title = row[name], TITLES[name]
            axes.barh(position, value, color=COLOURS[title], label=None if title in drawn else title)
            axes.text(value, position, f" {value:.3g}" if value < 100 else f" {value:.0f}", va="center", fontsize=6)
            drawn.add(title)
            position += 1
        position += 0.8
    axes.set_yticks(ticks, list(reversed(shown)))
    axes.set_xlabel(UNITS[unit])
    axes.margins(x=0.1, y=0.01)
    axes.grid(axis="x", alpha=0.3)
    bars = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    titles = [title for title in dict.fromkeys(TITLES.values()) if title in bars]
    figure.legend([bars[title] for title in titles], titles, loc="outside lower center", ncols=6)
    figure.savefig(path, metadata={"Date": None})


def draw_all(results: Path, pictures: Path) -> None:
    """Draw every result of a folder that has transfers, small calls or entries with a unit."""
    for path in sorted(results.glob("*.json")):
        result = json.loads(path.read_text())
        if "transfers" in result:
            write(result, pictures)
            continue
        units = [unit for unit in UNITS if any(name.endswith(f"({unit})") for name in table(result))]
        with matplotlib.rc_context(STYLE):
            for unit in units:
                name = path.stem if unit == units[0] else f"{path.stem}_{unit.replace('/', '_').replace(' ', '_')}"
                speeds(result, pictures / f"{name}.svg", unit)


def main(source: Path, target: Path, *unit: str) -> None:
    """Draw one result into a file, or all results of a folder into another folder."""
    (target if source.is_dir() else target.parent).mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        draw_all(source, target)
        return
    with matplotlib.rc_context(STYLE):
        speeds(json.loads(source.read_text()), target, *unit)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:4])
