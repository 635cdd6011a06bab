"""Test `ReductionKernel`: one reproducible value is computed from arrays of any layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU.reduction import ReductionKernel, VectorArg
from support_kernels import needs_kernels, random_seed, random_view

pytestmark = needs_kernels

DOT = ReductionKernel(np.int64, 0, "a + b", "(long long)x[i] * y[i]", "const int *x, const int *y", "dot")
SUM = ReductionKernel(np.float32, "0", "a + b")
MINMAX = np.dtype([("lowest", np.float32), ("highest", np.float32)])
# C++ source of the type `reduction_minmax` in the form that PyCUDA requires: PyCUDA's reduction kernels call these
# constructors and the assignment from volatile objects.
MINMAX_SOURCE = """
struct reduction_minmax {
    float lowest, highest;
    __device__ reduction_minmax() {}
    __device__ reduction_minmax(float a, float b) : lowest(a), highest(b) {}
    __device__ reduction_minmax(reduction_minmax const &s) : lowest(s.lowest), highest(s.highest) {}
    __device__ reduction_minmax(reduction_minmax const volatile &s) : lowest(s.lowest), highest(s.highest) {}
    __device__ reduction_minmax volatile &operator=(reduction_minmax const &s) volatile {
        lowest = s.lowest; highest = s.highest; return *this;
    }
};
__device__ reduction_minmax wider(reduction_minmax a, reduction_minmax b) {
    return reduction_minmax(fminf(a.lowest, b.lowest), fmaxf(a.highest, b.highest));
}
"""


def integers(size: int) -> np.ndarray:
    return (np.arange(size, dtype=np.int64) * 7919 % 2003 - 1000).astype(np.int32)


@pytest.mark.parametrize("size", [0, 1, 2, 63, 64, 65, 1601, 16384, 16385, 100003])
def test_dot_product_of_integers_is_exact_at_any_length(size: int) -> None:
    x, y = integers(size), integers(size + 5)[5:]
    result = DOT(PyGPU.to_gpu(x), PyGPU.to_gpu(y))
    assert result.shape == ()
    assert result.dtype == np.int64
    assert result.get() == (x.astype(np.int64) * y).sum()


def test_random_layouts_and_broadcasting_match_numpy() -> None:
    seed = random_seed()
    rng = np.random.default_rng(seed)
    for turn in range(8):
        shape = tuple(rng.integers(1, 8, size=rng.integers(0, 4)))
        (x, gx), (y, gy) = (random_view(rng, shape, np.int32, broadcast=True) for _ in range(2))
        assert DOT(gx, gy).get() == (x.astype(np.int64) * y).sum(), f"seed {seed}, turn {turn}"


def test_sum_of_every_dtype_matches_numpy() -> None:
    for name in ("uint8", "int16", "uint64", "float16", "float64", "complex64", "complex128"):
        x = np.arange(30).astype(name)
        kernel = ReductionKernel(np.dtype(name), "0", "a + b", arguments=[VectorArg(np.dtype(name), "in")])
        np.testing.assert_array_equal(kernel(PyGPU.to_gpu(x)).get(), x.sum(dtype=name), err_msg=name)


def test_reduction_of_no_elements_gives_neutral_element() -> None:
    largest = ReductionKernel(np.float32, -5, "a > b ? a : b")
    assert largest(PyGPU.zeros((3, 0, 2), np.float32)).get() == -5
    assert largest(PyGPU.full(3, -7, np.float32)).get() == -5
    for neutral in (-np.inf, np.float32(np.inf), np.nan, True, 1e30):
        any_of = ReductionKernel(np.float64, neutral, "a")
        np.testing.assert_equal(any_of(PyGPU.zeros(0)).get(), np.float64(neutral))


def test_repeated_reductions_give_same_bits() -> None:
    seed = random_seed()
    x = PyGPU.to_gpu(np.random.default_rng(seed).random(200_000, np.float32))
    results = {SUM(x).get().tobytes() for _ in range(4)}
    assert len(results) == 1, f"seed {seed}"


def test_index_in_reduction_kernel_counts_elements_in_c_order() -> None:
    kernel = ReductionKernel(np.int64, -1, "a > b ? a : b", "x[i] == 7 ? (long long)i : -1", "const int *x")
    x = np.zeros((4, 5), np.int32)
    x[2, 3] = 7
    for operand in (PyGPU.to_gpu(x), PyGPU.to_gpu(np.asfortranarray(x)), PyGPU.to_gpu(x[::-1].copy())[::-1]):
        assert kernel(operand).get() == 13


def test_reduction_kernel_reads_elements_selected_by_index_array() -> None:
    kernel = ReductionKernel(np.int32, "0", "a + b", "x[chosen[i]]", "int *chosen, int *x")
    x, chosen = integers(100), np.array([3, 99, 0, 3], np.int32)
    assert kernel(PyGPU.to_gpu(chosen), PyGPU.to_gpu(x)).get() == x[chosen].sum()


def test_scalar_arguments_are_visible_in_map_and_reduce_expressions() -> None:
    kernel = ReductionKernel(np.int32, "0", "(a + b) % modulus", "x[i] % modulus", "int modulus, const int *x")
    x = np.arange(20000, dtype=np.int32)
    assert kernel(97, PyGPU.to_gpu(x)).get() == x.sum() % 97


def test_reduction_supports_user_structured_type() -> None:
    from PyGPU._arguments.c_types import get_or_register_dtype

    get_or_register_dtype("reduction_minmax", MINMAX)
    kernel = ReductionKernel(
        MINMAX,
        "reduction_minmax(10000, -10000)",
        "wider(a, b)",
        "reduction_minmax(x[i], x[i])",
        "float *x",
        preamble=MINMAX_SOURCE,
    )
    for size in (50, 40000):
        x = integers(size).astype(np.float32)
        found = kernel(PyGPU.to_gpu(x)).get()
        assert (found["lowest"], found["highest"]) == (x.min(), x.max())


def test_out_array_of_reduction_receives_result() -> None:
    results = PyGPU.zeros(4, np.float32)
    x = PyGPU.to_gpu(np.arange(10, dtype=np.float32))
    out = results[2]
    assert SUM(x, out=out) is out
    assert results.get().tolist() == [0, 0, 45, 0]
    for wrong, words in [
        (PyGPU.zeros((), np.float64), "out is float64, and the result float32"),
        (results[:0], "no elements"),
    ]:
        with pytest.raises(ValueError, match=words):
            SUM(x, out=wrong)
    with pytest.raises(TypeError, match=r"out= is .*expected a GPUArray"):
        SUM(x, out=np.zeros(1, np.float32))


def test_reduction_calls_allocator_once_per_array() -> None:
    sizes: list[int] = []

    def allocate(nbytes: int) -> Any:
        sizes.append(nbytes)
        return PyGPU.empty(nbytes, np.uint8)

    assert SUM(PyGPU.full(1601, 1, np.float32), allocator=allocate).get() == 1601
    assert sizes == [4]
    sizes.clear()
    assert SUM(PyGPU.full(100_000, 1, np.float32), allocator=allocate).get() == 100_000
    assert len(sizes) <= 2
    assert sizes[0] == 4


def test_reduction_runs_after_earlier_work_on_array_on_any_stream() -> None:
    x = PyGPU.zeros(30000, np.float32)
    stream = PyGPU.Stream()
    for value in range(5):
        x.fill(value)
        result = SUM(x, stream=stream)
        x.fill(-1)
        assert result.get() == 30000 * value


def test_reduction_rejects_wrong_dtype_shape_keyword_and_definition() -> None:
    with pytest.raises(TypeError, match=r"dot\(\): argument 1 \(const int \*x\): the array is float32; expected int32"):
        DOT(PyGPU.zeros(3, np.float32), PyGPU.zeros(3, np.int32))
    with pytest.raises(ValueError, match="could not be broadcast"):
        DOT(PyGPU.zeros(3, np.int32), PyGPU.zeros(4, np.int32))
    with pytest.raises(TypeError, match="not axis"):
        SUM(PyGPU.zeros(3, np.float32), axis=0)
    with pytest.raises(ValueError, match="needs an array"):
        ReductionKernel(np.float32, "0", "a + b", "1", "int x")
