"""The nearest time zone
=====================

A map of the Earth, each point computed by one thread. A file in this folder lists the locations; a point has
the colour of the nearest one along the sphere. Run as ``python time_zones.py zones.png`` (needs Pillow).
"""

import sys
from pathlib import Path

import numpy as np

import PyGPU

DATA = Path(sys.argv[0]).parent / "data" / "timezones.csv"
SOURCE = """
__global__ void nearest(const float *places, int count, int *zone, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float pi = 3.14159265f;
    float latitude = pi * (0.5f - (y + 0.5f) / height), longitude = pi * (2 * (x + 0.5f) / width - 1);
    float a = cosf(latitude) * cosf(longitude), b = cosf(latitude) * sinf(longitude), c = sinf(latitude);
    float best = -2;
    for (int i = 0; i < count; i++) {
        // The larger the product of two directions, the smaller the angle between them.
        float product = a * places[3 * i] + b * places[3 * i + 1] + c * places[3 * i + 2];
        if (product > best) {
            best = product;
            zone[size_t(y) * width + x] = i;
        }
    }
}
"""


def directions(table: np.ndarray) -> np.ndarray:
    """Convert latitudes and longitudes in degrees to points on the unit sphere, float32 of shape (n, 3)."""
    latitude, longitude = np.radians(table).T
    return np.stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], axis=1
    ).astype(np.float32)


def zones(places: np.ndarray, width: int, height: int) -> PyGPU.GPUArray:
    """Return the number of the nearest location for each point of a map."""
    zone = PyGPU.empty((height, width), np.int32)
    nearest = PyGPU.Kernel(SOURCE, "nearest")
    nearest[(-(-width // 16), -(-height // 16)), (16, 16)](PyGPU.to_gpu(places), len(places), zone, width, height)
    return zone


def coloured(zone: PyGPU.GPUArray, count: int) -> np.ndarray:
    """Return a colour for each zone, with a darker border; the colours are looked up on the device."""
    colours = PyGPU.to_gpu(np.random.default_rng(5).integers(60, 236, (count, 3), dtype=np.uint8))
    image = colours[zone]
    border = (zone[1:, 1:] != zone[:-1, 1:]) | (zone[1:, 1:] != zone[1:, :-1])
    image[1:, 1:][border] = 30
    return image.get()


def main(path: Path, data: Path = DATA, width: int = 1200, height: int = 600) -> None:
    """Read, compute, and write the PNG."""
    from PIL import Image

    table = np.loadtxt(data, delimiter=",", skiprows=4, usecols=(0, 1))
    zone = zones(directions(table), width, height)
    Image.fromarray(coloured(zone, len(table))).save(path)
    count = PyGPU.unique(zone).size
    print(f"{path.name}: {len(table)} places, of which {count} are the nearest of some point")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "zones.png"))
