"""Test `ReductionKernel` and `fuse` of `PyGPU.cupy` with the parameters and the kernel language of CuPy."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU._cupy.kernels.fusion import fuse
from PyGPU._cupy.kernels.reduction import ReductionKernel
from PyGPU._cupy.kernels.reduction_plan import combine_axes, plan_threads, reduced_axes

RANDOM = np.random.default_rng(3)
X = RANDOM.integers(-8, 8, (3, 40, 5)).astype(np.float32)
AXES = [None, 0, 1, -1, (0, 1), (1, 2), (0, 2), (2, 0, 1), ()]


@pytest.fixture(scope="module")
def total() -> ReductionKernel:
    return ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")


def expected(x: Any, axis: Any, keepdims: bool) -> Any:
    return x if axis == () else x.sum(axis=axis, keepdims=keepdims)


@pytest.mark.parametrize("keepdims", [False, True])
def test_reduction_kernel_along_axes_matches_numpy(total: ReductionKernel, keepdims: bool) -> None:
    for values, array in ((X, PyGPU.to_gpu(X)), (X.T, PyGPU.to_gpu(X).T), (X[:, ::-2], PyGPU.to_gpu(X)[:, ::-2])):
        for axis in AXES:
            result, reference = total(array, axis=axis, keepdims=keepdims), expected(values, axis, keepdims)
            assert (result.shape, result.dtype) == (reference.shape, np.float32)
            np.testing.assert_array_equal(result.get(), reference)


def test_reduction_kernel_of_many_elements_matches_numpy(total: ReductionKernel) -> None:
    x = RANDOM.integers(-100, 100, (300, 700)).astype(np.float32)
    array = PyGPU.to_gpu(x)
    for axis in (None, 0, 1):
        np.testing.assert_array_equal(total(array, axis=axis).get(), x.sum(axis=axis))
    np.testing.assert_array_equal(total(array, axis=1, block_size=8).get(), x.sum(axis=1))


def test_post_map_expression_of_many_elements_is_applied_to_total() -> None:
    root = ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a) / _in_ind.size()", "0", "root")
    x = RANDOM.integers(-3, 4, (150, 70)).astype(np.float32)
    np.testing.assert_allclose(root(PyGPU.to_gpu(x)).get(), np.linalg.norm(x) / x.size, rtol=1e-6)


def test_repeated_calls_with_arrays_of_same_layout_match_numpy_and_return_new_arrays() -> None:
    spread = ReductionKernel("T x, T y", "T z", "(x - y) * (x - y)", "a + b", "z = a", "0", "spread")
    results, references = [], []
    for seed in range(3):
        x, y = np.random.default_rng(seed).integers(-9, 9, (2, 6, 8)).astype(np.float32)
        for kind, axis, keepdims in (("float32", None, False), ("float32", 0, True), ("float64", 1, False)):
            operands = [one.astype(kind) for one in (x, y)]
            results.append(spread(*map(PyGPU.to_gpu, operands), axis=axis, keepdims=keepdims))
            difference = operands[0] - operands[1]
            references.append((difference**2).sum(axis=axis, keepdims=keepdims, dtype=kind))
        # Other strides, other shapes, and a number instead of an array.
        results.append(spread(PyGPU.to_gpu(x).T, PyGPU.to_gpu(y).T, axis=0))
        references.append(((x - y).T ** 2).sum(axis=0))
        results.append(spread(PyGPU.to_gpu(x)[:2], np.float32(seed), axis=0))
        references.append(((x[:2] - seed) ** 2).sum(axis=0))
    for result, reference in zip(results, references, strict=True):
        assert (result.shape, result.dtype) == (reference.shape, reference.dtype)
        np.testing.assert_array_equal(result.get(), reference)


def test_reduction_kernel_applies_map_and_post_map_expressions() -> None:
    mean = ReductionKernel(
        "T x, T w, float64 c",
        "T y",
        "x * w * c",
        "a + b",
        "y = a / (_in_ind.size() / _out_ind.size())",
        "0",
        "mean",
        reduce_type="double",
    )
    w = np.arange(40, dtype=np.float32)[:, None]
    x, weights = PyGPU.to_gpu(X), PyGPU.to_gpu(w)
    for axis in (None, 1):
        np.testing.assert_allclose(mean(x, weights, 2.5, axis=axis).get(), (X * w * 2.5).mean(axis), rtol=1e-5)
    out = PyGPU.empty(5, np.float32)
    assert mean(x, weights, 2, axis=(0, 1), out=out) is out
    np.testing.assert_allclose(out.get(), (X * w * 2).mean((0, 1)), rtol=1e-5)
    norm = ReductionKernel("T x", "U y", "x * x", "a + b", "y = sqrt((double)a)", "0", "norm", reduce_type="T")
    result = PyGPU.empty((), np.float64)
    norm(x, result)
    np.testing.assert_allclose(result.get(), np.sqrt((X.astype(np.float64) ** 2).sum()))


def test_reduction_to_structure_fills_all_outputs_and_returns_first_output() -> None:
    extrema = ReductionKernel(
        "T x",
        "T low, T high",
        "extremes(x, x)",
        "extremes(min(a.low, b.low), max(a.high, b.high))",
        "low = a.low, high = a.high",
        "extremes(1e30f, -1e30f)",
        "extrema",
        reduce_type="extremes",
        preamble="struct extremes { float low, high; __device__ extremes(float a, float b) : low(a), high(b) {} };",
    )
    for axis in (None, 1):
        low, high = (PyGPU.zeros(X.min(axis).shape, np.float32) for _ in range(2))
        assert extrema(PyGPU.to_gpu(X), low, high, axis=axis) is low
        np.testing.assert_array_equal(low.get(), X.min(axis))
        np.testing.assert_array_equal(high.get(), X.max(axis))


def test_reduction_kernel_reads_raw_arrays_by_position() -> None:
    weighted = ReductionKernel("T x, raw T w", "T y", "x * w[_J]", "a + b", "y = a", "0", "weighted")
    w = np.arange(40, dtype=np.float32)
    result = weighted(PyGPU.to_gpu(X), PyGPU.to_gpu(w[::-1].copy())[::-1], axis=1)
    np.testing.assert_array_equal(result.get(), (X * w[:, None]).sum(1))


def test_reduction_kernel_finds_positions_of_extrema() -> None:
    largest = ReductionKernel(
        "T x",
        "int64 y",
        "found(x, _J)",
        "a.value < b.value || (a.value == b.value && a.at > b.at) ? b : a",
        "y = a.at",
        "found()",
        "argmax",
        reduce_type="found",
        preamble="""
        struct found {
            float value; long long at;
            __device__ found() : value(-1e38f), at(0) {}
            __device__ found(float value, long long at) : value(value), at(at) {}
        };""",
    )
    for axis in (None, 1):
        np.testing.assert_array_equal(largest(PyGPU.to_gpu(X), axis=axis).get(), X.argmax(axis))


@pytest.mark.parametrize("dtype", ["int8", "float16", "complex128"])
def test_reduction_kernel_computes_in_type_of_output(total: ReductionKernel, dtype: str) -> None:
    x = X[:, :7].astype(dtype)
    for axis in (None, 1):
        np.testing.assert_array_equal(total(PyGPU.to_gpu(x), axis=axis).get(), x.sum(axis=axis, dtype=dtype))


def test_reduction_kernel_of_no_elements_returns_identity(total: ReductionKernel) -> None:
    empty = PyGPU.empty((0, 3), np.float32)
    assert total(empty).tolist() == 0
    assert total(empty, axis=0).tolist() == [0, 0, 0]
    assert total(empty, axis=1).shape == (0,)
    largest = ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "largest")
    with pytest.raises(ValueError, match=r"zero-size array.*no identity"):
        largest(empty, axis=0)
    for axis in (None, 1):
        np.testing.assert_array_equal(largest(PyGPU.to_gpu(X), axis=axis).get(), X.max(axis))


def test_reduction_kernel_restored_from_pickle_has_same_code(total: ReductionKernel) -> None:
    again = pickle.loads(pickle.dumps(total))
    assert again(PyGPU.to_gpu(X)).tolist() == X.sum()
    assert list(again.cached_codes) == [("f", "f")]
    assert "a + b" in again.cached_code


def test_reduction_kernel_rejects_invalid_arguments(total: ReductionKernel) -> None:
    x = PyGPU.to_gpu(X)
    with pytest.raises(np.exceptions.AxisError):
        total(x, axis=3)
    with pytest.raises(ValueError, match="repeated axis"):
        total(x, axis=(0, 0))
    with pytest.raises(ValueError, match="Out shape is mismatched"):
        total(x, axis=0, out=PyGPU.empty(5, np.float32))
    with pytest.raises(TypeError, match="Type is mismatched"):
        total(x, out=PyGPU.empty((), np.float64))
    with pytest.raises(ValueError, match="cannot specify 'out'"):
        total(x, PyGPU.empty((), np.float32), out=PyGPU.empty((), np.float32))
    with pytest.raises(TypeError, match="Wrong number of arguments"):
        total(x, x, x)
    with pytest.raises(ValueError, match="Loop size is undecided"):
        total(3)
    with pytest.raises(ValueError, match="Invalid kernel name"):
        ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", name="1")


def test_reduction_plan_merges_adjacent_axes_and_limits_threads() -> None:
    assert combine_axes((2, 3, 1), [(12, 4, 4)]).lengths == (6,)
    assert combine_axes((2, 3), [(4, 8)]).lengths == (2, 3)
    assert combine_axes((), [()]).size == 1
    kept, reduced = combine_axes((1000,), [(4,)]), combine_axes((64,), [(4000,)])
    assert (plan_threads(kept, reduced, 512).along, plan_threads(reduced, kept, 512).along) == (False, True)
    for threads in (16, 512):
        plan = plan_threads(kept, reduced, threads)
        assert plan.results * plan.lanes <= threads
    assert reduced_axes(None, 2) == (0, 1)


def test_function_decorated_by_fuse_runs_with_deferred_operations() -> None:
    modes = []

    @fuse
    def scaled(x: Any, y: Any = 2) -> Any:
        """Multiply an array by a number, and add 1."""
        modes.append(PyGPU._core._get_fusion())
        return x * y + 1

    @fuse(kernel_name="named")
    def named(x: Any) -> Any:
        x += 1
        return x, x.sum(axis=0)

    x = PyGPU.to_gpu(X)
    with PyGPU.fusion("off"):
        np.testing.assert_array_equal(scaled(x).get(), X * 2 + 1)
        np.testing.assert_array_equal(scaled(X, y=3), X * 3 + 1)
    assert modes == ["auto", "auto"]
    assert (scaled.__name__, scaled.__doc__) == ("scaled", "Multiply an array by a number, and add 1.")
    changed, total = named(x)
    assert changed is x
    np.testing.assert_array_equal(total.get(), (X + 1).sum(axis=0))
    named.clear_cache()
    with pytest.raises(TypeError):
        fuse(kernel="x")
