"""Test PyCUDA's elementwise functions: names, arguments, and their result dtypes, which differ from NumPy's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU import cumath, gpuarray
from support_kernels import needs_kernels, random_seed, random_view

UNARY = [name for name in cumath.__all__ if name not in ("fmod", "frexp", "ldexp", "modf")]
NUMPYS = {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan}


def of_numpy(name: str) -> Any:
    return NUMPYS.get(name, getattr(np, name))


def gpu(values: Any, dtype: Any = None) -> PyGPU.GPUArray:
    return PyGPU.to_gpu(np.asarray(values, dtype))


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize("name", UNARY)
def test_cumath_equals_numpy_if_numpy_computes_in_dtype_of_array(name):
    x = np.linspace(0.1, 0.9, 30).astype(np.float32)
    result = getattr(cumath, name)(gpu(x))
    assert result.dtype == np.float32
    np.testing.assert_allclose(result.get(), of_numpy(name)(x), rtol=3e-7)


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64"])
def test_result_of_cumath_function_of_integers_is_truncated(dtype):
    x = np.arange(1, 11, dtype=dtype)
    for name in ("sqrt", "log", "exp", "fabs"):
        if (name, dtype) == ("exp", "uint8"):
            continue
        result = getattr(cumath, name)(gpu(x))
        assert result.dtype == dtype
        np.testing.assert_array_equal(result.get(), of_numpy(name)(x.astype(np.float64)).astype(dtype))


def test_cumath_function_writes_to_out_array():
    x, out = gpu([1.0, 4.0]), gpu([0.0, 0.0])
    assert cumath.sqrt(x, out=out) is out
    assert out.tolist() == [1, 2]
    whole = gpu([0, 0])
    assert cumath.sqrt(gpu([9, 17]), out=whole) is whole
    assert whole.tolist() == [3, 4]


def test_cumath_accepts_out_or_stream_by_position_with_warning():
    x, out, stream = gpu([1.0, 4.0]), gpu([0.0, 0.0]), drv.Stream()
    with pytest.warns(DeprecationWarning, match=r"cumath\.sqrt.*out= or stream="):
        assert cumath.sqrt(x, out) is out
    with pytest.warns(DeprecationWarning, match=r"cumath\.sqrt"):
        assert cumath.sqrt(x, stream).tolist() == [1, 2]
    assert cumath.sqrt(x, stream=stream, out=out) is out


def test_stream_passed_to_function_is_current_only_during_call():
    stream, before = PyGPU.Stream(), PyGPU.current_stream()
    seen = []
    for call in (
        lambda: cumath.sin(gpu([1.0]), stream=stream),
        lambda: gpuarray.minimum(gpu([1.0]), 2, stream=stream),
        lambda: gpu([1.0]).reverse(stream=stream),
        lambda: gpu([1.0]).mul_add(1, gpu([2.0]), 1, stream=stream),
    ):
        call()
        seen.append(PyGPU.current_stream() == before)
    assert all(seen)
    with pytest.raises(TypeError):
        gpu([1.0]).mul_add(1, object(), 1, stream=stream)
    assert PyGPU.current_stream() == before


def test_cumath_matches_numpy_for_any_layout():
    rng = np.random.default_rng(random_seed())
    for _ in range(10):
        host, device = random_view(rng, (3, 4, 5), np.float64)
        np.testing.assert_allclose(cumath.cos(device).get(), np.cos(host), atol=1e-12)


def test_fmod_has_sign_and_dtype_of_dividend():
    a, b = np.array([5.5, -5.5, 1e10], np.float32), np.array([2, 2, 3], np.float32)
    result = cumath.fmod(gpu(a), gpu(b))
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result.get(), np.fmod(a, b))
    assert cumath.fmod(gpu([7, -7]), gpu([2.5, 2.5])).tolist() == [2, -2]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_frexp_ldexp_modf_match_numpy_with_exponents_in_array_dtype(dtype):
    x = np.array([0, 1, -6.25, 1e-30, 3e30, 0.1], dtype)
    significand, exponent = cumath.frexp(gpu(x))
    expected = np.frexp(x)
    assert significand.dtype == exponent.dtype == dtype
    np.testing.assert_array_equal(significand.get(), expected[0])
    np.testing.assert_array_equal(exponent.get(), expected[1])
    np.testing.assert_array_equal(cumath.ldexp(significand, exponent).get(), x)
    assert cumath.ldexp(gpu([0.75], dtype), gpu([3.9], dtype)).tolist() == [6]
    fraction, whole = cumath.modf(gpu(x))
    np.testing.assert_array_equal(fraction.get(), np.modf(x)[0])
    np.testing.assert_array_equal(whole.get(), np.modf(x)[1])


def test_frexp_and_modf_split_integers_like_floats():
    assert [part.tolist() for part in cumath.frexp(gpu([6, 0]))] == [[0.75, 0], [3, 0]]
    assert [part.tolist() for part in cumath.modf(gpu([6, -1]))] == [[0, 0], [6, -1]]
    assert cumath.ldexp(gpu([3, 5]), gpu([2, 1])).tolist() == [12, 10]


@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_minimum_and_maximum_ignore_nan_and_return_dtype_of_first_array(name):
    judge = {"minimum": np.fmin, "maximum": np.fmax}[name]
    function = getattr(gpuarray, name)
    a, b = np.array([1, np.nan, 3], np.float32), np.array([2, 2, np.nan], np.float64)
    result = function(gpu(a), gpu(b))
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result.get(), judge(a, b))
    np.testing.assert_array_equal(function(gpu(a), 2).get(), judge(a, 2))
    np.testing.assert_array_equal(function(2, gpu(a)).get(), judge(2, a))
    whole = function(gpu([1, 3], np.int32), gpu([1.5, 2.5]))
    assert whole.dtype == np.int32
    np.testing.assert_array_equal(whole.get(), judge([1, 3], [1.5, 2.5]).astype(np.int32))
    out = gpu([0.0, 0.0, 0.0])
    assert function(gpu(a), 2, out=out) is out
    np.testing.assert_array_equal(out.get(), judge(a, 2))


@pytest.mark.parametrize("dtype", ["float32", "int16", "bool", "complex64"])
def test_where_and_if_positive_match_numpy(dtype):
    rng = np.random.default_rng(random_seed())
    then_, else_ = (rng.integers(0, 2, (4, 5)).astype(dtype) * np.dtype(dtype).type(1) for _ in range(2))
    criterion = rng.integers(-2, 3, 5).astype(np.float32)
    found = gpuarray.where(gpu(criterion), gpu(then_), gpu(else_))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.get(), np.where(criterion, then_, else_))
    found = gpuarray.if_positive(gpu(criterion), gpu(then_), gpu(else_))
    np.testing.assert_array_equal(found.get(), np.where(criterion > 0, then_, else_))


def test_where_preserves_sign_of_zero():
    zeros = gpuarray.where(gpu([1, 0]), gpu([-0.0, 0.0]), gpu([0.0, -0.0])).get()
    np.testing.assert_array_equal(np.signbit(zeros), [True, True])


def test_where_accepts_operand_as_out_array():
    a, b = gpu([1.0, 2.0, 3.0]), gpu([4.0, 5.0, 6.0])
    assert gpuarray.where(gpu([0, 1, 0]), a, b, out=a) is a
    assert a.tolist() == [4, 2, 6]


def test_logical_functions_of_arrays_and_numbers_return_bools():
    x, y = np.array([0, 0.5, 2]), np.array([0, 0, 1])
    for name in ("logical_and", "logical_or"):
        function, judge = getattr(gpuarray, name), getattr(np, name)
        for one, other in [(x, y), (x, 1.0), (0.0, y)]:
            result = function(*(gpu(value) if isinstance(value, np.ndarray) else value for value in (one, other)))
            assert result.dtype == np.bool_
            np.testing.assert_array_equal(result.get(), judge(one, other))
        assert function(1, 0).get() == judge(1, 0)
    np.testing.assert_array_equal(gpuarray.logical_not(gpu(x)).get(), np.logical_not(x))
    out = gpu([True] * 3)
    assert gpuarray.logical_not(gpu(x), out=out) is out


def test_logical_or_uses_allocator_argument():
    requests = []

    def allocate(nbytes: int) -> Any:
        requests.append(nbytes)
        return drv.mem_alloc(nbytes)

    result = gpuarray.logical_or(gpu([0, 1, 0]), 0, allocator=allocate)
    assert result.tolist() == [False, True, False]
    assert requests == [3]


def test_mul_add_matches_numpy():
    a, b = np.arange(5, dtype=np.float32), np.arange(5, 10, dtype=np.float32)
    np.testing.assert_array_equal(gpu(a).mul_add(2, gpu(b), 3).get(), 2 * a + 3 * b)
    out = PyGPU.empty(5, np.float32)
    assert gpu(a).mul_add(2, gpu(b), 3, out=out) is out
    np.testing.assert_array_equal(out.get(), 2 * a + 3 * b)
    with pytest.raises(PyGPU.NotSupportedError, match="add_timer"):
        gpu(a).mul_add(2, gpu(b), 3, add_timer=print)


def test_reverse_returns_new_array_reversed_along_all_axes():
    host = np.arange(12, dtype=np.int16).reshape(3, 4)
    for device, values in ((gpu(host), host), (gpu(host.T), host.T), (gpu(host)[:, ::2], host[:, ::2])):
        found = device.reverse()
        np.testing.assert_array_equal(found.get(), values[::-1, ::-1])
        assert found.flags.forc
    assert gpu([1, 2, 3]).reverse().tolist() == [3, 2, 1]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_complex_parts_are_views_and_conjugates_are_new_arrays(dtype, order):
    host = np.array([[1 + 2j, 3 - 4j, 0], [5j, -6, 7 + 7j]], dtype, order=order)
    device = gpu(host)
    for name in ("real", "imag"):
        part = getattr(device, name)
        np.testing.assert_array_equal(part.get(), getattr(host, name))
        assert part.dtype == getattr(host, name).dtype
        assert part.strides == getattr(host, name).strides
    np.testing.assert_array_equal(device.get(), host)
    for conjugates in (device.conj(), device.conjugate()):
        np.testing.assert_array_equal(conjugates.get(), host.conj())
        assert conjugates.flags.c_contiguous == (order == "C")
    every_second = device[:, ::2]
    np.testing.assert_array_equal(every_second.imag.get(), host[:, ::2].imag)


def test_real_of_real_array_is_same_array_and_imag_is_zeros():
    device = gpu([1.5, 2.5])
    assert device.real is device
    assert device.conj() is device
    assert device.imag.tolist() == [0, 0]
    assert gpu([]).imag.shape == (0,)
    assert gpu(np.empty((0, 2), complex)).real.shape == (0, 2)


def test_assignment_to_real_and_imag_writes_into_array():
    host = np.array([1 + 2j, 3 + 4j])
    device = gpu(host)
    device.real = 7
    device.imag = np.array([8.0, 9.0])
    assert device.tolist() == [7 + 8j, 7 + 9j]
    whole = gpu([1, 2])
    whole.real = 3
    assert whole.tolist() == [3, 3]
    with pytest.raises(AttributeError, match="imaginary"):
        whole.imag = 1


def test_conj_accepts_out_of_other_precision():
    out = PyGPU.empty(2, np.complex64)
    assert gpu([1 + 2j, 3j]).conj(out=out) is out
    assert out.tolist() == [1 - 2j, -3j]


def test_transpose_and_reshape_accept_axes_and_lengths():
    device = PyGPU.empty((2, 3, 4))
    assert device.transpose(axes=(1, 0, 2)).shape == (3, 2, 4)
    assert gpuarray.transpose(device, (2, 0, 1)).shape == (4, 2, 3)
    assert gpuarray.reshape(device, 4, -1).shape == (4, 6)


def test_splay_returns_grid_that_covers_elements_without_empty_blocks():
    for n in (0, 1, 32, 33, 5000, 10**9):
        (blocks, one), (threads, *rest) = gpuarray.splay(n)
        assert (one, *rest) == (1, 1, 1)
        assert blocks >= 1
        assert threads in (32, 64, 128)
        assert (blocks - 1) * threads < max(n, 1)
    array = PyGPU.empty(500, np.float32)
    assert (array._grid, array._block) == gpuarray.splay(500)


def test_vector_types_support_fill_copy_and_view():
    vec = gpuarray.vec
    for name in ("char1", "uchar4", "long3", "longlong2", "double2", "float4"):
        dtype = getattr(vec, name)
        assert dtype.itemsize == int(name[-1]) * dtype["x"].itemsize
        one = getattr(vec, f"make_{name}")(*range(1, int(name[-1]) + 1))
        array = gpuarray.GPUArray(7, dtype)
        array.fill(one)
        assert (array.copy().get() == one).all()
    flat = gpuarray.zeros(6, np.float32).view(vec.float3)
    assert flat.shape == (2,)
    assert vec.make_float2(y=1, x=2).item() == (2, 1)
    with pytest.raises(TypeError, match=r"make_float3\(\) takes x, y, z"):
        vec.make_float3(1, 2)
    with pytest.raises(AttributeError, match="float5"):
        _ = vec.float5


@needs_kernels
def test_vector_types_can_be_kernel_arguments():
    vec = gpuarray.vec
    shift = PyGPU.elementwise.ElementwiseKernel(
        "float3 *x, float3 by", "x[i].x += by.x; x[i].y += by.y; x[i].z += by.z"
    )
    array = gpuarray.GPUArray(5, vec.float3).fill(vec.make_float3(1, 2, 3))
    shift(array, vec.make_float3(10, 20, 30))
    assert (array.get() == vec.make_float3(11, 22, 33)).all()
    assert PyGPU.tools.dtype_to_ctype(vec.float3) == "float3"
    assert PyGPU.tools.dtype_to_ctype(vec.longlong2) == "long2"


def test_invalid_values_cause_no_warning_on_gpu():
    with warnings.catch_warnings():
        warnings.simplefilter("error" if PyGPU.backend_name() != "cpu" else "ignore")
        cumath.log(gpu([-1.0]))
