"""Test CuPy: CuPy arrays over PyGPU's memory, PyGPU arrays over CuPy's memory, streams, and the order of work."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import PyGPU
from gpu import support
from gpu.kernel_library import Kernels
from gpu.support import COUNT, REVERSED, SECONDS, SHAPES, VIEWS, Interface, no_wait, same, values

support.require_peers()
cupy = pytest.importorskip("cupy")

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip

TO_CUPY: dict[str, Callable[[Any], Any]] = {
    "asarray": lambda a: cupy.asarray(a),
    "from_dlpack": lambda a: cupy.from_dlpack(a),
}
FROM_CUPY: dict[str, Callable[[Any], Any]] = {
    "asarray": PyGPU.asarray,
    "from_dlpack": PyGPU.from_dlpack,
    "dictionary": lambda x: PyGPU.asarray(Dictionary(x)),
}


class Dictionary:
    """Wrap a CuPy array in an object that has the attribute `__cuda_array_interface__` and no DLPack methods."""

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.array.__cuda_array_interface__


@pytest.mark.parametrize("way", TO_CUPY)
@pytest.mark.parametrize("dtype", DTYPES)
def test_cupy_array_of_pygpu_array_shares_memory_for_every_dtype(way: str, dtype: str) -> None:
    host = values(dtype=dtype)
    array = PyGPU.to_gpu(host)
    shared = TO_CUPY[way](array)
    assert shared.data.ptr == array.ptr
    assert shared.dtype == array.dtype
    assert shared.strides == array.strides
    assert shared.device.id == array.device.index
    same(shared.get(), host)


@pytest.mark.parametrize("way", TO_CUPY)
@pytest.mark.parametrize("view", [*VIEWS, *REVERSED])
def test_cupy_array_of_pygpu_view_has_same_layout_and_values(way: str, view: str) -> None:
    take = {**VIEWS, **REVERSED}[view]
    host = values()
    array = PyGPU.to_gpu(host)
    shown = take(array)
    shared = TO_CUPY[way](shown)
    assert shared.shape == shown.shape
    if shown.size:
        assert shared.data.ptr == shown.ptr
    if shown.size > 1:
        assert shared.strides == tuple(
            ours if length != 1 else theirs
            for ours, theirs, length in zip(shown.strides, shared.strides, shown.shape, strict=True)
        )
    same(shared.get(), take(host))


@pytest.mark.parametrize("way", TO_CUPY)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_cupy_array_of_pygpu_array_has_same_shape_and_values(way: str, shape: tuple[int, ...]) -> None:
    host = values(shape)
    array = PyGPU.to_gpu(host)
    shared = TO_CUPY[way](array)
    assert shared.flags.c_contiguous
    same(shared.get(), host)


@pytest.mark.parametrize("way", FROM_CUPY)
@pytest.mark.parametrize("dtype", DTYPES)
def test_pygpu_array_of_cupy_array_shares_memory_for_every_dtype(way: str, dtype: str) -> None:
    host = values(dtype=dtype)
    theirs = cupy.asarray(host)
    array = FROM_CUPY[way](theirs)
    assert array.ptr == theirs.data.ptr
    assert array.dtype == host.dtype
    assert array.strides == theirs.strides
    same(array.get(), host)


@pytest.mark.parametrize("way", FROM_CUPY)
@pytest.mark.parametrize("view", VIEWS)
def test_pygpu_array_of_cupy_view_has_same_values(way: str, view: str) -> None:
    host = values()
    theirs = VIEWS[view](cupy.asarray(host))
    array = FROM_CUPY[way](theirs)
    if array.size:
        assert array.ptr == theirs.data.ptr
    same(array.get(), VIEWS[view](host))


@pytest.mark.parametrize("view", REVERSED)
def test_pygpu_imports_reversed_cupy_view_by_interface_dictionary(view: str) -> None:
    host = values()
    theirs = REVERSED[view](cupy.asarray(host))
    array = PyGPU.asarray(Dictionary(theirs))
    assert array.ptr == theirs.data.ptr
    assert array.strides == theirs.strides
    same(array.get(), REVERSED[view](host))


@pytest.mark.starts_processes
def test_cupy_export_with_negative_strides_is_rejected_or_correct() -> None:
    # CuPy's DLPack export is wrong for negative strides (cupy#10172: an unsigned division). An access outside of the
    # array would make the CUDA context unusable, so the script runs in a separate process.
    script = """
        import cupy, PyGPU
        theirs = cupy.arange(12, dtype="float32").reshape(3, 4)[::-1]
        for take in (PyGPU.asarray, PyGPU.from_dlpack):
            try:
                array = take(theirs)
            except (BufferError, ValueError, TypeError) as error:
                print("refused")
            else:
                assert array.get().tolist() == theirs.get().tolist(), array.strides
                print("shared")
        PyGPU.synchronize()
    """
    output = support.ended_well(support.run_script(script)).split()
    assert len(output) == 2
    assert set(output) <= {"refused", "shared"}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_pygpu_array_of_cupy_array_has_same_shape_and_values(shape: tuple[int, ...]) -> None:
    host = values(shape)
    for take in FROM_CUPY.values():
        same(take(cupy.asarray(host)).get(), host)


def test_structured_array_is_imported_by_interface_dictionary() -> None:
    dtype = numpy.dtype([("x", "f4"), ("n", "i4")])
    host = numpy.array([(1.5, 2), (2.5, 3)], dtype)
    array = PyGPU.to_gpu(host)
    same(array.get(), host)
    interface = array.__cuda_array_interface__
    assert interface["typestr"] == "|V8"
    same(PyGPU.asarray(Interface(array, typestr="|V8", descr=dtype.descr)).get(), host)


def test_writes_of_cupy_and_pygpu_are_visible_to_both_libraries() -> None:
    array = PyGPU.zeros(4, "int32")
    shared = cupy.asarray(array)
    shared += 3
    cupy.cuda.Stream.null.synchronize()
    assert array.tolist() == [3] * 4
    array[1:3] = 7
    assert shared.get().tolist() == [3, 7, 7, 3]


def test_cupy_raw_kernel_writes_memory_of_pygpu_array() -> None:
    kernel = cupy.RawKernel(
        'extern "C" __global__ void add(float* x, float y, int n) { int i = threadIdx.x; if (i < n) x[i] += y; }', "add"
    )
    array = PyGPU.zeros(5, "float32")
    kernel((1,), (32,), (cupy.asarray(array), numpy.float32(2), numpy.int32(5)))
    cupy.cuda.Stream.null.synchronize()
    assert array.tolist() == [2] * 5


def test_cupy_stream_waits_for_unfinished_write_of_pygpu(
    kernels: Kernels, slow: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    with slow:
        kernels.spin(SECONDS, slow.handle)
        block.fill(2)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        with no_wait():
            shared = cupy.from_dlpack(block)
        result = shared * 2
        stream.synchronize()
    assert (result.get() == 4).all()
    with slow:
        kernels.spin(SECONDS, slow.handle)
        block.fill(3)
    # `cupy.asarray` reads the interface dictionary and makes the host wait for the stream in the dictionary.
    with cupy.cuda.Stream(non_blocking=True) as stream:
        result = cupy.asarray(block) * 2
        stream.synchronize()
    assert (result.get() == 6).all()


@pytest.mark.parametrize("way", FROM_CUPY)
def test_pygpu_read_waits_for_unfinished_cupy_write(kernels: Kernels, way: str) -> None:
    theirs = cupy.zeros(COUNT, "float32")
    cupy.cuda.Stream.null.synchronize()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        kernels.spin(SECONDS, stream.ptr)
        theirs.fill(4)
        with no_wait():
            array = FROM_CUPY[way](theirs)
    assert (array.get() == 4).all()


def external_stream(stream: PyGPU.Stream) -> Any:
    """Return CuPy's object for a stream of PyGPU; CuPy 14 deprecates the class `ExternalStream`."""
    if hasattr(cupy.cuda.Stream, "from_external"):
        return cupy.cuda.Stream.from_external(stream)
    return cupy.cuda.ExternalStream(stream.handle)


def test_streams_are_exchanged_between_cupy_and_pygpu(kernels: Kernels, block: PyGPU.GPUArray) -> None:
    stream = cupy.cuda.Stream(non_blocking=True)
    kernels.spin(SECONDS, stream.ptr)
    kernels.fill(block.ptr, 5, COUNT, stream.ptr)
    block.record_stream(stream if hasattr(stream, "__cuda_stream__") else stream.ptr)
    assert (block.get() == 5).all()
    own = PyGPU.Stream(non_blocking=True)
    with external_stream(own):
        kernels.spin(SECONDS, own.handle)
        shared = cupy.from_dlpack(block)
        shared += 1
    own.synchronize()
    assert (block.get() == 6).all()


def test_shared_memory_stays_allocated_while_cupy_or_pygpu_uses_memory() -> None:
    array = PyGPU.full(COUNT, 6, "float32")
    shared = [cupy.asarray(array), cupy.from_dlpack(array)]
    del array
    theirs = cupy.full(COUNT, 7, "float32")
    taken = [take(theirs) for take in FROM_CUPY.values()]
    del theirs
    gc.collect()
    overwriting = [PyGPU.full(COUNT, -1, "float32") for _ in range(4)] + [cupy.full(COUNT, -1, "float32")]
    assert all((array.get() == 6).all() for array in shared)
    assert all((array.get() == 7).all() for array in taken)
    del overwriting


def test_cupy_allocation_function_can_be_used_as_allocator() -> None:
    array = PyGPU.GPUArray((3, 4), "float32", allocator=lambda nbytes: cupy.cuda.alloc(nbytes))
    array.fill(8)
    gc.collect()
    assert (array.get() == 8).all()
