"""Test that loop nests, which visit the elements of strided arrays, match NumPy for hundreds of random views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU.reduction import ReductionKernel
from PyGPU.scan import InclusiveScanKernel
from support_kernels import needs_kernels, random_seed, random_view

TURNS = 300


def random_shape(rng: np.random.Generator, most: int = 4) -> tuple[int, ...]:
    lengths = rng.choice([0, 1, 2, 3, 4, 5], size=rng.integers(0, most + 1), p=[0.02, 0.18, 0.2, 0.2, 0.2, 0.2])
    return tuple(int(length) for length in lengths)


def sometimes_broadcast(
    rng: np.random.Generator, both: tuple[np.ndarray, PyGPU.GPUArray]
) -> tuple[np.ndarray, PyGPU.GPUArray]:
    """Return the arrays unchanged, or with an additional broadcast axis in some of the draws."""
    host, device = both
    if rng.random() < 0.8:
        return both
    axis, length = int(rng.integers(0, host.ndim + 1)), int(rng.integers(1, 4))
    shape = (*host.shape[:axis], length, *host.shape[axis:])
    key: tuple[Any, ...] = (*[slice(None)] * axis, None, ...)
    return np.broadcast_to(host[key], shape), PyGPU.broadcast_to(device[key], shape)


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("dtype", ["u1", "f4", "c16"])
def test_assignment_between_random_views_matches_numpy(dtype: str) -> None:
    seed = random_seed()
    rng = np.random.default_rng(seed)
    for turn in range(TURNS):
        target, device_target = random_view(rng, random_shape(rng), dtype)
        source, device_source = random_view(rng, target.shape, dtype, broadcast=True)
        target[...] = source
        device_target[...] = device_source
        np.testing.assert_array_equal(device_target.get(), target, err_msg=f"seed {seed}, turn {turn}")


def test_copies_in_both_memory_orders_match_numpy() -> None:
    seed = random_seed()
    rng = np.random.default_rng(seed)
    for turn in range(TURNS):
        host, device = sometimes_broadcast(rng, random_view(rng, random_shape(rng), np.int32))
        for order in ("C", "F"):
            np.testing.assert_array_equal(device.copy(order).get(), host, err_msg=f"seed {seed}, turn {turn}")


@needs_kernels
def test_sum_of_any_view_includes_each_element_once() -> None:
    seed = random_seed()
    rng = np.random.default_rng(seed)
    total = ReductionKernel(np.int64, "0", "a + b", "x[i]", "const int *x", name="total")
    for turn in range(TURNS):
        host, device = sometimes_broadcast(rng, random_view(rng, random_shape(rng, 3), np.int32))
        assert int(total(device).get()) == int(host.sum()), f"seed {seed}, turn {turn}"


@needs_kernels
def test_index_in_reduction_kernel_is_position_in_c_order() -> None:
    # In a reduction kernel, `i` is the position of an element in C order, for every memory layout.
    seed = random_seed()
    rng = np.random.default_rng(seed)
    weighed = ReductionKernel(np.int64, "0", "a + b", "x[i] * (long long)(i + 1)", "const int *x", name="weighed")
    for turn in range(TURNS):
        host, device = sometimes_broadcast(rng, random_view(rng, random_shape(rng, 3), np.int32))
        expected = sum(
            int(value) * (place + 1) for place, value in enumerate(np.nditer(host, ["zerosize_ok"], order="C"))
        )
        assert int(weighed(device).get()) == expected, f"seed {seed}, turn {turn}"


@needs_kernels
def test_scans_of_every_stride_match_numpy() -> None:
    seed = random_seed()
    rng = np.random.default_rng(seed)
    scan = InclusiveScanKernel(np.int64, "a + b")
    for turn in range(TURNS // 10):
        host, device = random_view(rng, (int(rng.integers(0, 300)),), np.int64)
        found = scan(device, "new").get()
        np.testing.assert_array_equal(found, np.cumsum(host), err_msg=f"seed {seed}, turn {turn}")
