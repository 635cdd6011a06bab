"""Format the tables of a comparison in Markdown, from the JSON file of compare.py."""

from __future__ import annotations

from typing import Any

from performance_goals import FLOOR, RATE, REFERENCE, SUBJECT

UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
# For each panel of the plot of transfers: the title, the transfer of the libraries, and the driver's transfer, which
# shows the limit of the bus.
PANELS = [
    ("to_gpu, pageable", "to device", "to device, pinned"),
    ("to_gpu, pinned", "to device, pinned", "to device, pinned"),
    ("to_gpu, every second column", "to device, strided", "to device, pinned"),
    ("set, pageable", "into device", "to device, pinned"),
    ("get, result dropped", "from device, dropped", "into pinned"),
    ("get, fresh memory every time", "from device, fresh", "into pinned"),
    ("get into every second column", "into strided", "into pinned"),
    ("get into pinned memory", "into pinned", "into pinned"),
]
# Names of the small calls that the plot shows.
BARS = [
    "a[1:3]", "a[..., 1:4:2]", "a.T", "a.shape", "a.dtype", "ptr", "__dlpack__()", "__cuda_array_interface__",
    "from_dlpack(torch's)", "torch.from_dlpack(array)", "empty((3, 3), f32)", "event.record(stream)",
    "stream.wait_event(event)", "stream.synchronize()", "to_gpu(five floats)", "get() of five floats",
    "launch, 5 arguments",
]  # fmt: skip
# Names of libraries in the result files, in the order of the tables, with their titles in tables and pictures.
TITLES = {
    "PyGPU": "PyGPU", "torch": "torch", "cupy": "CuPy", "CuPy": "CuPy", "CuPy ReductionKernel": "CuPy ReductionKernel",
    "torch.compile": "torch.compile", "cupy.fuse": "cupy.fuse", "JAX jit": "JAX jit", "JAX": "JAX",
    "jax": "JAX", "cuda.core": "cuda.core", "OpenMP": "OpenMP", "NumPy": "NumPy", "by hand": "by hand",
    "by hand (reads only)": "by hand", "driver": "the driver alone", "floor": "the driver alone",
}  # fmt: skip


def label(size: int) -> str:
    """Format a size with a binary unit."""
    for unit, name in UNITS:
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} B"


def figure(value: float | None, unit: str = "ns") -> str:
    """Format a rate with three digits, or a time in nanoseconds as a whole number."""
    if value is None:
        return ""
    return f"{value:.0f}" if unit != RATE else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    """Format a Markdown table with aligned columns."""
    table = [header, *rows]
    widths = [max(3, *(len(row[column]) for row in table)) for column in range(len(header))]

    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"

    return "\n".join([line(header), line(["-" * width for width in widths]), *map(line, rows)])


def goal_table(results: dict[str, Any]) -> str:
    """Format the table of goals, which states whether each goal was reached."""
    rows = []
    for row in results["goals"]:
        unit = row["unit"]
        limit, best = figure(row["goal"], unit), figure(row["best_peer_figure"], unit)
        goal = f"{'>=' if unit == RATE else '<='} {limit} {unit}" if limit else ""
        rows.append(
            [
                row["what"],
                f"{figure(row['PyGPU'], unit)} {unit}" if row["PyGPU"] is not None else "not measured",
                f"{goal} ({row['goal_is']})" if row["goal_is"] else goal,
                {True: "yes", False: "**no**", None: ""}[row["within"]],
                figure(row["floor"], unit),
                f"{best} ({row['best_peer']})" if best else "",
            ]
        )
    return markdown_table(["what", "PyGPU", "goal", "within?", "floor", "best peer"], rows)


def _columns(rows: list[dict[str, float]], names: list[str]) -> list[str]:
    """Return the libraries that have at least one value, in the order of the table's columns."""
    return [name for name in names if any(name in row for row in rows)]


def call_table(results: dict[str, Any]) -> str:
    """Format the table of small calls: nanoseconds per library, PyGPU's ratio to NumPy, and the limit of this ratio."""
    cases = results["calls"]
    names = _columns([case["nanoseconds"] for case in cases], results["libraries"])
    peers = [name for name in names if name not in (SUBJECT, REFERENCE, FLOOR)]
    shown = [name for name in (FLOOR, SUBJECT, REFERENCE) if name in names]
    rows = []
    for case in cases:
        times, ratio, limit = case["nanoseconds"], case["ratios"].get(REFERENCE), case["limit"]
        verdict = "" if limit is None or ratio is None else f"{limit:g}" + ("" if case["within"] else " **over**")
        rows.append(
            [f"`{case['case']}`", *(figure(times.get(name)) for name in shown)]
            + [f"{ratio:.2f}" if ratio else "", verdict]
            + [figure(times.get(name)) for name in peers]
        )
    return markdown_table(["ns", *shown, "to NumPy", "limit", *peers], rows)


def transfer_table(results: dict[str, Any]) -> str:
    """Format the table of transfers: GB/s of every transfer at every size."""
    transfers = results["transfers"]
    names = _columns([row["gigabytes_per_second"] for row in transfers], results["libraries"])
    rows = [
        [f"{row['way']}, {label(row['bytes'])}"]
        + [figure(row["gigabytes_per_second"].get(name), RATE) for name in names]
        for row in transfers
    ]
    return markdown_table(["GB/s", *names], rows)


def table(results: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return the rows of a result file: the name and unit of each benchmark, and the value of each library."""
    entries = results.get("rows", {})
    rows: dict[str, dict[str, float]] = dict(entries) if isinstance(entries, dict) else {}
    for one in results.get("throughput", []):
        rows.setdefault(f"{one['work']} (GB/s)", {})[one["library"]] = one["gb_per_s"]
    for spelling, value in results.get("launch_us", {}).items():
        library, _, way = spelling.partition(", ")
        rows.setdefault(f"launch, {way or 'native'} (us)", {})[library] = value
    for one in results.get("results", []):
        if "case" not in one:
            continue  # The results in the file import_time.json have no key `case`.
        if one.get("variant") == "chosen" and one["itemsize"] == 4:
            rows[f"{one['case']} (GB/s)"] = {"PyGPU": one["GB/s"]}
        elif "ratio" in one:
            beside = {name: one[name] for name in ("PyGPU", "driver", "torch") if name in one}
            ends = f", {one['from']} to {one['to']}" if "from" in one else ""
            rows[f"{one['case']}, {label(one['bytes'])}{ends} (GB/s)"] = beside
    return rows


def speed_table(results: dict[str, Any]) -> str:
    """Format the rows that `table` returns, with a column for each library that has values."""
    rows = table(results)
    names: dict[str, list[str]] = {}
    for name, title in TITLES.items():
        if any(name in row for row in rows.values()):
            names.setdefault(title, []).append(name)

    def cell(row: dict[str, float], keys: list[str]) -> str:
        value = next((row[key] for key in keys if key in row), None)
        return "" if value is None else f"{value:.0f}" if value >= 1000 else f"{value:.3g}"

    cells = [[f"`{what}`", *(cell(row, keys) for keys in names.values())] for what, row in rows.items()]
    return markdown_table(["what", *names], cells)


def machine_line(results: dict[str, Any]) -> str:
    """Format the machine and the versions as one line."""
    made = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    cards = "; ".join(made["gpus"]) or "no NVIDIA GPU"
    return f"{cards}; {made['cores']} cores of {made['processor']}; {versions}; commit {made['commit'] or 'unknown'}."


def document(results: dict[str, Any]) -> str:
    """Format a Markdown page with all tables and explanations."""
    parts = [
        f"`{results['command']}`: {results['rounds']} rounds, each library in a separate process once per round, in "
        f"turns; medians over the rounds. PyGPU's backend: {results['backend']}.",
        machine_line(results),
    ]
    parts += [f"{name}: {note}." for name, note in results["notes"].items()]
    parts += [f"Without {name}: {why}." for name, why in results["missing"].items()]
    if results["goals"]:
        parts += ["## Goals", goal_table(results)]
    if results["calls"]:
        parts += ["## Small calls", call_table(results)]
    if results["transfers"]:
        parts += ["## Transfers", "GB are 1e9 bytes.", transfer_table(results)]
    if results["failures"]:
        parts += ["## Not measured", "\n".join(f"- {name}: `{why}`" for name, why in results["failures"].items())]
    return "\n\n".join(parts) + "\n"
