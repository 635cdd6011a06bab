"""Test scans of rows that several thread blocks share, on every backend.

Each block waits for the sum that the preceding thread block has computed.
"""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU


@pytest.mark.parametrize("dtype", ["int32", "complex128"])
def test_scan_passes_sums_between_thread_blocks(dtype: str) -> None:
    # A scan kernel divides a row into tiles of 1024 elements, and into groups of 256 tiles. The int32 row has three
    # groups.
    count = 600_001 if dtype == "int32" else 20_000
    host = np.random.default_rng(6).integers(-4, 5, (2, count)).astype(dtype)
    np.testing.assert_array_equal(PyGPU.to_gpu(host).cumsum(axis=1).get(), host.cumsum(axis=1))


def test_scan_of_one_byte_elements_passes_sums_between_blocks() -> None:
    host = np.random.default_rng(7).permutation(30_000).astype("float32")
    ours = PyGPU.logical_and.accumulate(PyGPU.to_gpu(host))
    np.testing.assert_array_equal(ours.get(), np.logical_and.accumulate(host))


def test_scan_is_bitwise_reproducible_and_accurate() -> None:
    host = np.random.default_rng(8).standard_normal(600_000).astype("float32")
    array = PyGPU.to_gpu(host)
    first = array.cumsum().get()
    for _ in range(5):
        assert array.cumsum().get().tobytes() == first.tobytes()
    exact = host.astype("float64").cumsum()
    assert np.abs(first - exact).max() <= max(np.abs(host.cumsum() - exact).max(), 1e-2)


def test_concurrent_scans_on_several_streams_give_correct_results() -> None:
    host = np.random.default_rng(9).integers(-4, 5, 100_000).astype("int32")
    arrays = [PyGPU.to_gpu(host + number) for number in range(4)]
    PyGPU.synchronize()
    made = []
    for array in arrays:
        with PyGPU.Stream(non_blocking=True):
            made.append(array.cumsum())
    for number, one in enumerate(made):
        np.testing.assert_array_equal(one.get(), (host + number).cumsum())
