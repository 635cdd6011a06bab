"""Test PyCUDA's functions that generate elementwise kernels.

Each generator returns a prepared kernel function, whose arguments are addresses, scalars, and last the number of
elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU import elementwise, tools
from support_kernels import needs_kernels

pytestmark = needs_kernels

SINGLE, DOUBLE, WHOLE = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int32)
COMPLEX = np.dtype(np.complex64)


def run(function: Any, like: PyGPU.GPUArray, *arguments: Any) -> None:
    """Launch a prepared kernel with the grid and block of the array `like`, as the methods of PyCUDA's arrays do."""
    values = [one.gpudata if isinstance(one, PyGPU.GPUArray) else one for one in arguments]
    function.prepared_async_call(like._grid, like._block, None, *values, like.size)


def gpu(values: Any, dtype: Any = None) -> PyGPU.GPUArray:
    return PyGPU.to_gpu(np.asarray(values, dtype))


X, Y = np.array([1, 2, 3, 4], SINGLE), np.array([2, 0.5, -1, 4], SINGLE)
Z = np.array([1 + 2j, -3j, 4, 0.5 - 1j], COMPLEX)


def computed(function: Any, dtype: Any, *arguments: Any) -> np.ndarray:
    """Launch a kernel that writes into its last array argument, and return this array."""
    out = PyGPU.zeros(4, dtype)
    run(function, out, *(gpu(one) if isinstance(one, np.ndarray) else one for one in arguments), out)
    return out.get()


@pytest.mark.enough_on("cpu")  # On other backends only the tests that follow are run, because they need fewer kernels.
@pytest.mark.parametrize(
    ("maker", "types", "arguments", "expected"),
    [
        ("get_axpbyz_kernel", (SINGLE, SINGLE, DOUBLE), (2, X, 3, Y), 2 * X + 3 * Y),
        ("get_axpbyz_kernel", (SINGLE, COMPLEX, COMPLEX), (2, X, 1j, Z), 2 * X + 1j * Z),
        ("get_axpbyz_kernel", (SINGLE, SINGLE, SINGLE, False, True), (2, X, 3, Y), 2 * X + 3 * Y[0]),
        ("get_axpbz_kernel", (SINGLE, SINGLE), (2, X, 1), 2 * X + 1),
        ("get_binary_op_kernel", (SINGLE, SINGLE, SINGLE, "-"), (X, Y), X - Y),
        ("get_binary_op_kernel", (COMPLEX, SINGLE, COMPLEX, "*", True), (Z, Y), Z[0] * Y),
        ("get_scalar_op_kernel", (SINGLE, SINGLE, WHOLE, ">"), (X, 2), X > 2),
        ("get_rdivide_elwise_kernel", (SINGLE, SINGLE), (X, 12), 12 / X),
        ("get_unary_func_kernel", ("sqrt", SINGLE), (X,), np.sqrt(X)),
        ("get_unary_func_kernel", ("sqrt", WHOLE, DOUBLE), (X.astype(WHOLE),), np.sqrt(X.astype(DOUBLE))),
        ("get_binary_func_kernel", ("fmax", SINGLE, SINGLE, SINGLE), (X, Y), np.fmax(X, Y)),
        ("get_binary_func_scalar_kernel", ("fmin", SINGLE, SINGLE, SINGLE), (X, 2), np.fmin(X, 2)),
        ("get_binary_minmax_kernel", ("min", SINGLE, SINGLE, SINGLE, False), (X, Y), np.fmin(X, Y)),
        ("get_binary_minmax_kernel", ("max", WHOLE, WHOLE, WHOLE, True), (X.astype(WHOLE), 3), [3, 3, 3, 4]),
        ("get_pow_kernel", (SINGLE,), (2, X), X**2),
        ("get_pow_array_kernel", (SINGLE, SINGLE, SINGLE, True, True), (X, Y), X**Y),
        ("get_pow_array_kernel", (SINGLE, SINGLE, SINGLE, False, True), (2, Y), 2**Y),
        ("get_pow_array_kernel", (SINGLE, SINGLE, SINGLE, True, False), (X, 2), X**2),
        ("get_fmod_kernel", (), (X, Y), np.fmod(X, Y)),
        ("get_ldexp_kernel", (), (X, Y), np.ldexp(X, Y.astype(int))),
        ("get_fill_kernel", (SINGLE,), (7,), [7] * 4),
        ("get_reverse_kernel", (SINGLE,), (X,), X[::-1]),
        ("get_real_kernel", (COMPLEX, SINGLE), (Z,), Z.real),
        ("get_imag_kernel", (COMPLEX, SINGLE), (Z,), Z.imag),
        ("get_conj_kernel", (COMPLEX, COMPLEX), (Z,), Z.conj()),
        ("get_if_positive_kernel", (SINGLE, SINGLE), (Y, X, Y), np.where(Y > 0, X, Y)),
        ("get_where_kernel", (SINGLE, SINGLE), (Y - 2, X, Y), np.where(Y - 2, X, Y)),
        ("get_logical_not_kernel", (SINGLE, WHOLE), (Y - 2,), Y == 2),
        (
            "get_linear_combination_kernel",
            (((False, SINGLE, SINGLE), (False, SINGLE, SINGLE)), SINGLE),
            (2, X, 3, Y),
            2 * X + 3 * Y,
        ),
    ],
)
def test_generated_kernel_matches_numpy(maker, types, arguments, expected):
    function = getattr(elementwise, maker)(*types)
    function = function[0] if isinstance(function, tuple) else function
    # A generator's last dtype argument is the dtype of the result. If this argument is omitted, the result is float32.
    dtypes = [one for one in types if isinstance(one, np.dtype)]
    dtype = dtypes[-1] if dtypes else SINGLE
    np.testing.assert_allclose(computed(function, dtype, *arguments), np.asarray(expected, dtype), rtol=1e-6)


def test_generated_kernels_with_unusual_argument_order_match_numpy():
    out = PyGPU.zeros(4, SINGLE)
    run(elementwise.get_arange_kernel(SINGLE), out, out, 3, 0.5)
    assert out.tolist() == [3, 3.5, 4, 4.5]
    run(elementwise.get_copy_kernel(SINGLE, WHOLE), out, out, gpu([4, 3, 2, 1], WHOLE))
    assert out.tolist() == [4, 3, 2, 1]
    run(elementwise.get_put_kernel(SINGLE, WHOLE), out, gpu([3, 2, 1, 0], WHOLE), out, gpu(X))
    assert out.tolist() == [4, 3, 2, 1]
    other = PyGPU.zeros(4, SINGLE)
    run(elementwise.get_modf_kernel(), out, gpu(Y), out, other)
    assert (out.tolist(), other.tolist()) == ([2, 0, -1, 4], [0, 0.5, 0, 0])
    run(elementwise.get_frexp_kernel(), out, gpu(Y), out, other)
    assert (out.tolist(), other.tolist()) == ([0.5, 0.5, -0.5, 0.5], [2, 0, 1, 3])


def test_generated_kernel_is_cached_by_argument_types():
    assert elementwise.get_fill_kernel(SINGLE) is elementwise.get_fill_kernel(SINGLE)
    assert elementwise.get_fill_kernel(SINGLE) is not elementwise.get_fill_kernel(DOUBLE)
    tools.clear_context_caches()


def test_custom_kernel_iterates_over_elements_or_range():
    out = PyGPU.zeros(5, SINGLE)
    run(elementwise.get_elwise_kernel("float *z", "z[i] += n + offset", preamble="#define offset 1"), out, out)
    assert out.tolist() == [6] * 5
    module, function, arguments = elementwise.get_elwise_kernel_and_types("float *z", "z[i] = i", use_range=True)
    assert [argument.name for argument in arguments] == ["z", "start", "stop", "step"]
    function.prepared_call((1, 1), (32, 1, 1), out.gpudata, 4, 0, -2)
    assert out.tolist() == [6, 6, 2, 6, 4]
    assert module.get_function("kernel") is not None


def test_take_put_kernel_reads_source_array_through_textures():
    index = PyGPU.to_gpu(np.array([3, 0, 2], "int32"))
    sources = [PyGPU.arange(4, dtype="float64"), PyGPU.arange(10, 14, dtype="float64")]
    out = [PyGPU.zeros(4, "float64") for _ in sources]
    put, textures = elementwise.get_take_put_kernel("float64", np.dtype("int32"), True, 2)
    for source, texture in zip(sources, textures, strict=True):
        source.bind_to_texref_ext(texture, allow_double_hack=True)
    arguments = (index.gpudata, index.gpudata, out[0].gpudata, out[1].gpudata, 0, -2, 3)
    put.prepared_call((1, 1), (32, 1, 1), *arguments)
    assert out[0].tolist() == [0, 0, 2, 3]
    assert out[1].tolist() == [0, 0, 10, 11]


def test_linear_combination_accepts_factors_in_device_memory():
    combine, textures = elementwise.get_linear_combination_kernel(
        ((True, SINGLE, SINGLE), (False, SINGLE, SINGLE)), SINGLE
    )
    PyGPU.full(1, 3, SINGLE).bind_to_texref_ext(textures[0])
    x, out = PyGPU.arange(4, dtype=SINGLE), PyGPU.empty(4, SINGLE)
    combine.prepared_call((1, 1), (32, 1, 1), x.gpudata, 10, x.gpudata, out.gpudata, 4)
    assert out.tolist() == [0, 13, 26, 39]


def test_pow_kernel_rejects_two_scalars():
    with pytest.raises(ValueError, match="both numbers"):
        elementwise.get_pow_array_kernel(SINGLE, SINGLE, SINGLE, False, False)
