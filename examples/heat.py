"""The heat equation
=================

A warm ring and a warm bar cool down in a plate with cold edges. Slices are views, and on a GPU one kernel computes
each step.
"""

import numpy as np

import PyGPU


def heat(xp: object, plate: np.ndarray, steps: int, share: float = 0.2) -> np.ndarray:
    """Return the temperatures after a number of steps; `xp` is PyGPU or NumPy."""
    now = xp.array(plate)
    for _ in range(steps):
        neighbours = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:]
        now[1:-1, 1:-1] = (1 - 4 * share) * now[1:-1, 1:-1] + share * neighbours
    return now


if __name__ == "__main__":
    from matplotlib.image import imsave

    y, x = np.mgrid[-1:1:300j, -1:1:300j]
    ring, bar = abs(np.hypot(x + 0.3, y) - 0.4) < 0.08, (abs(x - 0.6) < 0.1) & (abs(y) < 0.7)
    plate = (ring | bar).astype(np.float32)
    imsave("heat.png", np.hstack([plate, heat(PyGPU, plate, 800).get()]), cmap="inferno")
