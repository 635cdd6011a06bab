"""Test tensor maps on a GPU with a tensor memory accelerator, which copies boxes between arrays and shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import pytest

import PyGPU
from gpu import support
from gpu.support import SECONDS, no_wait

support.require_cuda()
if support.is_simulated():
    pytest.skip("no accelerator; tests/kernels/test_tensor_maps.py has the rest", allow_module_level=True)
if PyGPU.device_properties(0)["compute_capability"] < (9, 0):
    pytest.skip("the device has no tensor maps", allow_module_level=True)

SOURCE = r"""
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };

__device__ unsigned place(const void *shared) { return (unsigned)__cvta_generic_to_shared(shared); }

__device__ void begin(unsigned long long *barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(place(barrier)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void expect(unsigned long long *barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"(place(barrier)), "r"(bytes) : "memory");
}
__device__ void wait(unsigned long long *barrier) {
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(place(barrier)) : "memory");
}

// What the accelerator puts into shared memory, as it lies there.
extern "C" __global__ void load(const __grid_constant__ CUtensorMap map, unsigned char *out, int rank, int x, int y,
                                int z, unsigned bytes) {
    __shared__ alignas(1024) unsigned char tile[32768];
    __shared__ alignas(8) unsigned long long barrier;
    if (threadIdx.x == 0) {
        begin(&barrier);
        expect(&barrier, bytes);
        unsigned long long source = (unsigned long long)&map;
#define COPY(rank, at, ...) asm volatile( \
    "cp.async.bulk.tensor." rank ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " at "], [%2];" \
    :: "r"(place(tile)), "l"(source), "r"(place(&barrier)), __VA_ARGS__ : "memory")
        if (rank == 1) COPY("1d", "{%3}", "r"(x));
        if (rank == 2) COPY("2d", "{%3, %4}", "r"(x), "r"(y));
        if (rank == 3) COPY("3d", "{%3, %4, %5}", "r"(x), "r"(y), "r"(z));
    }
    __syncthreads();
    wait(&barrier);
    for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = tile[i];
}

// Writes boxes of 8 rows of 16 floats.
extern "C" __global__ void store(const __grid_constant__ CUtensorMap map, float value) {
    __shared__ alignas(128) float tile[8][16];
    if (threadIdx.x < 128) tile[threadIdx.x / 16][threadIdx.x % 16] = value + threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                     :: "l"((unsigned long long)&map), "r"(blockIdx.x * 16), "r"(blockIdx.y * 8), "r"(place(tile))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

extern "C" __global__ void late_fill(long long nanoseconds, float *x, float value, int n) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while ((long long)(now - start) < nanoseconds);
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = value;
}
"""


@pytest.fixture(scope="module")
def module() -> PyGPU.Module:
    return PyGPU.Module(SOURCE)


def load_box(
    module: PyGPU.Module, tensor_map: PyGPU.TensorMap, at: Sequence[int], shape: Sequence[int]
) -> numpy.ndarray:
    """Load the box that begins at index `at` of the array; return its elements in the order of shared memory."""
    dtype = tensor_map.array.dtype
    nbytes = int(numpy.prod(shape)) * dtype.itemsize
    out = PyGPU.zeros(nbytes, "uint8")
    x, y, z = [*reversed(at), 0, 0][:3]
    module["load"][1, 128](tensor_map, out, len(at), x, y, z, nbytes)
    return out.get().view(dtype).reshape(shape)


def beyond(values: numpy.ndarray, at: Sequence[int], shape: Sequence[int], fill: Any) -> numpy.ndarray:
    """Return the expected elements of a box; elements beyond the edges of the array have the value `fill`."""
    result = numpy.full(shape, fill, values.dtype)
    for index in numpy.ndindex(*shape):
        place = tuple(first + one for first, one in zip(at, index, strict=True))
        if all(0 <= one < length for one, length in zip(place, values.shape, strict=True)):
            result[index] = values[place]
    return result


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32", "int64", "float64"])
def test_tensor_map_loads_box_of_two_axes(module: PyGPU.Module, dtype: str) -> None:
    values = (numpy.arange(64 * 128) % 251).reshape(64, 128).astype(dtype)
    tensor_map = PyGPU.TensorMap(PyGPU.to_gpu(values), (8, 32), readonly=True)
    for row, column in [(0, 0), (3, 16), (56, 96), (17, 48)]:
        found = load_box(module, tensor_map, (row, column), (8, 32))
        numpy.testing.assert_array_equal(found, values[row : row + 8, column : column + 32])


@pytest.mark.parametrize(("words", "fill"), [("zero", 0), ("nan", numpy.nan)])
def test_box_elements_outside_of_array_are_filled(module: PyGPU.Module, words: str, fill: float) -> None:
    values = numpy.arange(20 * 36, dtype="float32").reshape(20, 36) + 1
    tensor_map = PyGPU.TensorMap(PyGPU.to_gpu(values), (8, 16), oob_fill=words)
    for at in [(16, 28), (-3, -4), (0, 32), (40, 0), (-100, 100)]:
        numpy.testing.assert_array_equal(load_box(module, tensor_map, at, (8, 16)), beyond(values, at, (8, 16), fill))


def test_tensor_map_follows_strides_of_view(module: PyGPU.Module) -> None:
    values = numpy.arange(10 * 12 * 32, dtype="float32").reshape(10, 12, 32)
    whole = PyGPU.to_gpu(values)
    for key in [numpy.s_[:, :, :], numpy.s_[1:, ::3, 4:], numpy.s_[::2, 1:, :16], numpy.s_[:, 3:4, :]]:
        part = values[key]
        tensor_map = PyGPU.TensorMap(whole[key], (2, 3, 8))
        for at in [(0, 0, 0), (2, 1, 4), (part.shape[0] - 1, -1, part.shape[2] - 4)]:
            numpy.testing.assert_array_equal(
                load_box(module, tensor_map, at, (2, 3, 8)), beyond(part, at, (2, 3, 8), 0)
            )
    rows = PyGPU.TensorMap(whole.T.T[3, 5], 8)
    numpy.testing.assert_array_equal(load_box(module, rows, (28,), (8,)), beyond(values[3, 5], (28,), (8,), 0))


@pytest.mark.parametrize("swizzle", ["32B", "64B", "128B"])
def test_swizzled_box_stores_pieces_of_16_bytes_in_permuted_order(module: PyGPU.Module, swizzle: str) -> None:
    width = int(swizzle[:-1])
    values = numpy.arange(64 * 64, dtype="float32").reshape(64, 64)
    tensor_map = PyGPU.TensorMap(PyGPU.to_gpu(values), (16, width // 4), swizzle=swizzle, l2_promotion="128B")
    found = load_box(module, tensor_map, (8, 16), (16, width // 4)).reshape(-1, 4)
    pieces = numpy.arange(len(found))
    # A line of shared memory has 128 bytes, that is eight pieces of 16 bytes. Swizzling moves a piece to the position
    # `piece ^ bits` in its line, where `bits` are the lowest 1, 2 or 3 bits of the line's index.
    turned = pieces ^ ((pieces >> 3) & (width // 16 - 1))
    expected = values[8:24, 16 : 16 + width // 4].reshape(-1, 4)
    numpy.testing.assert_array_equal(found[turned], expected)


def test_box_with_element_stride_of_two_skips_every_second_row(module: PyGPU.Module) -> None:
    values = numpy.arange(32 * 32, dtype="float32").reshape(32, 32)
    tensor_map = PyGPU.TensorMap(PyGPU.to_gpu(values), (8, 16), element_strides=(2, 1))
    numpy.testing.assert_array_equal(load_box(module, tensor_map, (4, 8), (4, 16)), values[4:12:2, 8:24])


def test_box_is_stored_and_memory_outside_of_box_is_unchanged(module: PyGPU.Module) -> None:
    a = PyGPU.zeros((20, 36), "float32")
    whole = PyGPU.zeros((32, 36), "float32")
    part = whole[4:24]
    box = numpy.arange(128, dtype="float32").reshape(8, 16) + 5
    expected = numpy.tile(box, (3, 3))[:20, :36]
    for target in (a, part):
        module["store"][(3, 3), 128](PyGPU.TensorMap(target, (8, 16)), 5)
        numpy.testing.assert_array_equal(target.get(), expected)
    assert not whole[:4].get().any()
    assert not whole[24:].get().any()


def test_launch_with_tensor_map_is_ordered_after_earlier_work_on_array(module: PyGPU.Module) -> None:
    slow, other = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True)
    a = PyGPU.zeros((16, 32), "float32")
    out = PyGPU.zeros(8 * 16 * 4, "uint8")
    read, written = PyGPU.TensorMap(a, (8, 16), readonly=True), PyGPU.TensorMap(a, (8, 16))
    module["load"][1, 128, other](read, out, 2, 0, 0, 0, out.size)
    PyGPU.synchronize()
    with no_wait():
        module["late_fill"][1, 128, slow](int(SECONDS * 1e9), a, 7, a.size)
        module["load"][1, 128, other](read, out, 2, 0, 0, 0, out.size)
        module["store"][(2, 2), 128, slow](written, 1)
        module["late_fill"][1, 128, other](0, a[0], 3, 32)
    assert (out.get().view("float32") == 7).all()
    assert (a[0].get() == 3).all()
    numpy.testing.assert_array_equal(a[8:, :16].get().ravel(), numpy.arange(128) + 1)


def test_captured_launch_works_after_its_tensor_map_is_dropped(module: PyGPU.Module) -> None:
    a, out = PyGPU.zeros((8, 16), "float32"), PyGPU.zeros(8 * 16 * 4, "uint8")
    stream = PyGPU.Stream(non_blocking=True)
    tensor_map = PyGPU.TensorMap(a, (8, 16))
    module["load"][1, 128, stream](tensor_map, out, 2, 0, 0, 0, out.size)
    with PyGPU.Graph(stream) as graph:
        module["load"][1, 128, stream](tensor_map, out, 2, 0, 0, 0, out.size)
    del tensor_map
    a.fill(9)
    graph.launch(stream)
    assert (out.get().view("float32") == 9).all()
