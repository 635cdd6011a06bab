"""A blurred image
===============

A Gaussian blur of an image by slices: each axis needs five shifted views of the image. ``python blur.py photo.jpg``
blurs a photo, and without a photo a test card.
"""

import sys

import numpy as np

import PyGPU


def blur(xp: object, image: np.ndarray, times: int) -> np.ndarray:
    """Blur an image of shape (height, width, colours) a number of times; `xp` is PyGPU or NumPy."""
    now = xp.asarray(image)
    for _ in range(times):
        p = xp.pad(now, ((2, 2), (0, 0), (0, 0)), mode="edge")
        now = (p[:-4] + p[4:] + 4 * (p[1:-3] + p[3:-1]) + 6 * p[2:-2]) / 16
        p = xp.pad(now, ((0, 0), (2, 2), (0, 0)), mode="edge")
        now = (p[:, :-4] + p[:, 4:] + 4 * (p[:, 1:-3] + p[:, 3:-1]) + 6 * p[:, 2:-2]) / 16
    return now


if __name__ == "__main__":
    from matplotlib.image import imread, imsave

    y, x = np.mgrid[-1:1:300j, -1:1:300j]
    angle = np.arctan2(y, x)[..., None]
    card = (np.cos(16 * angle) > 0) * (0.5 + 0.5 * np.cos(angle - [0, 2.1, 4.2]))
    image = (imread(sys.argv[1])[..., :3] if sys.argv[1:] else card).astype(np.float32)
    image /= image.max()
    imsave("blur.png", np.hstack([image, blur(PyGPU, image, 12).get()]).clip(0, 1))
