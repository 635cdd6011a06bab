"""Writes docs/performance.md, and the figures of README.md, from docs/results.

Run as ``python docs/make_performance.py``; ``tests/repository/test_claims.py`` holds both against it.
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

Every table of this page is made from a file of [docs/results](results/README.md), and the page itself is written by
`python docs/make_performance.py`. `make plots` draws the same figures into `build/plots`. Greater is better where the
unit is a speed (`GB/s`), less where it is a time (`us`, `ns`). Ratios hold within one table: libraries were timed in
turns, in one run, on one machine.

On your own machine: `python -m PyGPU bench --plot bench.svg`, and for the comparison with other libraries
[`make gpu-bench`](howto/measure.md).
"""


class Section(NamedTuple):
    """A table, what it shows, and how its figures were made."""

    title: str
    result: str
    table: Callable[[dict[str, Any]], str]
    command: str
    text: str


def transfers(results: dict[str, Any]) -> str:
    """GB/s of the ways that pictures show, at three sizes."""
    ways = [way for _, way, _ in report.PANELS]
    rows = [row for row in results["transfers"] if row["way"] in ways and row["bytes"] in SIZES]
    return report.transfer_table({**results, "transfers": sorted(rows, key=lambda row: ways.index(row["way"]))})


def calls(results: dict[str, Any]) -> str:
    """Nanoseconds of the small calls that pictures show."""
    by_name = {row["case"]: row for row in results["calls"]}
    return report.call_table({**results, "calls": [by_name[name] for name in report.BARS if name in by_name]})


def of_bench(title: str, name: str, text: str) -> Section:
    """The section of a bench of that name."""
    return Section(title, name, report.speed_table, f"python benches/python/{name}.py", text)


SECTIONS = [
    Section(
        "Between host and device", "compare", transfers, "make gpu-bench",
        "GB/s over the size of an array, for ordinary (pageable) and pinned host memory. *Fresh* keeps all results, so "
        "that each needs new memory; *dropped* forgets one before the next. The floor is the driver alone with pinned "
        "memory.",
    ),
    Section(
        "Small calls", "compare", calls, "make gpu-bench",
        "Nanoseconds on the host for calls that do little work, without waiting for the device.",
    ),
    of_bench(
        "Arithmetic", "arithmetic",
        "One operation after another on 1 GiB of float32: what must be read and written, a second. *By hand* is a CUDA "
        "kernel for this one case.",
    ),
    Section(
        "Kernels of one's own", "kernels", report.speed_table, "make gpu-bench-kernels",
        "`ElementwiseKernel`, `ReductionKernel` and scans on 1 GiB beside kernels written by hand, and CuPy's.",
    ),
    Section(
        "Launches", "launches", report.speed_table, "make gpu-bench-kernels",
        "Microseconds on the host for a launch with five arguments, in each spelling; the floor is a loop in C.",
    ),
    Section(
        "Copies within a device", "strided", report.speed_table, "make gpu-bench-kernels",
        "float32, GB/s read and written; *memcpy* is the driver's copy of contiguous memory.",
    ),
    of_bench(
        "Expressions", "fusion",
        "Deferred arithmetic beside compilers of expressions; each expression is one launch, which the bench asserts.",
    ),
    of_bench("Stencils and long functions", "neighbours", "What must move of planes of 1 GiB."),
    of_bench("Reductions", "reductions", "Of all elements and along axes, on 1 GiB."),
    of_bench("Scans", "scans", "`cumsum` and others along each axis."),
    of_bench("Sorting", "order", "Thousand million keys a second."),
    of_bench("Selection", "selection", "Masks and index arrays on the device."),
    of_bench("Joining and moving", "joining", "On 1 GiB."),
    of_bench("Products", "products", "Large products of floats are the vendor's library in all three."),
    of_bench(
        "Fourier transforms", "transforms",
        "By cuFFT in all three; behind are transforms along other axes than the last.",
    ),
    of_bench("Linear algebra", "factorizations", "By cuSOLVER; torch's `cholesky` and its many small systems are not."),
    of_bench(
        "Random numbers", "random_numbers",
        "NumPy's Philox with 64 bits, bit for bit; torch and CuPy draw from generators with 32.",
    ),
    Section(
        "Between two GPUs", "peer", report.speed_table, "make gpu-bench-peer",
        "Copies beside the driver's own, and sums over both beside torch's, by NCCL.",
    ),
]  # fmt: skip


def read(name: str) -> dict[str, Any]:
    """The result of that name."""
    content: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return content


def made_on(results: dict[str, Any]) -> str:
    """The machine and the versions, as far as a reader asks for them."""
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
    """A version without its last part."""
    return ".".join(version.split(".")[:2])


class Transfers:
    """The rows of `compare.json` by way and size."""

    def __init__(self, results: dict[str, Any]) -> None:
        self._rows = {(row["way"], row["bytes"]): row["gigabytes_per_second"] for row in results["transfers"]}

    def line(self, what: str, way: str, bus: str, sizes: list[int]) -> str:
        """PyGPU, the best of the others, and the driver with pinned memory."""
        here = [self._rows[way, size] for size in sizes]
        cells = [
            [f"{row['PyGPU']:.1f}" for row in here],
            [f"{max(value for name, value in row.items() if name not in NO_PEERS):.1f}" for row in here],
            [f"{self._rows[bus, size]['floor']:.1f}" for size in sizes],
        ]
        return f"| {what} | {' | '.join(' / '.join(cell) for cell in cells)} |"


def call_line(what: str, case: str, results: dict[str, Any]) -> str:
    """Nanoseconds of a small call: PyGPU's, and the quickest other one's."""
    times = next(row["nanoseconds"] for row in results["calls"] if row["case"] == case)
    best = min((value, name) for name, value in times.items() if name not in NO_PEERS)
    return f"| {what} | {times['PyGPU']:.0f} | {best[0]:.0f} ({best[1]}) | |"


def figures() -> str:
    """The figures of README.md."""
    compare, launches, kernels, strided = (read(name) for name in ("compare", "launches", "kernels", "strided"))
    transfers = Transfers(compare)
    sums = read("arithmetic")["rows"]["x + y (GB/s)"]
    work = {(row["work"], row["library"]): row["gb_per_s"] for row in kernels["throughput"]}
    copies = {row["case"]: row["GB/s"] for row in strided["results"] if row["itemsize"] == 4}
    launch, first = launches["launch_us"], launches["first_launch_ms"]
    rows = "[what is not reached](docs/results/h200.md)"
    by_expression = {library: work["a*x + y", library] for library in ("PyGPU", "CuPy")}
    upload, download = ("to device", "to device, pinned"), ("from device, fresh", "into pinned")
    lines = [
        f"On an {made_on(compare)},",
        f"ordinary NumPy memory, GB/s by `make gpu-bench`: [all tables](docs/performance.md), {rows}.",
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
        f"On 1 GiB: `x + y` {sums['PyGPU']:.0f} GB/s (torch {sums['torch']:.0f}, CuPy {sums['cupy']:.0f}), "
        f"`a*x + y` by `ElementwiseKernel` {by_expression['PyGPU']:.0f} (CuPy {by_expression['CuPy']:.0f}),",
        f"a transposed copy {copies['transposed']:.0f} (memcpy {copies['memcpy']:.0f}). A launch takes "
        f"{launch['PyGPU, native']:.1f} us (a loop in C {launch['floor']:.1f}, cuda.core {launch['cuda.core']:.1f}, "
        f"CuPy {launch['CuPy']:.1f}), a process's first {first['PyGPU']:.1f} ms (CuPy {first['CuPy']:.0f}).",
    ]
    return "\n".join(lines) + "\n"


def section(made: Section) -> Iterator[str]:
    """The lines of a section."""
    results = read(made.result)
    yield f"\n## {made.title}\n\n{made.text}\n\n{made.table(results)}\n\n"
    yield (
        f"{made_on(results)}, commit {results['machine']['commit']}: `{made.command}`; "
        f"[{made.result}.json](results/{made.result}.json).\n"
    )


def page() -> str:
    """The whole page."""
    return HEAD + "".join(line for made in SECTIONS for line in section(made))


def readme(text: str) -> str:
    """README.md with the figures between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise LookupError(f"README.md has no lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}{figures()}{END}{after}"


def write(path: Path, made: Callable[[], str]) -> None:
    """Write a page, and say so."""
    path.write_text(made(), encoding="utf-8")
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    write(PAGE, page)
    write(README, lambda: readme(README.read_text(encoding="utf-8")))
