"""PyCUDA's makers of elementwise kernels: prepared functions over addresses and a number of elements."""

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
    """Launch as PyCUDA's own arrays do."""
    given = [one.gpudata if isinstance(one, PyGPU.GPUArray) else one for one in arguments]
    function.prepared_async_call(like._grid, like._block, None, *given, like.size)


def gpu(values: Any, dtype: Any = None) -> PyGPU.GPUArray:
    return PyGPU.to_gpu(np.asarray(values, dtype))


X, Y = np.array([1, 2, 3, 4], SINGLE), np.array([2, 0.5, -1, 4], SINGLE)
Z = np.array([1 + 2j, -3j, 4, 0.5 - 1j], COMPLEX)


def computed(function: Any, dtype: Any, *arguments: Any) -> np.ndarray:
    """What a kernel writes that has its result last."""
    out = PyGPU.zeros(4, dtype)
    run(function, out, *(gpu(one) if isinstance(one, np.ndarray) else one for one in arguments), out)
    return out.get()


@pytest.mark.enough_on("cpu")  # a text for each: the compilers of the others see those of the tests below
@pytest.mark.parametrize(
    ("maker", "types", "arguments", "wanted"),
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
def test_a_kernel_computes_what_its_name_says(maker, types, arguments, wanted):
    function = getattr(elementwise, maker)(*types)
    function = function[0] if isinstance(function, tuple) else function
    # The last dtype that a maker is told is the result's; those that are told none compute in float32.
    dtypes = [one for one in types if isinstance(one, np.dtype)]
    dtype = dtypes[-1] if dtypes else SINGLE
    np.testing.assert_allclose(computed(function, dtype, *arguments), np.asarray(wanted, dtype), rtol=1e-6)


def test_kernels_whose_result_does_not_come_last():
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


def test_a_kernel_is_made_once_for_its_types():
    assert elementwise.get_fill_kernel(SINGLE) is elementwise.get_fill_kernel(SINGLE)
    assert elementwise.get_fill_kernel(SINGLE) is not elementwise.get_fill_kernel(DOUBLE)
    tools.clear_context_caches()


def test_a_kernel_of_ones_own_goes_over_elements_or_over_a_range():
    out = PyGPU.zeros(5, SINGLE)
    run(elementwise.get_elwise_kernel("float *z", "z[i] += n + offset", preamble="#define offset 1"), out, out)
    assert out.tolist() == [6] * 5
    module, function, arguments = elementwise.get_elwise_kernel_and_types("float *z", "z[i] = i", use_range=True)
    assert [argument.name for argument in arguments] == ["z", "start", "stop", "step"]
    function.prepared_call((1, 1), (32, 1, 1), out.gpudata, 4, 0, -2)
    assert out.tolist() == [6, 6, 2, 6, 4]
    assert module.get_function("kernel") is not None


def test_what_needs_texture_references_says_so():
    for make in (
        lambda: elementwise.get_take_kernel(SINGLE, WHOLE),
        lambda: elementwise.get_take_put_kernel(SINGLE, WHOLE, False),
        lambda: elementwise.get_linear_combination_kernel(((True, SINGLE, SINGLE),), SINGLE),
    ):
        with pytest.raises(PyGPU.NotSupportedError, match="texture references"):
            make()
    with pytest.raises(ValueError, match="both numbers"):
        elementwise.get_pow_array_kernel(SINGLE, SINGLE, SINGLE, False, False)
