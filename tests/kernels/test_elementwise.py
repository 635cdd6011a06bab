"""Test `ElementwiseKernel`, which compiles an expression of the user: results match NumPy for any layout."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import PyGPU
from PyGPU.elementwise import ElementwiseKernel, ScalarArg, VectorArg
from support import on_cpu
from support_kernels import needs_kernels, random_seed, random_view

pytestmark = needs_kernels

AXPY = ElementwiseKernel("float a, float *x, float *y, float *z", "z[i] = a * x[i] + y[i]", "axpy")
PAIR = np.dtype([("low", np.int32), ("high", np.float32)])
ARITHMETIC = [
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]


def gpu(array: Any, dtype: Any = None) -> PyGPU.GPUArray:
    return PyGPU.to_gpu(np.asarray(array, dtype))


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 1000, 70001])
def test_contiguous_arrays_of_any_length_match_numpy(size: int) -> None:
    x, y = np.arange(size, dtype=np.float32), np.arange(size, dtype=np.float32)[::-1] * 3
    z = PyGPU.full(size, -1, np.float32)
    AXPY(2, gpu(x), gpu(y.copy()), z)
    np.testing.assert_array_equal(z.get(), 2 * x + y)


def test_random_layouts_and_broadcasting_match_numpy() -> None:
    seed = random_seed()
    rng = np.random.default_rng(seed)
    for turn in range(12):
        shape = tuple(rng.integers(1, 6, size=rng.integers(0, 4)))
        (x, gx), (y, gy) = (random_view(rng, shape, np.float32, broadcast=True) for _ in range(2))
        z, gz = random_view(rng, np.broadcast_shapes(shape, x.shape, y.shape), np.float32)
        AXPY(3, gx, gy, gz)
        expected = np.broadcast_to(np.float32(3) * x + y, z.shape)
        np.testing.assert_array_equal(gz.get(), expected, err_msg=f"seed {seed}, turn {turn}")


def test_elementwise_kernel_leaves_gaps_between_output_elements_unchanged() -> None:
    base = gpu(np.zeros((6, 8), np.float32))
    x = gpu(np.ones((3, 4), np.float32))
    AXPY(1, x, x, base[::2, ::-2])
    expected = np.zeros((6, 8), np.float32)
    expected[::2, ::-2] = 2
    np.testing.assert_array_equal(base.get(), expected)


def test_arrays_in_different_memory_orders_are_combined_by_index() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    y = np.asfortranarray(x * 10)
    z = PyGPU.empty((3, 4), np.float32, order="F")
    AXPY(1, gpu(x), PyGPU.to_gpu(y), z)
    np.testing.assert_array_equal(z.get(), x * 11)


def test_every_dtype_is_read_and_written_in_one_kernel() -> None:
    names = [*ARITHMETIC, "bool", "bfloat16"]
    arguments, operation, call, expected = [], "", [], []
    for number, name in enumerate(names):
        dtype = np.dtype(getattr(ml_dtypes, name) if name == "bfloat16" else name)
        arguments += [VectorArg(dtype, f"x{number}"), VectorArg(dtype, f"z{number}")]
        body = "!x[i]" if name == "bool" else "x[i] * x[i] + x[i]"
        operation += f"z{number}[i] = {body.replace('x', f'x{number}')};\n"
        values = np.arange(9).astype(dtype)
        call += [PyGPU.to_gpu(values), PyGPU.empty(9, dtype)]
        expected.append(~values if name == "bool" else values * values + values)
    ElementwiseKernel(arguments, operation)(*call)
    for name, found, host in zip(names, call[1::2], expected, strict=True):
        np.testing.assert_array_equal(found.get().astype(host.dtype), host, err_msg=name)


@pytest.mark.parametrize("name", ["uint8", "float16", "float64", "complex64"])
def test_kernel_that_skips_elements_leaves_skipped_elements_unchanged(name: str) -> None:
    kernel = ElementwiseKernel([VectorArg(np.dtype(name), "x")], "if (i % 3 != 0) x[i] = x[i] + x[i]")
    for size in (1, 15, 16, 17, 50):
        x = np.arange(size).astype(name)
        found = PyGPU.to_gpu(x)
        kernel(found)
        np.testing.assert_array_equal(found.get(), np.where(np.arange(size) % 3, x + x, x))


def test_same_array_may_be_passed_for_two_kernel_parameters() -> None:
    x = np.arange(1001, dtype=np.float32)
    twice, both = gpu(x), gpu(x)
    AXPY(2, twice, gpu(x), twice)
    AXPY(2, both, both, both)
    np.testing.assert_array_equal(twice.get(), 3 * x)
    np.testing.assert_array_equal(both.get(), 3 * x)
    read_only = ElementwiseKernel("const float *x, float *z", "z[i] = 2 * x[i]")
    read_only(twice[::3], twice[::3])
    read_only(both, both)
    np.testing.assert_array_equal(twice.get(), np.where(np.arange(1001) % 3 == 0, 6 * x, 3 * x))
    np.testing.assert_array_equal(both.get(), 6 * x)
    add_first = ElementwiseKernel("float *x, float *z", "z[i] = 5; z[i] += x[i]")
    add_first(twice, twice)
    np.testing.assert_array_equal(twice.get(), np.full(1001, 10))


def test_output_array_interleaved_with_input_array_matches_numpy() -> None:
    base = np.arange(5000, dtype=np.float32)
    found = gpu(base)
    AXPY(2, found[::2], found[1::2], found[::2])
    base[::2] = 2 * base[::2] + base[1::2]
    np.testing.assert_array_equal(found.get(), base)


def test_variable_i_is_index_in_c_order_and_n_is_number_of_elements() -> None:
    kernel = ElementwiseKernel("long long *z", "z[i] = i + 1000 * n")
    expected = np.arange(24).reshape(2, 3, 4) + 24000
    for z in (
        PyGPU.empty((2, 3, 4), "i8"),
        PyGPU.empty((2, 3, 4), "i8", order="F"),
        PyGPU.empty((2, 3, 8), "i8")[..., ::-2],
    ):
        kernel(z)
        np.testing.assert_array_equal(z.get(), expected)


def test_kernel_reads_neighbour_elements_by_index() -> None:
    kernel = ElementwiseKernel("float *x, float *z", "z[i] = i > 0 ? x[i] - x[i - 1] : 0")
    x = np.arange(12, dtype=np.float32).reshape(3, 4) ** 2
    for argument in (gpu(x), gpu(x.T.copy()).T, gpu(x[:, ::-1].copy())[:, ::-1]):
        z = PyGPU.empty((3, 4), np.float32)
        kernel(argument, z)
        np.testing.assert_array_equal(z.get(), np.diff(x.ravel(), prepend=x[0, 0]).reshape(3, 4))


def test_array_that_kernel_reads_only_by_index_is_not_broadcast() -> None:
    kernel = ElementwiseKernel("const float *table, int *at, float *z", "z[i] = table[at[i]]")
    table = np.arange(20, dtype=np.float32).reshape(4, 5)
    at = np.array([[0, 19, 7], [3, 3, 11]], np.int32)
    for argument in (gpu(table), gpu(table.T.copy()).T):
        z = PyGPU.empty((2, 3), np.float32)
        kernel(argument, gpu(at), z)
        np.testing.assert_array_equal(z.get(), table.ravel()[at])


def test_kernel_call_with_slice_or_range_computes_selected_indices() -> None:
    kernel = ElementwiseKernel("int *z, int v", "z[i] = v + i")
    for chosen in (slice(3, None), slice(None, None, -2), slice(-3, 2, -1), slice(5, 5), slice(100, 200)):
        z = PyGPU.zeros(11, np.int32)
        kernel(z, 100, slice=chosen)
        expected = np.zeros(11, np.int32)
        expected[chosen] = 100 + np.arange(11)[chosen]
        np.testing.assert_array_equal(z.get(), expected, err_msg=str(chosen))
    for argument in (range(2, 9, 3), slice(2, 9, 3)):
        z = PyGPU.zeros((11, 2), np.int32)[:, 0]
        kernel(z, 0, range=argument)
        assert z.get().tolist() == [0, 0, 2, 0, 0, 5, 0, 0, 8, 0, 0]
    with pytest.raises(ValueError, match="range goes from 0 to 11, and there are 11"):
        kernel(PyGPU.zeros(11, np.int32), 0, range=range(12))
    with pytest.raises(TypeError, match="range or slice"):
        kernel(PyGPU.zeros(11, np.int32), 0, range=range(2), slice=slice(2))
    with pytest.raises(TypeError, match="not queue"):
        kernel(PyGPU.zeros(11, np.int32), 0, queue=None)


def test_kernel_index_beyond_32_bits_selects_correct_element() -> None:
    kernel = ElementwiseKernel("int *z, const int *x, long long first", "z[i - first] = x[i]")
    x = PyGPU.broadcast_to(gpu(np.arange(40000, dtype=np.int32)), (120_000, 40000))
    for first in (2**31 - 3, 2**32 + 39_999):
        z = PyGPU.zeros(5, np.int32)
        kernel(z, x, first, range=range(first, first + 5))
        assert z.get().tolist() == [(first + k) % 40000 for k in range(5)]


def test_thread_index_and_preamble_match_pycuda() -> None:
    z, total = PyGPU.zeros(1000, np.int32), PyGPU.zeros(1, np.int32)
    kernel = ElementwiseKernel(
        "int *z, int *total",
        "z[i] += (i - cta_start - tid) % total_threads == 0; mine += 1",
        loop_prep="int mine = 0",
        after_loop="atomicAdd(total, mine)",
    )
    kernel(z, total)
    assert total.get()[0] == 1000
    np.testing.assert_array_equal(z.get(), np.ones(1000))


def test_scalars_are_converted_to_declared_type_of_parameter() -> None:
    kernel = ElementwiseKernel(
        [
            ScalarArg(np.int8, "a"),
            ScalarArg(np.float32, "b"),
            ScalarArg(np.complex64, "c"),
            VectorArg(np.complex64, "z"),
        ],
        "z[i] = c + b + (float)a",
    )
    z = PyGPU.empty(3, np.complex64)
    for call in ((-3, 2.5, 1j), (np.int64(-3), np.float64(2.5), np.complex128(1j)), (np.uint8(2), 1, -2.5 + 1j)):
        kernel(*call, z)
        np.testing.assert_array_equal(z.get(), np.full(3, sum(complex(value) for value in call)))
    with pytest.raises(ValueError, match=r"argument 1 \(signed char a\): 300 is outside of int8"):
        kernel(300, 0, 0, z)
    with pytest.raises(
        TypeError,
        match=r"argument 1 \(signed char a\): the argument is 1\.5 \(float\); expected .* int8; write int",
    ):
        kernel(1.5, 0, 0, z)
    with pytest.raises(
        TypeError, match=r"argument 2 \(float b\): the argument is 1j \(complex\); expected a number of type float32"
    ):
        kernel(1, 1j, 0, z)


def test_kernel_rejects_shapes_that_do_not_broadcast() -> None:
    x, z = PyGPU.zeros((3, 4), np.float32), PyGPU.zeros((3, 4), np.float32)
    with pytest.raises(ValueError, match=r"axpy: operands could not be broadcast together with shapes \(3,4\) \(3,\)"):
        AXPY(1, x, PyGPU.zeros(3, np.float32), z)
    with pytest.raises(ValueError, match=r"float \*z is written, and an output is not broadcast: its shape is \(4,\)"):
        AXPY(1, x, x, PyGPU.zeros(4, np.float32))


def test_kernel_call_error_contains_name_of_mismatched_argument() -> None:
    x = PyGPU.zeros(4, np.float32)
    with pytest.raises(
        TypeError, match=r"axpy\(\): argument 2 \(float \*x\): the array is float64; expected float32; write x\.astype"
    ):
        AXPY(1, PyGPU.zeros(4), x, x)
    with pytest.raises(TypeError, match="takes 4 arguments, and 3 were given"):
        AXPY(1, x, x)
    with pytest.raises(TypeError, match="takes 4 arguments, and 1 was given"):
        AXPY(1)
    with pytest.raises(
        TypeError, match=r"argument 3 \(float \*y\): the argument is a list of length 2; expected a GPUArray"
    ):
        AXPY(1, x, [1, 2], x)
    if not on_cpu():
        with pytest.raises(TypeError, match=r"to_gpu"):
            AXPY(1, x, np.zeros(4, np.float32), x)
    with pytest.raises(ValueError, match="no name in C"):
        ElementwiseKernel("float *x", "x[i] = 1", "two words")
    with pytest.raises(ValueError, match="two arguments are named 'x'"):
        ElementwiseKernel("float *x, int x", "x[i] = 1")
    with pytest.raises(ValueError, match="cannot be named 'tid'"):
        ElementwiseKernel("float *tid", "tid[i] = 1")
    with pytest.raises(ValueError, match="needs an array"):
        ElementwiseKernel("float x", "")
    with pytest.raises(ValueError, match="unknown type 'quaternion'"):
        ElementwiseKernel("quaternion *x", "")


def test_read_only_array_is_accepted_as_input_and_rejected_as_output() -> None:
    x = np.arange(4, dtype=np.float32)
    fixed = PyGPU.broadcast_to(gpu(x), (2, 4))
    z = PyGPU.empty((2, 4), np.float32)
    AXPY(2, fixed, fixed, z)
    np.testing.assert_array_equal(z.get(), [3 * x] * 2)
    with pytest.raises(ValueError, match="read-only"):
        AXPY(2, z, z, fixed)


def test_strided_array_is_rejected_if_kernel_source_uses_its_pointer() -> None:
    kernel = ElementwiseKernel(
        "float *x, float *z",
        "z[i] = last(x, n)",
        preamble="__device__ float last(float *x, size_t n) { return x[n - 1]; }",
    )
    x, z = gpu(np.arange(8, dtype=np.float32)), PyGPU.empty(4, np.float32)
    kernel(x, z)
    assert z.get().tolist() == [3] * 4
    with pytest.raises(ValueError, match=r"uses x as a pointer \(float \*x\)"):
        kernel(x[::2], z)


def test_kernel_rejects_unaligned_arrays() -> None:
    odd = PyGPU.to_gpu(np.zeros(41, np.uint8))[1:].view(np.float32)
    with pytest.raises(ValueError, match="not aligned to 4 bytes"):
        AXPY(1, odd, odd, odd)


def test_kernel_uses_registered_name_of_structured_dtype() -> None:
    from PyGPU._arguments.c_types import get_or_register_dtype

    get_or_register_dtype("elementwise_pair", PAIR)
    preamble = "struct elementwise_pair { int low; float high; };"
    kernel = ElementwiseKernel(
        "elementwise_pair *x, elementwise_pair one, float *z",
        "x[i].low += one.low; z[i] = x[i].high * x[i].low",
        preamble=preamble,
    )
    x = np.zeros(6, PAIR)
    x["low"], x["high"] = np.arange(6), np.arange(6) / 2
    found, z = PyGPU.to_gpu(x), PyGPU.empty(3, np.float32)
    kernel(found[::-2], np.array((10, 0), PAIR)[()], z)
    np.testing.assert_array_equal(z.get(), (x["high"] * (x["low"] + 10))[::-2].astype(np.float32))
    assert found.get()["low"].tolist() == [0, 11, 2, 13, 4, 15]


def test_sixteen_bit_floats_are_rounded_like_numpy() -> None:
    widen = ElementwiseKernel("half *h, bfloat16 *b, float *x, float *y", "x[i] = h[i]; y[i] = b[i]")
    narrow = ElementwiseKernel("float *x, half *h, bfloat16 *b", "h[i] = x[i]; b[i] = x[i]")
    bits = np.arange(65536, dtype=np.uint16)
    half, brain = bits.view(np.float16), bits.view(ml_dtypes.bfloat16)
    x, y = PyGPU.empty(65536, np.float32), PyGPU.empty(65536, np.float32)
    widen(gpu(half), PyGPU.to_gpu(brain), x, y)
    np.testing.assert_array_equal(x.get(), half.astype(np.float32))
    np.testing.assert_array_equal(y.get(), brain.astype(np.float32))
    seed = random_seed()
    values = np.random.default_rng(seed).integers(0, 2**32, 50000, dtype=np.uint32).view(np.float32)
    finite = half[np.isfinite(half)].astype(np.float32)
    between = (finite[:-1] + finite[1:]) / 2
    values = np.concatenate([values, between, finite * np.float32(1.0001)])
    h, b = PyGPU.empty(values.size, np.float16), PyGPU.empty(values.size, ml_dtypes.bfloat16)
    narrow(gpu(values), h, b)
    with np.errstate(over="ignore", invalid="ignore"):
        np.testing.assert_array_equal(h.get(), values.astype(np.float16), err_msg=f"seed {seed}")
        np.testing.assert_array_equal(
            b.get().astype(np.float32), values.astype(ml_dtypes.bfloat16).astype(np.float32), err_msg=f"seed {seed}"
        )


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_complex_functions_match_numpy(name: str) -> None:
    functions = ["sqrt", "exp", "log", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "conj"]
    operation = "".join(f"z[{at} * n + i] = {one}(x[i]);" for at, one in enumerate(functions))
    operation += "".join(
        f"r[{at} * n + i] = {one}(x[i]);" for at, one in enumerate(["real", "imag", "abs", "arg", "norm"])
    )
    operation += "q[i] = pow(x[i], y[i]) / (x[i] - y[i]); e[i] = x[i] == y[i];"
    operation += "p[i] = pycuda::polar(abs(y[i]), arg(x[i])) * x[i] + 1"
    dtype = np.dtype(name)
    part = np.dtype("float32" if name == "complex64" else "float64")
    kernel = ElementwiseKernel(
        [*(VectorArg(dtype, one) for one in "xyzqp"), VectorArg(part, "r"), VectorArg(np.bool_, "e")], operation
    )
    rng = np.random.default_rng(random_seed())
    x, y = ((rng.uniform(-3, 3, 64) + 1j * rng.uniform(-3, 3, 64)).astype(name) for _ in range(2))
    y[::5] = x[::5] + 1
    z, q, p, r = (
        PyGPU.empty(shape, kind) for shape, kind in [((11, 64), name), (64, name), (64, name), ((5, 64), part)]
    )
    e = PyGPU.empty(64, bool)
    kernel(gpu(x), gpu(y), z, q, p, r, e)
    wide_x, wide_y = x.astype(np.complex128), y.astype(np.complex128)
    close: dict[str, Any] = {"rtol": 3e-5, "atol": 1e-5} if name == "complex64" else {"rtol": 1e-12, "atol": 1e-13}
    for at, one in enumerate(functions):
        np.testing.assert_allclose(z.get()[at], getattr(np, one)(wide_x), err_msg=one, **close)
    for found, expected in zip(r.get(), [x.real, x.imag, abs(wide_x), np.angle(wide_x), abs(wide_x) ** 2], strict=True):
        np.testing.assert_allclose(found, expected, **close)
    np.testing.assert_allclose(q.get(), wide_x**wide_y / (wide_x - wide_y), **{**close, "rtol": close["rtol"] * 30})
    np.testing.assert_allclose(p.get(), abs(wide_y) * np.exp(1j * np.angle(wide_x)) * wide_x + 1, **close)
    np.testing.assert_array_equal(e.get(), x == y)


def test_kernel_may_use_names_of_c_headers_without_include() -> None:
    kernel = ElementwiseKernel(
        "double *x, uint32_t *k",
        "const double all[] = {INFINITY, NAN, M_PI, FLT_MAX, DBL_EPSILON, INT_MIN}; x[i] = all[i % 6];"
        "uint64_t wide = k[i]; k[i] = (uint32_t)(wide * wide >> 32) + (int8_t)-1",
    )
    x, k = PyGPU.empty(6, np.float64), gpu([2**31, 5, 2**20], np.uint32)
    kernel(x[:3], k)
    kernel(x, PyGPU.zeros(6, np.uint32))
    floats = [np.inf, np.nan, np.pi, np.finfo("f4").max, np.finfo("f8").eps, -(2**31)]
    np.testing.assert_array_equal(x.get(), floats)
    assert k.get().tolist() == [2**30 - 1, 2**32 - 1, 255]


def test_headers_of_pycuda_can_be_included_in_kernel_source() -> None:
    preamble = "#include <pycuda-complex.hpp>\n#include <pycuda-helpers.hpp>\ntypedef pycuda::complex<float> cfloat;"
    kernel = ElementwiseKernel("pycuda::complex<float> *x", "x[i] = cfloat(0, 1) * x[i]", preamble=preamble)
    x = gpu([1, 2j, 3], np.complex64)
    kernel(x)
    assert x.get().tolist() == [1j, -2, 3j]


def test_kernel_runs_after_earlier_work_on_arrays_on_any_stream() -> None:
    increment = ElementwiseKernel("int *x", "x[i] += 1")
    x = PyGPU.zeros(1000, np.int32)
    streams = [None, *(PyGPU.Stream() for _ in range(3))]
    for turn in range(20):
        increment(x, stream=streams[turn % 4])
    np.testing.assert_array_equal(x.get(), np.full(1000, 20))


@pytest.mark.skipif("on_cpu()", reason="the host's arrays are no device's")
def test_array_of_another_library_is_accepted_as_kernel_argument() -> None:
    class Foreign:
        def __init__(self, array: PyGPU.GPUArray) -> None:
            self.array = array

        def __dlpack__(self, **keywords: Any) -> Any:
            return self.array.__dlpack__(**keywords)

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.array.__dlpack_device__()

    x, z = gpu(np.arange(5, dtype=np.float32)), PyGPU.empty(5, np.float32)
    AXPY(2, Foreign(x), x, z)
    assert z.get().tolist() == [0, 3, 6, 9, 12]


def test_keep_option_writes_source_to_printed_path(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = ElementwiseKernel("float *x", "x[i] = 41 + 1", "kept", keep=True)
    kernel(PyGPU.zeros(3, np.float32))
    path = Path(capsys.readouterr().out.rpartition(" ")[2].strip())
    assert "x[i] = 41 + 1" in path.read_text()
    path.unlink()
    path.parent.rmdir()


def test_elementwise_kernel_compile_error_is_reported() -> None:
    kernel = ElementwiseKernel("float *x", "x[i] = undeclared_name")
    with pytest.raises(PyGPU.CompileError, match=r"operation:?\(?1[\s\S]*undeclared_name"):
        kernel(PyGPU.zeros(3, np.float32))


def test_compile_error_of_user_expression_is_reported_only_once() -> None:
    kernel = ElementwiseKernel("float *x", "x[i] = undeclared_name")
    with pytest.raises(PyGPU.CompileError) as raised:
        kernel(PyGPU.zeros(70, np.float32))
    lines = [line for line in str(raised.value).splitlines() if "undeclared_name" in line and "error" in line]
    assert len(lines) == 1


def test_kernel_is_released_with_its_last_reference() -> None:
    kernel = ElementwiseKernel("float *x", "x[i] = 1")
    kernel(PyGPU.zeros(3, np.float32))
    reference = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert reference() is None
