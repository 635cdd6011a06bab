"""Test programs from published texts about PybindGPU and PyCUDA, and the behaviour that the texts describe.

In the order of the tests, the texts are both versions of PybindGPU's page, an introduction to PyCUDA with textures and
MPI, a beginner's text about PyCUDA, and a program for NVIDIA's `cuda.bindings`. NumPy checks results for new inputs.
"""

from __future__ import annotations

import ctypes
import importlib
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy
import pytest

import PyGPU
import PyGPU as gpuarray_of_page
import PyGPU.driver as cuda
import simulated_driver
from processes.mpi_of_threads import Comm, World
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule

LABELS = ("int16", "int32", "int64", "uint16", "uint32", "uint64", "float32", "float64")
SUCCESS = "<cudaError: code=0>"

# The following tests run the programs of PybindGPU's page that control the device context.


def test_runtime_call_without_result_returns_status() -> None:
    status = PyGPU.cudaSetDevice(0)
    assert repr(status) == SUCCESS
    assert status.as_int() == 0


def test_runtime_call_with_result_returns_result_and_status() -> None:
    assert repr(PyGPU.cudaGetDevice()) == f"(0, {SUCCESS})"
    idx, err = PyGPU.cudaGetDevice()
    assert (idx, repr(err)) == (0, SUCCESS)


def test_status_for_missing_device_has_error_name() -> None:
    status = PyGPU.cudaSetDevice(PyGPU.cudaGetDeviceCount()[0] + 2)
    assert repr(status) == "<cudaError: code=101>"
    assert PyGPU.cudaGetErrorName(status) == "cudaErrorInvalidDevice"
    assert PyGPU.cudaGetDevice()[0] == 0


def test_constructors_create_events_and_streams() -> None:
    stream, event = PyGPU.cudaStream_t(), PyGPU.cudaEvent_t()
    assert int(stream) != 0
    assert int(event) != 0
    assert repr(PyGPU.cudaEventRecord(event, stream)) == SUCCESS
    assert repr(PyGPU.cudaEventSynchronize(event)) == SUCCESS


def test_runtime_calls_and_arrays_share_primary_context() -> None:
    address, _ = PyGPU.cudaMalloc(64)
    array = PyGPU.zeros(16, "f4")
    assert PyGPU.cudaMemcpy(array.ptr, address, 64, PyGPU.cudaMemcpyDeviceToDevice) == 0
    assert PyGPU.cudaFree(address) == 0


# The following tests run the programs of PybindGPU's page that transfer data.


@pytest.fixture(scope="module")
def fn() -> Callable[[Any], None]:
    """Return a Python function that applies device code to an array at a C pointer."""
    kernel = PyGPU.Kernel("__global__ void increase(long long *values) { values[threadIdx.x] += 1; }")
    return lambda pointer: kernel[1, 6](pointer)


def test_low_level_array_is_changed_by_c_function_on_device(fn: Callable[[Any], None]) -> None:
    A = numpy.array([1, 2, 3, 4, 5, 6])

    da = PyGPU.DeviceArray_int64(A)  # `host_data()` now points to the data of the array A.
    assert int(da.host_data()) == A.ctypes.data
    assert not da.allocated(), "device_data() is unallocated at first"
    assert int(da.device_data()) == 0
    da.allocate()  # Allocate device memory for the array.
    assert repr(da.last_status()) == SUCCESS
    assert int(da.device_data()) != 0
    da.to_device()  # Copy the data of A to the device.
    fn(da.device_data())  # Apply the function to the array's data on the device.
    da.to_host()  # Copy the data from the device back into A.
    assert repr(da.last_status()) == SUCCESS
    assert A.tolist() == [2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("label", LABELS)
def test_every_dtype_label_has_array_and_pointer_class(label: str) -> None:
    host = numpy.array([1, 2, 3], label)
    da = getattr(PyGPU, f"DeviceArray_{label}")(host)
    da.to_device()
    host[:] = 0
    da.to_host()
    assert host.tolist() == [1, 2, 3]
    assert getattr(PyGPU, f"pointer_wrapper_{label}") is getattr(PyGPU, f"ptr_wrapper_{label}")


def test_device_array_rejects_buffer_of_other_dtype() -> None:
    with pytest.raises(TypeError, match="int64"):
        PyGPU.DeviceArray_float64(numpy.array([1, 2, 3]))


def test_high_level_array_has_same_values_after_copy_to_device_and_back() -> None:
    gpuarray = gpuarray_of_page
    complex_dtype = numpy.complex64
    # Send a NumPy array to the device.
    k = numpy.array([1, 2, 3, 4, 5, 6])
    k_gpu = gpuarray.to_gpu(k)
    # Allocate memory on the device, here for a 3x3x3 array.
    fk_gpu = gpuarray.GPUArray((3, 3, 3), dtype=complex_dtype)
    # Copy the device memory to the host.
    fk = fk_gpu.get()

    assert k_gpu.get().tolist() == k.tolist()
    assert (fk.shape, fk.dtype) == ((3, 3, 3), complex_dtype)
    assert k_gpu[1:4].get().tolist() == [2, 3, 4]
    assert k_gpu[2].get() == 3
    assert k_gpu[::-2].get().tolist() == k[::-2].tolist()


def test_to_gpu_method_uploads_host_memory() -> None:
    x = numpy.zeros((2, 3))
    a = PyGPU.GPUArray(x)
    x[1] = [1, 2, 3]
    assert a.to_gpu() is None
    assert a.get().tolist() == [[0, 0, 0], [1, 2, 3]]
    held = a.get()
    held[0, 0] = 9
    a.to_gpu()
    assert a.get()[0, 0] == 9
    with pytest.raises(ValueError, match="no host side"):
        PyGPU.zeros(3).to_gpu()


def test_array_pointer_is_integer_for_ctypes(fn: Callable[[Any], None]) -> None:
    array = PyGPU.to_gpu(numpy.arange(6))
    assert type(array.ptr) is int
    assert ctypes.c_void_p(array.ptr).value == array.ptr
    assert int(array.device_data) == array.ptr


# The following tests run the programs of PybindGPU's page that use abstract pointers.


def test_get_method_of_safe_pointer_returns_host_address() -> None:
    host = numpy.arange(4, dtype="f4")
    da = PyGPU.DeviceArray_float32(host)
    pointer = da.host_data()
    assert isinstance(pointer, PyGPU.pointer_wrapper_float32)
    assert pointer.is_safe()
    assert pointer.get() == int(pointer) == host.ctypes.data
    assert numpy.ctypeslib.as_array((ctypes.c_float * 4).from_address(pointer.get())).tolist() == [0, 1, 2, 3]
    own = PyGPU.pointer_wrapper_float32()
    own.create(8)
    assert own.get() == int(own) != 0


def test_raw_pointer_converts_to_integer_but_its_method_get_raises() -> None:
    da = PyGPU.DeviceArray_float32(numpy.zeros(4, "f4"))
    da.allocate()
    pointer = da.device_data()
    assert not pointer.is_safe()
    assert int(pointer) != 0
    with pytest.raises(ValueError, match="device memory"):
        pointer.get()
    with pytest.raises(ValueError, match="null"):
        PyGPU.ptr_wrapper_int16().get()


def test_pointer_keeps_memory_alive() -> None:
    pointer = PyGPU.DeviceArray_int64(numpy.array([7, 8])).host_data()
    assert numpy.ctypeslib.as_array((ctypes.c_int64 * 2).from_address(pointer.get())).tolist() == [7, 8]


# The following tests run the programs of the introduction to PyCUDA, with textures and MPI.

DOUBLE = """
__global__ void double_array_new(float *b, float *a, int *info)
{
  int datalen = info[0];

  for(int idx = threadIdx.x; idx < datalen; idx += blockDim.x)
  {
    b[idx] = a[idx]*2;
  }
}
"""


@pytest.fixture
def context() -> Iterator[None]:
    cuda.init()  # Initialize the driver.
    device = cuda.Device(0)  # Get the device that the program uses.
    context = device.make_context()  # Create a context of the device.
    context.push()  # Make the context current.
    yield
    context.pop()  # Make the previous context current again.
    context.detach()  # Release the context created above.


def test_autoinit_selects_first_device() -> None:
    autoinit = importlib.import_module("PyGPU.autoinit")
    assert autoinit.device == cuda.Device(0)
    assert PyGPU.cudaGetDevice()[0] == 0


def test_manually_allocated_memory_is_copied_and_doubled_by_kernel(context: None) -> None:
    mod = SourceModule(DOUBLE)
    func = mod.get_function("double_array_new")
    N = 128

    a = numpy.array(range(N)).astype(numpy.float32)
    info = numpy.array([N]).astype(numpy.int32)
    b = numpy.zeros_like(a)

    a_gpu = cuda.mem_alloc(a.nbytes)
    cuda.memcpy_htod(a_gpu, a)
    b_gpu = cuda.mem_alloc(b.nbytes)
    cuda.memcpy_htod(b_gpu, b)
    info_gpu = cuda.mem_alloc(info.nbytes)
    cuda.memcpy_htod(info_gpu, info)

    func(b_gpu, a_gpu, info_gpu, block=(32, 1, 1), grid=(4, 1))
    a_doubled = numpy.empty_like(a)
    cuda.memcpy_dtoh(a_doubled, b_gpu)
    assert numpy.array_equal(a_doubled, 2 * a)

    func(b_gpu, b_gpu, info_gpu, block=(32, 1, 1))  # The default grid is one block.
    cuda.memcpy_dtoh(a_doubled, b_gpu)
    assert numpy.array_equal(a_doubled, 4 * a)

    a_gpu.free()
    b_gpu.free()
    info_gpu.free()


def test_arrays_print_compute_and_slice_like_numpy(context: None) -> None:
    x = numpy.random.default_rng(0).standard_normal(5).astype(numpy.float32)
    x_gpu = gpuarray.to_gpu(x)
    assert str(x_gpu) == str(x)
    assert repr(x_gpu).startswith("GPU" + repr(x).partition("]")[0].replace("array", "Array"))
    assert numpy.array_equal((2 * x_gpu).get(), 2 * x)
    assert numpy.array_equal((x_gpu + x_gpu).get(), x + x)
    assert (2 * x_gpu).dtype == numpy.float32
    assert len(x_gpu) == 5
    assert numpy.array_equal(x_gpu[0:3].get(), x[0:3])
    assert float(x_gpu[1]) == x[1]  # PyCUDA rejected this operation when the text was written.


def test_kernel_accepts_gpudata_of_arrays(context: None) -> None:
    func = SourceModule(DOUBLE).get_function("double_array_new")
    x = numpy.random.default_rng(1).standard_normal(5).astype(numpy.float32)
    x_gpu = gpuarray.to_gpu(x)
    y_gpu = gpuarray.zeros(5, numpy.float32)
    info_gpu = gpuarray.to_gpu(numpy.array([5]).astype(numpy.int32))
    assert isinstance(x_gpu.gpudata, cuda.DeviceAllocation)
    assert int(x_gpu.gpudata) == x_gpu.ptr
    func(y_gpu.gpudata, x_gpu.gpudata, info_gpu.gpudata, block=(32, 1, 1), grid=(4, 1))
    assert numpy.array_equal(y_gpu.get(), 2 * x)
    assert numpy.array_equal(y_gpu.get(), (2 * x_gpu).get())
    func(y_gpu, x_gpu, info_gpu, block=(32, 1, 1))  # The kernel also accepts arrays instead of their `gpudata`.
    assert numpy.array_equal(y_gpu.get(), 2 * x)


TEXTURES = """
texture<float, 2> MyTexture;
texture<float, 1> Line;

__global__ void read(float *plane, float *line)
{
  plane[threadIdx.x] = tex2D(MyTexture, threadIdx.x, 1);
  line[threadIdx.x] = tex1Dfetch(Line, threadIdx.x);
}
"""


def test_array_can_be_bound_to_texture(context: None) -> None:
    texture_mode = SourceModule(TEXTURES)
    MyTexture = texture_mode.get_texref("MyTexture")
    values = numpy.arange(8, dtype=numpy.float32).reshape(2, 4)
    cuda.matrix_to_texref(values, MyTexture, order="C")
    Line = texture_mode.get_texref("Line")
    x = numpy.random.default_rng(6).standard_normal(4).astype(numpy.float32)
    x_gpu = gpuarray.to_gpu(x)
    x_gpu.bind_to_texref_ext(Line)

    plane, line = gpuarray.zeros(4, numpy.float32), gpuarray.zeros(4, numpy.float32)
    texture_mode.get_function("read")(plane, line, block=(4, 1, 1), texrefs=[MyTexture, Line])
    assert plane.get().tolist() == values[1].tolist()
    assert numpy.array_equal(line.get(), x)


def scattered(comm: Comm, nr_gpus: int, N: int, K: int, results: dict[str, Any]) -> None:
    """Run the mpi4py program of the text in one process. There may be fewer devices than processes."""
    root, rank = 0, comm.rank
    sendbuf: Any = []
    if rank == 0:
        x = numpy.random.default_rng(2).random(N).astype(numpy.float32) * 10**16
        results["x"] = x
        sendbuf = x.reshape(nr_gpus, N // nr_gpus)
    if rank > nr_gpus - 1:
        raise ValueError("To few gpus!")

    current_dev = cuda.Device(rank % cuda.Device.count())  # Select the device that this process uses.
    ctx = current_dev.make_context()  # Create a context of the device.
    ctx.push()  # Make the context current.

    # Receive the data and upload it to the GPU.
    x_gpu_part = gpuarray.to_gpu(comm.scatter(sendbuf, root))
    # Compute on the device.
    for _ in range(K):
        x_gpu_part = 0.9 * x_gpu_part
    # Copy the result to the host.
    x_part = (x_gpu_part).get()

    ctx.pop()  # Make the previous context current again.
    ctx.detach()  # Release the context.

    recvbuf = comm.gather(x_part, root)  # Gather the results of all processes.
    if rank == 0:
        results["made of it"] = numpy.array(recvbuf).reshape(N)


def test_mpi_program_scatters_work_to_several_gpus() -> None:
    nr_gpus, N, K = 4, 2**10 * 4, 20
    results: dict[str, Any] = {}
    World(nr_gpus).run(lambda comm: scattered(comm, nr_gpus, N, K, results))
    expected = results["x"]
    for _ in range(K):
        expected = numpy.float32(0.9) * expected
    assert results["made of it"].dtype == numpy.float32
    numpy.testing.assert_allclose(results["made of it"], expected, rtol=1e-6)


# The following tests run the programs of a beginner's text about PyCUDA.

MULTIPLY = """
__global__ void vec_elm_mul(float *dest, float *a, float *b)
{
    const int i = threadIdx.x;
    dest[i] = a[i] * b[i];
}
"""


def test_arrays_passed_as_in_and_out_are_copied_around_launch() -> None:
    drv = cuda
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mod = SourceModule(MULTIPLY, options=["--ptxas-options=-v"])
    # The only allowed warnings are the compiler's messages about registers.
    assert all(str(one.message).startswith("The CUDA compiler succeeded, but said the following:\n") for one in caught)
    vec_elm_mul = mod.get_function("vec_elm_mul")

    random = numpy.random.default_rng(3)
    a = random.standard_normal(400).astype(numpy.float32)
    b = random.standard_normal(400).astype(numpy.float32)
    dest = numpy.zeros_like(a)
    vec_elm_mul(drv.Out(dest), drv.In(a), drv.In(b), block=(400, 1, 1), grid=(1, 1))
    assert numpy.array_equal(dest, a * b)


def test_same_source_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = SourceModule(MULTIPLY).get_function("vec_elm_mul")
    dest = gpuarray.zeros(4, numpy.float32)
    ones = gpuarray.to_gpu(numpy.ones(4, numpy.float32))
    first(dest, ones, ones, block=(4, 1, 1))
    # No compiler is on the path now, so the kernel must come from the cache: a second compilation would fail.
    monkeypatch.setenv("PATH", "")
    again = SourceModule(MULTIPLY).get_function("vec_elm_mul")
    again(dest, dest, dest, block=(4, 1, 1))
    assert dest.get().tolist() == [1, 1, 1, 1]


def test_kernel_function_has_numbers_of_registers_and_memory_sizes() -> None:
    function = SourceModule(MULTIPLY).get_function("vec_elm_mul")
    assert function.num_regs >= 0
    assert function.local_size_bytes == function.shared_size_bytes == 0


# The following tests run the program for NVIDIA's own `cuda.bindings`.

SAXPY = """\
extern "C" __global__
void saxpy(float a, float *x, float *y, float *out, size_t n)
{
 size_t tid = blockIdx.x * blockDim.x + threadIdx.x;
 if (tid < n) {
   out[tid] = a * x[tid] + y[tid];
 }
}
"""
NUM_THREADS = 512  # Number of threads per block.


def blocks() -> int:
    """Return the grid's number of blocks: the published program's number on a GPU, or else a smaller number."""
    return 32768 if PyGPU.backend_name() != "cpu" and simulated_driver.driver() is None else 16


def test_saxpy_kernel_of_pygpu_matches_numpy() -> None:
    n = NUM_THREADS * blocks()
    random = numpy.random.default_rng(4)
    hX, hY = random.random(n, numpy.float32), random.random(n, numpy.float32)
    saxpy = PyGPU.Kernel(SAXPY, options=["--fmad=false"])
    with PyGPU.Stream() as stream:
        dX, dY, dOut = PyGPU.to_gpu(hX), PyGPU.to_gpu(hY), PyGPU.empty(n, numpy.float32)
        saxpy[blocks(), NUM_THREADS](2.0, dX, dY, dOut, n)
        hOut = dOut.get()
    stream.synchronize()
    numpy.testing.assert_allclose(hOut, numpy.float32(2) * hX + hY, rtol=1e-6)


def test_saxpy_with_addresses_and_numpy_scalars_matches_numpy() -> None:
    n = numpy.array(NUM_THREADS * blocks(), dtype=numpy.uint32)
    random = numpy.random.default_rng(5)
    hX, hY = random.random(int(n), numpy.float32), random.random(int(n), numpy.float32)
    hOut = numpy.zeros(int(n), numpy.float32)
    stream, _ = PyGPU.cudaStreamCreate()
    addresses = []
    for host in (hX, hY, hOut):
        address, err = PyGPU.cudaMalloc(host.nbytes)
        assert err == 0
        addresses.append(address)
        assert PyGPU.cudaMemcpyAsync(address, host, host.nbytes, PyGPU.cudaMemcpyHostToDevice, stream) == 0
    dX, dY, dOut = addresses
    saxpy = PyGPU.Kernel(SAXPY, options=["--fmad=false"])
    saxpy[blocks(), NUM_THREADS, stream](numpy.float32(2.0), dX, dY, dOut, int(n))
    assert PyGPU.cudaMemcpyAsync(hOut, dOut, hOut.nbytes, PyGPU.cudaMemcpyDeviceToHost, stream) == 0
    assert PyGPU.cudaStreamSynchronize(stream) == 0
    numpy.testing.assert_allclose(hOut, numpy.float32(2) * hX + hY, rtol=1e-6)
    assert PyGPU.cudaStreamDestroy(stream) == 0
    for address in addresses:
        assert PyGPU.cudaFree(address) == 0


def bindings() -> tuple[ModuleType, ModuleType]:
    """Import NVIDIA's package `cuda.bindings`, or else its older name `cuda`, which the published program uses."""
    for name in ("cuda.bindings.driver cuda.bindings.nvrtc", "cuda.cuda cuda.nvrtc"):
        driver, compiler = name.split()
        try:
            return importlib.import_module(driver), importlib.import_module(compiler)
        except ImportError:
            continue
    pytest.skip("cuda-bindings is not installed")


@pytest.mark.skipif(
    PyGPU.backend_name() != "cuda" or simulated_driver.driver() is not None, reason="needs NVIDIA's driver"
)
@pytest.mark.filterwarnings("ignore:The chararray class is deprecated")
def test_saxpy_by_cuda_bindings_in_same_process_matches_numpy() -> None:
    driver, nvrtc = bindings()

    def checked(answer: tuple[Any, ...]) -> Any:
        assert int(answer[0]) == 0, answer[0]
        return answer[1] if len(answer) == 2 else answer[1:]

    program = checked(nvrtc.nvrtcCreateProgram(str.encode(SAXPY), b"saxpy.cu", 0, [], []))
    checked(nvrtc.nvrtcCompileProgram(program, 2, [b"--fmad=false", b"--gpu-architecture=compute_75"]))
    ptx = b" " * checked(nvrtc.nvrtcGetPTXSize(program))
    checked(nvrtc.nvrtcGetPTX(program, ptx))

    checked(driver.cuInit(0))
    device = checked(driver.cuDeviceGet(0))
    # The published program creates a context. This test uses the primary context, like the rest of the process.
    checked(driver.cuCtxSetCurrent(checked(driver.cuDevicePrimaryCtxRetain(device))))
    image = numpy.char.array(ptx)
    module = checked(driver.cuModuleLoadData(image.ctypes.data))
    kernel = checked(driver.cuModuleGetFunction(module, b"saxpy"))

    a = numpy.array([2.0], dtype=numpy.float32)
    n = numpy.array(NUM_THREADS * blocks(), dtype=numpy.uint64)  # The parameter is a size_t; uint32 has too few bytes.
    hX, hY = numpy.random.rand(size := int(n)).astype("float32"), numpy.random.rand(size).astype("float32")
    # PyGPU creates the arrays, for which the published program calls cuMemAlloc. NVIDIA's package creates the stream.
    stream = checked(driver.cuStreamCreate(0))
    borrowed = PyGPU.Stream.from_handle(int(stream))
    with borrowed:
        arrays = [PyGPU.to_gpu(hX), PyGPU.to_gpu(hY), PyGPU.empty(size, numpy.float32)]
    dX, dY, dOut = (numpy.array([array.ptr], dtype=numpy.uint64) for array in arrays)
    args = numpy.array([arg.ctypes.data for arg in (a, dX, dY, dOut, n)], dtype=numpy.uint64)
    checked(driver.cuLaunchKernel(kernel, blocks(), 1, 1, NUM_THREADS, 1, 1, 0, stream, args.ctypes.data, 0))
    checked(driver.cuStreamSynchronize(stream))
    assert numpy.array_equal(arrays[2].get(), a * hX + hY)
    # PyGPU's launch of the same source must give bitwise equal results.
    again = PyGPU.empty(size, numpy.float32)
    PyGPU.Kernel(SAXPY, options=["--fmad=false"])[blocks(), NUM_THREADS](2.0, arrays[0], arrays[1], again, size)
    assert numpy.array_equal(again.get(), arrays[2].get())
    del arrays, borrowed
    PyGPU.synchronize()
    checked(driver.cuStreamDestroy(stream))
    checked(driver.cuModuleUnload(module))
    checked(driver.cuDevicePrimaryCtxRelease(device))
