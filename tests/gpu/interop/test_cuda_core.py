"""Test cuda.core: its views of PyGPU's arrays, its kernels, and streams that the two libraries pass to each other."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import PyGPU
from gpu import support
from gpu.kernel_library import Kernels
from gpu.support import COUNT, REVERSED, SECONDS, SHAPES, VIEWS, Interface, element_strides, no_wait, same, values

support.require_peers()
core = pytest.importorskip("cuda.core", exc_type=ImportError)
StridedMemoryView = pytest.importorskip("cuda.core.utils", exc_type=ImportError).StridedMemoryView

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip

SOURCE = """
extern "C" __global__ void add(float* x, float y, unsigned int n) {
    if (threadIdx.x < n) x[threadIdx.x] += y;
}
"""


@pytest.fixture(scope="module")
def device() -> Any:
    chosen = core.Device(PyGPU.current_device())
    chosen.set_current()
    return chosen


def strides_of(view: Any, array: PyGPU.GPUArray) -> tuple[int, ...]:
    """Return the strides of a cuda.core view in elements; the strides of a view of a C-contiguous array are None."""
    if view.strides is None:
        assert array.flags.c_contiguous
        return element_strides(array)
    return tuple(view.strides)


@pytest.mark.parametrize("make", [StridedMemoryView.from_dlpack, StridedMemoryView.from_cuda_array_interface])
@pytest.mark.parametrize("dtype", DTYPES)
def test_cuda_core_view_has_address_dtype_and_shape_of_array(device: Any, make: Any, dtype: str) -> None:
    array = PyGPU.to_gpu(values(dtype=dtype))
    view = make(array, stream_ptr=-1)
    assert view.ptr == array.ptr
    assert view.dtype == array.dtype
    assert tuple(view.shape) == array.shape
    assert view.device_id == array.device.index
    assert view.is_device_accessible
    assert not view.readonly


@pytest.mark.parametrize("make", [StridedMemoryView.from_dlpack, StridedMemoryView.from_cuda_array_interface])
@pytest.mark.parametrize("name", [*VIEWS, *REVERSED])
def test_cuda_core_view_of_pygpu_view_has_same_strides(device: Any, make: Any, name: str) -> None:
    array = {**VIEWS, **REVERSED}[name](PyGPU.to_gpu(values()))
    view = make(array, stream_ptr=-1)
    assert tuple(view.shape) == array.shape
    if array.size:
        assert view.ptr == array.ptr
    if array.size > 1 and 1 not in array.shape:
        assert strides_of(view, array) == element_strides(array)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_cuda_core_view_supports_every_shape(device: Any, shape: tuple[int, ...]) -> None:
    array = PyGPU.to_gpu(values(shape))
    view = StridedMemoryView.from_any_interface(array, stream_ptr=-1)
    assert tuple(view.shape) == shape
    assert view.ptr == array.ptr


def test_cuda_core_view_of_readonly_array_is_readonly(device: Any) -> None:
    array = PyGPU.zeros(3, "float32")
    readonly = PyGPU.asarray(Interface(array, data=(array.ptr, True)))
    for make in (StridedMemoryView.from_dlpack, StridedMemoryView.from_cuda_array_interface):
        assert make(readonly, stream_ptr=-1).readonly


def test_cuda_core_view_of_readonly_host_array_is_readonly(device: Any) -> None:
    host = values()
    host.flags.writeable = False
    array = PyGPU.asarray(host, device="cpu")
    assert not array.flags.writeable
    view = StridedMemoryView.from_dlpack(array, stream_ptr=-1)
    assert view.readonly
    assert view.ptr == array.ptr == host.ctypes.data


def test_pygpu_array_of_cuda_core_buffer_shares_memory_of_buffer(device: Any) -> None:
    stream = device.create_stream()
    buffer = device.allocate(1024, stream=stream)
    stream.sync()
    if not hasattr(buffer, "__dlpack__"):
        pytest.skip("this cuda.core exports no DLPack from buffers")
    array = PyGPU.from_dlpack(buffer)
    assert array.ptr == int(buffer.handle)
    assert array.nbytes == 1024
    array.fill(7)
    assert (array.get() == 7).all()


def test_streams_are_exchanged_between_pygpu_and_cuda_core(
    device: Any, kernels: Kernels, block: PyGPU.GPUArray
) -> None:
    own = PyGPU.Stream(non_blocking=True)
    theirs = device.create_stream(own)
    assert int(theirs.handle) == own.handle
    foreign = device.create_stream()
    kernels.spin(SECONDS, int(foreign.handle))
    kernels.fill(block.ptr, 5, COUNT, int(foreign.handle))
    block.record_stream(foreign)
    with no_wait():
        own.wait_stream(foreign)
    with own:
        copied = block.copy()
    assert (copied.get() == 5).all()
    event = PyGPU.Event().record(foreign)
    event.synchronize()


def test_default_stream_is_passed_as_legacy_stream_handle_1(device: Any) -> None:
    assert PyGPU.default_stream().__cuda_stream__() == (0, 1)
    assert int(device.create_stream(PyGPU.default_stream()).handle) == 1


@pytest.mark.parametrize("make", [StridedMemoryView.from_dlpack, StridedMemoryView.from_cuda_array_interface])
def test_cuda_core_stream_waits_for_unfinished_write_of_pygpu(
    device: Any, make: Any, kernels: Kernels, slow: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    result = PyGPU.zeros(COUNT, "float32")
    PyGPU.synchronize()
    consumer = device.create_stream()
    handle = int(consumer.handle)
    with slow:
        kernels.spin(SECONDS, slow.handle)
        block.fill(6)
    with no_wait():
        view = make(block, stream_ptr=handle)
        kernels.read(result.ptr, view.ptr, COUNT, handle)
    assert not slow.query()
    consumer.sync()
    assert (result.get() == 6).all()


def test_cuda_core_kernel_runs_on_pygpu_memory_and_stream(device: Any, slow: PyGPU.Stream) -> None:
    options = core.ProgramOptions(arch=f"sm_{device.arch}")
    try:
        kernel = core.Program(SOURCE, "c++", options=options).compile("cubin").get_kernel("add")
    except RuntimeError as error:
        pytest.skip(f"NVRTC cannot be used here: {error}")
    stream = device.create_stream(slow)  # cuda.core 1.2 deprecates streams of other libraries in `launch`.
    with slow:
        array = PyGPU.zeros(32, "float32")
        core.launch(
            stream, core.LaunchConfig(grid=1, block=32), kernel, array.ptr, numpy.float32(2.5), numpy.uint32(32)
        )
        same(array.get(), numpy.full(32, 2.5, numpy.float32))
