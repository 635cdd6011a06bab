"""Test user-written kernels on a real GPU: compilation, loading, launches, order of work, and errors.

The tests also run on HIP: on an AMD GPU, or on an NVIDIA GPU through the library in tests/gpu/hip_on_cuda.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy
import pytest

import PyGPU
from gpu import kernel_library, support
from gpu.support import COUNT, SECONDS, Interface, no_wait

support.require_gpu()
if kernel_library.simulated() is not None:
    pytest.skip(
        "PTX, faults and compilers of a real GPU; test_kernels_everywhere.py has the rest", allow_module_level=True
    )

ON_AMD = str(PyGPU.device_properties(0)["architecture"]).startswith("gfx")
on_cuda_only = pytest.mark.skipif(support.on_hip(), reason="PTX, nvcc and a kernel's cache settings are CUDA's")

SOURCE = """
#if defined(__HIP__)
__device__ void wait(long long nanoseconds)
{
    long long start = wall_clock64();  // at 100 MHz
    while ((wall_clock64() - start) * 10 < nanoseconds) {}
}
#else
__device__ void wait(long long nanoseconds)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while ((long long)(now - start) < nanoseconds);
}
#endif
extern "C" __global__ void spin(long long nanoseconds) { wait(nanoseconds); }
__global__ void scale(float *x, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}
__global__ void add(const float *a, const float *b, float *out, unsigned long long n)
{
    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < n;
         i += (unsigned long long)gridDim.x * blockDim.x)
        out[i] = a[i] + b[i];
}
__global__ void late_fill(long long nanoseconds, float *x, float value, int n)
{
    wait(nanoseconds);
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = value;
}
struct Particle { double mass; float position[3]; int id; };
__global__ void describe(Particle p, double *out)
{
    out[0] = p.mass; out[1] = p.position[0]; out[2] = p.position[1]; out[3] = p.position[2]; out[4] = p.id;
}
extern __shared__ float scratch[];
__global__ void reversed(const float *in, float *out)
{
    scratch[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = scratch[blockDim.x - 1 - threadIdx.x];
}
__constant__ float factor;
__device__ int counter;
__global__ void by_constant(float *x) { x[threadIdx.x] *= factor; }
template <typename T, int N> __global__ void times(T *x) { x[threadIdx.x] *= N; }
__global__ void null(int *is_null, const float *p) { *is_null = p == nullptr; }
"""


@pytest.fixture(scope="module")
def module() -> PyGPU.Module:
    return PyGPU.Module(SOURCE, instances=["times<float, 3>", "times<long long, 5>"])


def test_launch_converts_python_and_numpy_scalars_to_parameter_types(module: PyGPU.Module) -> None:
    x = PyGPU.to_gpu(numpy.arange(1000, dtype="f4"))
    kernel = module.get_function("scale")
    assert kernel.parameters == ("float* x", "float factor", "int n")
    kernel[4, 256](x, 2, 1000)
    kernel[(4,), (256, 1, 1)](x, numpy.float32(0.5), numpy.int32(500))
    expected = numpy.arange(1000, dtype="f4") * numpy.where(numpy.arange(1000) < 500, 1, 2)
    assert (x.get() == expected).all()


def test_template_instances_are_found_by_name(module: PyGPU.Module) -> None:
    x, y = PyGPU.ones(32, "float32"), PyGPU.ones(32, "int64")
    module.get_function("times<float, 3>")[1, 32](x)
    module.get_function("times<long long, 5>")[1, 32](y)
    assert (x.get() == 3).all()
    assert (y.get() == 5).all()
    # `module` does not contain this template instance yet, so `get_function` compiles the instance.
    module.get_function("times<float, 2>")[1, 32](x)
    assert (x.get() == 6).all()


@pytest.mark.parametrize("form", ["structured scalar", "ctypes", "0-d", "1 item"])
def test_struct_argument_in_each_form_is_passed_by_value(module: PyGPU.Module, form: str) -> None:
    out = PyGPU.zeros(5, "float64")
    dtype = numpy.dtype([("mass", "f8"), ("position", "f4", 3), ("id", "i4")], align=True)

    class Particle(ctypes.Structure):
        _fields_ = (("mass", ctypes.c_double), ("position", ctypes.c_float * 3), ("id", ctypes.c_int))

    value = numpy.array((2.5, (1, 2, 3), 7), dtype)
    particle: Any = {
        "structured scalar": value[()],
        "ctypes": Particle(2.5, (1, 2, 3), 7),
        "0-d": value,
        "1 item": value.reshape(1),
    }[form]
    if form == "1 item" and support.on_hip():
        pytest.skip("HIP does not tell the sizes of a kernel's parameters, and an array of one item may be an array")
    module.get_function("describe")[1, 1](particle, out)
    assert out.get().tolist() == [2.5, 1, 2, 3, 7]


def test_launch_accepts_100_kib_of_shared_memory_without_setting(module: PyGPU.Module) -> None:
    kernel = module.get_function("reversed")
    x = PyGPU.to_gpu(numpy.arange(1024, dtype="f4"))
    y = PyGPU.empty_like(x)
    kernel[1, 1024, None, 4096](x, y)
    assert (y.get() == numpy.arange(1024)[::-1]).all()
    most = 64 * 1024 if ON_AMD else 100 * 1024
    kernel[1, 1024, None, most](y, x)
    assert (x.get() == numpy.arange(1024)).all()
    assert kernel.max_dynamic_shared_size_bytes >= most
    with pytest.raises(ValueError, match="dynamic shared memory"):
        kernel[1, 1024, None, 1 << 20](x, y)


def test_constant_written_by_address_of_get_global_is_used_by_kernel(module: PyGPU.Module) -> None:
    address, nbytes = module.get_global("factor")
    assert nbytes == 4
    PyGPU.GPUArray((1,), "float32", gpudata=address).set(numpy.array([4], "f4"))
    x = PyGPU.ones(8, "float32")
    module.get_function("by_constant")[1, 8](x)
    assert (x.get() == 4).all()
    with pytest.raises(ValueError, match="absent"):
        module.get_global("absent")


def test_none_as_argument_is_passed_as_null_pointer(module: PyGPU.Module) -> None:
    kernel, answer = module.get_function("null"), PyGPU.zeros(1, "int32")
    kernel[1, 1](answer, None)
    assert answer.get()[0] == 1
    kernel[1, 1](answer, PyGPU.ones(1, "float32"))
    assert answer.get()[0] == 0


def test_in_out_and_inout_copy_host_arrays_around_launch(module: PyGPU.Module) -> None:
    a, b = numpy.arange(100, dtype="f4"), numpy.arange(200, dtype="f4")[::2]
    out = numpy.zeros(100, "f4")
    module.get_function("add")[1, 128](PyGPU.In(a), PyGPU.In(b), PyGPU.Out(out), 100)
    assert (out == a + b).all()
    module.get_function("scale")[1, 128](PyGPU.InOut(out), 2, 100)
    assert (out == 2 * (a + b)).all()
    fixed = a.copy()
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        PyGPU.Out(fixed)


def test_kernel_attributes_and_occupancy_are_plausible(module: PyGPU.Module) -> None:
    kernel = module.get_function("add")
    major, minor = PyGPU.device_properties(0)["compute_capability"]
    if not ON_AMD:
        assert kernel.binary_version == 10 * major + minor
    assert 0 < kernel.num_regs <= 512
    assert (kernel.shared_size_bytes, kernel.local_size_bytes, kernel.max_threads_per_block) == (0, 0, 1024)
    assert 1 <= kernel.active_blocks(256) <= 32
    grid, block = kernel.suggested_shape()
    assert grid >= 1
    assert block % 32 == 0
    assert kernel.suggested_shape(limit=64)[1] <= 64
    kernel.set_cache_config(2)
    with pytest.raises((ValueError, PyGPU.CudaError)):
        kernel.set_cache_config(7)


@on_cuda_only
def test_shared_memory_carveout_of_kernel_is_stored_by_driver(module: PyGPU.Module) -> None:
    kernel = module.get_function("add")
    kernel.preferred_shared_memory_carveout = 50
    assert kernel.preferred_shared_memory_carveout == 50


# Tests of asynchronous launches and of the order of work.


def test_launch_returns_before_kernel_is_complete(module: PyGPU.Module, slow: PyGPU.Stream) -> None:
    with no_wait():
        module.get_function("spin")[1, 1, slow](int(SECONDS * 1e9))
    assert not slow.query()
    slow.synchronize()


def test_kernel_on_other_stream_waits_for_unfinished_write(
    module: PyGPU.Module, slow: PyGPU.Stream, other: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    out = PyGPU.zeros(COUNT, "float32")
    PyGPU.synchronize()
    with no_wait():
        module.get_function("late_fill")[1, 256, slow](int(SECONDS * 1e9), block, 5, COUNT)
        module.get_function("add")[256, 256, other](block, block, out, COUNT)
        copied = out.copy()
    assert not slow.query(), "the write was not late: this test shows nothing"
    assert (copied.get() == 10).all()


def test_write_waits_for_unfinished_read_but_reads_run_concurrently(
    module: PyGPU.Module, slow: PyGPU.Stream, other: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    out, quick = PyGPU.zeros(COUNT, "float32"), PyGPU.zeros(COUNT, "float32")
    PyGPU.synchronize()
    add = module.get_function("add")
    with no_wait():
        module.get_function("spin")[1, 1, slow](int(SECONDS * 1e9))
        add[256, 256, slow](block, block, out, COUNT)
        add[256, 256, other](block, block, quick, COUNT)
        other.synchronize()
        assert not slow.query()
        module.get_function("scale")[COUNT // 256, 256, other](block, 3, COUNT)
    assert (out.get() == 2).all()
    assert (block.get() == 3).all()


def test_dropped_memory_is_not_reused_before_kernel_is_complete(module: PyGPU.Module, slow: PyGPU.Stream) -> None:
    out = PyGPU.zeros(COUNT, "float32")
    PyGPU.synchronize()
    with no_wait():
        source = PyGPU.full(COUNT, 7, "float32")
        module.get_function("spin")[1, 1, slow](int(SECONDS * 1e9))
        module.get_function("add")[256, 256, slow](source, source, out, COUNT)
        del source
        others = [PyGPU.full(COUNT, -1, "float32") for _ in range(4)]
    assert (out.get() == 14).all()
    del others


def test_kernel_arguments_of_other_libraries_stay_alive_until_kernel_ends(
    module: PyGPU.Module, slow: PyGPU.Stream
) -> None:
    a = PyGPU.full(COUNT, 7, "float32")
    out = PyGPU.zeros(COUNT, "float32")
    PyGPU.synchronize()
    foreign = Interface(a)
    del a
    with no_wait():
        module.get_function("spin")[1, 1, slow](int(SECONDS * 1e9))
        module.get_function("add")[256, 256, slow](foreign, foreign, out, COUNT)
        del foreign
    assert (out.get() == 14).all()


def test_kernel_accepts_torch_tensor_of_matching_dtype_only(module: PyGPU.Module) -> None:
    support.require_peers()
    torch = pytest.importorskip("torch")
    x = torch.ones(100, device="cuda")
    module.get_function("scale")[1, 128](x, 3, 100)
    torch.cuda.synchronize()
    assert (x == 3).all()
    with pytest.raises(TypeError, match="float64"):
        module.get_function("scale")[1, 128](x.double(), 3, 100)


def test_kernel_accepts_object_that_has_gpudata_with_address(module: PyGPU.Module) -> None:
    array = PyGPU.ones(10, "float32")

    class Like:
        gpudata = array.ptr

    module.get_function("scale")[1, 32](Like(), 3, 10)
    module.get_function("scale")[1, 32](array.ptr, 2, 10)
    assert (array.get() == 6).all()


# Tests of compiled images, PTX and nvcc.


def test_kernel_image_from_bytes_or_file_runs(module: PyGPU.Module, tmp_path: Path) -> None:
    kernel = PyGPU.Kernel('extern "C" __global__ void one(int *x) { *x = 1; }')
    assert kernel.name == "one"
    path = tmp_path / "all.cubin"
    path.write_bytes(module.image)
    for source in (module.image, path):
        x = PyGPU.ones(4, "float32")
        loaded = PyGPU.Kernel(source, "scale")
        loaded[1, 32](x, numpy.float32(3), numpy.int32(4))
        assert (x.get() == 3).all()
        if not support.on_hip():  # For a kernel without source, HIP does not report the number of parameters.
            with pytest.raises(TypeError, match="3 arguments"):
                loaded[1, 32](x)
        with pytest.raises(TypeError, match=r"numpy\.float32"):
            loaded[1, 32](x, 3.0, numpy.int32(4))
        loaded.prepare("Pfi")[1, 32](x, 2.0, 4)
        assert (x.get() == 6).all()
    with pytest.raises(ValueError, match=r"no (cubin|code object)"):
        PyGPU.Module(b"nonsense")


@on_cuda_only
def test_module_compiled_for_virtual_architecture_has_ptx_and_runs() -> None:
    ptx = PyGPU.Module("__global__ void one(int *x) { *x = 1; }", ["-arch=compute_80"])
    assert b".version" in ptx.image
    x = PyGPU.zeros(1, "int32")
    ptx.get_function("one")[1, 1](x)
    assert x.get()[0] == 1


@on_cuda_only
def test_source_with_toolkit_headers_compiles_by_nvcc_and_by_nvrtc() -> None:
    headers = "#include <cuda_fp16.h>\n#include <stdio.h>\n"
    source = headers + "__global__ void one(int *x) { *x = __half2int_rn(__float2half(1)); }"
    try:
        kernels = [PyGPU.Kernel(source, "one", compiler="nvcc"), PyGPU.Kernel(source, "one")]
    except PyGPU.BackendUnavailableError as error:
        pytest.skip(str(error))
    for kernel in kernels:
        x = PyGPU.zeros(1, "int32")
        kernel[1, 1](x)
        assert x.get()[0] == 1


# Tests of errors, and of processes, threads and unloaded modules.


def test_compile_error_has_line_number_in_source_of_user() -> None:
    with pytest.raises(PyGPU.CompileError, match=r"kernel.cu[(:]3") as raised:
        PyGPU.Kernel("\n__global__ void k() {\n    int x = absent; }", "k", ["-DN=1"])
    assert "absent" in raised.value.log
    assert raised.value.source.startswith("\n__global__")
    assert "-DN=1" in raised.value.options
    with pytest.raises(PyGPU.CompileError, match=r"kernel.cu[(:]1"):
        PyGPU.Kernel("__global__ void k() { absent(); }", "k", extern_c=True)


@pytest.mark.skipif(ON_AMD, reason="clang says nothing of it unless asked to")
def test_compiler_warning_is_issued_as_python_warning() -> None:
    with pytest.warns(UserWarning, match="never referenced"):
        PyGPU.Kernel("__global__ void k(int *x) { int unused; *x = 1; }", "k", cache=False)


def test_unknown_compiler_option_raises_value_error_naming_option() -> None:
    with pytest.raises(ValueError, match="--no-such-option"):
        PyGPU.Kernel("__global__ void k() {}", "k", ["--no-such-option"])


def test_launch_rejects_shapes_beyond_device_limits(module: PyGPU.Module) -> None:
    x = PyGPU.ones(4, "float32")
    kernel = module.get_function("scale")
    for key, text in [
        ((1, 1025), "1025 along x"),
        ((1, (64, 64)), "4096 threads"),
        ((0, 1), "0 along x"),
        ((1, (1, 1, 65)), "65 along z"),
        (((1, 65536), 1), "65536 along y"),
    ]:
        with pytest.raises(ValueError, match=text):
            kernel[key](x, 1, 4)
    assert (x.get() == 1).all()


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.provokes_errors
@pytest.mark.starts_processes
def test_kernel_fault_is_reported_by_later_calls_and_exit_is_clean() -> None:
    result = run(
        """
        import PyGPU
        kernel = PyGPU.Kernel("__global__ void k(int *x) { *x = 1; }", "k")
        x = PyGPU.zeros(4, "int32")
        kernel[1, 1](64)
        for call in (PyGPU.synchronize, x.get, lambda: kernel[1, 1](x), lambda: PyGPU.zeros(3).get()):
            try:
                call()
            except PyGPU.CudaError as error:
                print(error.code, "only a new process" in str(error))
        """
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split("\n")[:4] == ["700 True"] * 4, result.stdout + result.stderr


@pytest.mark.starts_processes
def test_cached_kernel_starts_without_compiler_library(tmp_path: Path) -> None:
    library = "libhiprtc" if support.on_hip() else "libnvrtc"
    script = f"""
        import os
        os.environ["PYGPU_CACHE_DIR"] = {str(tmp_path)!r}
        import PyGPU
        x = PyGPU.ones(4, "float32")
        kernel = PyGPU.Kernel("__global__ void k(float *x) {{ *x = 2; }}", "k")
        kernel[1, 1](x)
        assert x.get()[0] == 2
        print(any({library!r} in line for line in open("/proc/self/maps")))
    """
    first, second = run(script), run(script)
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    assert (first.stdout.split(), second.stdout.split()) == (["True"], ["False"])


def test_launches_from_eight_threads_give_correct_results(module: PyGPU.Module) -> None:
    from concurrent.futures import ThreadPoolExecutor

    kernel = module.get_function("scale")

    def work(_: int) -> bool:
        x, stream = PyGPU.ones(256, "float32"), PyGPU.Stream()
        for _ in range(20):
            kernel[1, 256, stream](x, 2, 256)
        return bool((x.get() == 2**20).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(32)))


def test_deletion_of_running_kernel_object_returns_before_kernel_ends(slow: PyGPU.Stream) -> None:
    with no_wait():
        kernel = PyGPU.Kernel(SOURCE, "spin", ["-DTAG=1"], cache=True)
        kernel[1, 1, slow](int(SECONDS * 1e9))
        start = time.perf_counter()
        del kernel
        assert time.perf_counter() - start < SECONDS / 2
    slow.synchronize()


def test_launch_does_not_wait_for_unloading_of_another_module(module: PyGPU.Module, slow: PyGPU.Stream) -> None:
    out, foreign = PyGPU.zeros(COUNT, "float32"), Interface(PyGPU.full(COUNT, 7, "float32"))
    module.get_function("add")[256, 256](foreign, foreign, out, COUNT)
    kernel = PyGPU.Kernel(SOURCE, "spin", ["-DTAG=2"])
    kernel[1, 1, slow](1000)
    del kernel
    slow.synchronize()
    with no_wait():
        module.get_function("spin")[1, 1, slow](int(SECONDS * 1e9))
        # A launch with arrays of other libraries also releases the arrays of earlier launches that are complete.
        module.get_function("add")[256, 256, slow](foreign, foreign, out, COUNT)
    assert (out.get() == 14).all()
