"""Test compiled kernels on a real GPU: PTX and SASS, attributes, template instances, fatbins and nvcc libraries."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import PyGPU
from gpu import kernel_library, support
from PyGPU import _core
from PyGPU._paths import library_files

support.require_gpu()
if kernel_library.simulated() is not None:
    pytest.skip(
        "the driver, nvcc and the tools of a real GPU; test_compiled.py in kernels/ has the rest",
        allow_module_level=True,
    )
on_cuda_only = pytest.mark.skipif(support.on_hip(), reason="PTX, SASS, nvcc and fatbins are CUDA's")
NVCC = library_files.nvcc()
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")

SOURCE = r"""
template <typename T, int N> __global__ void add(T *x) { x[threadIdx.x] += N; }
__global__ void __launch_bounds__(256) reverse(float *x)
{
    __shared__ float s[256];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void one(float *x) { x[threadIdx.x] = 1; }
"""
LIBRARY = r"""
__constant__ float factor = 3;
namespace ns { template <typename T, int N> __global__ void add(T *x) { x[threadIdx.x] += N; } }
template __global__ void ns::add<float, 4>(float *);
template __global__ void ns::add<double, 4>(double *);
__global__ void scale(float *x) { x[threadIdx.x] *= factor; }
extern "C" __global__ void one(float *x) { x[threadIdx.x] = 1; }
extern "C" int version() { return 7; }
"""


@pytest.fixture(scope="module")
def module() -> PyGPU.Module:
    return PyGPU.Module(SOURCE, instances=["add<float, 4>"], lineinfo=True)


def run(kernel: PyGPU.Kernel, dtype: str = "float32") -> list[float]:
    x = PyGPU.ones(3, dtype)
    kernel[1, 3](x)
    return x.tolist()


def architecture() -> str:
    return str(PyGPU.device_properties(0)["architecture"])


def nvcc(folder: Path, text: str, name: str, *options: str) -> Path:
    (folder / f"{name}.cu").write_text(text)
    made = folder / name
    command = [str(NVCC), f"-arch={architecture()}", *options, "-o", str(made), str(folder / f"{name}.cu")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return made


def test_template_instances_run_and_kernel_attributes_are_correct(module: PyGPU.Module) -> None:
    assert run(module["add<float, 4>"]) == [5, 5, 5]
    assert run(module.template("add", np.float64, 6), "float64") == [7, 7, 7]
    assert run(PyGPU.Kernel("template <int N> __global__ void k(float *x) { x[threadIdx.x] = N; }")["k<5>"]) == [
        5,
        5,
        5,
    ]
    reverse = module["reverse"]
    assert (reverse.shared, reverse.max_threads, reverse.local) == (1024, 256, 0)
    assert 1 <= reverse.registers <= 255


@on_cuda_only
def test_module_has_ptx_and_sass_as_text(module: PyGPU.Module) -> None:
    assert module["one"].binary_version == int(re.sub(r"\D", "", architecture()))
    ptx = module.ptx
    assert ".entry one(" in ptx
    assert ".entry _Z7reversePf(" in ptx
    assert run(PyGPU.Module(ptx)["one"]) == [1, 1, 1]
    try:
        sass = module.sass
    except PyGPU.BackendUnavailableError as error:
        pytest.skip(str(error))
    assert "one" in sass
    assert "EXIT" in sass
    assert "BAR.SYNC" in sass
    assert module.assembly == sass


@on_cuda_only
def test_kernel_occupancy_equals_result_of_driver_function(module: PyGPU.Module) -> None:
    driver = ctypes.CDLL("libcuda.so.1")
    for name in ("one", "reverse"):
        kernel = module[name]
        for block, shared in ((32, 0), (96, 0), (256, 0), (256, 32 << 10), (1, 40 << 10)):
            blocks = ctypes.c_int()
            ask = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor
            code = ask(ctypes.byref(blocks), ctypes.c_void_p(kernel.handle), block, ctypes.c_size_t(shared))
            assert code == 0
            found = kernel.occupancy(block, shared)
            assert found.blocks == blocks.value
            warps = -(-block // 32)
            most = _core.device_attribute(39) // 32
            assert found.fraction == pytest.approx(blocks.value * warps / most)
        grid, threads = ctypes.c_int(), ctypes.c_int()
        suggest = driver.cuOccupancyMaxPotentialBlockSize
        handle, none = ctypes.c_void_p(kernel.handle), ctypes.c_size_t(0)
        assert suggest(ctypes.byref(grid), ctypes.byref(threads), handle, None, none, 0) == 0
        assert kernel.suggested_block == threads.value


@on_cuda_only
@needs_nvcc
@pytest.mark.parametrize(
    "options", [(), ("-rdc=true",), ("-Xfatbin=-compress-all",)], ids=["plain", "rdc", "compressed"]
)
def test_kernels_of_nvcc_library_are_called_by_symbol(tmp_path: Path, options: tuple[str, ...]) -> None:
    path = nvcc(tmp_path, LIBRARY, "library.so", "-shared", "-Xcompiler=-fPIC", *options)
    module = PyGPU.Module.from_file(path)
    assert run(module["one"]) == [1, 1, 1]
    assert run(module["scale"]) == [3, 3, 3]
    assert run(module["_Z5scalePf"]) == [3, 3, 3]
    assert run(module["scale(float*)"]) == [3, 3, 3]
    assert run(module["ns::add<float, 4>"]) == [5, 5, 5]
    assert run(module["ns::add<double, 4>(double*)"], "float64") == [5, 5, 5]
    assert module.get_global("factor")[1] == 4
    assert module["scale"].parameters is not None
    with pytest.raises(KeyError, match="there is no kernel 'version'"):
        module["version"]


@on_cuda_only
@needs_nvcc
def test_library_of_several_source_files_has_all_kernels(tmp_path: Path) -> None:
    (tmp_path / "second.cu").write_text('extern "C" __global__ void two(float *x) { x[threadIdx.x] = 2; }')
    path = nvcc(tmp_path, LIBRARY, "library.so", "-shared", "-Xcompiler=-fPIC", str(tmp_path / "second.cu"))
    module = PyGPU.Module.from_file(path)
    assert (run(module["one"]), run(module["two"])) == ([1, 1, 1], [2, 2, 2])


@on_cuda_only
@needs_nvcc
@pytest.mark.parametrize("form", ["fatbin", "cubin", "ptx"])
def test_nvcc_output_is_loaded_from_files_and_bytes(tmp_path: Path, form: str) -> None:
    path = nvcc(tmp_path, LIBRARY, f"module.{form}", f"--{form}")
    for module in (PyGPU.Module.from_file(path), PyGPU.Module.from_bytes(path.read_bytes()), PyGPU.Module(path)):
        assert run(module["one"]) == [1, 1, 1]
        assert run(module["_Z5scalePf"]) == [3, 3, 3]
        if form != "ptx":
            assert "EXIT" in module.sass
        if form != "cubin":
            assert ".entry one(" in module.ptx
