"""Test inclusive and exclusive scan kernels, which combine the elements in order."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU
from PyGPU.scan import ExclusiveScanKernel, InclusiveScanKernel
from support_kernels import needs_kernels, random_seed

pytestmark = needs_kernels

UP_TO = InclusiveScanKernel(np.int32, "a + b")
BEFORE = ExclusiveScanKernel(np.int32, "a + b", 0)
# Affine functions x -> m x + c of 32-bit integers. Their composition is associative but not commutative.
AFFINE = np.dtype([("m", np.uint32), ("c", np.uint32)])
AFFINE_SOURCE = """
struct scan_affine { unsigned m, c; };
__device__ scan_affine behind(scan_affine a, scan_affine b) {
    scan_affine both;
    both.m = a.m * b.m;
    both.c = b.m * a.c + b.c;
    return both;
}
"""


def integers(size: int) -> np.ndarray:
    return (np.arange(size, dtype=np.int64) * 7919 % 203 - 100).astype(np.int32)


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("size", [0, 1, 2, 31, 255, 256, 257, 2047, 2048, 2049, 70001, 1 << 20, (1 << 21) + 17])
def test_in_place_scan_of_any_length_matches_numpy(size: int) -> None:
    x = integers(size)
    up_to, before = PyGPU.to_gpu(x), PyGPU.to_gpu(x)
    assert UP_TO(up_to) is up_to
    BEFORE(before)
    expected = np.cumsum(x, dtype=np.int32)
    np.testing.assert_array_equal(up_to.get(), expected)
    np.testing.assert_array_equal(before.get(), expected - x)


def test_scan_of_any_stride_leaves_gaps_between_elements_unchanged() -> None:
    base = integers(9000).reshape(3000, 3)
    for key in [np.s_[::2, 1], np.s_[::-1, 0], np.s_[5::-2, 2]]:
        expected = base.copy()
        expected[key] = np.cumsum(base[key])
        found = PyGPU.to_gpu(base)
        UP_TO(found[key])
        np.testing.assert_array_equal(found.get(), expected)


def test_out_array_of_scan_receives_result() -> None:
    x = integers(5000)
    operand, out = PyGPU.to_gpu(x), PyGPU.zeros(10000, np.int32)
    new = BEFORE(operand, "new")
    assert UP_TO(operand, out[::2]).shape == (5000,)
    np.testing.assert_array_equal(operand.get(), x)
    np.testing.assert_array_equal(new.get(), np.cumsum(x) - x)
    np.testing.assert_array_equal(out.get()[::2], np.cumsum(x))
    assert not out.get()[1::2].any()


def test_scan_combines_elements_in_order() -> None:
    from PyGPU._arguments.c_types import get_or_register_dtype

    get_or_register_dtype("scan_affine", AFFINE)
    seed = random_seed()
    rng = np.random.default_rng(seed)
    x = np.zeros(20011, AFFINE)
    x["m"], x["c"] = rng.integers(0, 50, x.size) * 2 + 1, rng.integers(0, 100, x.size)
    kernel = InclusiveScanKernel(AFFINE, "behind(a, b)", preamble=AFFINE_SOURCE)
    found = kernel(PyGPU.to_gpu(x), "new").get()
    m, c = 1, 0
    for place, one in enumerate(x.tolist()):
        m, c = m * one[0] % 2**32, (one[0] * c + one[1]) % 2**32
        assert found[place].tolist() == (m, c), f"seed {seed}, element {place}"


@pytest.mark.parametrize("name", ["uint8", "int64", "float16", "float64", "complex128"])
def test_scan_of_every_dtype_matches_numpy(name: str) -> None:
    x = (np.arange(700) % 2).astype(name)
    kernel = InclusiveScanKernel(np.dtype(name), "a + b")
    np.testing.assert_array_equal(kernel(PyGPU.to_gpu(x)).get(), np.cumsum(x, dtype=name))


def test_exclusive_scan_result_starts_with_neutral_element() -> None:
    largest = ExclusiveScanKernel(np.float32, "a > b ? a : b", neutral="-100.0f")
    x = np.array([1, 5, 2, 7, 3], np.float32)
    assert largest(PyGPU.to_gpu(x)).get().tolist() == [-100, 1, 5, 5, 7]
    with pytest.raises(ValueError, match="neutral element is required"):
        ExclusiveScanKernel(np.float32, "a + b")


def test_scan_runs_after_earlier_work_on_array_on_any_stream() -> None:
    x = PyGPU.full(5000, 1, np.int32)
    streams = [PyGPU.Stream(), PyGPU.Stream()]
    for turn in range(3):
        UP_TO(x, stream=streams[turn % 2])
    expected = np.ones(5000, np.int32)
    for _ in range(3):
        expected = np.cumsum(expected, dtype=np.int32)
    np.testing.assert_array_equal(x.get(), expected)


def test_scan_converts_values_of_other_dtype_and_leaves_input_unchanged() -> None:
    host = np.array([1.5, 2.25, -3, 4])
    for dtype in ("f4", "u1", "i8"):
        values = host.astype(dtype) if dtype != "u1" else np.array([1, 2, 3, 4], dtype)
        expected = np.cumsum(values.astype(np.int32), dtype=np.int32)
        x = PyGPU.to_gpu(values)
        assert UP_TO(x, "new").get().tolist() == expected.tolist()
        assert UP_TO(x, "new").dtype == np.int32
        out = PyGPU.zeros(4, np.int32)
        assert UP_TO(x, out) is out
        assert out.get().tolist() == expected.tolist()
        assert x.get().tolist() == values.tolist()
        assert UP_TO(x[::-1], PyGPU.zeros(4, "f8")).get().tolist() == np.cumsum(values[::-1].astype(np.int32)).tolist()
        assert UP_TO(x) is x
        assert x.get().tolist() == expected.astype(dtype).tolist()


def test_scan_rejects_wrong_shape_overlap_and_host_array() -> None:
    x = PyGPU.zeros(10, np.int32)
    with pytest.raises(ValueError, match="input has 2 axes, and a scan goes along one"):
        UP_TO(x.reshape(2, 5))
    with pytest.raises(ValueError, match="the input has 10 elements, and output_ary 9"):
        UP_TO(PyGPU.zeros(10, np.float32), x[1:])
    with pytest.raises(ValueError, match="2 axes"):
        UP_TO(x, PyGPU.zeros((3, 10), np.float32))
    with pytest.raises(ValueError, match="the input has 10 elements, and output_ary 9"):
        UP_TO(x, x[1:])
    with pytest.raises(ValueError, match="shares memory"):
        UP_TO(x[:9], x[1:])
    with pytest.raises(ValueError, match="read-only"):
        UP_TO(x, PyGPU.broadcast_to(x[0], 10))
    with pytest.raises(TypeError, match="expected a GPUArray"):
        UP_TO(np.zeros(3, np.int32))
