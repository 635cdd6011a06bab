"""Test kernels on HIP: options and errors of the compiler hiprtc, and features that AMD devices lack."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import PyGPU

if PyGPU.backend_name() != "hip":
    pytest.skip(f"needs HIP; PyGPU's backend here is {PyGPU.backend_name()!r}", allow_module_level=True)

SCALE = "__global__ void scale(float *x, float factor) { x[threadIdx.x] *= factor; }"


@pytest.fixture(scope="module", autouse=True)
def _kernels() -> None:
    try:
        PyGPU.Kernel(SCALE)
    except PyGPU.BackendUnavailableError as error:
        pytest.skip(f"no kernels: {error}")


def architecture() -> str:
    return str(PyGPU.device_properties(0)["architecture"])


def test_compile_error_has_user_name_lines_and_hiprtc_options() -> None:
    with pytest.raises(PyGPU.CompileError, match=r"kernel\.cu[(:]3") as raised:
        PyGPU.Kernel("\n__global__ void k() {\n    int x = absent; }", "k", ["-DN=1"])
    assert "absent" in raised.value.log
    assert raised.value.source.startswith("\n__global__")
    assert raised.value.options[0] == f"--offload-arch={architecture()}"
    assert {"-DN=1", "-std=c++17"} <= set(raised.value.options)


def test_nvcc_options_are_translated_for_hiprtc() -> None:
    options = ["-use_fast_math", "-fmad=false", "-lineinfo", "-O2", "-w", "-std=c++20", "-rdc=false"]
    with pytest.raises(PyGPU.CompileError) as raised:
        PyGPU.Kernel("__global__ void k() { absent(); }", "k", options)
    expected = ["-ffast-math", "-ffp-contract=off", "-gline-tables-only", "-O2", "-w", "-std=c++20"]
    assert list(raised.value.options[1:]) == expected


@pytest.mark.parametrize(
    ("option", "error", "text"),
    [
        ("-maxrregcount=32", PyGPU.NotSupportedError, "-maxrregcount=32"),
        ("-rdc=true", PyGPU.NotSupportedError, "hipcc"),
        ("-Xptxas=-O1", PyGPU.NotSupportedError, "--ptxas-options=-O1"),
        ("-arch=sm_75", ValueError, "sm_75"),
        ("--no-such-option", ValueError, "--no-such-option"),
    ],
)
def test_error_contains_option_rejected_by_amd_compiler(option: str, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        PyGPU.Kernel(SCALE, "scale", [option])


def test_template_instance_is_found_by_its_cxx_name() -> None:
    module = PyGPU.Module(
        "template <typename T, int N> __global__ void times(T *x) { x[threadIdx.x] *= N; }",
        instances=["times<float, 3>", "times<long long, 5>"],
    )
    x, y = PyGPU.ones(32, np.float32), PyGPU.ones(32, np.int64)
    module.get_function("times<float, 3>")[1, 32](x)
    module.get_function("times<long long, 5>")[1, 32](y)
    assert (x.get() == 3).all()
    assert (y.get() == 5).all()


def test_hip_module_image_is_code_object_and_ptx_is_rejected() -> None:
    image = PyGPU.Module(SCALE).image
    assert image.startswith((b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__"))
    kernel, x = PyGPU.Module(image).get_function("scale"), PyGPU.ones(4, np.float32)
    kernel[1, 4](x, np.float32(3))
    assert (x.get() == 3).all()
    for other in (b"nonsense", b".version 8.0\n.target sm_90\n", b""):
        with pytest.raises(ValueError, match="no code object"):
            PyGPU.Module(other)


def test_shared_memory_above_device_limit_is_rejected() -> None:
    kernel = PyGPU.Kernel(SCALE)
    most = kernel.max_dynamic_shared_size_bytes
    kernel[1, 4, None, most](PyGPU.ones(4, np.float32), 2)
    kernel.max_dynamic_shared_size_bytes = most
    for beyond in (most + 1, -1):
        with pytest.raises(ValueError, match="dynamic shared memory"):
            kernel.max_dynamic_shared_size_bytes = beyond
    with pytest.raises(ValueError, match="dynamic shared memory"):
        kernel[1, 4, None, most + 1](PyGPU.ones(4, np.float32), 2)
    kernel.preferred_shared_memory_carveout = 50
    with pytest.raises(ValueError, match="0 to 3"):
        kernel.set_cache_config(7)


def test_configuration_contains_hiprtc_as_compiler() -> None:
    (entry,) = (backend for backend in PyGPU.config()["backends"] if backend["name"] == "hip")
    assert str(entry["compiler"]).startswith("hiprtc ")


@pytest.mark.starts_processes
def test_cached_kernel_does_not_open_compiler(tmp_path: Path) -> None:
    script = f"""
import PyGPU
PyGPU.Kernel({SCALE!r})[1, 4](PyGPU.ones(4, "float32"), 2)
print("libhiprtc" in open("/proc/self/maps").read())
"""
    environment = {**os.environ, "PYGPU_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", script]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True, env=environment) for _ in range(2)]
    assert [run.stdout.strip() for run in runs] == ["True", "False"]
