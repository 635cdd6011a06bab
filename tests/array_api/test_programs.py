"""Test programs written for the array API: PyGPU gives the same results as array-api-strict.

array-api-strict raises an error for everything outside the standard, so the programs use no other features of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from support import of_few

strict = pytest.importorskip("array_api_strict")

RNG = np.random.default_rng(11)
Arrays = tuple[Any, ...]


def k_means(points: Any, centres: Any) -> Arrays:
    """Run Lloyd's iteration: each point belongs to the nearest centre, each centre is the mean of its points."""
    xp = points.__array_namespace__()
    for _ in range(4):
        apart = points[:, None, :] - centres[None, :, :]
        nearest = xp.argmin(xp.sum(apart * apart, axis=-1), axis=1)
        member = xp.astype(nearest[:, None] == xp.arange(centres.shape[0], device=points.device)[None, :], points.dtype)
        count = xp.sum(member, axis=0)[:, None]
        centres = xp.where(count > 0, member.mT @ points / xp.maximum(count, xp.ones_like(count)), centres)
    return centres, nearest


def power_iteration(x: Any) -> Arrays:
    """Compute the first principal axis and its variance by power iteration."""
    xp = x.__array_namespace__()
    centred = x - xp.mean(x, axis=0, keepdims=True)
    covariance = centred.mT @ centred / (x.shape[0] - 1)
    axis = xp.ones((x.shape[1],), dtype=x.dtype, device=x.device)
    for _ in range(60):
        axis = covariance @ axis
        axis = axis / xp.sqrt(xp.vecdot(axis, axis))
    return axis * xp.sign(axis[0]), xp.vecdot(axis, covariance @ axis)


def logistic_regression(x: Any, y: Any) -> Arrays:
    """Fit a logistic regression by eight steps of gradient descent; return weights and loss."""
    xp = x.__array_namespace__()
    weights = xp.zeros((x.shape[1],), dtype=x.dtype, device=x.device)
    for _ in range(8):
        likely = 1 / (1 + xp.exp(-(x @ weights)))
        weights -= 0.5 * xp.mean((likely - y)[:, None] * x, axis=0)
    margin = (2 * y - 1) * (x @ weights)
    return weights, xp.mean(xp.log1p(xp.exp(-margin)))


def gaussian_process(x: Any, y: Any, targets: Any) -> Arrays:
    """Compute the mean of a Gaussian process at the points `targets`. The linear system is solved by conjugate
    gradients."""
    xp = x.__array_namespace__()

    def kernel(one: Any, other: Any) -> Any:
        return xp.exp(-0.5 * (one[:, None] - other[None, :]) ** 2)

    matrix = kernel(x, x) + 0.1 * xp.eye(x.shape[0], dtype=x.dtype, device=x.device)
    solution, rest = xp.zeros_like(y), xp.asarray(y, copy=True)
    direction = xp.asarray(y, copy=True)
    for _ in range(x.shape[0]):
        moved = matrix @ direction
        length = xp.vecdot(rest, rest)
        step = length / xp.vecdot(direction, moved)
        solution = solution + step * direction
        rest = rest - step * moved
        direction = rest + xp.vecdot(rest, rest) / length * direction
    return kernel(targets, x) @ solution, xp.max(xp.abs(matrix @ solution - y))


def edges(image: Any, weights: Any) -> Arrays:
    """Detect edges by convolution; return the gradient's magnitude, the grey levels, and statistics of a histogram."""
    xp = image.__array_namespace__()
    rows, columns = image.shape
    total = xp.zeros((rows - 2, columns - 2), dtype=image.dtype, device=image.device)
    other = xp.zeros_like(total)
    for row in range(3):
        for column in range(3):
            part = image[row : rows - 2 + row, column : columns - 2 + column]
            total += weights[row, column] * part
            other += weights[column, row] * part
    size = xp.hypot(total, other)
    level = xp.astype(xp.round(size / xp.max(size) * 255), xp.uint8)
    ordered = xp.sort(xp.reshape(level, (-1,)))
    positions = xp.searchsorted(ordered, xp.asarray([64, 128, 192], dtype=xp.uint8, device=image.device))
    return size, level, positions, xp.unique_counts(level).counts


def attention(query: Any, key: Any, value: Any) -> Arrays:
    """Compute multi-head attention with a causal mask and a softmax that does not overflow."""
    xp = query.__array_namespace__()
    scores = query @ xp.permute_dims(key, (0, 2, 1)) / query.shape[-1] ** 0.5
    length = scores.shape[-1]
    mask = xp.tril(xp.ones((length, length), dtype=xp.bool, device=query.device))
    scores = xp.where(mask, scores, xp.asarray(-xp.inf, dtype=query.dtype, device=query.device))
    scores = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
    likely = scores / xp.sum(scores, axis=-1, keepdims=True)
    made = xp.concat(list(xp.unstack(likely @ value, axis=0)), axis=-1)
    return made, xp.std(made, axis=0, correction=1)


def life(cells: Any) -> Arrays:
    """Compute five generations of Conway's game of life on a torus."""
    xp = cells.__array_namespace__()
    for _ in range(5):
        count = xp.zeros(cells.shape, dtype=xp.int8, device=cells.device)
        for shift in ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)):
            count += xp.astype(xp.roll(cells, shift, axis=(0, 1)), xp.int8)
        cells = (count == 3) | (cells & (count == 2))
    return cells, xp.count_nonzero(cells), xp.nonzero(cells)


def mandelbrot(real: Any, imag: Any) -> Arrays:
    """Count for each number the steps, at most 20, that the Mandelbrot iteration stays within 2 of zero."""
    xp = real.__array_namespace__()
    grid_real, grid_imag = xp.meshgrid(real, imag, indexing="ij")
    c = grid_real + 1j * grid_imag
    z, steps = xp.zeros_like(c), xp.zeros(c.shape, dtype=xp.int64, device=c.device)
    for _ in range(20):
        near = xp.abs(z) <= 2
        z = xp.where(near, z * z + c, z)
        steps += xp.astype(near, xp.int64)
    return steps, xp.cumulative_sum(steps, axis=1), xp.any(steps == 20, axis=0)


def ranks(values: Any, other: Any) -> Arrays:
    """Compute Spearman's rank correlation, clipped and selected values, and differences of the sorted values."""
    xp = values.__array_namespace__()

    def rank(x: Any) -> Any:
        return xp.astype(xp.argsort(xp.argsort(x, stable=True), stable=True), xp.float64)

    first, second = rank(values), rank(other)
    first, second = first - xp.mean(first), second - xp.mean(second)
    correlation = xp.sum(first * second) / xp.sqrt(xp.sum(first**2) * xp.sum(second**2))
    ordered = xp.sort(values, descending=True)
    clipped = xp.clip(values, ordered[-2], ordered[1])
    taken = xp.take(ordered, xp.asarray([0, 3], device=values.device))
    return correlation, clipped, taken, xp.diff(ordered), xp.isin(xp.argsort(values), xp.argsort(other)[:4])


PROGRAMS: dict[Callable[..., Arrays], tuple[np.ndarray, ...]] = {
    k_means: (
        RNG.standard_normal((40, 2)) + np.repeat([[0.0], [5.0]], 20, 0),
        np.array([[0.0, 1.0], [4.0, 4.0], [90, 9]]),
    ),
    power_iteration: (RNG.standard_normal((30, 4)) * np.array([5.0, 1.0, 0.5, 0.1]),),
    logistic_regression: (RNG.standard_normal((20, 3)), (RNG.random(20) > 0.5).astype("f8")),
    gaussian_process: (np.linspace(0, 4, 8), RNG.standard_normal(8), np.linspace(0, 4, 5)),
    edges: (RNG.random((12, 15)), np.array([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]])),
    attention: tuple(RNG.standard_normal((3, 2, 5, 4))),
    life: (RNG.random((9, 11)) > 0.6,),
    mandelbrot: (np.linspace(-2, 0.5, 8), np.linspace(-1, 1, 7)),
    ranks: (RNG.permutation(9) / 3.0, RNG.permutation(9) / 2.0),
}


def check(ours: Any, reference: Any) -> None:
    if isinstance(reference, tuple):
        assert len(ours) == len(reference)
        for one, other in zip(ours, reference, strict=True):
            check(one, other)
        return
    assert isinstance(ours, PyGPU.GPUArray)
    expected = np.from_dlpack(reference)
    assert (ours.shape, ours.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(ours.get(), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("program", of_few(list(PROGRAMS), [k_means, edges]), ids=lambda program: program.__name__)
def test_array_api_program_matches_strict_reference(program: Callable[..., Arrays]) -> None:
    hosts = PROGRAMS[program]
    reference = program(*(strict.asarray(host) for host in hosts))
    check(program(*(PyGPU.to_gpu(host) for host in hosts)), reference)
