"""Scans beside torch and CuPy: gigabytes a second that are read and written, in turns.

    python benches/python/scans.py [--elements N] [--rounds 5] [--json FILE]

Times of large arrays are between two events over 20 calls. The bits of each scan are compared over a hundred calls with
--repeat.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
from arithmetic import Library, found, host_seconds


def along(library: Library, x: Any, name: str, axis: int) -> Callable[[], Any]:
    """A call of a method of all three libraries, whatever they call the axis."""
    method = getattr(x, name)
    return (lambda: method(dim=axis)) if library.name == "torch" else (lambda: method(axis=axis))


def copied(library: Library, x: Any) -> Callable[[], Any]:
    """A copy, which reads and writes as much as a scan."""
    return x.clone if library.name == "torch" else x.copy


def large(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Calls with the bytes that each must move."""
    import numpy as np

    random = np.random.default_rng(0)
    side = int((2 * count) ** 0.5)
    host = random.random(side * side, dtype=np.float32)
    square = library.array(host.reshape(side, side))
    flat = square.reshape(-1)[:count]
    wide = library.cast(flat, np.float64)
    whole = library.cast(flat[: count // 4], np.int32)
    few, short = flat.reshape(-1, 8), flat.reshape(-1, 4)
    middle = flat.reshape(128, -1, 1024)
    read = 4 * count
    return {
        "copy": (copied(library, flat), 2 * read),
        "cumsum": (along(library, flat, "cumsum", 0), 2 * read),
        "cumsum, one place on": (along(library, flat[1:], "cumsum", 0), 2 * read),
        "cumprod": (along(library, flat, "cumprod", 0), 2 * read),
        "cumsum of float64": (along(library, wide, "cumsum", 0), 4 * read),
        "cumsum of int32": (along(library, whole, "cumsum", 0), 3 * count),
        "cumsum of 2^20": (along(library, flat[: 1 << 20], "cumsum", 0), 8 << 20),
        "cumsum, axis 0 of a square": (along(library, square, "cumsum", 0), 8 * side * side),
        "cumsum, axis 1 of a square": (along(library, square, "cumsum", 1), 8 * side * side),
        "cumsum, middle axis": (along(library, middle, "cumsum", 1), 2 * read),
        "cumsum, axis 0 of (n, 8)": (along(library, few, "cumsum", 0), 2 * read),
        "cumsum, axis 1 of (n, 4)": (along(library, short, "cumsum", 1), 2 * read),
        "cumsum, axis 1 of (8, n)": (along(library, flat.reshape(8, -1), "cumsum", 1), 2 * read),
    }


def small(library: Library) -> float:
    """Host seconds of the scan of sixteen elements, dropped."""
    import numpy as np

    s = library.array(np.ones(16, np.float32))
    return host_seconds(library, along(library, s, "cumsum", 0))


def repeats(library: Library, calls: dict[str, tuple[Callable[[], Any], int]]) -> None:
    """Say which scans do not give the same bits each time."""
    import numpy as np

    def host(array: Any) -> Any:
        return array.cpu().numpy() if library.name == "torch" else array.get()

    for name, (call, _) in calls.items():
        first = host(call())
        bits = first.view(np.uint64 if first.itemsize == 8 else np.uint32)
        same = all((host(call()).view(bits.dtype) == bits).all() for _ in range(100))
        print(f"{library.name:8}{name:32}{'the same bits' if same else 'OTHER BITS'} 100 times")


def main() -> None:
    """Measure all in turns and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=1 << 27)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    libraries = found()
    rows: dict[str, dict[str, list[float]]] = {}
    calls = {library.name: large(library, arguments.elements) for library in libraries}
    if arguments.repeat:
        ours = next(library for library in libraries if library.name == "PyGPU")
        repeats(ours, calls["PyGPU"])
        return
    for _ in range(arguments.rounds):
        for library in libraries:
            for name, (call, nbytes) in calls[library.name].items():
                speed = nbytes / library.seconds(call) / 1e9
                rows.setdefault(f"{name} (GB/s)", {}).setdefault(library.name, []).append(speed)
            rows.setdefault("cumsum of 16 (us)", {}).setdefault(library.name, []).append(small(library) * 1e6)
    table = {name: {one: statistics.median(all_) for one, all_ in row.items()} for name, row in rows.items()}
    print(f"{'':36}" + "".join(f"{library.name:>10}" for library in libraries))
    for name, row in table.items():
        print(f"{name:36}" + "".join(f"{row.get(library.name, float('nan')):10.1f}" for library in libraries))
    if arguments.json:
        machine.write(arguments.json, {"benchmark": "scans", "elements": arguments.elements, "rows": table})


if __name__ == "__main__":
    main()
