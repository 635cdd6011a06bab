"""Test numba-cuda: its kernels with PyGPU arrays, PyGPU arrays over numba's memory, and the order of work."""

from __future__ import annotations

import gc
from typing import Any

import numpy
import pytest

import PyGPU
from gpu import support
from gpu.kernel_library import Kernels
from gpu.support import COUNT, REVERSED, SECONDS, SHAPES, VIEWS, no_wait, same, values

support.require_peers()
# Before its first compilation, numba reads `numpy.row_stack`, which NumPy 2.5 removed; the test defines the name again.
if not hasattr(numpy, "row_stack"):
    numpy.row_stack = numpy.vstack
pytest.importorskip("numba")
cuda = pytest.importorskip("numba.cuda")
if not cuda.is_available():
    pytest.skip("numba finds no CUDA", allow_module_level=True)

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


@cuda.jit
def scale(x, factor):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] *= factor


@cuda.jit
def gather(out, x):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = x[i, j]


def address(array: Any) -> int:
    return array.__cuda_array_interface__["data"][0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_numba_array_of_pygpu_array_shares_memory_for_every_dtype(dtype: str) -> None:
    host = values(dtype=dtype)
    array = PyGPU.to_gpu(host)
    shared = cuda.as_cuda_array(array)
    assert address(shared) == array.ptr
    assert shared.dtype == array.dtype
    assert shared.strides == array.strides
    same(shared.copy_to_host(), host)


@pytest.mark.parametrize("view", [*VIEWS, *REVERSED])
def test_numba_array_of_pygpu_view_has_same_layout(view: str) -> None:
    shown = {**VIEWS, **REVERSED}[view](PyGPU.to_gpu(values()))
    shared = cuda.as_cuda_array(shown)
    assert shared.shape == shown.shape
    if shown.size:
        assert address(shared) == shown.ptr
    if shown.size > 1 and not shown.flags.c_contiguous:
        assert shared.strides == shown.strides


@pytest.mark.parametrize("view", [*(name for name in VIEWS if VIEWS[name](values()).ndim == 2), *REVERSED])
def test_numba_kernel_reads_pygpu_view_of_any_strides(view: str) -> None:
    take = {**VIEWS, **REVERSED}[view]
    host = values()
    expected = take(host)
    if not expected.size:
        pytest.skip("nothing to read")
    out = PyGPU.zeros(expected.shape, "float32")
    gather[(1, 1), (8, 8)](cuda.as_cuda_array(out), cuda.as_cuda_array(take(PyGPU.to_gpu(host))))
    cuda.synchronize()
    same(out.get(), expected)


def test_numba_kernel_accepts_pygpu_array_directly() -> None:
    array = PyGPU.to_gpu(numpy.arange(1000, dtype=numpy.float32))
    scale[8, 128](array, 2.0)
    cuda.synchronize()
    same(array.get(), numpy.arange(1000, dtype=numpy.float32) * 2)


def test_numba_kernel_runs_on_pygpu_stream(kernels: Kernels, slow: PyGPU.Stream) -> None:
    with slow:
        array = PyGPU.full(COUNT, 2, "float32")
        kernels.spin(SECONDS, slow.handle)
        array.fill(3)
        scale[COUNT // 256, 256, cuda.external_stream(slow.handle)](cuda.as_cuda_array(array, sync=False), 2.0)
        assert (array.get() == 6).all()


def test_numba_waits_for_unfinished_write_of_pygpu(kernels: Kernels, slow: PyGPU.Stream, block: PyGPU.GPUArray) -> None:
    with slow:
        kernels.spin(SECONDS, slow.handle)
        block.fill(4)
    # `as_cuda_array` reads the interface dictionary and makes the host wait for the stream in the dictionary.
    assert (cuda.as_cuda_array(block).copy_to_host() == 4).all()


@pytest.mark.parametrize("take", [PyGPU.asarray, PyGPU.from_dlpack], ids=["asarray", "from_dlpack"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_pygpu_array_of_numba_array_shares_memory_for_every_dtype(take: Any, dtype: str) -> None:
    host = values(dtype=dtype)
    theirs = cuda.to_device(host)
    if take is PyGPU.from_dlpack and not hasattr(theirs, "__dlpack__"):
        pytest.skip("this numba-cuda exports no DLPack")
    array = take(theirs)
    assert array.ptr == address(theirs)
    assert array.dtype == host.dtype
    same(array.get(), host)


def test_pygpu_array_of_numba_view_has_same_strides_and_values() -> None:
    host = values()
    theirs = cuda.to_device(host)[1:5, ::2]
    array = PyGPU.asarray(theirs)
    assert array.ptr == address(theirs)
    assert array.strides == theirs.strides
    same(array.get(), host[1:5, ::2])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_arrays_of_every_shape_are_exchanged_between_numba_and_pygpu(shape: tuple[int, ...]) -> None:
    host = values(shape)
    array = PyGPU.to_gpu(host)
    assert cuda.as_cuda_array(array).shape == shape
    if 0 in shape or shape == ():
        return  # `cuda.to_device` supports neither 0-d arrays nor arrays without elements.
    same(PyGPU.asarray(cuda.to_device(host)).get(), host)


def test_pygpu_read_waits_for_unfinished_write_of_numba(kernels: Kernels) -> None:
    stream = cuda.stream()
    theirs = cuda.device_array(COUNT, "float32", stream=stream)
    stream.synchronize()
    handle = int(stream.__cuda_stream__()[1])
    kernels.spin(SECONDS, handle)
    kernels.fill(address(theirs), 5, COUNT, handle)
    with no_wait():
        array = PyGPU.asarray(theirs)
    assert (array.get() == 5).all()


def test_shared_memory_stays_allocated_while_numba_or_pygpu_uses_memory() -> None:
    array = PyGPU.full(COUNT, 6, "float32")
    shared = cuda.as_cuda_array(array)
    del array
    theirs = cuda.to_device(numpy.full(COUNT, 7, numpy.float32))
    taken = PyGPU.asarray(theirs)
    del theirs
    gc.collect()
    overwriting = [PyGPU.full(COUNT, -1, "float32") for _ in range(4)]
    assert (shared.copy_to_host() == 6).all()
    assert (taken.get() == 7).all()
    del overwriting
