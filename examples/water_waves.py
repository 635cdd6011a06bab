"""Waves on water, written as for NumPy
====================================

Each step uses the slope of every point towards its four neighbours, by slices of the array that are views. A mask
defines the wall. Run as ``python water_waves.py waves.png`` (needs Pillow).
"""

import sys
from pathlib import Path

import numpy as np

import PyGPU


def wall(height: int, width: int) -> np.ndarray:
    """Return a wall with two openings, 1 for water."""
    water = np.ones((height, width), np.float32)
    water[:, width // 3 : width // 3 + 6] = 0
    for middle in (height * 2 // 5, height * 3 // 5):
        water[middle - height // 40 : middle + height // 40, width // 3 : width // 3 + 6] = 1
    return water


def waves(xp: object, water: np.ndarray, steps: int) -> np.ndarray:
    """Return the height of the water after a number of steps; `xp` is PyGPU, or NumPy as the reference."""
    open_water = xp.asarray(water)
    now, before = xp.zeros(water.shape, np.float32), xp.zeros(water.shape, np.float32)
    for step in range(steps):
        slope = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4 * now[1:-1, 1:-1]
        after = 2 * now - before
        after[1:-1, 1:-1] += 0.25 * slope
        after *= 0.9995 * open_water
        after[:, 1] = float(np.sin(0.25 * step))  # a board that moves at the left side
        before, now = now, after
    return now


def coloured(height: np.ndarray) -> np.ndarray:
    """Return colours as uint8 of shape (..., 3): crests white, troughs dark blue."""
    share = np.clip(height / 1.6 + 0.5, 0, 1)[..., None]
    return (share * np.array([245, 250, 255]) + (1 - share) * np.array([5, 40, 90])).astype(np.uint8)


def main(path: Path, height: int = 300, width: int = 600, steps: int = 1150) -> None:
    """Compute, and write the PNG."""
    from PIL import Image

    water = wall(height, width)
    image = coloured(waves(PyGPU, water, steps).get())
    image[water == 0] = (60, 50, 45)
    Image.fromarray(image).save(path)
    print(f"{path.name}: {steps} steps of {height} x {width} points")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "waves.png"))
