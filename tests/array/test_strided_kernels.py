"""Test copies, gathers and scatters within a device for any layout and every kernel: results match NumPy."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

import PyGPU
import simulated_driver
from support import assert_same, on_cpu

# Item sizes in bytes. 24 is no power of two, 32 exceeds the largest vector load, and 3 and 6 cause unaligned addresses.
ITEMSIZES = [1, 2, 3, 4, 6, 8, 16, 24, 32]
HERE = Path(__file__).parents[1]

Combination = TypeVar("Combination")


def pairwise(combinations: Iterable[Combination]) -> list[Combination]:
    """Return all combinations of the arguments on a real GPU, and every third one on the CPU and on a simulated GPU.

    A simulated GPU is slow because it runs the threads of a kernel one after another.
    """
    every = list(combinations)
    return every if not on_cpu() and simulated_driver.driver() is None else every[::3]


def of_size(itemsize: int) -> np.dtype:
    names = {1: "u1", 2: "u2", 4: "f4", 8: "i8", 16: "c16"}
    return np.dtype(names.get(itemsize, f"V{itemsize}"))


def noise(shape: tuple[int, ...], itemsize: int, seed: int) -> np.ndarray:
    """Return items of random bytes. Each byte is below 60, so that no bytes form a NaN."""
    count = int(np.prod(shape)) * itemsize
    raw = np.random.default_rng(seed).integers(0, 60, count, dtype=np.uint8)
    return raw.view(of_size(itemsize)).reshape(shape)


def same(device: PyGPU.GPUArray, host: np.ndarray) -> None:
    assert device.shape == host.shape
    assert device.get().tobytes() == host.tobytes()


def both(shape: tuple[int, ...], itemsize: int, seed: int = 1) -> tuple[np.ndarray, PyGPU.GPUArray]:
    host = noise(shape, itemsize, seed)
    return host, PyGPU.to_gpu(host)


@pytest.fixture(params=range(6))
def generator(request: pytest.FixtureRequest) -> random.Random:
    seed = random.SystemRandom().randrange(2**32) + request.param
    print(f"seed {seed}")
    return random.Random(seed)


def random_key(generator: random.Random, array: Any) -> tuple[Any, ...]:
    """Return a random key for the array: one slice per axis, with a step of -2, -1, 1, 2 or 3."""
    key = []
    for length in array.shape:
        start, stop = sorted((generator.randint(0, length), generator.randint(0, length)))
        step = generator.choice([1, 1, 2, 3, -1, -2])
        if generator.random() < 0.6:
            start, stop = 0, length
        backwards = slice(stop - 1 if stop else 0, start - 1 if start else None, step)
        key.append(slice(start, stop, step) if step > 0 else backwards)
    return (*key, ...)


def launches() -> int:
    """Return the number of kernels launched on the simulated driver, or 0 if the driver does not count launches."""
    driver = simulated_driver.driver()
    if driver is None:
        return 0
    names = [name for name in ("cuLaunchKernel", "hipModuleLaunchKernel") if name in driver.calls()]
    return sum(driver.call_count(name) for name in names)


def has_kernels() -> bool:
    try:
        PyGPU.Module('extern "C" __global__ void nothing() {}')
    except (PyGPU.BackendUnavailableError, PyGPU.NotSupportedError):
        return False
    return True


@pytest.fixture
def expect_kernel_launch() -> Iterator[None]:
    """Check that the test launches a kernel, if a simulated driver counts launches and a compiler exists."""
    before = launches()
    yield
    if simulated_driver.driver() is not None and has_kernels():
        assert launches() > before, "no kernel ran: the detour over the host was taken"


SHAPES = [(70, 131), (64, 128), (128, 256), (3, 1000), (1000, 3), (257, 63), (40, 40)]


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize(("itemsize", "shape"), pairwise(itertools.product(ITEMSIZES, SHAPES)), ids=str)
def test_copy_of_transposed_plane_matches_numpy(
    shape: tuple[int, ...], itemsize: int, expect_kernel_launch: None
) -> None:
    host, device = both(shape, itemsize)
    same(device.T.copy("C"), host.T)
    target = PyGPU.to_gpu(noise(shape[::-1], itemsize, 2))
    target[...] = device.T
    same(target, host.T)


OFFSETS = [(1, 0), (0, 1), (3, 5), (8, 16)]


@pytest.mark.parametrize(("itemsize", "offset"), pairwise(itertools.product(ITEMSIZES, OFFSETS)), ids=str)
def test_copy_of_unaligned_transposed_plane_matches_numpy(offset: tuple[int, int], itemsize: int) -> None:
    host, device = both((96, 144), itemsize)
    key = (slice(offset[0], None), slice(offset[1], None))
    target, expected = PyGPU.to_gpu(noise((150, 100), itemsize, 2)), noise((150, 100), itemsize, 2)
    rows, columns = host[key].shape
    target[2 : columns + 2, 3 : rows + 3] = device[key].T
    expected[2 : columns + 2, 3 : rows + 3] = host[key].T
    same(target, expected)


AXES = [(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]


@pytest.mark.parametrize(("itemsize", "axes"), pairwise(itertools.product(ITEMSIZES, AXES)), ids=str)
def test_3d_copy_with_permuted_axes_matches_numpy(
    axes: tuple[int, ...], itemsize: int, expect_kernel_launch: None
) -> None:
    for shape in [(12, 33, 48), (32, 48, 64), (3, 50, 4)]:
        host, device = both(shape, itemsize)
        same(device.transpose(axes).copy("C"), host.transpose(axes))


@pytest.mark.parametrize("itemsize", ITEMSIZES)
def test_copies_with_steps_and_negative_strides_match_numpy(itemsize: int, expect_kernel_launch: None) -> None:
    host, device = both((37, 2050), itemsize)
    rows, flat = slice(None), slice(None, None, -1)
    for key in [
        (rows, slice(None, None, 2)),
        (rows, flat),
        (flat, rows),
        (flat, flat),
        (slice(1, None, 3), slice(5, -5)),
    ]:
        same(device[key].copy("C"), host[key])
        target, expected = PyGPU.to_gpu(noise(host.shape, itemsize, 2)), noise(host.shape, itemsize, 2)
        target[key] = device[key[::1]]
        expected[key] = host[key]
        same(target, expected)


@pytest.mark.parametrize("itemsize", ITEMSIZES)
def test_copy_of_broadcast_row_or_column_matches_numpy(itemsize: int) -> None:
    host, device = both((50, 1100), itemsize)
    for repeated in [(slice(0, 1), slice(None)), (slice(None), slice(0, 1)), (slice(3, 4), slice(4, 5))]:
        target = PyGPU.to_gpu(noise(host.shape, itemsize, 2))
        target[...] = device[repeated]
        same(target, np.broadcast_to(host[repeated], host.shape))


def test_copy_of_random_layouts_matches_numpy(generator: random.Random) -> None:
    for _ in range(25):
        itemsize, rank = generator.choice(ITEMSIZES), generator.randint(0, 5)
        shape = tuple(generator.choice([1, 2, 3, 7, 16, 40]) for _ in range(rank))
        if np.prod(shape) > 200_000:
            continue
        host, device = both(shape, itemsize, generator.randrange(1000))
        key, axes = random_key(generator, host), generator.sample(range(rank), rank)
        same(device[key].transpose(axes).copy("C"), host[key].transpose(axes))
        other, expected = PyGPU.to_gpu(host), host.copy()
        other.transpose(axes)[...] = device.transpose(axes)[(slice(None, None, -1),) * rank]
        expected.transpose(axes)[...] = host.transpose(axes)[(slice(None, None, -1),) * rank]
        same(other, expected)


def test_copy_of_array_with_13_axes_matches_numpy() -> None:
    host, device = both((2,) * 13, 4)
    axes = [0, 2, 4, 6, 8, 10, 12, 1, 3, 5, 7, 9, 11]
    same(device.transpose(axes).copy("C"), host.transpose(axes))
    same(device[..., ::-1, :, ::-1].copy("C"), host[..., ::-1, :, ::-1])


@pytest.mark.parametrize("itemsize", ITEMSIZES)
def test_copy_between_overlapping_views_reads_source_before_writing(itemsize: int) -> None:
    host, device = both((80, 80), itemsize)
    device[...] = device.T
    host[...] = host.T.copy()
    same(device, host)
    device[1:, 2:] = device[:-1, :-2]
    host[1:, 2:] = host[:-1, :-2].copy()
    same(device, host)
    device[:, ::-1] = device
    host[:, ::-1] = host.copy()
    same(device, host)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 4), (1, 1)], ids=str)
def test_copy_of_arrays_with_zero_or_one_element_matches_numpy(shape: tuple[int, ...]) -> None:
    host, device = both(shape, 4)
    same(device.T.copy("C"), host.T)
    device[...] = device.T.T
    same(device, host)


def test_copy_on_second_stream_waits_for_write_on_first_stream() -> None:
    host, device = both((64, 192), 4)
    first, second = PyGPU.Stream(), PyGPU.Stream()
    turned = PyGPU.empty((192, 64), "f4")
    for turn in range(5):
        with first:
            device[...] = host + turn
        with second:
            turned[...] = device.T
        same(turned, (host + turn).T)


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("itemsize", ITEMSIZES)
def test_gather_and_scatter_with_index_arrays_match_numpy(itemsize: int, expect_kernel_launch: None) -> None:
    host, device = both((30, 20, 6), itemsize)
    some, others = np.array([5, -1, 0, 29, 5]), np.array([[3], [-20]], np.int32)
    keys: list[Any] = [
        some,
        (slice(None), others),
        (..., np.array([1, 1, 0], np.int8)),
        (some, slice(None, None, -1), np.array([2])),
        (some, slice(2, 9), 3),
        (slice(None, None, 2), some[:2], others % 6),
        (np.array([7], np.uint8), 3, -2),
        (None, some, None),
        host[:, 0, 0] == host[0, 0, 0],
    ]
    for key in keys:
        selected = host[key]
        same(device[key], selected)
        values = noise(selected.shape, itemsize, 3)
        device[key] = host[key] = values
        same(device, host)
        device[key] = PyGPU.to_gpu(values[::-1]) if values.ndim else values
        host[key] = values[::-1] if values.ndim else values
        same(device, host)


def test_gather_by_device_index_array_of_any_layout_matches_numpy() -> None:
    host, device = both((40, 30), 4)
    packed = np.zeros(6, np.dtype([("mark", "u1"), ("index", "i4")]))
    packed["index"] = [3, 1, -1, 7, 0, 39]
    for index in (
        np.arange(40)[::-3],
        np.arange(12).reshape(3, 4).T,
        packed["index"],
        np.uint64(7) + np.zeros(2, "u8"),
    ):
        same(device[PyGPU.to_gpu(index)], host[index])
    same(device[PyGPU.to_gpu(packed)["index"]], host[packed["index"]])
    same(device[PyGPU.arange(40)[::-2], PyGPU.broadcast_to(PyGPU.to_gpu(np.array(4)), (20,))], host[::-2][:, 4])


@pytest.mark.parametrize("wrong", [40, -41, 2**31, -(2**40)])
@pytest.mark.parametrize("moved", [False, True])
def test_index_out_of_bounds_raises_like_numpy_and_changes_nothing(wrong: int, moved: bool) -> None:
    host, device = both((40, 30), 4)
    index: Any = np.array([1, wrong, 2])
    with pytest.raises(IndexError) as numpys:
        host[index]
    key = PyGPU.to_gpu(index) if moved else index
    with pytest.raises(IndexError, match="out of bounds") as ours:
        device[key]
    assert str(ours.value) == str(numpys.value)
    with pytest.raises(IndexError, match="out of bounds"):
        device[key] = 1.0
    same(device, host)


def test_scatter_with_duplicate_indices_stores_last_value(generator: random.Random) -> None:
    for _ in range(5):
        host, device = both((50, 8), 8, generator.randrange(1000))
        index = np.array([generator.randrange(-50, 50) for _ in range(3000)])
        values = noise((3000, 8), 8, 5)
        device[index] = host[index] = values
        same(device, host)
        pairs = index % 50, np.abs(index) % 8
        device[pairs] = host[pairs] = values[:, 0]
        same(device, host)


def test_scatter_converts_and_broadcasts_values_like_numpy() -> None:
    host, device = both((20, 7), 4)
    for value in [3, 2.5, np.arange(7), np.arange(4)[:, None], PyGPU.arange(7, dtype="i2"), [[1.5]] * 4]:
        device[[1, 5, -2, 1]] = value
        host[[1, 5, -2, 1]] = value.get() if isinstance(value, PyGPU.GPUArray) else value
        assert_same(device, host)


SCRIPT = """
import sys
import numpy as np, PyGPU
host = np.arange(300 * 200.0).reshape(300, 200)
device = PyGPU.to_gpu(host)
assert (device.T.copy("C").get() == host.T).all()
assert (device[::-1, ::3].copy("C").get() == host[::-1, ::3]).all()
index = np.array([5, -1, 7])
assert (device[index].get() == host[index]).all()
device[:, index] = host[:, index] = 4.0
device[...] = device.T.reshape(300, 200)
host[...] = host.T.reshape(300, 200).copy()
assert (device.get() == host).all()
"""


def run_apart(environment: dict[str, str], folder: Path) -> None:
    environment = {**os.environ, "PYGPU_CACHE_DIR": str(folder), **environment}
    arguments = [sys.executable, "-W", "error", "-c", SCRIPT]
    result = subprocess.run(
        arguments, env=environment, cwd=HERE.parent, capture_output=True, text=True, timeout=100, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.sampled(on="cuda")
@pytest.mark.starts_processes
@pytest.mark.parametrize("way", ["driver", "flat", "tiles,group=3", "lanes=2,group=1"])
def test_copies_and_gathers_with_each_strategy_match_numpy(way: str, tmp_path: Path) -> None:
    run_apart({"PYGPU_STRIDED_COPY": way}, tmp_path)


@pytest.mark.starts_processes
def test_copies_and_gathers_without_compiler_match_numpy(tmp_path: Path) -> None:
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    for name in simulated_driver.LIBRARIES:
        for found in [path for folder in folders if (path := Path(folder or ".") / name).exists()][:1]:
            (tmp_path / name).symlink_to(found.resolve())
    # PyGPU must not find the simulated compiler, which is in the same folder as the simulated driver. The folder
    # `tmp_path` therefore has links to the driver's libraries only.
    run_apart({"LD_LIBRARY_PATH": str(tmp_path), "PYGPU_NVRTC": str(tmp_path / "none.so")}, tmp_path)


@pytest.mark.starts_processes
def test_copies_and_gathers_with_failing_compiler_match_numpy(tmp_path: Path) -> None:
    # The simulated NVRTC runs the compiler that the variable `CXX` names: here a program that fails. A real NVRTC
    # ignores `CXX` and compiles the kernels.
    run_apart({"CXX": "false"}, tmp_path)
