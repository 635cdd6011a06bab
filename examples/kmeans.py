"""K-means
=======

Points in groups: each point joins its nearest centre, and each centre moves to the mean of its points.
"""

import numpy as np

import PyGPU


def kmeans(xp: object, points: np.ndarray, count: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the group of each point and the centres of the groups; `xp` is PyGPU or NumPy."""
    points = xp.asarray(points)
    centres = points[:: len(points) // count][:count]
    for _ in range(steps):
        group = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        sums = [xp.bincount(group, points[:, axis], minlength=count) for axis in (0, 1)]
        centres = xp.stack(sums, axis=1) / xp.maximum(xp.bincount(group, minlength=count), 1)[:, None]
    return group, centres


if __name__ == "__main__":
    from matplotlib.figure import Figure

    random = np.random.default_rng(1)
    group_centres = np.array([(-5, -3), (-4, 4), (0, 0), (4, 4), (5, -3)])
    points = group_centres[random.integers(5, size=20_000)] + 1.2 * random.standard_normal((20_000, 2))
    group, centres = (array.get() for array in kmeans(PyGPU, points, 5, 30))
    axes = (figure := Figure(figsize=(8, 5))).subplots()
    axes.scatter(*points.T, c=group, s=1, cmap="tab10")
    axes.scatter(*centres.T, c="black", marker="x", s=80)
    figure.savefig("kmeans.png")
