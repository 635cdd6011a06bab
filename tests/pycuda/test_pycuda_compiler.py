"""Test PyCUDA's module `compiler` with options of nvcc."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import PyGPU
import PyGPU.compiler
import PyGPU.driver as drv
from PyGPU.compiler import DynamicModule, DynamicSourceModule, SourceModule

ON_CPU = PyGPU.backend_name() == "cpu"


def value_of(module: SourceModule, name: str = "f") -> int:
    out = np.zeros(1, np.int32)
    module.get_function(name)(drv.Out(out), block=(1, 1, 1), grid=(1, 1))
    return int(out[0])


def test_source_module_compiles_and_runs_kernel():
    assert value_of(SourceModule("__global__ void f(int *x) { *x = 7; }")) == 7


def test_source_is_wrapped_in_extern_c_unless_disabled():
    wrapped = SourceModule("__global__ void f(int *x) { *x = 1; }")
    assert b"_Z1fPi" not in wrapped.module.module.image
    template = (
        'template <class T> __device__ T two() { return 2; } extern "C" __global__ void f(int *x) { *x = two<int>(); }'
    )
    assert value_of(SourceModule(template, no_extern_c=True)) == 2
    with pytest.raises(drv.CompileError):
        SourceModule(template)


def test_compile_error_has_line_of_source():
    with pytest.raises(drv.CompileError) as raised:
        SourceModule("\n\n__global__ void f(int *x) { *x = nothing; }\n")
    error = raised.value
    assert "kernel.cu:3" in error.stderr or "kernel.cu(3)" in error.stderr
    assert "nothing" in str(error)
    assert error.msg
    assert isinstance(error.command_line, tuple)
    assert isinstance(error, drv.Error)


def test_options_and_include_dirs_are_passed_to_compiler(tmp_path):
    (tmp_path / "value.h").write_text("#define VALUE 40\n")
    source = '#include "value.h"\n__global__ void f(int *x) { *x = VALUE + N; }'
    assert value_of(SourceModule(source, options=["-DN=2"], include_dirs=[str(tmp_path)])) == 42


def test_default_options_are_read_from_compiler_module(monkeypatch):
    assert isinstance(PyGPU.compiler.DEFAULT_NVCC_FLAGS, list)
    monkeypatch.setattr(PyGPU.compiler, "DEFAULT_NVCC_FLAGS", ["-DN=5"])
    assert value_of(SourceModule("__global__ void f(int *x) { *x = N; }")) == 5
    with pytest.raises(drv.CompileError):
        SourceModule("__global__ void f(int *x) { *x = N; }", options=[])


def test_ptxas_verbose_option_is_accepted():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module = SourceModule("__global__ void f(int *x) { *x = 3; }", options=["--ptxas-options=-v"], cache_dir=False)
    assert value_of(module) == 3
    for warning in caught:
        assert issubclass(warning.category, UserWarning)
        assert "The CUDA compiler succeeded, but said the following:" in str(warning.message)


def test_compiler_output_is_raised_as_warning():
    with pytest.warns(UserWarning, match="succeeded, but said the following") as caught:
        SourceModule("#warning look here\n__global__ void f(int *x) { *x = 3; }", cache_dir=False)
    assert caught[0].filename == __file__


def test_kernel_may_have_name_used_by_pygpu():
    for name in ("shape", "arguments"):
        module = SourceModule(f"__global__ void {name}(int *x) {{ *x = 3; }}")
        assert value_of(module, name) == 3


def test_error_for_missing_kernel_or_variable_has_driver_code():
    module = SourceModule("__global__ void f(int *x) { *x = 3; }")
    for ask in (module.get_function, module.get_global):
        with pytest.raises(drv.LogicError) as raised:
            ask("nowhere")
        assert (raised.value.code, raised.value.name) == (500, "CUDA_ERROR_NOT_FOUND")


def test_cache_dir_is_configurable_and_can_be_disabled(tmp_path, monkeypatch):
    source = "__global__ void f(int *x) { *x = 9; } // of its own cache"
    assert value_of(SourceModule(source, cache_dir=str(tmp_path))) == 9
    assert any(tmp_path.iterdir())
    empty = tmp_path / "empty"
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(empty))
    monkeypatch.setenv("PYCUDA_DISABLE_CACHE", "1")
    assert value_of(SourceModule(source + " again")) == 9
    assert not empty.exists()
    monkeypatch.delenv("PYCUDA_DISABLE_CACHE")
    assert value_of(SourceModule(source + " once more")) == 9
    assert any(empty.iterdir())


def test_keep_option_leaves_source_in_printed_folder(capsys):
    SourceModule("__global__ void f(int *x) { *x = 3; }", keep=True)
    folder = Path(capsys.readouterr().out.split("*** compiler output in ")[1].strip())
    assert "*x = 3" in (folder / "kernel.cu").read_text()


def test_global_variable_of_module_is_writable_by_address():
    module = SourceModule("__constant__ int table[4]; __global__ void f(int *x) { *x = table[2]; }")
    address, size = module.get_global("table")
    assert size == 16
    PyGPU._core.raw_copy(address, np.array([1, 2, 3, 4], np.int32).ctypes.data, 16)
    assert value_of(module) == 3


def test_missing_kernel_or_reference_raises_logic_error():
    module = SourceModule("__global__ void f(int *x) { *x = 3; }")
    with pytest.raises(drv.LogicError, match="no kernel 'g'"):
        module.get_function("g")
    for ask in (module.get_texref, module.get_surfref):
        with pytest.raises(drv.LogicError, match="no variable 'image'"):
            ask("image")


def test_source_with_16000_shared_bytes_and_host_headers_compiles():
    source = """
    #include <stdio.h>
    #include <cstdint>
    __global__ void f(int *x) { __shared__ int large[4000]; large[3999] = 5; *x = large[3999]; }
    """
    module = SourceModule(source, no_extern_c=True)
    assert value_of(module, "f") == 5
    assert module.get_function("f").shared_size_bytes in (0, 16000)


def test_compile_function_returns_image_without_loading_it():
    image = PyGPU.compiler.compile("__global__ void f(int *x) { *x = 8; }")
    assert isinstance(image, bytes)
    out = np.zeros(1, np.int32)
    drv.module_from_buffer(image).get_function("f")(drv.Out(out), block=(1, 1, 1))
    assert out[0] == 8
    with pytest.raises(ValueError, match="target"):
        PyGPU.compiler.compile("", target="exe")


@pytest.mark.skipif(PyGPU.backend_name() == "cuda", reason="CUDA links")
def test_error_of_dynamic_module_without_linker_names_source_module():
    makes = [DynamicModule] if PyGPU.backend_name() == "cpu" else [DynamicModule, lambda: DynamicSourceModule("")]
    for make in makes:
        with pytest.raises(PyGPU.NotSupportedError, match="one SourceModule"):
            make()


def test_set_debugging_enables_and_disables_debug_builds():
    assert drv.CUDA_DEBUGGING is False
    drv.set_debugging()
    try:
        assert drv.CUDA_DEBUGGING is True
        assert value_of(SourceModule("__global__ void f(int *x) { *x = 6; }")) == 6
    finally:
        drv.set_debugging(False)
