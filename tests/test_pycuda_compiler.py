"""PyCUDA's compiler: sources, options, messages, modules."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy
import pytest

import PyGPU
from PyGPU import compiler
from PyGPU import driver as drv
from PyGPU.compiler import DynamicModule, DynamicSourceModule, SourceModule

MULTIPLY = """
__global__ void multiply(float *dest, float *a, float *b)
{
    const int i = threadIdx.x;
    dest[i] = a[i] * b[i];
}
"""


@pytest.fixture(scope="module", autouse=True)
def _kernels() -> None:
    try:
        PyGPU.Kernel("__global__ void nothing() {}")
    except (PyGPU.BackendUnavailableError, PyGPU.NotSupportedError) as error:
        pytest.skip(f"no kernels: {error}")


def products(module: SourceModule) -> None:
    """Multiply with the module's kernel."""
    a, b = numpy.arange(400, dtype=numpy.float32), numpy.linspace(1, 2, 400, dtype=numpy.float32)
    dest = numpy.zeros_like(a)
    module.get_function("multiply")(drv.Out(dest), drv.In(a), drv.In(b), block=(400, 1, 1), grid=(1, 1))
    numpy.testing.assert_array_equal(dest, a * b)


def test_a_source_becomes_kernels():
    products(SourceModule(MULTIPLY))


def test_options_are_in_nvccs_words():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the resources of the kernel, which only some compilers tell
        products(SourceModule(MULTIPLY, options=["--ptxas-options=-v"]))
    products(SourceModule(MULTIPLY.replace("a[i] * b[i]", "a[i] OPERATOR b[i]"), options=["-DOPERATOR=*"]))


def test_options_for_who_gives_none_are_the_modules():
    compiler.DEFAULT_NVCC_FLAGS.append("-DOPERATOR=*")
    try:
        products(SourceModule(MULTIPLY.replace("a[i] * b[i]", "a[i] OPERATOR b[i]")))
    finally:
        compiler.DEFAULT_NVCC_FLAGS.remove("-DOPERATOR=*")


def test_a_source_is_wrapped_so_that_names_are_those_of_c():
    assert b"multiply" in SourceModule(MULTIPLY).module.native.image
    template = "template <typename T> __device__ T twice(T x) { return x + x; }\n"
    with pytest.raises(drv.CompileError):
        SourceModule(template + MULTIPLY)
    source = template + 'extern "C" ' + MULTIPLY.strip().replace("a[i] * b[i]", "twice(a[i] * b[i]) / 2")
    products(SourceModule(source, no_extern_c=True))


def test_a_mangled_kernel_is_found_by_its_name_in_the_source():
    products(SourceModule(MULTIPLY, no_extern_c=True))


def test_messages_have_the_lines_of_the_source():
    with pytest.raises(drv.CompileError, match=r"kernel\.cu[(:]3") as raised:
        SourceModule("__global__ void k(int *x)\n{\n    *x = nowhere;\n}\n")
    error = raised.value
    assert "nowhere" in error.stderr
    assert error.stderr == error.log
    assert "could not compile" in error.msg
    assert error.command_line[0]
    assert error.stdout == ""
    assert isinstance(error, drv.Error)


def test_what_the_compiler_says_of_a_success_is_a_warning():
    source = '#warning "mind the gap"\n' + MULTIPLY
    with pytest.warns(UserWarning, match=r"(?s)compiler succeeded, but said the following:.*the gap") as said:
        products(SourceModule(source))
    assert said[0].filename == __file__


def test_a_silent_success_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        products(SourceModule(MULTIPLY))


def test_folders_of_headers_are_searched(tmp_path: Path):
    (tmp_path / "operator.h").write_text("#define OPERATOR *\n")
    source = "#include <operator.h>\n" + MULTIPLY.replace("a[i] * b[i]", "a[i] OPERATOR b[i]")
    products(SourceModule(source, include_dirs=[str(tmp_path)]))


def test_images_are_kept_in_the_folder_that_is_given(tmp_path: Path):
    source = MULTIPLY + "// for a folder of its own\n"
    products(SourceModule(source, cache_dir=str(tmp_path)))
    assert list(tmp_path.iterdir())
    products(SourceModule(source, cache_dir=str(tmp_path)))


@pytest.mark.parametrize("variable", ["PYCUDA_CACHE_DIR", "PYCUDA_DISABLE_CACHE"])
def test_images_are_kept_as_pycudas_variables_say(variable: str, tmp_path: Path, monkeypatch):
    monkeypatch.setenv(variable, str(tmp_path))
    products(SourceModule(MULTIPLY + f"// {variable}\n"))
    assert bool(list(tmp_path.iterdir())) == (variable == "PYCUDA_CACHE_DIR")


def test_no_image_is_kept_if_that_is_wanted(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("PYGPU_CACHE_DIR", str(tmp_path))
    products(SourceModule(MULTIPLY + "// not kept\n", cache_dir=False))
    assert not list(tmp_path.iterdir())


def test_the_source_is_kept_if_that_is_wanted(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    products(SourceModule(MULTIPLY, keep=True))
    (folder,) = [path for path in tmp_path.iterdir() if path.name.startswith("pygpu-")]
    assert (folder / "kernel.cu").read_text() == MULTIPLY
    assert (folder / "kernel.image").stat().st_size > 0
    assert str(folder) in capsys.readouterr().out


def test_headers_of_the_host_are_no_obstacle():
    source = "#include <stdio.h>\n" + MULTIPLY
    products(SourceModule(source))
    products(SourceModule("#include <cstdio>\n" + 'extern "C" ' + MULTIPLY.strip(), no_extern_c=True))


def test_a_kernel_may_have_much_static_shared_memory():
    module = SourceModule(
        """
        __global__ void sum(float *out)
        {
            __shared__ float part[4000];
            for (int i = threadIdx.x; i < 4000; i += blockDim.x) part[i] = i;
            __syncthreads();
            if (threadIdx.x == 0) { *out = 0; for (int i = 0; i < 4000; ++i) *out += part[i] == i; }
        }
        """
    )
    out = numpy.zeros(1, numpy.float32)
    module.get_function("sum")(drv.Out(out), block=(32, 1, 1))
    assert out[0] == 4000


def test_a_global_variable_is_written_by_its_address():
    module = SourceModule(
        """
        __constant__ float factors[4];
        __global__ void give(float *out) { out[threadIdx.x] = factors[threadIdx.x]; }
        """
    )
    address, nbytes = module.get_global("factors")
    assert nbytes == 16
    factors, out = numpy.arange(4, dtype=numpy.float32), numpy.zeros(4, numpy.float32)
    drv.memcpy_htod(address, factors)
    module.get_function("give")(drv.Out(out), block=(4, 1, 1))
    numpy.testing.assert_array_equal(out, factors)


@pytest.mark.provokes_errors
def test_names_that_are_not_there_are_errors_of_logic():
    module = SourceModule(MULTIPLY)
    with pytest.raises(drv.LogicError, match="divide") as raised:
        module.get_function("divide")
    assert raised.value.code == 500
    with pytest.raises(drv.LogicError, match="factors"):
        module.get_global("factors")


def test_texture_and_surface_references_are_refused_with_what_to_use():
    module = SourceModule(MULTIPLY)
    with pytest.raises(PyGPU.NotSupportedError, match="cudaTextureObject_t"):
        module.get_texref("tex")
    with pytest.raises(PyGPU.NotSupportedError, match="cudaSurfaceObject_t"):
        module.get_surfref("surface")


def test_a_compiled_image_is_loaded_by_the_driver(tmp_path: Path):
    image = compiler.compile(MULTIPLY)
    (tmp_path / "multiply.cubin").write_bytes(image)
    said = []
    for module in (
        drv.module_from_buffer(image),
        drv.module_from_buffer(bytearray(image), [(drv.jit_option.MAX_REGISTERS, 32)], lambda *told: said.append(told)),
        drv.module_from_file(tmp_path / "multiply.cubin"),
    ):
        x = numpy.full(4, 3, numpy.float32)
        module.get_function("multiply")(drv.InOut(x), drv.In(x), drv.In(x), block=(4, 1, 1))
        numpy.testing.assert_array_equal(x, numpy.full(4, 9))
    assert [told[0] for told in said] == [True]


def test_ptx_is_compiled_for_the_devices_family():
    assert drv.module_from_buffer(compiler.compile(MULTIPLY, target="ptx")).get_function("multiply").name == "multiply"
    with pytest.raises(ValueError, match="fatbin"):
        compiler.compile(MULTIPLY, target="fatbin")


@pytest.mark.provokes_errors
def test_what_is_no_image_is_refused():
    said = []
    with pytest.raises((drv.Error, ValueError)):
        drv.module_from_buffer(b"no image", message_handler=lambda *told: said.append(told))
    with pytest.raises(OSError, match="nowhere"):
        drv.module_from_file("/nowhere/kernels.cubin")


@pytest.mark.parametrize("kind", [DynamicModule, DynamicSourceModule])
def test_linking_device_code_is_refused_with_what_to_do(kind):
    with pytest.raises(PyGPU.NotSupportedError, match=rf"{kind.__name__}: .*module_from_file"):
        kind("source")


def test_a_path_of_nvcc_that_is_wrong_is_told():
    if PyGPU.backend_name() != "cuda":
        products(SourceModule(MULTIPLY, nvcc="/nowhere/nvcc"))  # there is no such compiler there anyway
        return
    with pytest.raises(PyGPU.BackendUnavailableError, match="/nowhere/nvcc"):
        SourceModule(MULTIPLY, nvcc="/nowhere/nvcc")
