"""Time calls of several libraries alternately, by events on the device or by the host's clock."""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine

CALLS = 20
# Number of calls before the timing. PyGPU compiles a fused kernel at the second use of its expression.
WARM_UP = 2
# If a call takes longer than this number of seconds, only one call is timed.
LONG = 0.1
# Number of small calls that are timed together, as one batch.
BATCH = 300


class Library:
    """Hold a library's array constructor, and the function that waits for its device."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.module = importlib.import_module(name)

    def array(self, host: Any) -> Any:
        """Return a device array with the values of an ndarray."""
        if self.name == "torch":
            return self.module.from_numpy(host).cuda()
        return self.module.to_gpu(host) if self.name == "PyGPU" else self.module.asarray(host)

    def cast(self, array: Any, dtype: Any) -> Any:
        """Return the array converted to another dtype."""
        return array.to(getattr(self.module, dtype.__name__)) if self.name == "torch" else array.astype(dtype)

    def where(self, mask: Any, x: Any, y: Any, nbytes: int) -> dict[str, tuple[Callable[[], Any], int]]:
        """Return a call of the library's `where` and the bytes that it must move; an empty dict without `where`."""
        choose = getattr(self.module, "where", None)
        return {} if choose is None else {"where(m, x, y)": (lambda: choose(mask, x, y), nbytes)}

    def launched(self, work: Callable[..., Any], *arrays: Any) -> Callable[[], Any]:
        """Return a function that calls `work`, and then launches the operations that PyGPU has deferred."""
        if self.name != "PyGPU":
            return lambda: work(*arrays)

        def call() -> Any:
            result = work(*arrays)
            self.module.flush()
            return result

        return call

    def synchronize(self) -> None:
        """Wait for the device."""
        if self.name == "torch":
            self.module.cuda.synchronize()
        elif self.name == "cupy":
            self.module.cuda.Device().synchronize()
        else:
            self.module.synchronize()

    def seconds(self, call: Callable[[], Any]) -> float:
        """Return the device seconds of one call, measured by events around many short calls or around one long call."""
        for _ in range(WARM_UP):
            call()
        self.synchronize()
        begun = time.perf_counter()
        call()
        self.synchronize()
        return self.elapsed(call, CALLS if time.perf_counter() - begun < LONG else 1)

    def elapsed(self, call: Callable[[], Any], calls: int) -> float:
        """Return the device seconds of one call, measured by events around the given number of calls."""
        if self.name == "PyGPU":
            stream = self.module.current_stream()
            start = stream.record()
            for _ in range(calls):
                call()
            end = stream.record()
            end.synchronize()
            return float(end.time_since(start)) / 1e3 / calls
        cuda = self.module.cuda
        if self.name == "torch":
            start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        else:
            start, end = cuda.Event(), cuda.Event()
        start.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        elapsed = start.elapsed_time(end) if self.name == "torch" else cuda.get_elapsed_time(start, end)
        return float(elapsed) / 1e3 / calls


class Jax(Library):
    """Time JAX's operations without `jit`, by the host's clock over many calls, because JAX has no events."""

    def __init__(self) -> None:
        super().__init__("jax")
        jax = self.module
        if jax.default_backend() != "gpu":
            raise ImportError(f"this JAX has no GPU, only {jax.default_backend()!r}")
        self.module = jax.numpy
        self.wait = jax.block_until_ready
        self.device = jax.devices()[0]

    def synchronize(self) -> None:
        """Wait for the device by waiting for the last result."""
        (self.module.zeros(()) + 1).block_until_ready()

    def elapsed(self, call: Callable[[], Any], calls: int) -> float:
        """Return the seconds per call of a series of calls, including the wait for the last call."""
        start = time.perf_counter()
        for _ in range(calls - 1):
            call()
        self.wait(call())
        return (time.perf_counter() - start) / calls


@dataclass
class Column:
    """Hold one column of a table: a library, and its functions on large arrays and on small arrays."""

    label: str
    library: Library
    calls: dict[str, tuple[Callable[[], Any], int]]
    small: Callable[[], dict[str, float]]


def host_seconds(library: Library, call: Callable[[], Any]) -> float:
    """Return the host's seconds until one call returns.

    This is the minimum over batches of calls. A batch has fewer calls than fit into the stream's queue, and the device
    completes them between batches.
    """
    batches = []
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(BATCH):
            call()
        batches.append((time.perf_counter() - start) / BATCH)
        library.synchronize()
    return min(batches)


def found(names: Sequence[str] = ("PyGPU", "torch", "cupy")) -> list[Library]:
    """Return the installed libraries among the given names."""
    libraries = []
    for name in names:
        with contextlib.suppress(ImportError):
            libraries.append(Jax() if name == "jax" else Library(name))
    return libraries


def launched_at_once() -> contextlib.AbstractContextManager[Any]:
    """Return a context in which PyGPU defers no operation. Without PyGPU it has no effect."""
    module = sys.modules.get("PyGPU")
    return contextlib.nullcontext() if module is None else module.fusion("off")


def medians_of_rounds(columns: Sequence[Column], unit: str, rounds: int) -> dict[str, dict[str, float]]:
    """Time the calls of all columns in alternating rounds, and return the median of each call and column."""
    measured: dict[str, dict[str, list[float]]] = {}
    for _ in range(rounds):
        for column in columns:
            for name, (call, moved) in column.calls.items():
                speed = moved / column.library.seconds(call) / 1e9
                measured.setdefault(f"{name} ({unit})", {}).setdefault(column.label, []).append(speed)
            for name, seconds in column.small().items():
                measured.setdefault(f"{name} (us)", {}).setdefault(column.label, []).append(seconds * 1e6)
    return {row: {one: statistics.median(all_) for one, all_ in by_label.items()} for row, by_label in measured.items()}


def measure(
    description: str | None,
    name: str,
    large: Callable[[Library, int], dict[str, tuple[Callable[[], Any], int]]],
    small: Callable[[Library], dict[str, float]],
    unit: str = "GB/s",
    more: Callable[[int], Sequence[Column]] = lambda count: (),
    names: Sequence[str] = ("PyGPU", "torch", "cupy"),
    deferred: bool = False,
) -> None:
    """Time the calls of all libraries alternately, print a table, and write the JSON file if requested.

    `large` returns functions on the given number of four-byte elements, each with its amount of work, such as bytes;
    `unit` is the name of a billion such units per second. `small` returns the seconds until calls on small arrays
    return. `names` are the compared libraries; the columns of `more` follow their columns.

    PyGPU launches each operation at once, unless `deferred` is true: the timed functions delete their results, so PyGPU
    would never compute deferred operations. With `deferred`, the functions must flush.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=1 << 30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    count = arguments.bytes // 4
    columns = [
        Column(library.name, library, large(library, count), functools.partial(small, library))
        for library in found(names)
    ]
    columns += more(count)
    with contextlib.nullcontext() if deferred else launched_at_once():
        table = medians_of_rounds(columns, unit, arguments.rounds)
    width = max(map(len, table)) + 2
    print(" " * width + "".join(f"{column.label:>10}" for column in columns))
    for row, medians in table.items():
        print(f"{row:{width}}" + "".join(f"{medians.get(column.label, float('nan')):10.4g}" for column in columns))
    if arguments.json:
        machine.write(arguments.json, {"benchmark": name, "bytes": arguments.bytes, "rows": table})
