"""Define exercises, which are short test programs that together make every driver call of PyGPU.

Each exercise compares its result with NumPy's. An injected fault may raise an error anywhere in an exercise, after
which the exercise must be able to run again.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from collections.abc import Callable, Iterator

import numpy

import PyGPU
from PyGPU import _core
from PyGPU._pycuda.driver import host_memory as _driver_host_memory
from PyGPU._pycuda.driver import memory as _driver_memory

HOST = numpy.arange(6 * 8, dtype=numpy.float32).reshape(6, 8)
PAGE = mmap.PAGESIZE


def equal(actual: numpy.ndarray, expected: object) -> None:
    """Check that values equal the expected values: an injected fault may raise an error, but never give wrong data."""
    assert numpy.array_equal(actual, expected), (actual, expected)


@contextlib.contextmanager
def given_back(free: Callable[[int], None], address: int) -> Iterator[int]:
    """Yield an address, and free its memory at the end of the `with` block.

    If `free` raises an error, call `free` again.
    """
    try:
        yield address
    finally:
        try:
            free(address)
        except PyGPU.CudaError:
            with contextlib.suppress(PyGPU.CudaError):
                free(address)
            raise


def make_and_fetch() -> None:
    """Allocate an array, upload values and download them."""
    equal(PyGPU.to_gpu(HOST).get(), HOST)


def rows() -> None:
    """Copy rows and planes with gaps between them: from device to host, within the device, and from host to device."""
    cube = numpy.arange(4 * 6 * 200, dtype=numpy.float32).reshape(4, 6, 200)
    array = PyGPU.to_gpu(cube)
    equal(array[:, 1:-1, 20:-20].get(), cube[:, 1:-1, 20:-20])
    equal(array[1:, :, :100].copy().get(), cube[1:, :, :100])
    array[:2, ::2, 50:150] = numpy.ones((2, 3, 100), numpy.float32)
    expected = cube.copy()
    expected[:2, ::2, 50:150] = 1
    equal(array.get(), expected)


def one_matrix_of_rows() -> None:
    """Copy part of each row of a matrix, from device to host and within the device."""
    matrix = numpy.arange(6 * 200, dtype=numpy.float32).reshape(6, 200)
    array = PyGPU.to_gpu(matrix)
    equal(array[1:-1, 20:-20].get(), matrix[1:-1, 20:-20])
    equal(array[:, :100].copy().get(), matrix[:, :100])


def scattered() -> None:
    """Copy arrays with layouts that no copy engine supports."""
    big = numpy.arange(40 * 40, dtype=numpy.int16).reshape(40, 40)
    equal(PyGPU.to_gpu(big).T.copy().get(), big.T)


def fills() -> None:
    """Fill arrays with patterns of one, two and four bytes, and with a pattern that is too long for memset."""
    for dtype, value in [("int8", 3), ("int16", 300), ("int32", 70000), ("float64", 0.1)]:
        array = PyGPU.zeros((6, 100), dtype)
        array.fill(value)
        array[1:4, 10:50] = 0
        array[4:, :7] = value
        expected = numpy.full((6, 100), value, dtype)
        expected[1:4, 10:50] = 0
        equal(array.get(), expected)
    array = PyGPU.zeros((6, 100), "int16")
    array[1:4, 10:50] = 300
    array[4:, 3:5] = 17
    assert array.get().sum() == 3 * 40 * 300 + 2 * 2 * 17
    array = PyGPU.zeros((6, 100), "int32")
    array[1:4, 10:50] = 70000
    assert array.get().sum() == 3 * 40 * 70000


def streams() -> None:
    """Work on a new stream, and wait for the work on another stream and on the host."""
    stream, other = PyGPU.Stream(), PyGPU.Stream(non_blocking=True, priority=-1)
    with stream:
        array = PyGPU.to_gpu(HOST)
        copy = array.copy()
    with other:
        copy[:] = array
        array.fill(0)
    other.wait_stream(stream)
    stream.query()
    assert other.is_non_blocking
    assert stream.priority == 0
    stream.synchronize()
    equal(copy.get(), HOST)
    equal(array.get(), 0 * HOST)


def host_functions() -> None:
    """Call a host function in stream order."""
    stream, seen = PyGPU.Stream(), []
    stream.launch_host_function(seen.append, 1)
    stream.synchronize()
    assert seen == [1]


def in_order() -> None:
    """Allocate raw memory in stream order, copy rows into this memory, and free it in stream order."""
    stream, out = PyGPU.Stream(), PyGPU.zeros_pinned(64, "u1")
    address = _core.raw_allocate_async(64, stream)
    try:
        _core.raw_fill(address, 5, 64, stream)
        _core.raw_copy_rows(out.ctypes.data, 8, address, 8, 8, 8, "default", stream)
    finally:
        _core.raw_free_async(address, stream)
    stream.synchronize()
    equal(out, numpy.full(64, 5))


def somebody_elses_stream() -> None:
    """Use another library's stream, which PyGPU receives only as a handle."""
    owner = PyGPU.Stream()
    stream = PyGPU.Stream.from_handle(owner.handle, owner=owner)
    with stream:
        array = PyGPU.zeros(10)
    array.record_stream(owner)
    equal(array.get(), numpy.zeros(10))


def events() -> None:
    """Record events, query them, wait for them, and measure the time between them."""
    start, end = PyGPU.Event(), PyGPU.Event()
    start.record()
    array = PyGPU.to_gpu(HOST)
    end.record()
    end.query()
    end.synchronize()
    assert start.elapsed_time(end) >= 0
    PyGPU.Stream().wait_event(end)
    equal(array.get(), HOST)


def asynchronous() -> None:
    """Copy asynchronously in both directions, from pageable and from pinned memory."""
    stream = PyGPU.Stream()
    pinned = PyGPU.empty_pinned(HOST.shape, HOST.dtype)
    pinned[:] = HOST
    for source in (HOST, pinned):
        array = PyGPU.to_gpu_async(source, stream=stream)
        result = array.get_async(stream)
        stream.synchronize()
        equal(result, HOST)


def pinned_memory() -> None:
    """Allocate and free pinned memory by address."""
    with given_back(_core.host_free, _core.host_allocate(PAGE)) as address:
        ctypes.memset(address, 7, PAGE)
        array = PyGPU.empty(PAGE, "uint8")
        _core.raw_copy(array.ptr, address, PAGE)
    equal(array.get(), numpy.full(PAGE, 7, "uint8"))


# Never unmap the host memory of these arrays, because the driver of a failed device keeps the pages pinned.
_mapped: list[ctypes.Array] = []


def registered_memory() -> None:
    """Pin existing host memory, and unpin it."""
    _mapped.append((ctypes.c_char * PAGE).from_buffer(mmap.mmap(-1, PAGE)))
    address = ctypes.addressof(_mapped[-1])
    _core.host_register(address, PAGE)
    with given_back(_core.host_unregister, address):
        pass


def raw_memory() -> None:
    """Allocate, fill, copy and free device memory by its address."""
    with given_back(_core.raw_free, _core.raw_allocate(64)) as address:
        _core.raw_fill(address, 5, 64)
        out = numpy.zeros(64, "uint8")
        _core.raw_copy(out.ctypes.data, address, 64)
        equal(out, numpy.full(64, 5))


def plain_memory() -> None:
    """Allocate memory by PyCUDA's functions, also in pitched rows, and query the location of an address."""
    memory = _driver_memory.to_device(HOST)
    equal(_driver_memory.from_device_like(memory, HOST), HOST)
    rows, pitch = _driver_memory.mem_alloc_pitch(100, 3, 4)
    assert rows.nbytes == 3 * pitch
    array = PyGPU.to_gpu(HOST)
    assert _driver_memory.mem_get_address_range(array.ptr)[0] <= array.ptr


def managed_memory() -> None:
    """Allocate memory that host and device share, and advise the driver about its use and location."""
    array = _driver_host_memory.managed_zeros(HOST.shape, HOST.dtype)
    array.base.advise("read_mostly")
    array.base.prefetch()
    array.base.attach(4, PyGPU.Stream())
    array.base.attach(1)
    PyGPU.GPUArray(HOST.shape, HOST.dtype, gpudata=array.base).set(HOST)
    equal(array, HOST)


def mapped_memory() -> None:
    """Query the address at which a device sees pinned memory."""
    assert _driver_host_memory.pagelocked_empty(4, "f4", mem_flags=2).base.get_device_pointer()


def shared_memory() -> None:
    """Share memory by a handle, which the simulated driver can open in the same process."""
    memory = _driver_memory.to_device(HOST)
    opened = _driver_memory.IPCMemoryHandle(_driver_memory.mem_get_ipc_handle(memory))
    equal(_driver_memory.from_device_like(opened, HOST), HOST)
    opened.close()


def shared_arrays() -> None:
    """Share an array by a handle, and open the handle on the array's own device."""
    array = PyGPU.full(HOST.shape, 2.0, shared=True)
    opened = PyGPU.open_shared(array[1:].share())
    equal(opened.get(), numpy.full(HOST.shape, 2.0)[1:])


def shared_events() -> None:
    """Share an event by a handle, which the simulated driver can open in the same process."""
    event = PyGPU.Event(timing=False, interprocess=True)
    event.record()
    PyGPU.Event.from_ipc_handle(event.ipc_handle()).synchronize()


def lent() -> None:
    """Export an array, import it as further arrays, and drop the original array before the imported arrays."""
    array = PyGPU.to_gpu(HOST)
    shared = PyGPU.from_dlpack(array)
    again = PyGPU.asarray(array[::2])
    del array
    equal(shared.get(), HOST)
    equal(again.get(), HOST[::2])


def figures() -> None:
    """Query the total and the used resources of a device."""
    assert PyGPU.memory_info()[1] > 0
    assert PyGPU.memory_statistics()["bytes"] >= 0
    PyGPU.trim_memory()
    PyGPU.set_memory_release_threshold(PyGPU.memory_release_threshold())
    assert PyGPU.device_properties(0)["name"]


SOURCE = """
__constant__ float factors[2] = {2, 3};
extern "C" __global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factors[0];
}
"""


def kernels() -> None:
    """Compile and load a module, query its kernels, launch them by each launch function, and unload the module."""
    module = PyGPU.Module(SOURCE)
    scale = module.get_function("scale")
    assert module.get_global("factors")[1] == 8
    assert scale.max_threads_per_block > 0
    assert scale.active_blocks(32) > 0
    assert scale.suggested_shape()[1] > 0
    scale.set_cache_config(1)
    scale.max_dynamic_shared_size_bytes = 1024
    array = PyGPU.to_gpu(HOST)
    scale[2, 32](array, HOST.size)
    scale[2, 32](array, HOST.size, cooperative=True)
    config = PyGPU.LaunchConfig(2, 32, cluster=min(2, scale.max_cluster_size(32)), priority=-1)
    assert scale.max_active_clusters(config) > 0
    scale[config](array, HOST.size)
    equal(array.get(), 8 * HOST)
    del module, scale
    PyGPU.synchronize()  # This synchronization unloads the dropped module.


def two_devices() -> None:
    """Copy between two devices, and enable access from one device to the memory of the other."""
    assert PyGPU.can_access_peer(0, 1)
    PyGPU.enable_peer_access(0, 1)
    there = PyGPU.to_gpu(HOST, device=1)
    here = PyGPU.asarray(there, device=0)
    equal(here.get(), HOST)
    PyGPU.set_device(1)
    PyGPU.set_device(0)
    PyGPU.synchronize(1)


def a_new_beginning() -> None:
    """Reset a device and use it again, so that PyGPU creates a new context and a new memory pool."""
    PyGPU.reset_device(1)
    equal(PyGPU.to_gpu(HOST, device=1).get(), HOST)


def graphs() -> None:
    """Capture work in a graph, and launch the graph on two streams."""
    array = PyGPU.to_gpu(HOST)
    with PyGPU.Graph() as graph:
        copied = array.copy()
        array.fill(0)
    graph.upload()
    graph.launch()
    equal(copied.get(), HOST)
    with PyGPU.Stream():
        graph.launch()
    equal(copied.get(), numpy.zeros_like(HOST))


def updated_graphs() -> None:
    """Update a kernel, a fill and a copy in a graph, and then the whole graph."""
    scale = PyGPU.Module(SOURCE).get_function("scale")
    array, other = PyGPU.to_gpu(HOST), PyGPU.to_gpu(HOST)
    bytes_, copied = PyGPU.zeros(100, "uint8"), PyGPU.zeros(HOST.shape, HOST.dtype)

    def captured() -> PyGPU.Graph:
        with PyGPU.Graph() as graph:
            scale[2, 32](array, HOST.size)
            bytes_.fill(3)
            copied[...] = array
        return graph

    graph = captured()
    kernel, fill, copy = graph.nodes
    graph.update(kernel, other, HOST.size)
    graph.update(fill, bytes_, 5)
    graph.update(copy, copied, other)
    graph.launch()
    equal(copied.get(), 2 * HOST)
    equal(bytes_.get(), numpy.full(100, 5, "uint8"))
    graph.update(captured())
    graph.launch()
    equal(copied.get(), 2 * HOST)


def conditional_graphs() -> None:
    """Launch a graph with conditional nodes, one of which is skipped and one executed."""
    done, left_out = PyGPU.zeros(10), PyGPU.zeros(10)
    with PyGPU.Graph() as graph:
        for array, value in ((done, 1), (left_out, 0)):
            with graph.if_then(graph.create_condition(value)):
                array.fill(3)
    graph.launch()
    equal(done.get(), numpy.full(10, 3.0))
    equal(left_out.get(), numpy.zeros(10))


def named_images() -> None:
    """Query the names of the kernels in a module image."""
    assert "scale" in " ".join(PyGPU.Module.from_bytes(PyGPU.Module(SOURCE).image).names)


def tensor_maps() -> None:
    """Create a tensor map, which describes an array for the tensor memory accelerator."""
    assert len(PyGPU.TensorMap(PyGPU.zeros((16, 16), "float32"), (8, 8)).tobytes()) == 128


def _has_graphs() -> bool:
    try:
        with PyGPU.Graph():
            pass
    except PyGPU.NotSupportedError:
        return False
    return True


def _has_kernels() -> bool:
    try:
        PyGPU.Module(SOURCE)
    except (PyGPU.BackendUnavailableError, PyGPU.NotSupportedError):
        return False
    return True


def textures() -> None:
    """Fill a CUDA array, create a texture and a surface of the array, and copy the array to the host."""
    array = PyGPU.TextureArray(HOST.shape, surface=True)
    array.set(HOST)
    objects = [PyGPU.Texture(array), PyGPU.Surface(array)]
    assert all(one.handle for one in objects)
    equal(array.get(), HOST)


EXERCISES: dict[str, Callable[[], None]] = {
    function.__name__: function
    for function in (
        *([kernels] if _has_kernels() else []),
        *([graphs] if _has_graphs() else []),
        *([updated_graphs] if _has_graphs() and _has_kernels() else []),
        *([named_images] if _has_kernels() and PyGPU.backend_name() == "cuda" else []),
        *([conditional_graphs, tensor_maps] if PyGPU.backend_name() == "cuda" else []),
        make_and_fetch,
        textures,
        rows,
        one_matrix_of_rows,
        scattered,
        fills,
        streams,
        host_functions,
        in_order,
        somebody_elses_stream,
        events,
        asynchronous,
        pinned_memory,
        registered_memory,
        raw_memory,
        plain_memory,
        managed_memory,
        mapped_memory,
        shared_memory,
        shared_events,
        lent,
        figures,
        two_devices,
        a_new_beginning,
    )
}
