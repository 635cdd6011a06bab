"""Test compiled kernels: PTX text, attributes, template instances, modules of several sources, and images of other
compilers."""

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import PyGPU
import simulated_driver
from support_kernels import module_or_skip

BACKEND = PyGPU.backend_name()
ON_A_DEVICE = BACKEND != "cpu" and simulated_driver.driver() is None
SOURCE = r"""
__constant__ float factors[4];

template <typename T, int N> __global__ void add(T *x) { x[threadIdx.x] += N; }

__global__ void __launch_bounds__(128) reverse(float *x) {
    __shared__ float s[100];
    __shared__ double t[3];
    s[threadIdx.x] = x[threadIdx.x] * factors[0];
    t[threadIdx.x % 3] = 1;
    __syncthreads();
    x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x] * t[0];
}

extern "C" __global__ void one(float *x) { x[threadIdx.x] = 1; }
"""


@pytest.fixture(scope="module")
def module() -> PyGPU.Module:
    return module_or_skip(SOURCE, instances=["add<float, 4>"])


def run(kernel: PyGPU.Kernel, dtype: str = "float32") -> list[float]:
    x = PyGPU.zeros(3, dtype)
    kernel[1, 3](x)
    return x.tolist()


def test_kernel_attributes_report_memory_threads_and_registers(module: PyGPU.Module) -> None:
    reverse, one = module["reverse"], module["one"]
    assert reverse.shared == reverse.shared_size_bytes >= 100 * 4 + 3 * 8
    assert reverse.shared < 100 * 4 + 3 * 8 + 128
    assert one.shared == 0
    assert reverse.constant >= 16
    assert (reverse.max_threads, one.max_threads) == (128, 1024)
    assert reverse.registers == reverse.num_regs
    assert reverse.registers >= (0 if BACKEND == "cpu" else 1)
    assert (reverse.local, reverse.local_size_bytes) == (0, 0)
    assert reverse.ptx_version >= 0
    assert reverse.binary_version >= 0


def test_occupancy_is_blocks_per_multiprocessor_and_fraction_of_warps(module: PyGPU.Module) -> None:
    kernel = module["one"]
    warp = PyGPU.device_properties(0)["warp_size"]
    blocks, fraction = kernel.occupancy(1024)
    assert blocks == kernel.active_blocks(1024) >= 1
    assert 0 < fraction <= 1
    few = kernel.occupancy((4, 2))  # A block of eight threads still occupies a whole warp.
    assert few.fraction / few.blocks == pytest.approx(fraction / blocks * warp / 1024)
    assert kernel.occupancy(kernel.suggested_block).fraction > 0
    assert kernel.suggested_block == kernel.suggested_shape()[1]
    most = kernel.max_dynamic_shared_size_bytes
    assert kernel.occupancy(32, most).blocks <= kernel.occupancy(32).blocks
    assert module["reverse"].occupancy(129) == (0, 0)
    with pytest.raises(ValueError, match="at least one thread"):
        kernel.occupancy((32, 0))


def test_template_instances_are_compiled_on_request_and_once(module: PyGPU.Module) -> None:
    assert run(module["add<float, 4>"]) == [4, 4, 4]
    assert run(module["add<long long, 5>"], "int64") == [5, 5, 5]
    again = module.get_function("add<long long, 5>")
    assert again.handle == module["add<long long, 5>"].handle
    assert module.template("add", np.float32, 4).name == "add<float, 4>"
    assert module["one"]["add<long long, 5>"].handle == again.handle
    with pytest.raises(PyGPU.CompileError):
        module["add<Absent, 4>"]


def test_template_kernel_runs_its_instances_and_rejects_direct_use() -> None:
    source = "template <typename T, int N = 2> __global__ void raise(T *x) { x[threadIdx.x] += N; }"
    for kernel in (PyGPU.Kernel(source), PyGPU.Kernel(source, "raise")):
        assert run(kernel["raise<float, 4>"]) == [4, 4, 4]
        assert run(kernel.template(np.float32, 4)) == [4, 4, 4]
        for use in (
            lambda kernel=kernel: kernel[1, 3](PyGPU.zeros(3)),
            lambda kernel=kernel: kernel.registers,
            lambda kernel=kernel: kernel.occupancy(32),
        ):
            with pytest.raises(ValueError, match="raise is a template, of which an instance is launched"):
                use()
    with pytest.raises(PyGPU.CompileError):
        PyGPU.Kernel(source)["absent"]


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((np.float64, 3), "k<double, 3>"),
        ((np.dtype("uint8"), True, "ns::Tag"), "k<unsigned char, true, ns::Tag>"),
        ((np.int64(7), np.bool_(False), np.float16), "k<7, false, __half>"),
    ],
)
def test_arguments_of_template_instance_are_spelled_as_in_c(arguments: tuple[object, ...], text: str) -> None:
    from PyGPU._kernels.templates import spelled

    assert spelled("k<int>", arguments, "cuda") == text


@pytest.mark.enough_on("cpu")
def test_template_rejects_float_argument() -> None:
    kernel = PyGPU.Kernel("template <int N> __global__ void k(int *x) { *x = N; }")
    with pytest.raises(TypeError, match=r"dtypes, integers, truth values and texts, not 1\.5"):
        kernel.template(1.5)


def test_several_sources_and_headers_are_compiled_to_one_module(tmp_path: Path) -> None:
    second = tmp_path / "second.cu"
    second.write_text('#include "two.h"\n__global__ void set(float *x) { x[threadIdx.x] = twice(FACTOR); }\n')
    headers = {"two.h": "#pragma once\n#define FACTOR 3\n", "unused.h": "nonsense"}
    first = '#include "two.h"\n#include <two.h>\n__device__ float twice(float x) { return 2 * x; }\n'
    module = PyGPU.Module([first, second], headers=headers, lineinfo=True)
    assert module.names == ("set",)
    assert run(module["set"]) == [6, 6, 6]


@pytest.mark.enough_on("cpu")
def test_compile_error_contains_file_name_and_line() -> None:
    good, bad = "__device__ int f() { return 1; }", '\n#include "h.h"\n__global__ void k(int *x) { *x = absent; }'
    with pytest.raises(PyGPU.CompileError, match=r"kernel2\.cu[:(]3"):
        PyGPU.Module([good, bad], headers={"h.h": "int a();\nint b();\n"})
    with pytest.raises(PyGPU.CompileError, match=r"h\.h[:(]2"):
        PyGPU.Kernel(bad, headers={"h.h": "\nabsent b;"})
    for wrong, error, text in (
        ({"headers": {"h.h": b"bytes"}}, TypeError, "texts by their names, and 'h.h' is bytes"),
        ({"lineinfo": 3}, TypeError, "lineinfo"),
    ):
        with pytest.raises(error, match=text):
            PyGPU.Module(good, **wrong)
    with pytest.raises(ValueError, match="the list of sources is empty"):
        PyGPU.Module([])
    with pytest.raises(TypeError, match="source 2 of several is an image"):
        PyGPU.Module([good, b"image"])


def test_ptx_is_text_that_can_be_loaded(module: PyGPU.Module) -> None:
    if BACKEND != "cuda":
        with pytest.raises(PyGPU.NotSupportedError, match=r"PTX is the language of NVIDIA.*module\.assembly"):
            _ = module.ptx
        return
    text = module.ptx
    assert ".version" in text
    assert "one" in text
    again = PyGPU.Module(text)
    assert run(again["one"]) == [1, 1, 1]
    assert again.ptx == text
    assert PyGPU.Module.from_bytes(text.encode()).ptx == text
    with pytest.raises(ValueError, match="machine code, in which there is no PTX"):
        _ = PyGPU.Module(module.image).ptx
    with pytest.raises(PyGPU.NotSupportedError, match="loaded as PTX"):
        _ = again.sass


def test_compiled_image_is_loaded_from_bytes_and_files(module: PyGPU.Module, tmp_path: Path) -> None:
    path = tmp_path / "module.image"
    path.write_bytes(module.image)
    for loaded in (
        PyGPU.Module.from_file(path),
        PyGPU.Module.from_file(str(path)),
        PyGPU.Module.from_bytes(memoryview(module.image)),
        PyGPU.Module.from_bytes(np.frombuffer(module.image, np.uint8)),
    ):
        assert run(loaded["one"]) == [1, 1, 1]
        # On simulated HIP, a module image is a host library without a list of kernels.
        if PyGPU.backend_name() != "hip":
            assert "one" in " ".join(loaded.names)
            assert all(loaded[name].name == name for name in loaded.names)
    with pytest.raises(FileNotFoundError):
        PyGPU.Module.from_file(tmp_path / "absent.cubin")
    source = tmp_path / "kernel.cu"
    source.write_text(SOURCE)
    with pytest.raises(TypeError, match=r"kernel\.cu is a source by its name"):
        PyGPU.Module.from_file(source)
    with pytest.raises(ValueError, match="image"):
        PyGPU.Module.from_bytes(b"nonsense")


def container(image: bytes) -> bytes:
    """Return a compiled image in the container format that a vendor's compiler writes."""
    if BACKEND == "hip":
        name = b"hipv4-amdgcn-amd-amdhsa--gfx942"
        start = 24 + 8 + 2 * 24 + len(b"host-x86_64") + len(name)
        rows = struct.pack("<QQQ", 0, 0, 11) + b"host-x86_64" + struct.pack("<QQQ", start, len(image), len(name)) + name
        return b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 2) + rows + image
    image += bytes(-len(image) % 8)
    part = struct.pack("<HHIQ", 2, 1, 64, len(image)) + bytes(48) + image
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(part)) + part


def library(folder: Path, section: str, *images: bytes) -> Path:
    """Build a shared library with a section of device code, like the output of nvcc and hipcc."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler builds the library")
    content = b"".join(image + bytes(-len(image) % 8) for image in images)
    (folder / "content").write_bytes(content)
    text = f'asm(".pushsection {section},\\"a\\"; .incbin \\"{folder / "content"}\\"; .popsection");\n'
    (folder / "library.cpp").write_text(text)
    path = folder / "library.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", path, folder / "library.cpp"], check=True)
    return path


@pytest.mark.skipif(ON_A_DEVICE, reason="the container is the simulators'; tests/gpu/compilers has nvcc's")
def test_kernels_of_vendor_compiled_library_are_found_by_symbol(module: PyGPU.Module, tmp_path: Path) -> None:
    section = ".hip_fatbin" if BACKEND == "hip" else ".nv_fatbin"
    other = PyGPU.Module(
        "template <typename T> __global__ void two(T *x) { x[threadIdx.x] = 2; }", instances=["two<float>"]
    )
    path = library(tmp_path, section, container(other.image), container(module.image))
    if BACKEND == "cpu":
        with pytest.raises(ValueError, match=r"device code for NVIDIA's GPUs \(in its section \.nv_fatbin\)"):
            PyGPU.Module.from_file(path)
        return
    loaded = PyGPU.Module.from_file(path)
    assert run(loaded["one"]) == [1, 1, 1]
    assert loaded["reverse(float*)"].max_threads == PyGPU.Kernel(path, "reverse( float * )").max_threads == 128
    address, size = loaded.get_global("factors")
    assert (address > 0, size) == (True, 16)
    with pytest.raises(KeyError, match="there is no kernel 'absent'"):
        loaded["absent"]
    for image in (container(module.image), path.read_bytes()):
        assert run(PyGPU.Module.from_bytes(image)["one"]) == [1, 1, 1]
    empty = library(tmp_path, section, b"nothing of a kind")
    with pytest.raises(ValueError, match="has no device code in it"):
        PyGPU.Module.from_file(empty)


@pytest.mark.enough_on("cpu")
def test_function_with_mangled_name_is_found_by_demangled_name() -> None:
    from PyGPU._kernels.mangling import find_mangled

    names = [
        "_Z5scaleIfLi4EEvPfi",
        "_Z5scaleIdLi4EEvPdi",
        "_Z5scalePffi",
        "_ZN2ns1kEPi",
        "_Z4nonsense",
        "_Z5twicef",
        "_Z5twiced",
    ]
    for name, mangled in (
        ("scale<float, 4>", names[0]),
        ("scale<double,4>(double*, int)", names[1]),
        ("void scale<float, 4>(float*, int)", names[0]),
        ("scale(float*, float, int)", names[2]),
        ("ns::k(int*)", names[3]),
    ):
        assert find_mangled(name, names) == mangled
    assert find_mangled("absent<int>", names) is None
    with pytest.raises(ValueError, match="several functions are called 'twice'"):
        find_mangled("twice", names)
    assert (
        find_mangled("ns::add<float, 4>", ["_ZN2ns3addIfLi4EEEvPT_", "_ZN2nsL3addIfLi4EEEvPT_"])
        == "_ZN2ns3addIfLi4EEEvPT_"
    )


@pytest.mark.starts_processes
def test_disassembly_uses_vendor_tools(module: PyGPU.Module, tmp_path: Path) -> None:
    if BACKEND == "cpu":
        if shutil.which("objdump") or shutil.which("llvm-objdump"):
            assert "one" in module.assembly
        with pytest.raises(PyGPU.NotSupportedError, match="SASS is the machine code of NVIDIA"):
            _ = module.sass
        return
    tool = {"cuda": "nvdisasm", "hip": "llvm-objdump"}[BACKEND]
    script = f"""
import os, sys
import PyGPU
module = PyGPU.Module('__global__ void one(int *x) {{ *x = 1; }}')
path = os.environ["PATH"]
os.environ["PATH"] = {str(tmp_path)!r}
for name in ("CUDA_HOME", "CUDA_PATH", "ROCM_PATH", "HIP_PATH"):
    os.environ[name] = {str(tmp_path / "toolkit")!r}
try:
    print(module.assembly)
except PyGPU.BackendUnavailableError as error:
    print(error)
"""

    def output() -> str:
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
        return done.stdout

    absent = output()
    assert "nothing that disassembles was found" in absent or "one" in absent
    if "searched:" in absent:
        assert f"{tool}: not on PATH" in absent
        assert str(tmp_path / "toolkit") in absent
    fake = tmp_path / tool
    fake.write_text(
        '#!/bin/sh\nfor last; do :; done\necho "told of $last"; /usr/bin/head -c 4 "$last" | /usr/bin/od -c\n'
    )
    fake.chmod(0o755)
    text = output()
    assert "told of module" in text
    assert "E   L   F" in text
