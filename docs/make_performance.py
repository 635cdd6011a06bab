"""Write docs/performance.md and the table of figures in README.md from the files in docs/results.

Run as ``python docs/make_performance.py``; ``tests/repository/test_readme_claims.py`` checks both pages.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
sys.path.append(str(ROOT / "benches" / "python"))
import report  # noqa: E402 (a module of the benchmarks)

PAGE = ROOT / "docs" / "performance.md"
README = ROOT / "README.md"
BEGIN, END = "<!-- Written by docs/make_performance.py. -->\n", "<!-- As far as here. -->\n"
MIB, GIB = 1 << 20, 1 << 30
SIZES = (16 * MIB, 256 * MIB, GIB)
NO_PEERS = ("PyGPU", "NumPy", "floor")

HEAD = """\
# Performance

*For readers who compare libraries.*

`python docs/make_performance.py` writes this page from the files of [docs/results](results/README.md). `make plots`
draws the same figures into `build/plots`. A higher speed (`GB/s`) and a shorter time (`us`, `ns`) are better. Compare
figures only within one table, whose libraries were measured in turns. The tables are of two runs on an
[H200](results/h200.md), and name their commits. The [H100](results/h100.md) has soaks, and times of deferred
arithmetic.

![GB/s of PyGPU, torch and CuPy for seven expressions on an H200](speed.svg)

`python -m PyGPU bench --plot bench.svg` measures your own machine. [`make gpu-bench`](howto/measure.md) compares
PyGPU with other libraries on it.
"""


class Section(NamedTuple):
    """Section of docs/performance.md: the table of a result file, a description, and the command that measured it."""

    title: str
    result: str
    table: Callable[[dict[str, Any]], str]
    command: str
    text: str


def transfers(results: dict[str, Any]) -> str:
    """Return the table of transfer speeds in GB/s for the sizes in `SIZES`."""
    ways = [way for _, way, _ in report.PANELS]
    rows = [row for row in results["transfers"] if row["way"] in ways and row["bytes"] in SIZES]
    return report.transfer_table({**results, "transfers": sorted(rows, key=lambda row: ways.index(row["way"]))})


def calls(results: dict[str, Any]) -> str:
    """Return the table of times of small calls in nanoseconds."""
    by_name = {row["case"]: row for row in results["calls"]}
    return report.call_table({**results, "calls": [by_name[name] for name in report.BARS if name in by_name]})


def of_bench(title: str, name: str, text: str) -> Section:
    """Return the section for the results of the program ``benches/python/NAME.py``."""
    return Section(title, name, report.speed_table, f"python benches/python/{name}.py", text)


SECTIONS = [
    Section(
        "Between host and device", "compare", transfers, "make gpu-bench",
        "The table gives the speed of copies in GB/s by the size of the array, for ordinary (pageable) and pinned host "
        "memory. *Fresh* keeps all results, so that each result needs new memory. *Dropped* releases each result "
        "before "
        "the next copy. The floor is the driver's copy of pinned memory.",
    ),
    Section(
        "Small calls", "compare", calls, "make gpu-bench",
        "The table gives the time in ns that a small call takes on the host, without waiting for the device.",
    ),
    of_bench(
        "Arithmetic", "arithmetic",
        "The operations are measured one by one on 1 GiB of float32. The speed is the number of "
        "bytes that the operation must read and write, per second. *By hand* is a hand-written CUDA kernel for the "
        "operation.",
    ),
    Section(
        "Custom kernels", "kernels", report.speed_table, "make gpu-bench-kernels",
        "The table compares `ElementwiseKernel`, `ReductionKernel` and scans on 1 GiB with hand-written kernels and "
        "CuPy.",
    ),
    Section(
        "Launches", "launches", report.speed_table, "make gpu-bench-kernels",
        "The table gives the time in us that a launch with five arguments takes on the host, for each form of the "
        "call. The "
        "floor is a loop in C.",
    ),
    Section(
        "Copies within a device", "strided", report.speed_table, "make gpu-bench-kernels",
        "The table gives the bytes read and written per second in GB/s, for float32. *memcpy* is the driver's copy of "
        "contiguous memory.",
    ),
    of_bench(
        "Expressions", "fusion",
        "The table compares deferred arithmetic with compilers of expressions. PyGPU computes each expression in one "
        "launch.",
    ),
    of_bench("Long functions", "stencils",
        "The table gives the bytes of arrays of 1 GiB that must be read and written, per second.",
    ),
    of_bench(
        "Reductions", "reductions",
        "The table gives the speed of reductions of arrays of 1 GiB, over all elements and along one axis.",
    ),
    of_bench("Scans", "scans", "The table gives the speed of `cumsum` and other scans along each axis."),
    of_bench("Sorting", "sorting", "The table gives the sorted elements (keys) per second, in 10^9."),
    of_bench(
        "Selection", "selection", "The table gives the speed of selections by masks and index arrays in device memory."
    ),
    of_bench(
        "Joining and moving", "joining",
        "The table gives the speed of functions that join and move elements of arrays of 1 GiB.",
    ),
    of_bench("Products", "products", "PyGPU, torch and CuPy compute large products of floats by cuBLAS."),
    of_bench(
        "Fourier transforms", "transforms",
        "The table gives the speed of Fourier transforms. PyGPU, torch and CuPy use cuFFT.",
    ),
    of_bench("Linear algebra", "factorizations",
        "All libraries use cuSOLVER, except torch for `cholesky` and for stacks of small systems.",
    ),
    of_bench(
        "Random numbers", "random_numbers",
        "PyGPU computes the 64-bit Philox generator of NumPy. torch and CuPy use 32-bit generators.",
    ),
]  # fmt: skip


def read(name: str) -> dict[str, Any]:
    """Read the result file ``NAME.json`` from docs/results."""
    content: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return content


def made_on(results: dict[str, Any]) -> str:
    """Return the phrase that describes the machine and the versions of the libraries."""
    machine = results["machine"]
    versions = {"NumPy": "numpy", "torch": "torch", "CuPy": "cupy-cuda13x", "numba-cuda": "numba-cuda", "JAX": "jax"}
    there = [f"{title} {short(machine['versions'][name])}" for title, name in versions.items()]
    card, driver, _ = machine["gpus"][0].split(", ")
    cuda = machine["PyGPU"]["driver_version"]
    return (
        f"{card.removeprefix('NVIDIA ')} with {machine['cores']} cores (driver {short(driver)}, "
        f"CUDA {cuda // 1000}.{cuda % 1000 // 10}, {', '.join(there)})"
    )


def short(version: str) -> str:
    """Return the first two parts of a version number, as in ``2.11``."""
    return ".".join(version.split(".")[:2])


class Transfers:
    """Transfer speeds in `compare.json`, by kind of copy and size in bytes."""

    def __init__(self, results: dict[str, Any]) -> None:
        self._rows = {(row["way"], row["bytes"]): row["gigabytes_per_second"] for row in results["transfers"]}

    def of(self, way: str, size: int) -> float:
        """Return the speed of PyGPU."""
        return float(self._rows[way, size]["PyGPU"])

    def line(self, what: str, way: str, bus: str, sizes: list[int]) -> str:
        """Return a table line with the speeds of PyGPU, of the fastest other library, and of the driver."""
        here = [self._rows[way, size] for size in sizes]
        cells = [
            [f"{row['PyGPU']:.1f}" for row in here],
            [f"{max(value for name, value in row.items() if name not in NO_PEERS):.1f}" for row in here],
            [f"{self._rows[bus, size]['floor']:.1f}" for size in sizes],
        ]
        return f"| {what} | {' | '.join(' / '.join(cell) for cell in cells)} |"


def call_line(what: str, case: str, results: dict[str, Any]) -> str:
    """Return a table line with the times of a small call in PyGPU and in the fastest other library."""
    times = next(row["nanoseconds"] for row in results["calls"] if row["case"] == case)
    best = min((value, name) for name, value in times.items() if name not in NO_PEERS)
    return f"| {what} | {times['PyGPU']:.0f} | {best[0]:.0f} ({best[1]}) | |"


def figures() -> str:
    """Return the table of figures for README.md."""
    compare, launches = read("compare"), read("launches")
    transfers = Transfers(compare)
    launch, first = launches["launch_us"], launches["first_launch_ms"]
    rows = "[limits](docs/results/h200.md)"
    upload, download = ("to device", "to device, pinned"), ("from device, fresh", "into pinned")
    lines = [
        f"Measured on an {made_on(compare)},",
        f"in GB/s with ordinary NumPy memory, by `make gpu-bench` ([all tables](docs/performance.md), {rows}):",
        "",
        "| | PyGPU | best peer | the bus |",
        "|---|---|---|---|",
        transfers.line("`to_gpu`, 16 MiB / 256 MiB / 1 GiB", *upload, [16 * MIB, 256 * MIB, GIB]),
        transfers.line("`get` into new memory, 256 MiB / 1 GiB", *download, [256 * MIB, GIB]),
        transfers.line(
            "every second column of a host array, 256 MiB", "to device, strided", "to device, pinned", [256 * MIB]
        ),
        call_line("`a[1:3]`, ns", "a[1:3]", compare),
        call_line("`empty((3, 3))`, ns", "empty((3, 3), f32)", compare),
        "",
        f"A launch takes {launch['PyGPU, native']:.1f} us (a loop in C {launch['floor']:.1f}, cuda.core "
        f"{launch['cuda.core']:.1f}, CuPy {launch['CuPy']:.1f}), the first launch of a process {first['PyGPU']:.1f} ms "
        f"(CuPy {first['CuPy']:.0f}).",
    ]
    return "\n".join(lines) + "\n"


def section(made: Section) -> Iterator[str]:
    """Return the text of a section."""
    results = read(made.result)
    yield f"\n## {made.title}\n\n{made.text}\n\n{made.table(results)}\n\n"
    yield (
        f"Measured on an {made_on(results)} at commit {results['machine']['commit']} by `{made.command}` "
        f"([{made.result}.json](results/{made.result}.json)).\n"
    )


def page() -> str:
    """Return the complete page."""
    return HEAD + "".join(line for made in SECTIONS for line in section(made))


def readme(text: str) -> str:
    """Return the text of README.md with a new table of figures between the two marks."""
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise LookupError(f"README.md has no lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}{figures()}{END}{after}"


def write(path: Path, made: Callable[[], str]) -> None:
    """Write a page and print its path."""
    path.write_text(made(), encoding="utf-8")
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    write(PAGE, page)
    write(README, lambda: readme(README.read_text(encoding="utf-8")))
