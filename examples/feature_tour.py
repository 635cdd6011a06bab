"""The main job on a real file
===========================

Upload, slice, compute in one kernel, reduce, run a kernel from text, and hand the memory to NumPy and torch: each step
with its time. Runs on any device, and without a GPU on the CPU backend.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import PyGPU

DATA = Path(__file__).parent / "data" / "timezones.csv"
SOURCE = """
__global__ void distances(const double *places, double latitude, double longitude, double *km, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double a = sin((places[2 * i] - latitude) / 2), b = sin((places[2 * i + 1] - longitude) / 2);
    km[i] = 2 * 6371 * asin(sqrt(a * a + cos(latitude) * cos(places[2 * i]) * b * b));
}
"""


@contextmanager
def step(what: str) -> Iterator[None]:
    """Print the step and its duration, with the wait for the device."""
    start = time.perf_counter()
    yield
    PyGPU.synchronize()
    print(f"{what:<82} {(time.perf_counter() - start) * 1e3:9.3f} ms")


def km_in_numpy(places: np.ndarray, latitude: float, longitude: float) -> np.ndarray:
    """Return the distances from a place to all places, which are in radians."""
    a, b = np.sin((places[:, 0] - latitude) / 2), np.sin((places[:, 1] - longitude) / 2)
    return 2 * 6371 * np.arcsin(np.sqrt(a * a + np.cos(latitude) * np.cos(places[:, 0]) * b * b))


def compute(table: np.ndarray) -> PyGPU.GPUArray:
    """Upload a table of degrees, slice it, compute and reduce, and return the places in radians."""
    with step("to_gpu(table): upload"):
        a = PyGPU.to_gpu(table)
    with step("a[:, 0], a[:, 1]: views, nothing is copied"):
        latitude, longitude = a[:, 0], a[:, 1]
    degree = np.pi / 180
    for turn in ("first use", "second use", "third use, one kernel on a GPU"):
        with step(f"cos(degree * latitude) * cos(degree * longitude): {turn}"):
            x = PyGPU.cos(degree * latitude) * PyGPU.cos(degree * longitude)
    np.testing.assert_allclose(x.get(), np.cos(degree * table).prod(axis=1), rtol=1e-12, atol=1e-12)
    with step("a.max(axis=0), a.mean(axis=0): reductions"):
        highest, middle = a.max(axis=0), a.mean(axis=0)
    np.testing.assert_array_equal(highest.get(), table.max(axis=0))
    np.testing.assert_allclose(middle.get(), table.mean(axis=0))
    return degree * a


def measure_distances(places: PyGPU.GPUArray) -> PyGPU.GPUArray:
    """Return the distance of each place from the first one, by a kernel from text."""
    latitude, longitude = places[0].tolist()
    km = PyGPU.empty(len(places))
    with step("Kernel(SOURCE): compile, or read from the cache"):
        kernel = PyGPU.Kernel(SOURCE)
    with step("kernel[grid, block](...): launch"):
        kernel[-(-len(places) // 128), 128](places, latitude, longitude, km, len(places))
    np.testing.assert_allclose(km.get(), km_in_numpy(places.get(), latitude, longitude), rtol=1e-9, atol=1e-9)
    return km


def hand_over(km: PyGPU.GPUArray) -> None:
    """Pass an array to NumPy, and its memory to torch if torch is there."""
    with step("km.get(): a NumPy array"):
        values = km.get()
    if find_spec("torch") is None:
        print("torch is not installed: the step torch.from_dlpack(km) is left out")
        return
    import torch

    with step("torch.from_dlpack(km): a tensor over the same memory"):
        tensor = torch.from_dlpack(km)
    assert tensor.data_ptr() == km.ptr
    np.testing.assert_allclose(float(tensor.max()), values.max())


def main() -> None:
    """Run each step, and compare each result with NumPy's."""
    PyGPU.show_config()
    table = np.loadtxt(DATA, delimiter=",", skiprows=4, usecols=(0, 1))
    print(f"\n{DATA.name}: latitude and longitude of {len(table)} places, {table.nbytes} bytes of {table.dtype}\n")
    with step("PyGPU.Device(): the backend is opened"):
        device = PyGPU.Device()
    places = compute(table)
    try:
        hand_over(measure_distances(places))
    except PyGPU.BackendUnavailableError as error:
        print(f"kernels are left out: {error}")
        hand_over(places)
    print(f"\nevery result is equal to NumPy's, on {device.name}")


if __name__ == "__main__":
    main()
