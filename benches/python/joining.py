"""Joining, rolling and repeating beside torch and CuPy: gigabytes a second that are read and written, in turns.

    python benches/python/joining.py [--bytes N] [--rounds 5] [--json FILE]

Gigabytes are the operands, read once, and the results, written once. Times are between two events over 20 calls.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
from arithmetic import Library, found


def calls_of(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Calls with the bytes that each must move."""
    import numpy as np

    module = library.module
    random = np.random.default_rng(0)
    side = int(count**0.5) // 64 * 64
    count = side * side
    flat = library.array(random.random(count, dtype=np.float32))
    first, second = flat[: count // 2], flat[count // 2 :]
    square = flat.reshape(side, side)
    left, right = square[:, : side // 2], square[:, side // 2 :]
    parts = [flat[place * 1000 : place * 1000 + 1000] for place in range(16)]
    both, quarter = 8 * count, 4 * (count // 4)
    concatenate = module.cat if library.name == "torch" else module.concatenate
    repeat = module.tile
    return {
        "concatenate": (lambda: concatenate([first, second]), both),
        "concatenate, axis 1": (lambda: concatenate([left, right], 1), both),
        "concatenate, 16 of 1000": (lambda: concatenate(parts), 8 * 16000),
        "roll": (lambda: module.roll(flat, 12345), both),
        "roll, axis 1 of a square": (lambda: module.roll(square, 321, 1), both),
        "roll, both axes": (lambda: module.roll(square, (321, 123), (0, 1)), both),
        "tile, 4 x": (lambda: repeat(flat[: count // 4], (4,)), quarter + 4 * quarter),
        "tile, 4 x, a square": (lambda: repeat(square[: side // 2, : side // 2], (2, 2)), both // 8 + both // 2),
        "stack, last axis": (lambda: module.stack([first, second], -1), both),
        "tril": (lambda: module.tril(square), both),
    }


def main() -> None:
    """Measure all in turns and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=1 << 30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    libraries = found()
    rows: dict[str, dict[str, list[float]]] = {}
    calls = {library.name: calls_of(library, arguments.bytes // 4) for library in libraries}
    for _ in range(arguments.rounds):
        for library in libraries:
            for name, (call, nbytes) in calls[library.name].items():
                speed = nbytes / library.seconds(call) / 1e9
                rows.setdefault(f"{name} (GB/s)", {}).setdefault(library.name, []).append(speed)
    table = {name: {one: statistics.median(all_) for one, all_ in row.items()} for name, row in rows.items()}
    print(f"{'':34}" + "".join(f"{library.name:>10}" for library in libraries))
    for name, row in table.items():
        print(f"{name:34}" + "".join(f"{row.get(library.name, float('nan')):10.1f}" for library in libraries))
    if arguments.json:
        machine.write(arguments.json, {"benchmark": "joining", "bytes": arguments.bytes, "rows": table})


if __name__ == "__main__":
    main()
