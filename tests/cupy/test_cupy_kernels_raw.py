"""Test `RawKernel` and `RawModule`: launches, scalars, attributes, and errors."""

from __future__ import annotations

import importlib.util
import io
import pickle
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import PyGPU
from PyGPU._cupy.kernels.raw_kernel import RawKernel
from PyGPU._cupy.kernels.raw_module import RawModule
from PyGPU.cupy.cuda.compiler import CompileException

SOURCE = r"""
#include <cupy/complex.cuh>
struct pair { float first; int second; };
__constant__ float factors[4];
extern "C" {
__global__ void add(const float *x, const float *y, float *z, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}
__global__ void numbers(double *out, signed char a, float b, long long c, bool d, pair e, const float *none) {
    out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e.first; out[5] = e.second; out[6] = none == nullptr;
}
__global__ void square(complex<float> *z, complex<double> w) { z[0] = z[0] * z[0] + complex<float>(w); }
__global__ void reverse(int *out) {
    extern __shared__ int part[];
    part[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}
__global__ void blocks(unsigned *out) { atomicAdd(out, 1u); }
__global__ void by_factors(float *x) { x[threadIdx.x] *= factors[threadIdx.x]; }
}
template <typename T> __global__ void twice(T *x) { x[threadIdx.x] *= 2; }
"""


@pytest.fixture(scope="module")
def module() -> RawModule:
    return RawModule(code=SOURCE, name_expressions=["twice<float>", "twice<int>", "add"])


@pytest.fixture(scope="module")
def add() -> RawKernel:
    return RawKernel('extern "C" __global__ void add(int *x, int y) { *x += y; }', "add")


def test_raw_kernel_launches_with_views_on_streams(module: RawModule) -> None:
    add = module.get_function("add")
    x = np.arange(8, dtype=np.float32)
    device, out = PyGPU.to_gpu(x), PyGPU.zeros(8, np.float32)
    add((2,), (4,), (device, device, out, 8))
    np.testing.assert_array_equal(out.get(), x + x)
    stream = PyGPU.Stream()
    add((1,), (4,), (device[4:], device, out, 3), stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(out.get()[:4], [4, 6, 8, 6])
    # A raw kernel receives only the address of an array, so PyGPU accepts any dtype and strides.
    add((1,), (4,), (device[::2], device.view(np.int32), out, np.int64(4)))
    np.testing.assert_array_equal(out.get()[:4], [0, 2, 4, 6])


def test_raw_kernel_converts_scalars_to_declared_types(module: RawModule) -> None:
    numbers = module.get_function("numbers")
    out = PyGPU.zeros(7, np.float64)
    pair = np.zeros((), dtype=[("first", np.float32), ("second", np.int32)])[()]
    pair["first"], pair["second"] = 1.5, 7
    numbers((1,), (1,), (out, -3, 2.5, 1 << 40, True, pair, None))
    assert out.tolist() == [-3, 2.5, 1 << 40, 1, 1.5, 7, 1]
    numbers((1,), (1,), (out, np.int64(-3), np.array([2.5], np.float32), np.uint8(9), np.int32(2), pair, 0))
    assert out.tolist() == [-3, 2.5, 9, 1, 1.5, 7, 1]
    with pytest.raises(TypeError, match="float64"):
        numbers((1,), (1,), (out, -3, np.float64(2.5), 1, True, pair, None))


def test_raw_kernel_accepts_complex_numbers_shared_memory_and_empty_grid(module: RawModule) -> None:
    z = PyGPU.to_gpu(np.array([2 + 1j], np.complex64))
    module.get_function("square")((1,), (1,), (z, 1 - 1j))
    assert z.tolist() == [4 + 3j]
    out = PyGPU.zeros(4, np.int32)
    module.get_function("reverse")((1,), (4,), (out,), shared_mem=16)
    assert out.tolist() == [3, 2, 1, 0]
    count = PyGPU.zeros(1, np.uint32)
    module.get_function("blocks")((3, 0), (0,), (count,))  # As in CuPy, a grid length of 0 counts as 1.
    assert count.tolist() == [3]


def test_raw_kernel_has_attributes_and_can_be_pickled(add: RawKernel) -> None:
    x = PyGPU.zeros(1, np.int32)
    for kernel in (add, pickle.loads(pickle.dumps(add))):
        kernel((1,), (1,), (x, 2))
        kernel((1,), (1,), (x, 3))
    assert x.tolist() == [10]
    attributes = add.attributes
    assert attributes["max_threads_per_block"] == add.max_threads_per_block > 0
    assert set(attributes) >= {"num_regs", "ptx_version", "cache_mode_ca", "preferred_shared_memory_carveout"}
    add.max_dynamic_shared_size_bytes = 1024
    # Without a GPU the limit has a fixed value.
    assert add.max_dynamic_shared_size_bytes >= 1024
    log = io.StringIO()
    add.compile(log_stream=log)
    add((1,), (1,), (x, 1))
    assert x.tolist() == [11]
    assert (add.name, add.backend, add.options, add.enable_cooperative_groups) == ("add", "nvrtc", (), False)
    add.kernel((1,), (1,), (x, np.int64(1)))
    add.kernel.linear_launch(1, (x, 1))
    assert x.tolist() == [13]


@pytest.mark.enough_on("cpu")
def test_compile_exception_dumps_message_options_and_numbered_source() -> None:
    code = 'extern "C" __global__ void wrong() {\n    undeclared;\n}'
    with pytest.raises(CompileException, match="undeclared") as raised:
        RawKernel(code, "wrong", ("-DN=3",)).compile()
    error, file = raised.value, io.StringIO()
    error.dump(file)
    assert error.get_message() == str(error)
    lines = file.getvalue().splitlines()
    assert lines[0].startswith(f"{error.compiler} compilation error: ")
    assert "-DN=3" in next(line for line in lines if line.startswith("Options: "))
    start = lines.index("CUDA source:") + 1
    assert lines[start:] == ['1 extern "C" __global__ void wrong() {', "2     undeclared;", "3 }", "-----"]


def test_cooperative_raw_kernel_synchronizes_grid() -> None:
    kernel = RawKernel(
        r"""
        #include <cooperative_groups.h>
        extern "C" __global__ void shift(const float *x, float *y, float *z, int n) {
            int i = blockDim.x * blockIdx.x + threadIdx.x;
            if (i < n) y[i] = x[i] + 1;
            cooperative_groups::this_grid().sync();
            if (i < n) z[i] = y[n - 1 - i];
        }""",
        "shift",
        enable_cooperative_groups=True,
    )
    x, y, z = PyGPU.arange(32, dtype=np.float32), PyGPU.zeros(32, np.float32), PyGPU.zeros(32, np.float32)
    kernel((4,), (8,), (x, y, z, 32))
    kernel((4,), (8,), (x, y, z, np.int64(32)))
    np.testing.assert_array_equal(z.get(), np.arange(32, 0, -1))


def test_raw_module_finds_template_instances(module: RawModule) -> None:
    for name, dtype in (("twice<float>", np.float32), ("twice<int>", np.int32)):
        x = PyGPU.arange(3, dtype=dtype)
        module.get_function(name)((1,), (3,), (x,))
        assert x.tolist() == [0, 2, 4]
    for name in ("twice<double>", "missing"):
        with pytest.raises(PyGPU.CudaError, match=r"CUDA_ERROR_NOT_FOUND.*named symbol not found"):
            module.get_function(name)
    again = pickle.loads(pickle.dumps(module)).get_function("twice<int>")
    x = PyGPU.arange(3, dtype=np.int32)
    again((1,), (3,), (x,))
    assert x.tolist() == [0, 2, 4]


class StandIn:
    """Imitate CuPy's memory and pointer objects, by an object with the same attributes."""

    def __init__(self, ptr: int | StandIn, size: int, owner: object = None, device_id: int = -1) -> None:
        self.mem, self.ptr = ptr, getattr(ptr, "ptr", ptr)
        self.size, self.device_id = size, device_id


@pytest.fixture
def memory_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("PyGPU._cupy.cuda") is None:
        monkeypatch.setitem(sys.modules, "PyGPU._cupy.cuda", ModuleType("PyGPU._cupy.cuda"))
        for name, kind in (("allocations", "UnownedMemory"), ("memory_pointer", "MemoryPointer")):
            module = ModuleType(f"PyGPU._cupy.cuda.{name}")
            setattr(module, kind, StandIn)
            monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.mark.usefixtures("memory_classes")
def test_raw_module_returns_pointers_to_global_variables(module: RawModule) -> None:
    pointer = module.get_global("factors")
    assert (pointer.mem.size, pointer.mem.device_id) == (16, PyGPU.Device().index)
    PyGPU.driver.memcpy_htod(pointer.ptr, np.array([1, 2, 3, 4], np.float32))
    x = PyGPU.ones(4, np.float32)
    module.get_function("by_factors")((1,), (4,), (x,))
    assert x.tolist() == [1, 2, 3, 4]
    with pytest.raises(PyGPU.CudaError, match="CUDA_ERROR_NOT_FOUND"):
        module.get_global("missing")


def test_raw_module_loads_compiled_images(tmp_path: Path, add: RawKernel) -> None:
    path = tmp_path / "add.cubin"
    path.write_bytes(
        PyGPU.Module('extern "C" __global__ void add(int *x, unsigned y, float z) { *x += y + (int)z; }').image
    )
    kernel = RawModule(path=str(path)).get_function("add")
    x = PyGPU.zeros(1, np.int32)
    # A compiled image contains no parameter types, so PyGPU uses the size of the passed value.
    kernel((1,), (1,), (x, 3, np.float32(2.5)))
    assert x.tolist() == [5]
    with pytest.raises(PyGPU.CudaError, match="CUDA_ERROR_FILE_NOT_FOUND"):
        RawModule(path=str(tmp_path / "missing.cubin")).get_function("add")


def test_raw_kernel_may_use_types_and_functions_of_cu_complex_h() -> None:
    kernel = RawKernel(
        r"""
        #include <cuComplex.h>
        extern "C" __global__ void mixed(cuFloatComplex *z, cuDoubleComplex w) {
            z[0] = cuCaddf(z[0], make_cuFloatComplex(1, 2)) * cuComplexDoubleToFloat(cuConj(w));
        }""",
        "mixed",
        translate_cucomplex=True,
    )
    z = PyGPU.to_gpu(np.array([1 + 1j], np.complex64))
    kernel((1,), (1,), (z, 2 + 1j))
    np.testing.assert_allclose(z.get(), [(2 + 3j) * (2 - 1j)])


def test_raw_kernel_rejects_invalid_arguments(add: RawKernel) -> None:
    source = add.code
    assert source is not None
    with pytest.raises(PyGPU.NotSupportedError, match="jitify=True"):
        RawKernel(source, "add", jitify=True)
    with pytest.warns(DeprecationWarning, match="jitify argument is deprecated"):
        RawKernel(source, "add", jitify=False)
    with pytest.raises(ValueError, match="Invalid backend 'clang'"):
        RawKernel(source, "add", backend="clang")
    with pytest.raises(TypeError, match="options is a tuple"):
        RawKernel(source, "add", ["-DN=3"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="takes two str"):
        RawKernel(b"", "add")  # type: ignore[arg-type]
    with pytest.raises(PyGPU.CompileError, match="broken"):
        RawKernel("#error broken\n", "add").compile()
    with pytest.raises(TypeError, match="takes 2 arguments"):
        add((1,), (1,), (PyGPU.zeros(1, np.int32),))
    with pytest.raises(TypeError, match="Exactly one"):
        RawModule()
    with pytest.raises(TypeError, match="Exactly one"):
        RawModule(code=source, path="add.cubin")
    with pytest.raises(ValueError, match="need CUDA C"):
        RawModule(path="add.cubin", name_expressions=["add"])
    with pytest.raises(ValueError, match="only nvrtc"):
        RawModule(code=source, backend="nvcc", name_expressions=["add"])
    with pytest.raises(PyGPU.NotSupportedError, match="texture references"):
        RawModule(code=source).get_texref("t")


def test_raw_module_accepts_integer_types_defined_in_source() -> None:
    source = """
    typedef unsigned long long uint64_t;
    template <typename T> __global__ void count(T *out) { atomicAdd((uint64_t *)out, (uint64_t)2); }
    """
    module = RawModule(code=source, name_expressions=["count<uint64_t>"])
    out = PyGPU.zeros(1, "u8")
    module.get_function("count<uint64_t>")((1,), (4,), (out,))
    assert out.tolist() == [8]
