"""Positions of random walks
=========================

Twenty thousand random walks, and the number of visits of each position: random numbers, a cumulative sum, counts
and percentiles, all on the device. Run as ``python random_walks.py walks.png`` (needs Pillow).
"""

import sys
from pathlib import Path

import numpy as np

import PyGPU


def walks(count: int, steps: int) -> PyGPU.GPUArray:
    """Return random walks with normally distributed steps, one in each row."""
    return PyGPU.random.default_rng(7).standard_normal((count, steps), dtype=np.float32).cumsum(axis=1)


def visits(positions: PyGPU.GPUArray, limit: float, rows: int) -> np.ndarray:
    """Return the number of walks in each of `rows` intervals between -limit and limit, after each step."""
    _, steps = positions.shape
    row = ((limit - positions) * (rows / (2 * limit))).clip(0, rows - 1).astype(np.int64)
    cells = row * steps + PyGPU.arange(steps)
    return PyGPU.bincount(cells.ravel(), minlength=rows * steps).reshape(rows, steps).get()


def main(path: Path, count: int = 20_000, steps: int = 800, rows: int = 400) -> None:
    """Walk, count, and write the PNG."""
    from PIL import Image

    positions = walks(count, steps)
    limit = 3 * steps**0.5
    seen = np.log1p(visits(positions, limit, rows))
    share = (seen / seen.max())[..., None]
    image = share * np.array([255, 190, 70]) + (1 - share) * np.array([25, 10, 45])
    lines = PyGPU.percentile(positions, [5, 25, 50, 75, 95], axis=0).get()
    for line in lines:
        image[np.clip((limit - line) * rows / (2 * limit), 0, rows - 1).astype(int), np.arange(steps)] = 255
    Image.fromarray(image.astype(np.uint8)).save(path)
    print(f"{path.name}: {count} walks; half of them end between {lines[1, -1]:.1f} and {lines[3, -1]:.1f}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "walks.png"))
