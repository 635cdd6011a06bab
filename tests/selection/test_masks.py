"""Test masks on the device: selected elements, their indices, and masked writes.

The host reads only the number of selected elements.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver
from installed.numpy_version import since_numpy
from support import assert_same, assert_same_refusal, of_few, outcome, print_each

PyGPU.device_count()
IS_SIMULATED = simulated_driver.driver() is not None
SEED = random.randrange(1 << 32)
# Array sizes that are near the sizes of tiles, or so large that several thread blocks share the work.
SIZES = [0, 1, 15, 16, 17, 4095, 4097, 8192, 8193, 70_001]
DENSITIES = [0.0, 0.01, 0.5, 1.0]


def mask_of(rng: np.random.Generator, shape: Any, density: float = 0.5) -> np.ndarray:
    return rng.random(shape) < density


def generator() -> np.random.Generator:
    print("seed", SEED)
    return np.random.default_rng(SEED)


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("size", SIZES)
def test_mask_of_any_size_and_density_matches_numpy(size: int) -> None:
    rng = generator()
    host = rng.integers(0, 1000, size).astype("float32")
    for density in print_each(DENSITIES):
        mask = mask_of(rng, size, density)
        array, on_device = PyGPU.to_gpu(host), PyGPU.to_gpu(mask)
        assert_same(array[on_device], host[mask])
        assert_same(on_device.nonzero()[0], mask.nonzero()[0])
        values = np.arange(mask.sum(), dtype="float32") + 0.5
        target, expected = PyGPU.to_gpu(host), host.copy()
        target[on_device] = PyGPU.to_gpu(values)
        expected[mask] = values
        assert_same(target, expected)


@pytest.mark.skipif(IS_SIMULATED, reason="takes long there")
def test_mask_of_2_to_the_27_elements_matches_numpy() -> None:
    mask = np.zeros((1 << 27) + 5, bool)
    mask[:: 1 << 19] = mask[-1] = True
    on_device = PyGPU.to_gpu(mask)
    assert_same(on_device.nonzero()[0], mask.nonzero()[0])
    assert_same(on_device[on_device], mask[mask])


@pytest.mark.parametrize("offset", [1, 3, 8, 15])
def test_mask_may_begin_at_any_byte_offset(offset: int) -> None:
    rng = generator()
    for size in (100, 9000):
        mask = mask_of(rng, size + offset)
        host = rng.integers(0, 1000, size).astype("int64")
        assert_same(PyGPU.to_gpu(host)[PyGPU.to_gpu(mask)[offset:]], host[mask[offset:]])


@pytest.mark.parametrize(
    "dtype", of_few(["int8", "float16", "int32", "complex64", "complex128"], ["int8", "complex128"])
)
def test_mask_selects_elements_of_any_item_size(dtype: str) -> None:
    rng = generator()
    host = rng.integers(0, 100, (30, 40)).astype(dtype)
    mask = mask_of(rng, host.shape)
    array, on_device = PyGPU.to_gpu(host), PyGPU.to_gpu(mask)
    assert_same(array[on_device], host[mask])
    array[on_device] = PyGPU.to_gpu(host[mask][::-1].copy())
    expected = host.copy()
    expected[mask] = host[mask][::-1]
    assert_same(array, expected)


def test_mask_of_any_layout_selects_elements_in_c_order() -> None:
    rng = generator()
    host = rng.integers(0, 1000, (12, 10, 8)).astype("int32")
    mask = mask_of(rng, host.shape)
    array, on_device = PyGPU.to_gpu(host), PyGPU.to_gpu(mask)
    for view in print_each([np.s_[::-1], np.s_[:, ::2], np.s_[..., 3], np.s_[2:, 1::3, ::-2]]):
        assert_same(array[view][on_device[view]], host[view][mask[view]])
        for ours, numpys in zip(on_device[view].nonzero(), mask[view].nonzero(), strict=True):
            assert_same(ours, numpys)
    assert_same(array.T[on_device.T], host.T[mask.T])
    wide = PyGPU.broadcast_to(on_device[0], host.shape)
    assert_same(array[wide], host[np.broadcast_to(mask[0], host.shape)])


def test_mask_can_be_combined_with_other_indices_in_one_key() -> None:
    rng = generator()
    host = rng.integers(0, 1000, (6, 7, 5)).astype("int64")
    first, second, plane = mask_of(rng, 6), mask_of(rng, 7), mask_of(rng, (7, 5))
    array = PyGPU.to_gpu(host)
    keys: list[tuple[Any, ...]] = [
        (first,),
        (first, slice(1, None)),
        (slice(None), second),
        (slice(None), second, slice(None, None, 2)),
        (Ellipsis, plane),
        (0, plane),
        (slice(1, 3), plane),
        (None, first, Ellipsis, None),
        (first, 2),
        (Ellipsis, second, 1),
        (first, Ellipsis, np.array([1, 0, 4])[:1]),
        (True, first),
        (np.True_, Ellipsis),
        (False,),
        (Ellipsis, np.array(True)),
    ]
    for key in print_each(keys):
        moved = tuple(PyGPU.to_gpu(one) if isinstance(one, np.ndarray) else one for one in key)
        assert_same(array[moved], host[key])
        assert_same(array[key], host[key])
        target, expected = PyGPU.to_gpu(host), host.copy()
        target[moved] = -1
        expected[key] = -1
        assert_same(target, expected)
        values = np.arange(host[key].size).reshape(host[key].shape)
        target[moved] = PyGPU.to_gpu(values)
        expected[key] = values
        assert_same(target, expected)


def test_masked_assignment_of_scalar_or_row_matches_numpy() -> None:
    rng = generator()
    host = rng.integers(0, 100, (9, 11)).astype("float32")
    mask, rows = mask_of(rng, host.shape), mask_of(rng, 9)
    array, on_device, few = PyGPU.to_gpu(host), PyGPU.to_gpu(mask), PyGPU.to_gpu(rows)
    row = np.arange(11, dtype="float32")
    array[on_device] = host[mask] = 2.5
    array[few] = host[rows] = row
    array[few] = PyGPU.to_gpu(row)
    array[few, 2:] = host[rows, 2:] = 7
    array[:, 3][few] = host[:, 3][rows] = np.float64(8.25)
    array[on_device] = PyGPU.to_gpu(np.array(3, "int64"))
    host[mask] = 3
    assert_same(array, host)


def test_masked_fill_can_be_captured() -> None:
    host = np.arange(40, dtype="float32")
    array, mask = PyGPU.to_gpu(host), PyGPU.to_gpu(host % 3 == 0)
    array[mask] = 0.0  # This assignment compiles the kernel before the capture.
    array[...] = host
    PyGPU.synchronize()
    stream = PyGPU.Stream()
    stream.begin_capture()
    with stream:
        array[mask] = -1.0
    graph = stream.end_capture()
    assert_same(array, host)
    graph.launch(stream)
    stream.synchronize()
    host[host % 3 == 0] = -1
    assert_same(array, host)


def test_masked_assignment_rejects_masks_and_values_like_numpy() -> None:
    host = np.arange(12.0).reshape(3, 4)
    array = PyGPU.to_gpu(host)
    mask = host > 4
    for key, value in print_each(
        [
            (np.ones(4, bool), 1),
            (np.ones((3, 3), bool), 1),
            (mask, np.arange(3.0)),
            (mask, np.arange(20.0)),
            (np.ones(3, bool), np.arange(3.0)),
        ]
    ):
        numpys = outcome(lambda key=key, value=value: host.copy().__setitem__(key, value))
        for moved in (value, PyGPU.to_gpu(value) if isinstance(value, np.ndarray) else value):
            ours = outcome(lambda key=key, moved=moved: array.__setitem__(PyGPU.to_gpu(key), moved))
            assert_same_refusal(ours, numpys)
            if "boolean" in str(numpys[1]):
                assert str(ours[1]) == str(numpys[1])
        assert_same(array, host)


def test_masked_assignment_accepts_mask_and_values_that_overlap_array() -> None:
    host = np.array([1, 0, 1, 1, 0, 1], dtype=bool)
    array, twin = PyGPU.to_gpu(host), host.copy()
    array[array] = PyGPU.to_gpu(np.array([False, True, False, True]))
    twin[host] = [False, True, False, True]
    assert_same(array, twin)
    numbers = np.arange(10)
    device = PyGPU.to_gpu(numbers)
    device[device > 4] = device[:5]
    numbers[numbers > 4] = numbers[:5].copy()
    assert_same(device, numbers)
    device[::2][device[::2] > 1] = -1
    numbers[::2][numbers[::2] > 1] = -1
    assert_same(device, numbers)


def test_mask_selects_from_read_only_array() -> None:
    host = np.arange(6.0)
    wide = PyGPU.broadcast_to(PyGPU.to_gpu(host), (3, 6))
    mask = np.broadcast_to(host, (3, 6)) > 2
    assert_same(wide[PyGPU.to_gpu(mask)], np.broadcast_to(host, (3, 6))[mask])
    with pytest.raises(ValueError, match="read-only"):
        wide[PyGPU.to_gpu(mask)] = 1


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (0, 3), (40, 500)], ids=str)
def test_nonzero_argwhere_and_flatnonzero_match_numpy(shape: tuple[int, ...]) -> None:
    host = generator().integers(-1, 2, shape)
    for dtype in print_each(of_few(["int64", "float32", "bool", "int8", "complex64"], ["int64", "bool"])):
        twin = host.astype(dtype)
        array = PyGPU.to_gpu(twin)
        for found in (array.nonzero(), PyGPU.nonzero(array), np.nonzero(array), PyGPU.where(array), np.where(array)):
            for ours, numpys in zip(found, twin.nonzero(), strict=True):
                assert_same(ours, numpys)
        assert_same(PyGPU.argwhere(array), np.argwhere(twin))
        assert_same(np.flatnonzero(array), np.flatnonzero(twin))


@since_numpy("2.1", "an error for 0-d arrays")
def test_0d_array_is_rejected_by_nonzero_and_accepted_by_argwhere() -> None:
    for value in (0, 3):
        array = PyGPU.to_gpu(np.array(value))
        with pytest.raises(ValueError, match="0d arrays"):
            array.nonzero()
        assert_same(PyGPU.argwhere(array), np.argwhere(np.array(value)))


@pytest.mark.skipif(not IS_SIMULATED, reason="counts the calls of the simulated driver")
def test_masks_and_indices_are_not_copied_to_host() -> None:
    driver = simulated_driver.driver()
    assert driver is not None
    host = np.arange(20_000.0)
    array, mask = PyGPU.to_gpu(host), PyGPU.to_gpu(host % 3 == 0)
    rows, few = PyGPU.to_gpu(host.reshape(100, 200)), PyGPU.to_gpu(np.arange(100) % 7 == 0)
    index = PyGPU.to_gpu(np.array([3, -1, 50]))
    values = array[mask]

    def work() -> None:
        array[mask]
        array[mask] = 1
        array[mask] = values
        rows[few]
        rows[few, 1:]
        rows[few] = 0
        rows[index]
        rows[index] = rows[few][:3]
        mask.nonzero()
        array.take(index)
        array.put(index, values)
        array.compress(mask)

    work()
    copies = [name for name in driver.calls() if "HtoD" in name or "DtoH" in name or name.startswith("hipMemcpy")]
    if driver.is_hip:
        copies = [name for name in copies if "DtoD" not in name]

    def count() -> int:
        return sum(map(driver.call_count, copies))

    before = count()
    index.get()
    assert count() > before
    before = count()
    work()
    assert count() == before
