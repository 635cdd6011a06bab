"""Time the short programs of the gallery with PyGPU and with NumPy.

    python benches/python/gallery.py [--rounds 5] [--json FILE]

A time covers a whole call: the upload of its ndarrays, the computation and the download of the result. Values are
medians over rounds, in which PyGPU and NumPy run alternately, after one call that compiles kernels.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import numpy as np

import PyGPU

sys.path.append(str(Path(__file__).parents[2] / "examples"))


def example(name: str) -> Any:
    """Import a program of the folder examples."""
    return importlib.import_module(name)


def bodies(x: np.ndarray, v: np.ndarray, steps: int, dt: float = 0.01) -> np.ndarray:
    """Compute with NumPy the same simulation steps as the kernel of nbody.py."""
    for _ in range(steps):
        to = x - x[:, None]
        v = v + np.float32(dt) * (to * ((to**2).sum(axis=2, keepdims=True) + np.float32(0.01)) ** -1.5).mean(axis=1)
        x = x + np.float32(dt) * v
    return x


def programs() -> dict[str, Callable[[Any], Any]]:
    """Return a function for each program, by title.

    The function's argument is the module with which the program computes: PyGPU or NumPy.
    """
    random = np.random.default_rng(1)
    points = random.random((1_000_000, 2), np.float32)
    plate = random.random((4096, 4096), np.float32)
    image = random.random((2048, 2048, 3), np.float32)
    spot = 50 + 100 * random.random(1 << 22, np.float32)
    signal = random.random(1 << 23)
    x, v = random.standard_normal((2, 4096, 3), np.float32)

    def nbody(xp: Any) -> Any:
        return bodies(x, v, 5) if xp is np else example("nbody").bodies(PyGPU.to_gpu(x), PyGPU.to_gpu(v), 5)

    def options(xp: Any) -> Any:
        return example("black_scholes").call_price(xp, xp.asarray(spot), 100, xp.ones(1, np.float32))

    return {
        "k-means, 10^6 points, 8 groups, 5 steps": lambda xp: example("kmeans").kmeans(xp, points, 8, 5)[1],
        "heat, 4096 x 4096 points, 20 steps": lambda xp: example("heat").heat(xp, plate, 20),
        "blur, 2048 x 2048 pixels, twice": lambda xp: example("blur").blur(xp, image, 2),
        "Black-Scholes, 4 x 10^6 options": options,
        "low-pass filter, 8 x 10^6 samples": lambda xp: example("low_pass").low_pass(xp, signal, 1e5, 1),
        "n-body, 4096 bodies, 5 steps": nbody,
    }


def milliseconds(program: Callable[[Any], Any], xp: Any) -> tuple[float, np.ndarray]:
    """Return the milliseconds of one run of a program, and its result."""
    start = time.perf_counter()
    result = program(xp)
    values = result.get() if isinstance(result, PyGPU.GPUArray) else result
    return (time.perf_counter() - start) * 1e3, values


def main() -> None:
    """Time all programs, compare the results, print the times, and write the JSON file if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    ways = {"PyGPU": PyGPU, "NumPy": np}
    rows: dict[str, dict[str, float]] = {}
    for title, program in programs().items():
        (_, ours), (_, expected) = milliseconds(program, PyGPU), milliseconds(program, np)
        np.testing.assert_allclose(ours, expected, rtol=2e-3, atol=2e-3, err_msg=title)
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(arguments.rounds):
            for name, xp in ways.items():
                times[name].append(milliseconds(program, xp)[0])
        rows[f"{title} (ms)"] = {name: statistics.median(each) for name, each in times.items()}
        print(f"{title:40}" + "".join(f"  {name} {value:9.2f} ms" for name, value in rows[f"{title} (ms)"].items()))
    if arguments.json:
        machine.write(arguments.json, {"benchmark": "gallery", "rounds": arguments.rounds, "rows": rows})


if __name__ == "__main__":
    main()
