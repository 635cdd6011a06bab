"""Arithmetic beside torch and CuPy: microseconds of a small sum, gigabytes a second of large ones, in turns.

    python benches/python/arithmetic.py [--bytes N] [--rounds 5] [--json FILE]

Gigabytes are what must move: operands that are read once and results that are written once. Times of large arrays are
between two events over 20 calls; those of small ones are the host's, with the results dropped.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine

CALLS = 20
# Calls with few elements that are timed together.
BATCH = 300


class Library:
    """One library: how it makes arrays and how it waits."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.module = importlib.import_module(name)

    def array(self, host: Any) -> Any:
        """A device array with the values of an ndarray."""
        if self.name == "torch":
            return self.module.from_numpy(host).cuda()
        return self.module.to_gpu(host) if self.name == "PyGPU" else self.module.asarray(host)

    def cast(self, array: Any, dtype: Any) -> Any:
        """The values as another type."""
        return array.to(getattr(self.module, dtype.__name__)) if self.name == "torch" else array.astype(dtype)

    def where(self, mask: Any, x: Any, y: Any, nbytes: int) -> dict[str, tuple[Callable[[], Any], int]]:
        """The call of `where` with its bytes, if the library has it."""
        choose = getattr(self.module, "where", None)
        return {} if choose is None else {"where(m, x, y)": (lambda: choose(mask, x, y), nbytes)}

    def synchronize(self) -> None:
        """Wait for the device."""
        if self.name == "torch":
            self.module.cuda.synchronize()
        elif self.name == "cupy":
            self.module.cuda.Device().synchronize()
        else:
            self.module.synchronize()

    def seconds(self, call: Callable[[], Any]) -> float:
        """Device seconds of one call, by events around many."""
        call()
        if self.name == "PyGPU":
            stream = self.module.current_stream()
            start = stream.record()
            for _ in range(CALLS):
                call()
            end = stream.record()
            end.synchronize()
            return float(end.time_since(start)) / 1e3 / CALLS
        cuda = self.module.cuda
        if self.name == "torch":
            start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        else:
            start, end = cuda.Event(), cuda.Event()
        start.record()
        for _ in range(CALLS):
            call()
        end.record()
        end.synchronize()
        elapsed = start.elapsed_time(end) if self.name == "torch" else cuda.get_elapsed_time(start, end)
        return float(elapsed) / 1e3 / CALLS


def beside(x: Any, y: Any) -> Callable[[], Any]:
    """A sum of arrays at odd places."""
    return lambda: x[1:] + y[:-1]


def across_one_another(x: Any, y: Any) -> Callable[[], Any]:
    """A sum of arrays of which one is transposed."""
    return lambda: x.T + y


def large(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Calls with the bytes that each must move."""
    import numpy as np

    random = np.random.default_rng(0)
    side = int(count**0.5)
    count = side * side
    host = random.random(count, dtype=np.float32).reshape(side, side)
    x, y = library.array(host), library.array(host + 1)
    row, column = library.array(host[0].copy()), library.array(host[:, :1].copy())
    odd = library.array(host.reshape(-1)[: (side - 3) * (side + 3)].reshape(side - 3, side + 3))
    across = library.array(host.reshape(-1)[: (side - 3) * (side + 3)].reshape(side + 3, side - 3))
    flat, other = x.reshape(-1), y.reshape(-1)
    nbytes = 4 * count
    calls: dict[str, tuple[Callable[[], Any], int]] = {
        "x + y": (lambda: x + y, 3 * nbytes),
        "2 * x": (lambda: 2 * x, 2 * nbytes),
        "m + row": (lambda: x + row, 2 * nbytes),
        "m + column": (lambda: x + column, 2 * nbytes),
        "x.T + y": (lambda: x.T + y, 3 * nbytes),
        "x.T + y, odd lengths": (lambda: across.T + odd, 3 * 4 * (side - 3) * (side + 3)),
        "x[:, 1:] + y[:, :-1]": (lambda: x[:, 1:] + y[:, :-1], 3 * nbytes),
        "x[1:] + y[:-1]": (lambda: flat[1:] + other[:-1], 3 * nbytes),
        "x[::2] + y[::2]": (lambda: flat[::2] + other[::2], 3 * nbytes // 2),
        "x > y": (lambda: x > y, 2 * nbytes + count),
        "float32 -> float16": (lambda: library.cast(x, np.float16), nbytes + 2 * count),
    } | library.where(x > y, x, y, 3 * nbytes + count)
    if library.name != "torch":  # has no negative strides
        calls["x[::-1] + y"] = (lambda: flat[::-1] + other, 3 * nbytes)
    for dtype in ("int8", "float16"):
        small_host = (random.random(count, dtype=np.float32) * 100).astype(dtype)
        a, b = library.array(small_host), library.array(small_host)
        calls[f"x[1:] + y[:-1], {dtype}"] = (beside(a, b), 3 * small_host.nbytes)
        plane, straight = a.reshape(side, side), b.reshape(side, side)
        calls[f"x.T + y, {dtype}"] = (across_one_another(plane, straight), 3 * small_host.nbytes)
    return calls


def small(library: Library) -> dict[str, float]:
    """Host seconds of calls with few elements, whose results are dropped."""
    import numpy as np

    s, t = library.array(np.ones(5, np.float32)), library.array(np.ones(5, np.float32))
    few = library.array(np.ones(16, np.float32))
    calls = {"s + t": lambda: s + t, "astype of 16": lambda: library.cast(few, np.float64)}
    for name, (choose, _) in library.where(few > 0, few, few, 0).items():
        calls[f"{name} of 16"] = choose
    return {name: host_seconds(library, call) for name, call in calls.items()}


def host_seconds(library: Library, call: Callable[[], Any]) -> float:
    """Host seconds of one call: the least of batches shorter than a stream's queue, which is emptied between."""
    batches = []
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(BATCH):
            call()
        batches.append((time.perf_counter() - start) / BATCH)
        library.synchronize()
    return min(batches)


def found() -> list[Library]:
    """The libraries that are here."""
    libraries = []
    for name in ("PyGPU", "torch", "cupy"):
        try:
            libraries.append(Library(name))
        except ImportError:
            continue
    return libraries


def main() -> None:
    """Measure all in turns and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=1 << 30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    libraries = found()
    rows: dict[str, dict[str, list[float]]] = {}
    calls = {library.name: large(library, arguments.bytes // 4) for library in libraries}
    for _ in range(arguments.rounds):
        for library in libraries:
            for name, (call, nbytes) in calls[library.name].items():
                rows.setdefault(f"{name} (GB/s)", {}).setdefault(library.name, []).append(
                    nbytes / library.seconds(call) / 1e9
                )
            for name, seconds in small(library).items():
                rows.setdefault(f"{name} (us)", {}).setdefault(library.name, []).append(seconds * 1e6)
    table = {name: {one: statistics.median(all_) for one, all_ in row.items()} for name, row in rows.items()}
    print(f"{'':28}" + "".join(f"{library.name:>10}" for library in libraries))
    for name, row in table.items():
        print(f"{name:28}" + "".join(f"{row.get(library.name, float('nan')):10.1f}" for library in libraries))
    if arguments.json:
        machine.write(arguments.json, {"benchmark": "arithmetic", "bytes": arguments.bytes, "rows": table})


if __name__ == "__main__":
    main()
