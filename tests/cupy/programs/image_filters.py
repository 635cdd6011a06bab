"""Filter and measure a noisy picture by reductions, scatter operations, random numbers and Fourier transforms."""

import argparse

import cupy as cp
import cupyx
import numpy as np

spread = cp.ReductionKernel("T x, float64 centre", "float64 y", "(x - centre) * (x - centre)", "a + b",
                            "y = sqrt(a / _in_ind.size() * _out_ind.size())", "0", "spread")  # fmt: skip
brightest = cp.ReductionKernel(
    "T x, raw T weight",
    "T value, int64 place",
    "candidate<T>(x * weight[_J % 2], _J)",
    "a.value >= b.value ? a : b",
    "value = a.value, place = a.place",
    "candidate<T>()",
    "brightest",
    reduce_type="candidate<T>",
    preamble="""
    template <typename T> struct candidate {
        T value; long long place;
        __device__ candidate() : value(-1e30), place(-1) {}
        __device__ candidate(T value_, long long place_) : value(value_), place(place_) {}
    };
    """,
)


def blobs(size, centres):
    """Return a picture with a round blob at every centre."""
    rows, columns = cp.ogrid[:size, :size]
    picture = cp.zeros((size, size))
    for row, column, width in centres:
        picture += cp.exp(-((rows - row) ** 2 + (columns - column) ** 2) / (2.0 * width**2))
    return picture


def smoothed(picture, width):
    """Smooth a picture by multiplying its Fourier transform, and return the result."""
    height, length = picture.shape
    down, right = cp.fft.fftfreq(height)[:, None], cp.fft.rfftfreq(length)[None, :]
    passed = cp.exp(-2 * (np.pi * width) ** 2 * (down**2 + right**2))
    return cp.fft.irfft2(cp.fft.rfft2(picture) * passed, s=picture.shape)


def radial_profile(picture, row, column, rings):
    """Return the mean brightness in rings around a point."""
    rows, columns = cp.indices(picture.shape)
    ring = cp.hypot(rows - row, columns - column).astype(cp.int32)
    inside = ring < rings
    sums, counts = cp.zeros(rings), cp.zeros(rings, cp.int32)
    cupyx.scatter_add(sums, ring[inside], picture[inside])
    cupyx.scatter_add(counts, ring[inside], 1)
    return sums / cp.maximum(counts, 1)


def main():
    """Print exact measurements of the picture without noise, and the distribution of the noise."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=96)
    options = parser.parse_args()
    size = options.size
    centres = [(size // 3, size // 4, 4), (size // 2, 2 * size // 3, 6)]
    clean = blobs(size, centres)
    soft = smoothed(clean, 1.5)

    host = clean.get()
    spectrum = np.fft.rfft2(host)
    down, right = np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size)[None, :]
    expected = np.fft.irfft2(spectrum * np.exp(-2 * (np.pi * 1.5) ** 2 * (down**2 + right**2)), s=host.shape)
    cp.testing.assert_allclose(soft, expected, atol=1e-10)
    print("spread", f"{float(spread(soft, soft.mean())):.6f}", f"{float(soft.std()):.6f}")
    print("rows", *(f"{value:.6f}" for value in spread(soft, 0.1, axis=1)[:: size // 4].tolist()))

    weight = cp.ones(2)
    value, place = cp.empty(()), cp.empty((), cp.int64)
    brightest(soft, weight, value, place)
    print("brightest", f"{float(value):.6f}", *(int(part) for part in cp.unravel_index(place, soft.shape)))
    values, positions = cp.empty(size), cp.empty(size, cp.int64)
    assert brightest(soft, weight, values, positions, axis=0) is values
    print("in columns", *positions[size // 3 : size // 2 : 5].tolist())
    profile = radial_profile(soft, *centres[1][:2], 12)
    print("profile", *(f"{level:.5f}" for level in profile.tolist()))

    levels, edges = cp.histogram(soft, bins=6, range=(-0.01, 0.89))
    print("levels", *levels.tolist(), f"{float(edges[-1]):.3f}")
    lowest = cp.full(4, 9.0)
    cupyx.scatter_min(lowest, cp.arange(size * size) % 4, 1 - soft.ravel())
    print("lowest", *(f"{level:.5f}" for level in lowest.tolist()))

    cp.random.seed(5)
    noise = cp.random.standard_normal((size, size), dtype=cp.float32)
    rng = cp.random.default_rng(6)
    counts = rng.poisson(4.0, (size, size))
    for sample, mean, variance in ((noise, 0, 1), (counts, 4, 4)):
        assert abs(float(sample.mean()) - mean) < 10 / size
        assert abs(float(sample.var()) - variance) < 40 / size
    found = smoothed(clean + 0.1 * noise, 3).argmax()
    positions = [int(part) for part in cp.unravel_index(found, clean.shape)]
    print("found", [abs(place - at) <= 3 for place, at in zip(positions, centres[1][:2], strict=True)])
    order = cp.random.permutation(size)
    assert cp.sort(order).tolist() == list(range(size))
    print("shuffled", bool((cp.sort(clean[order], axis=0) == cp.sort(clean, axis=0)).all()))


if __name__ == "__main__":
    main()
