"""Test copies of arrays with any layout against NumPy: from host to device, from device to host, within a device."""

from __future__ import annotations

import random
from typing import Any

import numpy
import pytest

import PyGPU
from gpu import support
from gpu.support import same

support.require_gpu()

DTYPES = ["bool", "int8", "uint16", "float16", "int32", "float32", "int64", "float64", "complex64", "complex128"]


def random_shape(generator: random.Random, ndim: int, most: int) -> tuple[int, ...]:
    return tuple(generator.choice([1, 2, 3, generator.randint(0, most)]) for _ in range(ndim))


def random_key(generator: random.Random, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Return a random key with one slice per axis and an ellipsis. Because of the ellipsis, NumPy returns an array and
    no scalar."""
    key: list[slice] = []
    for length in shape:
        step = generator.choice([1, 1, 2, 3, -1, -1, -2])
        start, stop = sorted((generator.randint(0, length), generator.randint(0, length)))
        if generator.random() < 0.5:
            start, stop = 0, length
        backwards = slice(stop - 1 if stop else 0, start - 1 if start else None, step)
        key.append(slice(start, stop, step) if step > 0 else backwards)
    return (*key, ...)


def random_values(generator: random.Random, shape: tuple[int, ...], dtype: str) -> numpy.ndarray:
    made = numpy.random.default_rng(generator.randrange(2**32)).integers(0, 100, shape)
    return numpy.asarray(made).astype(dtype)


def random_axes(generator: random.Random, ndim: int) -> list[int]:
    return generator.sample(range(ndim), ndim)


@pytest.fixture(params=range(3 if support.is_simulated() else 8))
def generator(request: pytest.FixtureRequest, hypothesis_or_own_seed: int) -> random.Random:
    seed = hypothesis_or_own_seed * 100 + request.param
    print(f"seed {seed}")
    return random.Random(seed)


@pytest.fixture(scope="session")
def hypothesis_or_own_seed(request: pytest.FixtureRequest) -> int:
    """Return the seed given by the option `--hypothesis-seed`, which repeats an earlier run, or else a random seed."""
    seed = getattr(request.config.option, "hypothesis_seed", None)
    try:
        return int(seed)
    except (TypeError, ValueError):
        return random.SystemRandom().randrange(2**32)


def test_upload_of_any_host_view_matches_numpy(generator: random.Random) -> None:
    for _ in range(40):
        host = random_values(generator, random_shape(generator, generator.randint(0, 4), 20), generator.choice(DTYPES))
        view = host[random_key(generator, host.shape)].transpose(random_axes(generator, host.ndim))
        array = PyGPU.to_gpu(view)
        same(array.get(), view)


def test_download_of_any_device_view_matches_numpy(generator: random.Random) -> None:
    for _ in range(40):
        host = random_values(generator, random_shape(generator, generator.randint(0, 4), 20), generator.choice(DTYPES))
        key, axes = random_key(generator, host.shape), random_axes(generator, host.ndim)
        view = PyGPU.to_gpu(host)[key].transpose(axes)
        expected = host[key].transpose(axes)
        same(view.get(), expected)
        filled = numpy.empty(expected.shape[::-1], expected.dtype).T
        view.get(filled)
        same(filled, expected)


def test_assignment_of_host_values_to_any_device_view_matches_numpy(generator: random.Random) -> None:
    for _ in range(40):
        host = random_values(generator, random_shape(generator, generator.randint(1, 4), 20), generator.choice(DTYPES))
        key = random_key(generator, host.shape)
        new = random_values(generator, host[key].shape[::-1], str(host.dtype)).T
        array = PyGPU.to_gpu(host)
        array[key] = new
        host[key] = new
        same(array.get(), host)


def test_copy_between_any_device_views_matches_numpy(generator: random.Random) -> None:
    for _ in range(40):
        host = random_values(generator, random_shape(generator, generator.randint(0, 4), 20), generator.choice(DTYPES))
        key, axes = random_key(generator, host.shape), random_axes(generator, host.ndim)
        view, expected = PyGPU.to_gpu(host)[key].transpose(axes), host[key].transpose(axes)
        for order in "CF":
            copied = view.copy(order)
            same(copied.get(), expected)
            assert copied.flags.c_contiguous if order == "C" else copied.flags.f_contiguous


def test_overlapping_assignments_read_source_before_writing(generator: random.Random) -> None:
    for _ in range(40):
        shape = tuple(generator.randint(2, 24) for _ in range(generator.randint(1, 3)))
        host = random_values(generator, shape, generator.choice(DTYPES))
        array = PyGPU.to_gpu(host)
        axis = generator.randrange(len(shape))
        shift = generator.randint(1, shape[axis] - 1)
        lower = tuple(slice(None, -shift) if number == axis else slice(None) for number in range(len(shape)))
        upper = tuple(slice(shift, None) if number == axis else slice(None) for number in range(len(shape)))
        target, source = (lower, upper) if generator.random() < 0.5 else (upper, lower)
        array[target] = array[source]
        host[target] = host[source]
        same(array.get(), host)
        backwards = (slice(None, None, -1),) * len(shape)
        array[...] = array[backwards]
        host[...] = host[backwards].copy()
        same(array.get(), host)


def test_assignment_of_transpose_to_square_array_matches_numpy() -> None:
    host = numpy.arange(64 * 64, dtype=numpy.float64).reshape(64, 64)
    array = PyGPU.to_gpu(host)
    array[...] = array.T
    same(array.get(), host.T)


def test_assigned_values_are_broadcast_to_device_view() -> None:
    host = numpy.zeros((5, 6, 7), numpy.int32)
    array = PyGPU.to_gpu(host)
    for key, value in [
        (..., 3),
        ((slice(None), 2), numpy.arange(7, dtype=numpy.int32)),
        ((slice(1, 4), slice(None, None, -2)), numpy.arange(3, dtype=numpy.int32)[:, None, None]),
    ]:
        array[key] = value
        host[key] = value
        same(array.get(), host)
    row = PyGPU.arange(7, dtype=numpy.int32)
    array[1:] = row
    host[1:] = row.get()
    same(array.get(), host)


# Axis lengths of arrays that exceed one pinned buffer of the copy ring. On a real GPU the arrays also exceed the caches
# of the GPU.
SIDE, EDGE = (1024, 80) if support.is_simulated() else (4096, 220)
LARGE = {
    "rows of a matrix": ((SIDE, SIDE), lambda a: a[100:-100]),
    "columns of a matrix": ((SIDE, SIDE), lambda a: a[:, SIDE // 8 : SIDE * 3 // 4]),
    "every second row": ((SIDE, SIDE), lambda a: a[::2]),
    "every second column": ((SIDE, SIDE), lambda a: a[:, ::2]),
    "rows backwards": ((SIDE, SIDE), lambda a: a[::-1]),
    "transposed": ((SIDE * 3 // 4, SIDE - 95), lambda a: a.T),
    "inner box": ((EDGE - 20, EDGE, EDGE + 20), lambda a: a[10:-10, 20:-20, 30:-30]),
    "axes rotated": ((EDGE - 20, EDGE, EDGE + 20), lambda a: a.transpose(2, 0, 1)),
    "line backwards": ((SIDE * SIDE,), lambda a: a[::-1]),
    "line by three": ((SIDE * SIDE,), lambda a: a[::3]),
}


@pytest.mark.parametrize("name", LARGE)
def test_copies_of_large_view_in_every_direction_match_numpy(name: str) -> None:
    shape, view = LARGE[name]
    host = numpy.arange(int(numpy.prod(shape)), dtype=numpy.float32).reshape(shape)
    array = PyGPU.to_gpu(host)
    same(view(array).get(), view(host))
    same(view(array).copy().get(), view(host))
    same(PyGPU.to_gpu(view(host)).get(), view(host))
    view(array)[...] = view(host) + 1
    view(host)[...] += 1
    same(array.get(), host)


@pytest.mark.whole_device
def test_copy_of_array_above_4_gib_is_correct() -> None:
    count = (1 << 32) + 5
    free, _ = PyGPU.memory_info()
    if free < 2 * count:
        pytest.skip(f"only {free} bytes of the device are free")
    array = PyGPU.full(count, 1, "uint8")
    array[-1] = 7
    array[1 << 32] = 9
    copied = array.copy()
    same(copied[-6:].get(), numpy.array([1, 9, 1, 1, 1, 7], numpy.uint8))
    same(copied[:: 1 << 30].get(), numpy.array([1, 1, 1, 1, 9], numpy.uint8))
