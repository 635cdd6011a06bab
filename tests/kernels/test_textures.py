"""Test textures and surfaces: reads match NumPy's result by the rules of CUDA's programming guide."""

from __future__ import annotations

import gc
import itertools
import random
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

import PyGPU
import simulated_driver
from support_kernels import module_or_skip

SOURCE = r"""
extern "C" __global__ void sample(cudaTextureObject_t t, const float *at, float *out, int n, int axes, int layer) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = at[3 * i], y = at[3 * i + 1], z = at[3 * i + 2];
    switch (axes) {
    case 0: out[i] = tex1Dfetch<float>(t, (int)x); break;
    case 1: out[i] = tex1D<float>(t, x); break;
    case 2: out[i] = tex2D<float>(t, x, y); break;
    case 3: out[i] = tex3D<float>(t, x, y, z); break;
    case 11: out[i] = tex1DLayered<float>(t, x, layer); break;
    case 12: out[i] = tex2DLayered<float>(t, x, y, layer); break;
    }
}
extern "C" __global__ void fetch4(cudaTextureObject_t t, int *out) {
    int4 v = tex1Dfetch<int4>(t, threadIdx.x);
    int *o = out + 4 * threadIdx.x;
    o[0] = v.x; o[1] = v.y; o[2] = v.z; o[3] = v.w;
}
extern "C" __global__ void add(cudaSurfaceObject_t s, short value, int width, int layer) {
    int x = threadIdx.x, y = blockIdx.x;
    short old = layer < 0 ? surf2Dread<short>(s, x * 2, y) : surf2DLayeredread<short>(s, x * 2, y, layer);
    if (layer < 0) surf2Dwrite((short)(old + value), s, x * 2, y);
    else surf2DLayeredwrite((short)(old + value), s, x * 2, y, layer);
}
extern "C" __global__ void beyond(cudaSurfaceObject_t s, float *out) {
    out[0] = surf1Dread<float>(s, -4, cudaBoundaryModeClamp);
    out[1] = surf1Dread<float>(s, 400, cudaBoundaryModeClamp);
    out[2] = surf1Dread<float>(s, 400, cudaBoundaryModeZero);
    surf1Dwrite(7.0f, s, 400, cudaBoundaryModeZero);
}
"""
if PyGPU.backend_name() == "hip":
    SOURCE = (
        SOURCE.replace("cudaBoundary", "hipBoundary")
        .replace("cudaTexture", "hipTexture")
        .replace("cudaSurf", "hipSurf")
    )

gpu_only = pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="the CPU has no streams")
WORDS = ("wrap", "clamp", "mirror", "border")


@pytest.fixture(scope="module")
def module() -> PyGPU.Module:
    return module_or_skip(SOURCE)


@pytest.fixture
def unrest() -> Iterator[None]:
    """Make a simulated driver delay work at random, so that a missing wait gives wrong values."""
    PyGPU.zeros(1)
    with simulated_driver.delayed(2000):
        yield


def as_floats(values: np.ndarray) -> np.ndarray:
    """Convert integers to floats as a texture does with the read mode "normalized_float"."""
    if values.dtype.kind == "f":
        return values.astype("float64")
    most = np.iinfo(values.dtype).max
    return np.maximum(values.astype("float64") / most, -1 if values.dtype.kind == "i" else 0)


def along(
    at: np.ndarray, length: int, mode: str, linear: bool, normalized: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return which elements along an axis contribute to a read, and their weights. The index -1 means the border
    color."""
    x = at.astype("float64")
    if mode in ("wrap", "mirror") and not normalized:
        mode = "clamp"
    if mode == "wrap":
        x = x - np.floor(x)
    if mode == "mirror":
        fraction = x - np.floor(x)
        x = np.where(np.floor(x) % 2 == 0, fraction, 1 - fraction)
    if normalized:
        x = x * length

    def index(i: np.ndarray) -> np.ndarray:
        i = i.astype(int)
        if mode == "border":
            return np.where((i < 0) | (i >= length), -1, i)
        return i % length if mode == "wrap" else np.clip(i, 0, length - 1)

    if not linear:
        return [
            (index(np.minimum(np.floor(x), length - 1) if mode in ("wrap", "mirror") else np.floor(x)), np.ones_like(x))
        ]
    low = np.floor(x - 0.5)
    weight = np.floor((x - 0.5 - low) * 256 + 0.5) / 256
    return [(index(low), 1 - weight), (index(low + 1), weight)]


def sampled(
    values: np.ndarray, at: np.ndarray, modes: list[str], linear: bool, normalized: bool, border: float
) -> np.ndarray:
    """Compute the value of an array with any number of axes at the coordinates x, y, z, as a texture does."""
    axes = [along(at[:, axis], values.shape[-1 - axis], modes[axis], linear, normalized) for axis in range(values.ndim)]
    result = np.zeros(len(at))
    for corner in itertools.product(*axes):
        indices = tuple(index for index, _ in reversed(corner))
        beyond = np.any([index < 0 for index in indices], axis=0)
        weights = np.prod([weight for _, weight in corner], axis=0)
        result += weights * np.where(beyond, border, values[tuple(np.maximum(index, 0) for index in indices)])
    return result


def read(module: PyGPU.Module, texture: PyGPU.Texture, at: np.ndarray, axes: int, layer: int = 0) -> np.ndarray:
    out = PyGPU.empty(len(at), "float32")
    positions = PyGPU.to_gpu(np.ascontiguousarray(at, dtype="float32"))
    module.get_function("sample")[(len(at) + 63) // 64, 64](texture, positions, out, len(at), axes, layer)
    return out.get()


def values_of(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    if np.dtype(dtype).kind == "f":
        return rng.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def test_texture_reads_in_every_mode_match_numpy(module: PyGPU.Module) -> None:
    seed = random.randrange(1 << 30)
    rng = np.random.default_rng(seed)
    is_hardware = PyGPU.backend_name() != "cpu" and simulated_driver.driver() is None
    for trial in range(60):
        axes = 1 + trial % 3
        shape = tuple(int(length) for length in rng.integers(1, 9, axes))
        dtype = ["float32", "uint8", "int16", "float16", "int8", "uint16"][int(rng.integers(6))]
        values = values_of(rng, shape, dtype)
        modes = [WORDS[number] for number in rng.integers(0, 4, 3)]
        linear, normalized = bool(rng.integers(2)), bool(rng.integers(2))
        border = float(rng.integers(2))
        array = PyGPU.TextureArray(shape, dtype)
        array.set(values)
        texture = PyGPU.Texture(
            array,
            address_mode=modes,
            filter_mode="linear" if linear else "point",
            read_mode="element" if values.dtype.kind == "f" else "normalized_float",
            normalized_coords=normalized,
            border_color=border,
        )
        # The coordinates are odd multiples of 1/128, so coordinates and weights are exact, and no read is on the edge
        # between two elements.
        span = 2 if normalized else max(shape) + 3
        at = (rng.integers(-span * 64, span * 64, (200, 3)) + 0.5) / 64
        expected = sampled(as_floats(values), at.astype("float32"), modes, linear, normalized, border)
        scale = max(1.0, float(np.abs(as_floats(values)).max()))
        message = f"seed {seed}, trial {trial}: {shape} {dtype} {modes} linear={linear} normalized={normalized}"
        # A texture rounds the product of a normalized coordinate and the length before it computes weights. A real GPU
        # also rounds other intermediate values. The tolerance is therefore greater for normalized coordinates and on a
        # real GPU.
        coarse = linear and (normalized or is_hardware)
        error = np.abs(read(module, texture, at, axes) - expected)
        close = error <= scale * (1 / 128 if coarse else 2e-6)
        assert close.mean() > (0.97 if normalized else 0.9999), message


def test_linear_filter_does_not_interpolate_between_texture_layers(module: PyGPU.Module) -> None:
    values = np.arange(24, dtype="float32").reshape(3, 2, 4)
    array = PyGPU.TextureArray((3, 2, 4), layered=True)
    array.set(values)
    at = np.array([[1.5, 0.5, 0], [2.0, 1.0, 0]])
    texture = PyGPU.Texture(array, filter_mode="linear")
    for layer in (0, 1, 2):
        np.testing.assert_allclose(read(module, texture, at, 12, layer), np.array([1.0, 3.5]) + 8 * layer)
    lines = PyGPU.TextureArray((2, 4), layered=True)
    lines.set(values[0])
    np.testing.assert_array_equal(read(module, PyGPU.Texture(lines), at, 11, 1), [5.0, 6.0])


def test_texture_of_linear_memory_reads_elements_and_zero_outside(module: PyGPU.Module) -> None:
    line = PyGPU.arange(10, dtype="float32")
    at = np.array([[-1, 0, 0], [0, 0, 0], [9, 0, 0], [10, 0, 0]])
    np.testing.assert_array_equal(read(module, PyGPU.Texture(line), at, 0), [0, 0, 9, 0])
    four = np.arange(12, dtype="int32").reshape(3, 4)
    out = PyGPU.empty((3, 4), "int32")
    module.get_function("fetch4")[1, 3](PyGPU.Texture(PyGPU.to_gpu(four), channels=4), out)
    np.testing.assert_array_equal(out.get(), four)


def test_texture_over_pitched_memory_reads_elements_of_rows(module: PyGPU.Module) -> None:
    rows = PyGPU.zeros((3, 128), "float32")
    rows[:, :5] = np.arange(15, dtype="float32").reshape(3, 5)
    at = np.array([[4.5, 2.5, 0], [2.0, 1.0, 0], [9.0, 9.0, 0]])
    texture = PyGPU.Texture(rows[:, :5], filter_mode="linear")
    np.testing.assert_allclose(read(module, texture, at, 2), [14, 4, 14])


def test_kernel_updates_texture_array_and_layer_through_surface(module: PyGPU.Module) -> None:
    values = np.arange(12, dtype="int16").reshape(3, 4)
    array = PyGPU.TextureArray((3, 4), "int16", surface=True)
    array.set(values)
    add = module.get_function("add")
    add[3, 4](PyGPU.Surface(array), np.int16(5), 4, -1)
    np.testing.assert_array_equal(array.get(), values + 5)
    layers = PyGPU.TextureArray((2, 3, 4), "int16", surface=True, layered=True)
    layers.set(np.stack([values, values]))
    add[3, 4](PyGPU.Surface(layers), np.int16(-1), 4, 1)
    np.testing.assert_array_equal(layers.get(), np.stack([values, values - 1]))


def test_surface_access_outside_array_is_clamped_or_ignored(module: PyGPU.Module) -> None:
    array = PyGPU.TextureArray(5, surface=True)
    array.set(np.arange(1, 6, dtype="float32"))
    out = PyGPU.empty(3, "float32")
    module.get_function("beyond")[1, 1](PyGPU.Surface(array), out)
    np.testing.assert_array_equal(out.get(), [1, 5, 0])
    np.testing.assert_array_equal(array.get(), [1, 2, 3, 4, 5])


@pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="ends a context elsewhere")
def test_surface_access_outside_array_ends_launch_and_reports_line(module: PyGPU.Module) -> None:
    array = PyGPU.TextureArray((2, 2), "int16", surface=True)
    with pytest.raises(PyGPU.CudaError, match=r"thread \(2,0,0\): .* at kernel\.cu:\d+"):
        module.get_function("add")[2, 3](PyGPU.Surface(array), np.int16(1), 2, -1)


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_array_of_any_layout_roundtrips_through_texture_array(channels: int) -> None:
    values = np.arange(6 * 4 * channels, dtype="uint16").reshape(6, 4, channels)
    values = values[..., 0] if channels == 1 else values
    array = PyGPU.TextureArray(values.shape[:2], "uint16", channels)
    for source in (values, np.asfortranarray(values), values[::-1], np.broadcast_to(values[:1], values.shape)):
        array.set(source)
        np.testing.assert_array_equal(array.get(), source)
        array.set(PyGPU.to_gpu(values))
        array.set(PyGPU.to_gpu(values)[::-1])
        np.testing.assert_array_equal(array.to_gpu().get(), values[::-1])


@gpu_only
def test_texture_copies_and_launches_on_several_streams_are_ordered(module: PyGPU.Module, unrest: None) -> None:
    streams = [PyGPU.Stream(non_blocking=True) for _ in range(3)]
    array = PyGPU.TextureArray((4, 8), "int16", surface=True)
    with streams[0]:
        array.set(np.zeros((4, 8), "int16"))
    add = module.get_function("add")
    for number in range(9):
        with streams[number % 3]:
            add[4, 8](PyGPU.Surface(array), np.int16(number), 8, -1)
    with streams[1]:
        copy = array.to_gpu()
        array.set(np.full((4, 8), -1, "int16"))
    np.testing.assert_array_equal(copy.get(), np.full((4, 8), 36))
    assert (array.get(stream=streams[2]) == -1).all()


@gpu_only
def test_texture_read_of_linear_memory_waits_for_write_on_other_stream(module: PyGPU.Module, unrest: None) -> None:
    one, other = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True)
    with one:
        line = PyGPU.zeros(64, "float32")
        texture = PyGPU.Texture(line)
    at = np.zeros((64, 3))
    at[:, 0] = np.arange(64)
    for number in range(5):
        with one:
            line.fill(number)
        with other:
            assert (read(module, texture, at, 0) == number).all()


def test_launch_keeps_texture_and_its_memory_alive(module: PyGPU.Module, unrest: None) -> None:
    array = PyGPU.TextureArray((1, 64))
    array.set(np.full((1, 64), 3, "float32"))
    texture, out = PyGPU.Texture(array), PyGPU.empty(64, "float32")
    seen = weakref.ref(array)
    at = PyGPU.zeros((64, 3), "float32")
    module.get_function("sample")[1, 64](texture, at, out, 64, 2, 0)
    del array
    assert seen() is texture.source
    del texture
    gc.collect()
    assert seen() is None
    others = [PyGPU.TextureArray((1, 64)) for _ in range(4)]
    for other in others:
        other.set(np.full((1, 64), 9, "float32"))
    assert (out.get() == 3).all()


@gpu_only
def test_graph_keeps_texture_alive_and_reads_it_at_each_launch(module: PyGPU.Module) -> None:
    array, out = PyGPU.TextureArray((1, 8)), PyGPU.zeros(8, "float32")
    array.set(np.zeros((1, 8), "float32"))
    at = PyGPU.zeros((8, 3), "float32")
    with PyGPU.Graph() as graph:
        module.get_function("sample")[1, 8](PyGPU.Texture(array), at, out, 8, 2, 0)
    gc.collect()
    for number in (4, 5):
        array.set(np.full((1, 8), number, "float32"))
        graph.launch()
        assert (out.get() == number).all()


def test_textures_reject_invalid_arguments_with_remedy(module: PyGPU.Module) -> None:
    floats, whole = PyGPU.TextureArray((2, 3)), PyGPU.TextureArray((2, 3), "int32")
    refused = [
        (lambda: PyGPU.TextureArray((2, 3), "float64"), ValueError, "view wider ones as int32"),
        (lambda: PyGPU.TextureArray((2, 3), channels=3), ValueError, "1, 2 or 4 channels"),
        (lambda: PyGPU.TextureArray((0, 3)), ValueError, "lengths from 1 on"),
        (lambda: PyGPU.TextureArray((2, 3, 4, 5)), ValueError, "depth, height, width"),
        (lambda: PyGPU.TextureArray(4, layered=True), ValueError, "layers, width"),
        (lambda: floats.set(np.zeros((3, 2), "float32")), ValueError, r"shape \(3, 2\)"),
        (lambda: floats.set(np.zeros((2, 3))), ValueError, "astype"),
        (lambda: PyGPU.Texture(np.zeros(3)), TypeError, "not numpy.ndarray"),
        (lambda: PyGPU.Texture(floats, address_mode="repeat"), ValueError, "'wrap', 'clamp'"),
        (lambda: PyGPU.Texture(floats, filter_mode="cubic"), ValueError, "'point' or 'linear'"),
        (lambda: PyGPU.Texture(whole, filter_mode="linear"), ValueError, "computes with floats"),
        (lambda: PyGPU.Texture(whole, read_mode="normalized_float"), ValueError, "8 and 16 bits"),
        (lambda: PyGPU.Texture(PyGPU.zeros((2, 2, 2), "float32")), ValueError, "one axis"),
        (lambda: PyGPU.Texture(PyGPU.zeros((4, 4), "float32").T), ValueError, "do not follow each other"),
        (lambda: PyGPU.Texture(PyGPU.zeros(0, "float32")), ValueError, "no elements"),
        (lambda: PyGPU.Surface(floats), ValueError, "surface=True"),
        (lambda: module.get_function("add")[1, 1](PyGPU.Texture(floats), 1, 1, 1), TypeError, "SurfaceObject_t"),
        (lambda: module.get_function("sample")[1, 1](floats, 0, 0, 0, 0, 0), TypeError, "cannot be passed"),
    ]
    for refuse, error, text in refused:
        with pytest.raises(error, match=text):
            refuse()
