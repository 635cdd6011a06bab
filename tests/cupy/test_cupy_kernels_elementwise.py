"""Test `PyGPU.cupy.ElementwiseKernel` with the parameters and the kernel language of CuPy."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import PyGPU
from PyGPU._cupy.kernels.c_text import is_array_index, is_local_output, renamed
from PyGPU._cupy.kernels.elementwise import ElementwiseKernel

RANDOM = np.random.default_rng(7)
X = RANDOM.standard_normal((4, 5)).astype(np.float32)
Y = RANDOM.standard_normal(5).astype(np.float32)


@pytest.fixture(scope="module")
def difference() -> ElementwiseKernel:
    return ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "difference")


def test_elementwise_kernel_broadcasts_and_allocates_outputs(difference: ElementwiseKernel) -> None:
    x, y = PyGPU.to_gpu(X), PyGPU.to_gpu(Y)
    for _ in range(2):  # The first call stores a prepared launch, and the second call uses the stored launch.
        np.testing.assert_array_equal(difference(x, y).get(), (X - Y) ** 2)
        np.testing.assert_array_equal(difference(x.T, x.T).get(), np.zeros((5, 4)))
        np.testing.assert_array_equal(difference(y, x[::2]).get(), (X[::2] - Y) ** 2)
        out = PyGPU.empty((4, 5), np.float32)
        assert difference(x, y, out) is out
        np.testing.assert_array_equal(out.get(), (X - Y) ** 2)
    in_place = PyGPU.to_gpu(X)
    difference(in_place, 1, in_place)
    np.testing.assert_array_equal(in_place.get(), (X - 1) ** 2)
    assert difference(PyGPU.empty((0, 3), np.float32), 1).shape == (0, 3)


@pytest.mark.parametrize("scalar", [2, 2.0, True, np.float64(2), np.int8(2), np.float32(2)])
def test_elementwise_kernel_converts_scalar_to_type_of_parameter(difference: ElementwiseKernel, scalar: float) -> None:
    for _ in range(2):
        result = difference(PyGPU.to_gpu(X), scalar)
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result.get(), (X - np.float32(scalar)) ** 2)


def test_elementwise_kernel_truncates_scalar_for_integer_output(difference: ElementwiseKernel) -> None:
    x = PyGPU.arange(5, dtype=np.int32)
    for _ in range(2):
        # The scalar 2.75 becomes 2, as if it were assigned to an integer array of NumPy.
        assert difference(x, 2.75).tolist() == [4, 1, 0, 1, 4]
    with pytest.raises(TypeError):
        difference(x, 1j)
    for _ in range(2):
        with pytest.raises(OverflowError, match="out of bounds for int32"):
            difference(x, 1 << 40)
        difference(x, 1)


def test_elementwise_kernel_accesses_arguments_by_name() -> None:
    operation = "if (x > 0) y = x; else if (x < -1) continue; else y += 1"
    conditional = ElementwiseKernel("T x", "T y", operation, "conditional")
    out = PyGPU.full((4, 5), 7, np.float32)
    conditional(PyGPU.to_gpu(X), out)
    np.testing.assert_array_equal(out.get(), np.where(X > 0, X, np.where(X < -1, 7, 8)))
    address = ElementwiseKernel("T x", "T y", "atomicAdd(& (y), x)", "address")
    address(PyGPU.to_gpu(X), out)
    np.testing.assert_allclose(out.get(), np.where(X > 0, X, np.where(X < -1, 7, 8)) + X, rtol=1e-6)


def test_elementwise_kernel_returns_outputs_of_several_types() -> None:
    kernel = ElementwiseKernel(
        "T x, complex64 w",
        "complex64 z, float16 h, bool b, uint8 u, int64 k",
        """
        z = complex<float>(x, 1) * conj(w) + thrust::complex<float>(0, 1);
        h = x; b = x > 0; u = 300; k = -1 - (x > 0);
        """,
        "types",
    )
    z, h, b, u, k = kernel(PyGPU.to_gpu(X), 2 + 1j)
    np.testing.assert_allclose(z.get(), (X + 1j) * (2 - 1j) + 1j, rtol=1e-6)
    np.testing.assert_array_equal(h.get(), X.astype(np.float16))
    np.testing.assert_array_equal(b.get(), X > 0)
    assert (u.dtype, k.dtype) == (np.uint8, np.int64)
    assert u.tolist() == [[44] * 5] * 4
    np.testing.assert_array_equal(k.get(), np.where(X > 0, -2, -1))


def test_elementwise_kernel_supports_float16_arithmetic() -> None:
    half = RANDOM.integers(-8, 8, 6).astype(np.float16)
    kernel = ElementwiseKernel("T x, raw T table", "T y", "T t = x * 2; t += 1; y = t + table[i]", "half")
    result = kernel(PyGPU.to_gpu(half), PyGPU.to_gpu(half))
    np.testing.assert_array_equal(result.get(), half * 3 + 1)
    raw = ElementwiseKernel("raw T x", "raw T y", "T t = x[i] * 2; t += 1; y[i] = t", "half_raw")
    np.testing.assert_array_equal(raw(PyGPU.to_gpu(half), size=6).get(), half * 2 + 1)


def test_raw_arrays_are_indexed_in_c_order_for_any_strides() -> None:
    shift = ElementwiseKernel("raw T x, T y", "T z", "z = x[i - 1 < 0 ? 0 : i - 1] + y", "shift")
    y = PyGPU.to_gpu(Y)
    for source, expected in ((y, Y), (y[::-1], Y[::-1]), (PyGPU.to_gpu(X).T, X.T)):
        flat = expected.ravel()
        for _ in range(2):
            np.testing.assert_array_equal(shift(source, y).get(), np.r_[flat[0], flat[:4]] + Y)
    double = ElementwiseKernel("raw T x", "raw T y", "y[i] = 2 * x[i]", "twice")
    out = PyGPU.zeros(20, np.float32)
    for source, expected in ((PyGPU.to_gpu(X), X), (PyGPU.to_gpu(X).T, X.T)):
        for block_size in (128, 3):
            assert double(source, out, size=20, block_size=block_size) is out
            np.testing.assert_array_equal(out.get(), 2 * expected.ravel())
            out.fill(0)


def test_raw_array_of_more_than_2_to_the_31_elements_is_indexed_in_64_bits() -> None:
    # The array is a broadcast view, so it occupies little memory.
    length = 70_000
    rows = PyGPU.broadcast_to(PyGPU.arange(length, dtype=np.int32)[:, None], (length, length))
    columns = PyGPU.broadcast_to(PyGPU.arange(length, dtype=np.int32), (length, length))
    kernel = ElementwiseKernel("raw T x, int64 step", "T z", "z = x[i * step]", "far")
    positions = np.arange(5) * (length * length // 5 + 7)
    for array, expected in ((rows, positions // length), (columns, positions % length)):
        found = PyGPU.empty(5, np.int32)
        kernel(array, int(positions[1]), found)
        np.testing.assert_array_equal(found.get(), expected)


def test_raw_arrays_have_shapes_and_accept_index_lists() -> None:
    kernel = ElementwiseKernel(
        "raw T x, int32 n, int32 tid",
        "T y, int64 z",
        """
        ptrdiff_t at[] = {i % x.shape()[0], i / x.shape()[0]};
        int cta_start = n; // names that PyGPU's kernels use themselves
        y = x[at] + cta_start + tid;
        z = x.size() * 100 + _ind.size();
        """,
        "shapes",
    )
    for source, expected in ((PyGPU.to_gpu(X), X), (PyGPU.to_gpu(X)[:, ::-1], X[:, ::-1])):
        for _ in range(2):
            y, z = kernel(source, 3, 4, size=20)
            np.testing.assert_array_equal(y.get(), expected.T.ravel() + 7)
            assert z.tolist() == [2020] * 20
    indexed = ElementwiseKernel("raw T x, T v", "raw T y", "y[_ind.get()] = x[_ind.get()] + v", "at", reduce_dims=False)
    out = PyGPU.zeros((4, 5), np.float32)
    indexed(PyGPU.to_gpu(X)[::-1], PyGPU.to_gpu(X), out)
    np.testing.assert_array_equal(out.get(), X[::-1] + X)


def test_elementwise_kernel_computes_maxima_of_image_windows() -> None:
    pool = ElementwiseKernel(
        "raw T image, int32 h, int32 w, int32 out_h, int32 out_w, int32 k",
        "T out, S index",
        """
        int plane = i / (out_h * out_w), top = i / out_w % out_h * k, left = i % out_w * k;
        T largest = image[left + w * (top + h * plane)];
        index = 0;
        for (int y = top; y < top + k; ++y) {
            for (int x = left; x < left + k; ++x) {
                T value = image[x + w * (y + h * plane)];
                if (value <= largest) continue;
                largest = value;
                index = (y - top) * k + x - left;
            }
        }
        out = largest;""",
        "pool",
    )
    image = RANDOM.standard_normal((2, 3, 6, 4)).astype(np.float32)
    windows = image.reshape(2, 3, 3, 2, 2, 2).swapaxes(3, 4).reshape(2, 3, 3, 2, 4)
    out, index = PyGPU.empty((2, 3, 3, 2), np.float32), PyGPU.empty((2, 3, 3, 2), np.int32)
    pool(PyGPU.to_gpu(image), 6, 4, 3, 2, 2, out, index)
    np.testing.assert_array_equal(out.get(), windows.max(-1))
    np.testing.assert_array_equal(index.get(), windows.argmax(-1))


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_elementwise_kernel_adds_to_raw_output_by_atomics(dtype: type) -> None:
    index = RANDOM.integers(0, 5, 40).astype(np.int32)
    scatter = ElementwiseKernel("int32 at, T v", "raw T out", "atomicAdd(&out[at], v)", "scatter")
    out = PyGPU.zeros(5, dtype)
    scatter(PyGPU.to_gpu(index), 2, out)
    assert out.tolist() == (2 * np.bincount(index, minlength=5)).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_elementwise_kernel_finds_extrema_by_atomics(dtype: type) -> None:
    extrema = ElementwiseKernel(
        "T x",
        "raw T low, raw T high",
        "atomicMin(&low[0], x); atomicMax(&high[0], x == 0 ? -CUDART_INF : x)",
        "extrema",
    )
    low, high = PyGPU.full(1, 9, dtype), PyGPU.full(1, -9, dtype)
    extrema(PyGPU.to_gpu(X.astype(dtype)), low, high)
    assert (low.tolist(), high.tolist()) == ([X.min()], [X.max()])


def test_elementwise_kernel_runs_preamble_loop_prep_and_after_loop() -> None:
    kernel = ElementwiseKernel(
        "float32 x",
        "float32 y",
        "y = scaled(x) * s",
        "texts",
        preamble="__device__ float scaled(float x) { return FACTOR * x; }",
        options=("-DFACTOR=2",),
        loop_prep="float s = 0; int n = 3; for (int i = 0; i < n; i++) s += 1;",
        after_loop="s = n;",
    )
    x = PyGPU.to_gpu(X)
    for one in (kernel, pickle.loads(pickle.dumps(kernel))):
        np.testing.assert_array_equal(one(x).get(), 6 * X)
    assert "scaled(x) * s" in kernel.cached_code
    assert list(kernel.cached_codes) == [(np.dtype("float32"), np.dtype("float32"))]


def test_elementwise_kernel_block_size_is_passed_to_kernel_launch() -> None:
    kernel = ElementwiseKernel(
        "T x",
        "T y",
        "__shared__ T s[32]; s[threadIdx.x] = x; __syncthreads(); y = s[blockDim.x - 1 - threadIdx.x]",
        "block",
    )
    x = np.arange(64, dtype=np.float32)
    result = kernel(PyGPU.to_gpu(x), block_size=32)
    np.testing.assert_array_equal(result.get(), x.reshape(2, 32)[:, ::-1].ravel())


def test_elementwise_kernel_options_determine_returned_value() -> None:
    x = PyGPU.to_gpu(Y)
    nothing = ElementwiseKernel("T x", "T y", "y = x", "copy", no_return=True)
    out = PyGPU.zeros(5, np.float32)
    assert nothing(x, out) is None
    np.testing.assert_array_equal(out.get(), Y)
    (only,) = ElementwiseKernel("T x", "T y", "y = x", "copy", return_tuple=True)(x)
    np.testing.assert_array_equal(only.get(), Y)
    iota = ElementwiseKernel("", "T y", "y = i", "iota")
    assert iota(PyGPU.empty(4, np.int16)).tolist() == [0, 1, 2, 3]


def test_elementwise_kernel_accepts_arrays_of_other_libraries(difference: ElementwiseKernel) -> None:
    class Foreign:
        def __init__(self, array: PyGPU.GPUArray) -> None:
            self.array = array

        def __cupy_get_ndarray__(self) -> PyGPU.GPUArray:
            return self.array

    np.testing.assert_array_equal(difference(Foreign(PyGPU.to_gpu(X)), 0).get(), X * X)
    with pytest.raises(TypeError, match=r"Unsupported type.*numpy\.ndarray"):
        difference(X, 0)


def test_elementwise_kernel_accesses_structure_fields_by_index() -> None:
    kernel = ElementwiseKernel("T x", "T y", 'static_assert(T::field_count == 2, ""); y.at<1>() = -x.at<0>()', "fields")
    x, y = (PyGPU.to_gpu(np.array(values, dtype="i4,f4")) for values in ([(1, 2), (3, 4)], [(5, 6), (7, 8)]))
    kernel(x, y)
    assert y.get().tolist() == [(5, -1), (7, -3)]
    raw = ElementwiseKernel("raw T x", "float64 y", "y = x[1 - i].at<1>() + x[i].at<0>()", "raw_fields")
    assert raw(x, size=2).tolist() == [5, 5]
    with pytest.raises(ValueError, match="begins at byte 1"):
        kernel(PyGPU.zeros(2, "i1,i4"))


def test_elementwise_kernel_reads_textures() -> None:
    image = PyGPU.TextureArray((4, 5), "float32")
    image.set(X)
    kernel = ElementwiseKernel(
        "T x, U image, uint64 width",
        "T y",
        "y = x + tex2D<T>(image, (float)(i % width), (float)(i / width))",
        "textured",
    )
    x = PyGPU.arange(20, dtype=np.float32).reshape(4, 5)
    np.testing.assert_array_equal(kernel(x, PyGPU.Texture(image), 5).get(), x.get() + X)


def test_elementwise_kernel_rejects_invalid_sizes_and_shapes(difference: ElementwiseKernel) -> None:
    x, y = PyGPU.to_gpu(X), PyGPU.to_gpu(Y)
    for _ in range(2):
        with pytest.raises(ValueError, match="Out shape is mismatched"):
            difference(x, y, PyGPU.empty(5, np.float32))
        with pytest.raises(ValueError, match="Specified 'size' can"):
            difference(x, y, size=20)
        with pytest.raises(ValueError, match="block_size must be greater than zero"):
            difference(x, y, block_size=0)
        with pytest.raises(ValueError, match="broadcast"):
            difference(x, PyGPU.zeros(3, np.float32))
        difference(x, y)
    with pytest.raises(TypeError, match="Wrong number of arguments"):
        difference(x)
    with pytest.raises(TypeError, match="Output arguments type must be"):
        difference(x, y, 3)
    raw = ElementwiseKernel("raw T x", "raw T y", "y[i] = x[i]", "raw")
    with pytest.raises(ValueError, match=r"Loop size is undecided\."):
        raw(y)
    mixed = ElementwiseKernel("T x", "raw T y", "y[i] = x", "mixed")
    with pytest.raises(ValueError, match="Output array size is Undecided"):
        mixed(y)


def test_elementwise_kernel_rejects_invalid_types_and_declarations(difference: ElementwiseKernel) -> None:
    with pytest.raises(TypeError, match="Type is mismatched"):
        difference(PyGPU.to_gpu(X), PyGPU.zeros(5, np.float64))
    with pytest.raises(TypeError, match="U of y is undecided"):
        ElementwiseKernel("T x", "U y", "y = x")(PyGPU.to_gpu(X))
    with pytest.raises(ValueError, match='Invalid kernel name: "1"'):
        ElementwiseKernel("T x", "T y", "y = x", "1")
    with pytest.raises(ValueError, match="Can not use 'i'"):
        ElementwiseKernel("T i", "T y", "y = i")
    for declaration, error in (("x", ValueError), ("volatile T x", ValueError), ("no_type x", TypeError)):
        with pytest.raises(error):
            ElementwiseKernel(declaration, "T y", "y = x")


def test_parameter_names_in_kernel_text_are_found_as_whole_tokens() -> None:
    assert renamed('n = a.n + p->n; // n\nf("n", n)', {"n": "m"}) == 'm = a.n + p->n; // n\nf("n", m)'
    local = {
        "y = x; y += 1;": True,
        "if (x) y = x;": False,
        "y = y + 1;": False,
        "y = x; return;": False,
        "z = x;": False,
    }
    assert {text: is_local_output("y", text, "", False) for text in local} == local
    assert is_local_output("y", "if (x) y = x;", "", True)
    assert not is_local_output("y", "y = 0; f(&y);", "", True)
    assert not is_local_output("y", "y = 0; f(& (y));", "", True)
    assert is_local_output("y", "y = x & y;", "", True)
    assert not is_local_output("y", "SET(x);", "#define SET(x) y = x", True)
    names = frozenset({"i", "k"})
    shaped = {
        "y = x[k] + x[i + 1]": False,
        "y = x.size()": True,
        "y = x[{i, 0}]": True,
        "int at[2] = {0, i}; y = x[at]": True,
    }
    assert {text: is_array_index("x", (text,), names) for text in shaped} == shaped


def test_elementwise_kernel_accepts_types_defined_in_preamble() -> None:
    kernel = ElementwiseKernel(
        "T x, float16 h",
        "T y, float16 low, float16 high, bool finite",
        """
        uint64_t product = twice((uint64_t)x);
        point p = {1, (int)product};
        y = (T)(p.x * p.y);
        low = min(max(h, float16(-2)), float16(3));
        high = fmax(h, copysign(float16(1), h));
        finite = isfinite(h) && !isnan(h) && !isinf(h) && (signbit(h) || h >= 0) && !iszero(h);
        """,
        "own_types",
        preamble="""
        typedef unsigned long long uint64_t;
        __device__ uint64_t twice(uint64_t x) { return 2 * x; }
        __device__ struct point { int x, y; };
        """,
    )
    h = np.array([-7, 0, np.inf, 2.5, np.nan], np.float16)
    y, low, high, finite = kernel(PyGPU.arange(5, dtype="u8"), PyGPU.to_gpu(h))
    assert y.tolist() == [0, 2, 4, 6, 8]
    np.testing.assert_array_equal(low.get()[:4], np.clip(h, -2, 3)[:4])
    np.testing.assert_array_equal(high.get(), np.fmax(h, np.copysign(np.float16(1), h)))
    assert finite.tolist() == [True, False, False, True, False]
