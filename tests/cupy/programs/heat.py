"""Simulate the heat on a plate, and the game of life, by elementwise kernels with raw arguments and fused functions."""

import argparse

import cupy as cp
import numpy as np

diffuse = cp.ElementwiseKernel(
    "raw T heat, T rate, int32 width",
    "T after",
    """
    int row = i / width, column = i % width;
    int last = _ind.size() / width - 1;
    T north = row > 0 ? heat[i - width] : heat[i];
    T south = row < last ? heat[i + width] : heat[i];
    T west = column > 0 ? heat[i - 1] : heat[i];
    T east = column < width - 1 ? heat[i + 1] : heat[i];
    after = heat[i] + rate * (north + south + west + east - 4 * heat[i]);
    """,
    "diffuse",
)
live = cp.ElementwiseKernel(
    "raw uint8 cells, int32 height, int32 width",
    "uint8 after",
    """
    int row = i / width, column = i % width, count = 0;
    for (int up = -1; up <= 1; ++up)
        for (int right = -1; right <= 1; ++right)
            count += neighbour(&cells[0], row + up, column + right, height, width);
    count -= cells[i];
    after = count == 3 || (count == 2 && cells[i]);
    """,
    "live",
    preamble="""
    __device__ int neighbour(const unsigned char *cells, int row, int column, int height, int width) {
        return cells[(row + height) % height * width + (column + width) % width];
    }
    """,
)


@cp.fuse(kernel_name="cool")
def cool(heat, outside, rate, radiation):
    """Return the plate after it has lost heat to its surroundings, by conduction and by radiation."""
    difference = heat - outside
    return heat - rate * (difference + radiation * difference * cp.absolute(difference))


@cp.fuse()
def energy(heat):
    """Return the sum of sqrt(h * h + 1) - 1 over the heat h of all cells."""
    return cp.sum(cp.sqrt(heat * heat + 1) - 1)


def spread_on_host(heat, steps, rate):
    """Simulate the heat on the plate with NumPy, for comparison."""
    for _ in range(steps):
        edge = np.pad(heat, 1, mode="edge")
        around = edge[:-2, 1:-1] + edge[2:, 1:-1] + edge[1:-1, :-2] + edge[1:-1, 2:]
        heat = heat + rate * (around - 4 * heat)
        difference = heat - 20.0
        heat = heat - 0.05 * (difference + 0.001 * difference * np.abs(difference))
    return heat


def live_on_host(cells, steps):
    """Compute the game of life with NumPy, for comparison."""
    for _ in range(steps):
        shifts = [(up, right) for up in (-1, 0, 1) for right in (-1, 0, 1) if up or right]
        count = sum(np.roll(cells, shift, (0, 1)) for shift in shifts)
        cells = ((count == 3) | ((count == 2) & (cells == 1))).astype(np.uint8)
    return cells


def main():
    """Run the heat and the game of life, and print the sums of their cells."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=48)
    parser.add_argument("--steps", type=int, default=10)
    options = parser.parse_args()
    rows, columns = options.size, options.size + 5
    rng = np.random.default_rng(8)

    plate = rng.uniform(0, 100, (rows, columns))
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-4)):
        heat, after = cp.asarray(plate, dtype=dtype), cp.empty((rows, columns), dtype)
        for _ in range(options.steps):
            diffuse(heat, dtype(0.2), columns, after)
            heat, after = cool(after, dtype(20), dtype(0.05), dtype(0.001)), heat
        expected = spread_on_host(plate, options.steps, 0.2)
        cp.testing.assert_allclose(heat, expected, rtol=tolerance)
        print(heat.dtype, "mean", f"{float(heat.mean()):.4f}", "hottest", f"{float(heat.max()):.4f}")
        print(heat.dtype, "energy", f"{float(energy(heat)) / heat.size:.4f}")

    start = rng.integers(0, 2, (rows, columns), dtype=np.uint8)
    cells = cp.asarray(start)
    for _ in range(options.steps):
        cells = live(cells, rows, columns, size=cells.size).reshape(rows, columns)
    np.testing.assert_array_equal(cells.get(), live_on_host(start, options.steps))
    print("alive", int(cells.sum()), "in rows", *cp.count_nonzero(cells, axis=1)[:8].tolist())


if __name__ == "__main__":
    main()
