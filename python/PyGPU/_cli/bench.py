"""Run ``python -m PyGPU bench``: measure transfers and small calls on this machine, without other libraries.

This is a short measurement for users. To compare PyGPU with other libraries, use ``benches/python/compare.py`` of the
repository, which measures each library in a separate process and over several rounds.
"""

import argparse
import importlib
import importlib.util
import json
import platform
import re
import statistics
import sys
import time
import timeit
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy

import PyGPU
from PyGPU._observability import progress as bars

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SIZES = [64 * KIB, MIB, 16 * MIB, 64 * MIB, 256 * MIB]
QUICK_SIZES = [64 * KIB, MIB, 16 * MIB]
BATCHES = 7
UNITS = {"": 1, "K": KIB, "M": MIB, "G": GIB}

CALLS = {
    "a[1:3]": "a[1:3]",
    "a[..., ::2]": "a[..., ::2]",
    "a.T": "a.T",
    "a.shape": "a.shape",
    "a.ptr": "a.ptr",
    "empty((3, 3), float32)": "g.empty((3, 3), float32)",
    "a.__dlpack__()": "a.__dlpack__()",
    "to_gpu of 5 floats": "g.to_gpu(five)",
    "get of 5 floats": "short.get()",
    "event.record(stream)": "event.record(stream)",
    "stream.wait_event(event)": "stream.wait_event(event)",
    "stream.synchronize(), idle": "stream.synchronize()",
}


class Row(NamedTuple):
    """Result of one measurement: a name, the number of copied bytes (None without a copy), and the time in seconds."""

    what: str
    nbytes: int | None
    seconds: float

    @property
    def rate(self) -> float | None:
        """Return the bandwidth of a copy in bytes per nanosecond, which equals GB/s."""
        return None if self.nbytes is None else self.nbytes / self.seconds / 1e9


def nbytes(text: str) -> int:
    """Convert the text of a size, such as 4096, 64K, 16M or 1G, to a number of bytes."""
    match = re.fullmatch(r"(\d+)\s*([KMG]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    size = int(match[1]) * UNITS[match[2].upper()] if match else 0
    if size <= 0 or size % 4:
        raise argparse.ArgumentTypeError(f"{text!r} is no size of a float32 array: a multiple of 4, or 64K, 16M, 1G")
    return size


def label(size: int) -> str:
    """Format a number of bytes with a binary unit, such as ``16 MiB``."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} B"


def report_step(progress: Any, what: str) -> None:
    """Print the name of a measurement before it begins."""
    progress.set_description_str(what)
    progress.update()


def median_seconds(call: Callable[[], Any], budget: float) -> float:
    """Return the median time of a call, repeated at least three times after one warm-up call."""
    times: list[float] = []
    end = time.perf_counter() + budget
    while len(times) < 4 or (time.perf_counter() < end and len(times) < 1000):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def copy_calls(size: int) -> dict[str, Callable[[], Any]]:
    """Return the copies to measure for one size: to and from the device, pageable and pinned, and within the host."""
    host = numpy.arange(size // 4, dtype=numpy.float32)
    pinned = PyGPU.empty_like_pinned(host)
    pinned[...] = host
    out, array = numpy.full_like(host, 1), PyGPU.to_gpu(host)

    def upload(source: Any) -> None:
        PyGPU.to_gpu(source)
        PyGPU.synchronize()

    return {
        "to_gpu": lambda: upload(host),
        "get": lambda: array.get(),
        "to_gpu, pinned": lambda: upload(pinned),
        "get into pinned": lambda: array.get(pinned),
        "numpy.copyto": lambda: numpy.copyto(out, host),
    }


def transfers(sizes: list[int], budget: float, progress: Any) -> Iterator[Row]:
    """Measure how long each kind of copy takes for each size."""
    for size in sizes:
        report_step(progress, f"{label(size)}: host memory")
        for what, call in copy_calls(size).items():
            report_step(progress, f"{label(size)}: {what}")
            yield Row(what, size, median_seconds(call, budget))


def calls(budget: float, progress: Any) -> Iterator[Row]:
    """Measure the time of small calls in batches; each result includes a few nanoseconds of the measuring loop."""
    a = PyGPU.to_gpu(numpy.zeros((4, 8, 16), numpy.float32))
    five_floats = numpy.arange(5, dtype=numpy.float32)
    names = {"g": PyGPU, "float32": numpy.float32, "a": a, "five": five_floats, "short": PyGPU.to_gpu(five_floats)}
    names |= {"stream": PyGPU.Stream(), "event": PyGPU.Event()}
    for what, statement in CALLS.items():
        report_step(progress, what)
        timer = timeit.Timer(statement, globals=names)
        repetitions = max(1, int(budget / BATCHES / max(timer.timeit(100) / 100, 1e-9)))
        times = []
        for _ in range(BATCHES):
            times.append(timer.timeit(repetitions) / repetitions)
            PyGPU.synchronize()
        yield Row(what, None, statistics.median(times))


def table(rows: list[Row]) -> str:
    """Format the bandwidths as a table by size, followed by the times of small calls."""
    sizes = sorted({row.nbytes for row in rows if row.nbytes is not None})
    lines = [f"{'GB/s':<28}" + "".join(f"{label(size):>10}" for size in sizes)] if sizes else []
    for what in dict.fromkeys(row.what for row in rows if row.nbytes is not None):
        rates = {row.nbytes: row.rate or 0.0 for row in rows if row.what == what}
        lines.append(f"{what:<28}" + "".join(f"{rates[size]:>10.2f}" for size in sizes))
    lines += ["", "nanoseconds"]
    lines += [f"{row.what:<28}{1e9 * row.seconds:>10.0f}" for row in rows if row.nbytes is None]
    return "\n".join(lines)


def read(path: str) -> dict[tuple[str, int | None], float]:
    """Read the measured times, in seconds, from a file that an earlier run wrote.

    Raises
    ------
    ValueError
        If the file contains no times.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        return {(row["what"], row["nbytes"]): row["seconds"] for row in content["rows"]}
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{path} holds no figures that --save wrote: {type(error).__name__}: {error}") from None


def comparison(rows: list[Row], before: dict[tuple[str, int | None], float], path: str) -> str:
    """Format the ratio of each measured time to the time of an earlier run."""
    lines = [f"{f'time now / time in {path}':<40}"]
    for row in rows:
        if previous_seconds := before.get((row.what, row.nbytes)):
            what = row.what if row.nbytes is None else f"{row.what}, {label(row.nbytes)}"
            lines.append(f"{what:<40}{row.seconds / previous_seconds:>8.2f}")
    return "\n".join(lines if len(lines) > 1 else [*lines, "no figure is in both"])


def machine() -> dict[str, Any]:
    """Return a description of the machine: device, backend, and versions of driver, platform and packages."""
    return {
        "device": PyGPU.device_properties(PyGPU.current_device())["name"],
        "backend": PyGPU.backend_name(),
        "driver_version": PyGPU.driver_version(),
        "platform": platform.platform(),
        "PyGPU": PyGPU.__version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
    }


def plot(rows: list[Row], title: str, path: str) -> None:
    """Plot the bandwidth of copies against their size into a file, whose extension selects the image format."""
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for what in dict.fromkeys(row.what for row in rows if row.nbytes is not None):
        points = [(row.nbytes, row.rate) for row in rows if row.what == what]
        axes.plot(*zip(*points, strict=True), marker="o", label=what, linestyle="--" if what == "numpy.copyto" else "-")
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    sizes = sorted({row.nbytes for row in rows if row.nbytes is not None})
    axes.set_xticks(sizes, [label(size) for size in sizes])
    axes.set_ylabel("GB/s")
    axes.set_title(title)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command-line options of ``bench`` to a parser."""
    parser.description = "Time transfers of float32 arrays and small calls on this machine; figures are medians."
    parser.epilog = "example: python -m PyGPU bench --size 64K 16M --save before.json"
    parser.add_argument("--quick", action="store_true", help="up to 16 MiB, and fewer repetitions")
    parser.add_argument("--size", type=nbytes, nargs="+", metavar="SIZE", help="sizes to copy, such as 64K 16M 1G")
    parser.add_argument("--save", "--json", dest="save", metavar="FILE", help="also write the figures there, as JSON")
    parser.add_argument("--compare", metavar="FILE", help="also tell how they differ from those saved there")
    parser.add_argument("--plot", metavar="FILE", help="also draw bandwidth over size, as .png, .svg or .pdf")


def run(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Run the command ``bench``: measure, print the results, and write the files that the options request."""
    if arguments.plot and importlib.util.find_spec("matplotlib") is None:
        parser.error("--plot needs matplotlib, which is not installed: pip install matplotlib")
    try:
        before = read(arguments.compare) if arguments.compare else {}
    except ValueError as error:
        parser.error(str(error))
    sizes = sorted(set(arguments.size or (QUICK_SIZES if arguments.quick else SIZES)))
    budget = 0.03 if arguments.quick else 0.3
    machine_info = machine()
    versions = ", ".join(f"{name} {machine_info[name]}" for name in ("PyGPU", "python", "numpy"))
    print(f"{machine_info['device']} ({machine_info['backend']}), {versions}\n")
    progress = bars.bar(6 * len(sizes) + len(CALLS), file=sys.stderr, leave=False)
    try:
        rows = [*transfers(sizes, budget, progress), *calls(budget, progress)]
    finally:
        progress.close()
    print(table(rows))
    if arguments.compare:
        print("\n" + comparison(rows, before, arguments.compare))
    if arguments.save:
        figures = [{**row._asdict(), "gigabytes_per_second": row.rate} for row in rows]
        content = {"machine": machine_info, "rows": figures}
        Path(arguments.save).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if arguments.plot:
        plot(rows, f"{machine_info['device']}, PyGPU {machine_info['PyGPU']}", arguments.plot)
