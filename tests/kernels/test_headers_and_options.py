"""Test headers included by kernels, compiler options, and error messages."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import PyGPU
from PyGPU.compiler import SourceModule
from PyGPU.driver import Function

on_the_host = pytest.mark.skipif(
    PyGPU.backend_name() != "cpu" and "simulated" not in PyGPU.device_properties(0)["name"].lower(),
    reason="of the CPU's compiler",
)

HEADERS = r"""
#include <pycuda-complex.hpp>
#include <pycuda-helpers.hpp>
#include <cuda_fp16.h>
#include <cuComplex.h>
#include <thrust/complex.h>

__global__ void numbers(float *out)
{
    pycuda::complex<float> a(1, 2);
    thrust::complex<float> b(3, -1);
    thrust::complex<float> c = a * b;
    out[0] = c.real();
    out[1] = c.imag();
    cuDoubleComplex d = cuCmul(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, -1));
    out[2] = (float)cuCreal(d);
    out[3] = (float)cuCimag(d);
    out[4] = __half2float(__float2half(0.1f));
    out[5] = thrust::abs(thrust::complex<double>(3, 4));
    cuFloatComplex e = cuCdivf(make_cuFloatComplex(5, 5), make_cuFloatComplex(1, 2));
    out[6] = cuCrealf(e);
    out[7] = cuCimagf(e);
}
"""


def launched(function: Function, *arguments: object, block: int = 1) -> None:
    """Launch a kernel with one block of threads."""
    function(*arguments, block=(block, 1, 1), grid=(1, 1))


@on_the_host
def test_cxx_headers_can_be_included_within_default_extern_c_block() -> None:
    out = PyGPU.zeros(8, np.float32)
    launched(SourceModule(HEADERS).get_function("numbers"), out.gpudata)
    product, quotient = (1 + 2j) * (3 - 1j), (5 + 5j) / (1 + 2j)
    half = np.float32(np.float16(0.1))
    expected = [product.real, product.imag] * 2 + [half, 5, quotient.real, quotient.imag]
    np.testing.assert_allclose(out.get(), expected, rtol=1e-6)


GROUPS = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda/std/type_traits>
#include <cuda/std/limits>
#include <cuda/atomic>
#include <cuda/std/atomic>
namespace cg = cooperative_groups;

__global__ void groups(int *out, float *real)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    __shared__ int s[64];
    s[block.thread_rank()] = threadIdx.x;
    block.sync();
    int sum = s[63 - threadIdx.x];
    for (int d = tile.size() / 2; d > 0; d /= 2) sum += tile.shfl_down(sum, d);
    if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = sum;
    int all = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>());
    if (tile.thread_rank() == 3) out[4 + tile.meta_group_rank()] = all;
    if (threadIdx.x % 3 == 0) {
        auto together = cg::coalesced_threads();
        if (together.thread_rank() == 0) out[8 + threadIdx.x / 32] = together.size();
    }
    cuda::atomic_ref<int, cuda::thread_scope_device> count(out[10]);
    count.fetch_add(2, cuda::memory_order_relaxed);
    static_assert(cuda::std::is_same<int, int>::value, "");
    static_assert(sizeof(cuda::atomic<int, cuda::thread_scope_block>) == sizeof(int), "");
    if (threadIdx.x == 0) out[11] = cuda::std::numeric_limits<short>::max();
    real[threadIdx.x] = __bfloat162float(__float2bfloat16(1.0f + threadIdx.x / 1000.0f));
}

__global__ void grid(int *out)
{
    cg::grid_group all = cg::this_grid();
    atomicAdd(&out[0], 1);
    all.sync();
    out[1 + all.thread_rank()] = out[0];
}
"""


@on_the_host
@pytest.mark.skipif(PyGPU.backend_name() == "hip", reason="the expected values are those of warps of 32")
def test_cooperative_groups_bfloat16_and_libcudacxx_headers_exist_on_cpu() -> None:
    module = SourceModule(GROUPS)
    out, real = PyGPU.zeros(12, np.int32), PyGPU.zeros(64, np.float32)
    launched(module.get_function("groups"), out.gpudata, real.gpudata, block=64)
    threads = np.arange(64)
    sums = threads.reshape(4, 16).sum(axis=1)
    thirds = [int((threads[first : first + 32] % 3 == 0).sum()) for first in (0, 32)]
    expected = [*sums[::-1], *sums, *thirds, 128, 32767]
    assert out.get().tolist()[:12] == expected
    exact = (1 + threads / np.float32(1000)).astype(np.float32)
    bits = exact.view(np.uint32)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)
    np.testing.assert_array_equal(real.get(), rounded)


SMALL_FLOATS = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C++" {
__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
}
template <class Number> __device__ void numbers(Number x, float *out)
{
    Number y = x + Number(2.25f);
    y -= x * Number(0.5f);
    out[0] = y;
    out[1] = __hfma(x, x, y);
    out[2] = hsqrt(x);
    out[3] = __hlt(x, y) + 2 * __hisnan(x / Number(0.0f)) + 4 * __hisinf(x / Number(0.0f));
    out[4] = __hmax(x, y);
}
extern "C" __global__ void small_floats(const float4 *x, float *out)
{
    out[0] = (x[0] + x[1]).w;
    numbers(__float2half(1.5f), out + 1);
    numbers(__float2bfloat16(1.5f), out + 6);
    __half2 both = __floats2half2_rn(1, 2);
    both = __hfma2(both, both, __half2half2(__float2half(1.5f)));
    out[11] = __low2float(both);
    out[12] = __half2float(__high2half(both));
}
"""


@on_the_host
def test_float16_and_bfloat16_work_with_user_defined_operators() -> None:
    function = PyGPU.Module(SMALL_FLOATS).get_function("small_floats")
    x, out = PyGPU.to_gpu(np.arange(8, dtype=np.float32)), PyGPU.zeros(13, np.float32)
    function[1, 1](x, out)
    root = np.float32(1.5) ** np.float32(0.5)
    numbers = [3, 5.25, np.float16(root), 5, 3, 3, 5.25, 1.2265625, 5, 3]
    np.testing.assert_array_equal(out.get(), np.array([10, *numbers, 2.5, 5.5], np.float32))


@on_the_host
@pytest.mark.parametrize(
    ("header", "part"), [("mma.h", "tensor cores"), ("cub/cub.cuh", "CUB"), ("curand_kernel.h", "cuRAND")]
)
def test_header_missing_on_cpu_raises_error_naming_feature(header: str, part: str) -> None:
    with pytest.raises(PyGPU.CompileError, match=f"{part}.*__PYGPU_CPU__"):
        SourceModule(f"#include <{header}>\n__global__ void k() {{}}")


@pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="devices have their own assembly")
def test_inline_gpu_assembly_raises_compile_error_on_cpu() -> None:
    source = '__global__ void k(int *o) { asm("mov.u32 %0, %%laneid;" : "=r"(*o)); }'
    with pytest.raises(PyGPU.CompileError, match=r"no PTX.*__PYGPU_CPU__"):
        SourceModule(source)


@pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="CUDA launches kernels from kernels")
def test_kernel_that_launches_kernels_raises_compile_error_on_cpu() -> None:
    source = "__global__ void k(int *o) { if (*o) k<<<1, 1>>>(o); }"
    with pytest.raises(PyGPU.CompileError, match="a kernel cannot launch kernels: dynamic parallelism is for CUDA"):
        SourceModule(source)


ONE = "__global__ void one(int *o) { *o = 1; }"
OF_DEVICES = [
    "--ftz=true", "-prec-div=false", "-prec-sqrt=false", "-fmad=false", "--use_fast_math", "--restrict",
    "--expt-relaxed-constexpr", "--expt-extended-lambda", "--default-stream", "per-thread", "-lineinfo",
    "--maxrregcount=32", "-std=c++17",
]  # fmt: skip


@on_the_host
def test_device_compiler_options_are_accepted_and_host_options_ignored() -> None:
    for_hosts = ["-Xcompiler", "-Wall", "-Xcompiler=-fPIC", "-ccbin", "/usr/bin/g++", "-lcurand"]
    own = [option for option in OF_DEVICES if PyGPU.backend_name() != "hip" or "maxrregcount" not in option]
    with pytest.warns(UserWarning, match="-Xcompiler was passed over") as caught:
        module = SourceModule(ONE, options=own + for_hosts)
    assert "-lcurand was passed over: nothing is linked" in str(caught[0].message)
    out = PyGPU.zeros(1, np.int32)
    launched(module.get_function("one"), out.gpudata)
    assert out.get()[0] == 1


@pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="devices have registers")
def test_register_count_is_unknown_on_cpu() -> None:
    with pytest.warns(UserWarning, match="registers.*not known on the cpu"):
        SourceModule(ONE, options=["--ptxas-options=-v"])


@on_the_host
def test_compile_error_has_line_and_column_of_source() -> None:
    line = "__global__ void k(int *o) { __shared__ int s[4]; o[threadIdx.x] = wrong; }"
    with pytest.raises(PyGPU.CompileError) as raised:
        SourceModule(f"// first\n{line}\n")
    log = str(raised.value)
    place = re.search(r"kernel\.cu:(\d+):(\d+): error", log)
    assert place is not None, log
    assert (int(place[1]), int(place[2])) == (2, line.index("wrong") + 1), log
    assert line in log


def test_non_kernel_function_and_missing_function_have_different_errors() -> None:
    module = SourceModule("__device__ int twice(int x) { return 2 * x; }\n" + ONE)
    for call in (module.get_function, PyGPU.Module(ONE + "\n__device__ int twice(int);", extern_c=True).get_function):
        with pytest.raises(Exception, match=r"'twice' is a function.*__global__"):
            call("twice")
    with pytest.raises(Exception, match="there is no kernel 'other'"):
        module.get_function("other")


def test_host_names_of_unsigned_types_are_accepted_as_by_nvcc() -> None:
    own = "typedef unsigned int uint;"
    for before in ("", own):
        text = before + "__global__ void one(uint *out, ushort a, ulong b) { const uint c = a; out[0] = c + (uint)b; }"
        out = PyGPU.zeros(1, np.uint32)
        SourceModule(text).get_function("one")(out, np.uint16(40), np.uint64(2), block=(1, 1, 1))
        assert out.get()[0] == 42


def test_kernel_source_may_include_file_by_name(tmp_path: Path) -> None:
    (tmp_path / "one.cu").write_text(f'extern "C" {ONE}')
    out = PyGPU.zeros(1, np.int32)
    PyGPU.Kernel(str(tmp_path / "one.cu"))[1, 1](out)
    assert out.get()[0] == 1
    with pytest.raises(FileNotFoundError, match=r"absent\.cu"):
        PyGPU.Kernel(str(tmp_path / "absent.cu"))


def test_fast_math_kernel_does_not_make_thread_flush_denormals() -> None:
    # GCC adds start code to a library that is compiled with fast math. When a thread loads the library, the start code
    # would make this thread treat denormal numbers as 0, even in NumPy's functions.
    out = PyGPU.zeros(1, "float32")
    for option in ("-use_fast_math", "-ffast-math") if PyGPU.backend_name() == "cpu" else ("-use_fast_math",):
        kernel = PyGPU.Kernel('extern "C" __global__ void third(float *x) { x[0] = 1.0f / 3.0f; }', options=[option])
        kernel[1, 1](out)
        assert abs(float(out[0]) - 1 / 3) < 1e-6
    assert np.float32(1e-45) * np.float32(1) != 0
