"""The Mandelbrot set
==================

A picture computed by one thread per point. Run as ``python mandelbrot.py mandelbrot.png`` (needs Pillow).
"""

import sys
from pathlib import Path

import numpy as np

import PyGPU as gpuarray

SOURCE = """
__global__ void mandelbrot(unsigned char *image, int width, int height, double left, double top, double step, int most)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    double real = left + x * step, imaginary = top - y * step, a = 0, b = 0;
    int i = 0;
    for (; i < most && a * a + b * b <= 4; i++) {
        double next = a * a - b * b + real;
        b = 2 * a * b + imaginary;
        a = next;
    }
    unsigned char *pixel = image + 3 * (size_t(y) * width + x);
    double share = sqrt(double(i) / most);
    pixel[0] = i == most ? 0 : 255 * share;
    pixel[1] = i == most ? 0 : 255 * share * share;
    pixel[2] = i == most ? 0 : 80 + 175 * share;
}
"""


def mandelbrot(width: int, height: int, centre: complex = -0.65, size: float = 2.6, most: int = 500) -> np.ndarray:
    """Draw a square part of the plane around `centre` with height `size`.

    Returns
    -------
    numpy.ndarray
        uint8, of shape (height, width, 3): red, green, blue.
    """
    step = size / height
    corner = centre + complex(-width, height) * step / 2
    image = gpuarray.empty((height, width, 3), np.uint8)
    grid = -(-width // 16), -(-height // 16)
    kernel = gpuarray.Kernel(SOURCE, "mandelbrot")
    kernel[grid, (16, 16)](image, width, height, corner.real, corner.imag, step, most)
    return image.get()


def main(path: Path, width: int = 1200, height: int = 900) -> None:
    """Draw, and write the PNG."""
    try:
        from PIL import Image
    except ImportError:
        raise SystemExit("the PNG is written by Pillow, which is not installed: pip install pillow") from None

    Image.fromarray(mandelbrot(width, height)).save(path)
    print(f"{path}: {width} x {height} pixels from {gpuarray.Device().name}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "mandelbrot.png"))
