"""Test kernel arguments on a fake driver, which only records its calls.

`test_kernels.py` runs this file in a separate process.
"""

from __future__ import annotations

import ctypes
import gc
import struct
from pathlib import Path
from typing import Any

import numpy
import pytest

import PyGPU

DRIVER = ctypes.CDLL("libcuda.so.1")
DRIVER.fake_launched.restype = ctypes.c_char_p


def launched() -> tuple[str, list[bytes]]:
    """Return the launch shape and the kernel arguments of the last launch that the fake driver recorded."""
    shape, _, arguments = DRIVER.fake_launched().decode().partition(":")
    return shape, [bytes.fromhex(text) for text in arguments.split()]


def values(codes: str) -> tuple[Any, ...]:
    return tuple(struct.unpack("=" + code, data)[0] for code, data in zip(codes, launched()[1], strict=True))


def kernel_of(parameters: str, sizes: str, name: str = "k", **more: Any) -> PyGPU.Kernel:
    return PyGPU.Kernel(f"//!k {name} {sizes}\n__global__ void {name}({parameters});", name, **more)


@pytest.fixture
def x() -> PyGPU.GPUArray:
    return PyGPU.zeros((4, 6), "float32")


# Tests of launch shapes.


def test_launch_passes_requested_shape_and_stream_to_driver() -> None:
    kernel = kernel_of("", "")
    stream = PyGPU.Stream()
    for key, shape in [
        ((3, 64), "plain k 3,1,1 64,1,1 0 0"),
        (((3,), (4, 5)), "plain k 3,1,1 4,5,1 0 0"),
        (((1, 2, 3), (4, 5, 6), None, 100), "plain k 1,2,3 4,5,6 100 0"),
        (([1, 2], numpy.int64(7), stream, 0), f"plain k 1,2,1 7,1,1 0 {stream.handle:#x}"),
        ((numpy.array([1, 2]), 7), "plain k 1,2,1 7,1,1 0 0"),
    ]:
        kernel[key]()
        assert launched() == (shape, [])
    with stream:
        kernel[1, 1]()
    assert launched()[0].endswith(f"{stream.handle:#x}")
    kernel[1, 1](cooperative=True)
    assert launched()[0].startswith("cooperative")


def test_kernel_launches_on_stream_of_another_library() -> None:
    stream = PyGPU.Stream()

    class Other:
        def __cuda_stream__(self) -> tuple[int, int]:
            return (0, stream.handle)

    kernel_of("", "")[1, 1, Other()]()
    assert launched()[0].endswith(f"{stream.handle:#x}")


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (1, IndexError, r"kernel\[grid, block\]"),
        ((1,), IndexError, r"kernel\[grid, block\]"),
        ((1, 2, None, 0, 5), IndexError, "bytes of shared memory"),
        (((), 1), TypeError, "one to three"),
        (((1, 2, 3, 4), 1), TypeError, "one to three"),
        (("a", 1), TypeError, "grid"),
        ((1, 2.5), TypeError, "block is an int"),
        ((-1, 1), ValueError, "grid is -1"),
        ((1, 2**40), ValueError, "more than any device"),
        ((1, (True, 1)), TypeError, "not bool"),
        ((0, 1), ValueError, "0 along x"),
        ((1, 1025), ValueError, "1025 along x"),
        (((1, 65536), 1), ValueError, "65536 along y"),
        ((1, (1024, 2)), ValueError, "2048 threads"),
        ((1, 1, None, 99_990), ValueError, "static arrays take 16"),
        ((1, 1, "a stream"), TypeError, "the stream is .a stream"),
    ],
)
def test_launch_rejects_invalid_shape(key: Any, error: type[Exception], text: str) -> None:
    kernel = kernel_of("", "")
    with pytest.raises(error, match=text):
        kernel[key]()


def test_launch_rejects_stream_of_another_device() -> None:
    with pytest.raises(ValueError, match="cuda:1"):
        kernel_of("", "")[1, 1, PyGPU.Stream(device=1)]()


# Tests of accepted arguments.


def test_kernel_receives_arrays_numbers_and_null_pointers(x: PyGPU.GPUArray) -> None:
    kernel = kernel_of("float *x, const float *y, int n, float f, double d, unsigned char b", "8 8 4 4 8 1")
    kernel[1, 1](x, None, 24, 0.5, 2, 200)
    assert values("QQifdB") == (x.ptr, 0, 24, 0.5, 2.0, 200)
    scalars = numpy.int32(-1), numpy.float32(1.5), numpy.float64(2.5), numpy.uint8(3)
    kernel[1, 1](x[1:], x.T, *scalars)
    assert values("QQifdB") == (x.ptr + 24, x.ptr, -1, 1.5, 2.5, 3)
    kernel[1, 1](x.ptr, numpy.uint64(5), True, 1, 1.0, 0)
    assert values("QQifdB") == (x.ptr, 5, 1, 1.0, 1.0, 0)


@pytest.mark.parametrize(
    ("spelled", "code", "value"),
    [
        ("bool", "?", True),
        ("signed char", "b", -128),
        ("short", "h", -32768),
        ("unsigned short", "H", 65535),
        ("unsigned", "I", 2**32 - 1),
        ("long long", "q", -(2**63)),
        ("size_t", "Q", 2**64 - 1),
        ("float", "f", -2.5),
        ("double", "d", 1e300),
        ("__half", "e", 0.5),
    ],
)
def test_python_number_is_converted_to_declared_type(spelled: str, code: str, value: Any) -> None:
    kernel_of(f"{spelled} v", str(struct.calcsize(code)))[1, 1](value)
    assert values(code) == (value,)


def test_kernel_receives_complex_numbers_and_rare_types() -> None:
    kernel = kernel_of("cuFloatComplex a, pycuda::complex<double> b", "8 16")
    kernel[1, 1](1 + 2j, 3)
    assert launched()[1] == [numpy.complex64(1 + 2j).tobytes(), numpy.complex128(3).tobytes()]
    kernel[1, 1](numpy.complex64(5), numpy.complex128(7j))
    assert launched()[1] == [numpy.complex64(5).tobytes(), numpy.complex128(7j).tobytes()]
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    kernel_of("__nv_bfloat16 a, __nv_bfloat16 b", "2 2")[1, 1](1.5, bfloat16(2))
    assert launched()[1] == [bfloat16(1.5).tobytes(), bfloat16(2).tobytes()]


def test_kernel_receives_bytes_of_structs() -> None:
    kernel = kernel_of("struct Pair p", "12")
    pair = numpy.array((1, 2.5, 3), "i4, f4, i4")

    class Pair(ctypes.Structure):
        _fields_ = (("a", ctypes.c_int), ("b", ctypes.c_float), ("c", ctypes.c_int))

    for value in (pair, pair[()], pair.reshape(1), Pair(1, 2.5, 3)):
        kernel[1, 1](value)
        assert launched()[1] == [pair.tobytes()]
    for wrong in (numpy.zeros((), "i4, i4"), ctypes.c_int(1), numpy.int64(3)):
        with pytest.raises(TypeError, match="12"):
            kernel[1, 1](wrong)


def test_kernel_receives_ctypes_numbers_and_pointers() -> None:
    kernel = kernel_of("int n, float *p", "4 8")
    kernel[1, 1](ctypes.c_int(-3), ctypes.c_void_p(64))
    assert values("iQ") == (-3, 64)


def test_kernel_receives_many_arguments() -> None:
    count = 16
    kernel = kernel_of(", ".join(f"long long a{i}" for i in range(count)), " ".join(["8"] * count))
    kernel[1, 1](*range(count))
    assert values("q" * count) == tuple(range(count))


def test_prepared_signature_overrides_declaration(x: PyGPU.GPUArray) -> None:
    kernel = kernel_of("float *x, T a, U n", "8 4 8")
    with pytest.raises(TypeError, match=r"argument 2 \(T a\).*numpy.float32\(0.5\).*prepare"):
        kernel[1, 1](x, 0.5, 3)
    for types in ("Pfq", ["P", "f", "q"], [PyGPU.GPUArray, numpy.float32, "int64"], ["P", "fq"]):
        kernel.prepare(types)[1, 1](x, 0.5, 3)
        assert values("Qfq") == (x.ptr, 0.5, 3)
    kernel.prepare("P4s8s")[1, 1](x, numpy.float32(1), ctypes.c_longlong(2))
    assert values("Qfq") == (x.ptr, 1.0, 2)
    with pytest.raises(TypeError, match="2 types were given, and the kernel has 3"):
        kernel.prepare("Pf")
    with pytest.raises(TypeError, match="parameter 2 has 4 bytes, and 'd' has 8"):
        kernel.prepare("Pdq")
    with pytest.raises(ValueError, match="'x' in 'Pxq'"):
        kernel.prepare("Pxq")


def test_kernel_declaration_that_contradicts_driver_is_ignored(x: PyGPU.GPUArray) -> None:
    # The parser of declarations does not evaluate `#if`, so it reads the parameters of both branches.
    kernel = kernel_of("\n#if A\nfloat v\n#else\ndouble v\n#endif\n", "8")
    with pytest.raises(TypeError, match="not known"):
        kernel[1, 1](1.0)
    kernel[1, 1](numpy.float64(1))
    assert values("d") == (1.0,)


class Interface:
    def __init__(self, array: PyGPU.GPUArray, **more: Any) -> None:
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ptr, False),
            "strides": array.strides,
            "version": 3,
            **more,
        }


def test_objects_with_an_address_are_passed_as_pointers(x: PyGPU.GPUArray) -> None:
    class Data:
        gpudata = x.ptr

    class Pointer:
        ptr = x.ptr + 4

    class Number:
        def __int__(self) -> int:
            return x.ptr + 8

    kernel = kernel_of("float *a, float *b, float *c", "8 8 8")
    kernel[1, 1](Data(), Pointer(), Number())
    assert values("QQQ") == (x.ptr, x.ptr + 4, x.ptr + 8)


def test_subclass_of_array_is_passed_as_array(x: PyGPU.GPUArray) -> None:
    class Mine(PyGPU.GPUArray):
        pass

    mine = Mine((3,), "float32")
    kernel_of("float *a", "8")[1, 1](mine)
    assert values("Q") == (mine.ptr,)


def test_host_arrays_are_copied_before_and_after_launch() -> None:
    values_in, values_out = numpy.arange(6, dtype="f4").reshape(2, 3), numpy.ones(6, "f4")[::2]
    kernel = kernel_of("const float *a, float *b, float *c", "8 8 8")
    kernel[1, 1](PyGPU.In(values_in), PyGPU.InOut(values_out), PyGPU.Out(numpy.zeros(3, "f4")))
    assert all(launched()[1])
    # The fake driver runs no kernel, so the array is unchanged after the launch.
    assert (values_out == 1).all()
    with pytest.raises(TypeError, match="float64"):
        kernel[1, 1](PyGPU.In(numpy.zeros(3)), None, None)


# Tests of arguments that PyGPU rejects before a launch.


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((), TypeError, r"k\(float\* x, const double\* y, int n, float f\) takes 4 arguments, and 0 were given"),
        ((None, None, 1, 2.0, 3), TypeError, "and 5 were given"),
        ((None, None, 2**31, 1.0), ValueError, r"k\(\): argument 3 \(int n\): 2147483648 is outside of int32"),
        ((None, None, -(2**31) - 1, 1.0), ValueError, "outside of int32"),
        ((None, None, 2**100, 1.0), ValueError, "outside of int32"),
        ((None, None, 1.5, 1.0), TypeError, r"1.5 is no integer; write int\(1.5\)"),
        ((None, None, numpy.int64(1), 1.0), TypeError, r"int64\(1\) of 8 bytes; write numpy.int32\(1\)"),
        ((None, None, 1, numpy.float64(1)), TypeError, "write numpy.float32"),
        ((None, None, 1, 1j), TypeError, "1j is no float32"),
        ((None, None, None, 1.0), TypeError, "None is a null pointer"),
        ((None, None, "1", 1.0), TypeError, "str.*numpy.int32"),
        ((1.5, None, 1, 1.0), TypeError, "1.5 is no pointer"),
        ((numpy.float32(1), None, 1, 1.0), TypeError, "the parameter is a pointer"),
        ((-1, None, 1, 1.0), TypeError, "-1 is no address"),
        ((object(), None, 1, 1.0), TypeError, "cannot be passed; give an array"),
        ((numpy.zeros(3, "f4"), None, 1, 1.0), TypeError, r"PyGPU.In\(x\)"),
        (([1, 2], None, 1, 1.0), TypeError, "list"),
        ((None, None, ctypes.c_double(1), 1.0), TypeError, "has 8 bytes, and the parameter 4"),
        ((None, None, 10**400, 1.0), ValueError, "outside of int32"),
        ((None, None, 1, 10**400), OverflowError, "argument 4"),
    ],
)
def test_launch_rejects_argument_of_wrong_type_or_size(arguments: Any, error: type[Exception], text: str) -> None:
    kernel = kernel_of("float *x, const double *y, int n, float f", "8 8 4 4")
    before = launched()
    with pytest.raises(error, match=text):
        kernel[1, 1](*arguments)
    assert launched() == before


def test_launch_rejects_array_of_wrong_dtype_layout_or_device(x: PyGPU.GPUArray) -> None:
    kernel = kernel_of("float *x, const double *y, int n", "8 8 4")
    for arguments, text in [
        (
            (x, x, 1),
            r"argument 2 \(const double\* y\): the array is float32; expected float64; write x\.astype\('float64'\)",
        ),
        ((x[:, ::2], None, 1), r"not contiguous \(shape \(4, 3\), strides \(24, 8\)\).*strided=True"),
        ((x[::-1], None, 1), "not contiguous"),
        ((x, None, x), "the argument is an array of float32; expected a number"),
        ((PyGPU.zeros(3, "float32", device=1), None, 1), "the array is on cuda:1, and the kernel on cuda:0"),
        ((PyGPU.zeros(3, "float32", device="cpu"), None, 1), "the array is on cpu"),
        ((PyGPU.zeros(3, "i4, f4"), None, 1), "float"),
    ]:
        with pytest.raises((TypeError, ValueError), match=text):
            kernel[1, 1](*arguments)
    kernel[1, 1](x[:, ::2], None, 1, strided=True)
    kernel[1, 1](x[::-1].ptr, None, 1)
    kernel[1, 1](x.view("int32").ptr, None, 1)
    with pytest.raises(TypeError, match=r"keywords strided, .*, not block"):
        kernel[1, 1](x, None, 1, block=(1, 1, 1))


def test_launch_attributes_require_driver_with_cuLaunchKernelEx(x: PyGPU.GPUArray) -> None:
    kernel = kernel_of("float *x", "8")
    kernel[PyGPU.LaunchConfig(1, 1, cluster=1, programmatic_dependent_launch=True)](x)
    with pytest.raises(PyGPU.NotSupportedError, match=r"has no cuLaunchKernelEx, .*: update the driver"):
        kernel[1, 1](x, priority=-1)
    with pytest.raises(PyGPU.NotSupportedError, match="cuda:0 has no clusters"):
        kernel[1, 1](x, cluster=2)


# Tests of sources, images and modules.


def test_kernel_name_is_optional_if_source_has_one_kernel() -> None:
    kernel = PyGPU.Kernel("//!k only 8\n__global__ void only(int *x);")
    assert (kernel.name, kernel.parameters) == ("only", ("int* x",))
    assert repr(kernel) == "<PyGPU.Kernel only(int* x) on cuda:0>"
    assert repr(kernel[1, 2]) == "<PyGPU.Launcher only[(1, 1, 1), (2, 1, 1)]>"
    with pytest.raises(ValueError, match=r"name= is needed: the source has a, b<\.\.\.>"):
        PyGPU.Kernel("//!k a\n__global__ void a(); template <class T> __global__ void b(T x);")
    with pytest.raises(ValueError, match=r"^no `__global__` function was found in the source; declare"):
        PyGPU.Kernel("int x;")


def test_error_for_unknown_kernel_name_lists_known_names() -> None:
    source = "//!k a\n//!g factor 4\n__global__ void a(); template <class T> __global__ void b(T x);"
    with pytest.raises(ValueError, match=r"no kernel 'c'.*declares a, b<\.\.\.>"):
        PyGPU.Kernel(source, "c")
    module = PyGPU.Module(source)
    assert module.names == ("a", "b<...>")
    assert module.get_global("factor")[1] == 4
    with pytest.raises(ValueError, match="no variable 'other'"):
        module.get_global("other")


def test_module_accepts_compiled_image_as_bytes_or_file(tmp_path: Path, x: PyGPU.GPUArray) -> None:
    image = b"\x7fELF\nk scale 8 4\n"
    path, source = tmp_path / "a.cubin", tmp_path / "a.cu"
    path.write_bytes(image)
    source.write_text("//!k scale 8 4\n__global__ void scale(float *x, float f);")
    for module_source in (image, bytearray(image), path):
        kernel = PyGPU.Kernel(module_source, "scale")
        assert kernel.parameters == ("", "")
        kernel[1, 1](x, numpy.float32(2))
        assert values("Qf") == (x.ptr, 2.0)
        with pytest.raises(TypeError, match=r"numpy\.float32"):
            kernel[1, 1](x, 2.0)
        with pytest.raises(TypeError, match="expected a number"):
            kernel[1, 1](x, x)
    assert PyGPU.Kernel(source).parameters == ("float* x", "float f")
    with pytest.raises(ValueError, match="no cubin, PTX or fatbin"):
        PyGPU.Module(b"nonsense")
    with pytest.raises(ValueError, match="compiled already"):
        PyGPU.Module(image, ["-DN"])
    with pytest.raises(FileNotFoundError, match=r"absent\.cu"):
        PyGPU.Module(tmp_path / "absent.cu")
    with pytest.raises(TypeError, match="a text"):
        PyGPU.Module(5)


def test_options_are_passed_to_compiler_or_rejected() -> None:
    source = "//!k k 8\n__global__ void k(float *x);"
    kernel = PyGPU.Kernel(source, "k", "-DN=3 -I '/a b' -std=c++17 -O3 -use_fast_math", cache=False)
    for part in ("--gpu-architecture=sm_90", "-DN=3", "-I/a b", "--std=c++17", "--use_fast_math"):
        assert part in kernel.log
    assert "-O3" not in kernel.log
    passed_over = PyGPU.Kernel(source, "k", "-Xcompiler=-fPIC -lcurand", cache=False).log
    assert "-Xcompiler=-fPIC was passed over: it is for the host's compiler" in passed_over
    assert "-lcurand was passed over" in passed_over
    for options, text in [
        (["--ptx"], "chooses the form"),
        (["--nonsense"], "unrecognized"),
        (["-D"], "last"),
    ]:
        with pytest.raises(ValueError, match=text):
            PyGPU.Kernel(source, "k", options)
    with pytest.raises(TypeError, match="options are texts"):
        PyGPU.Kernel(source, "k", [5])
    with pytest.raises(ValueError, match='takes "nvcc"'):
        PyGPU.Kernel(source, "k", compiler="icc")


def test_compile_error_shows_lines_of_source() -> None:
    with pytest.raises(PyGPU.CompileError, match=r"kernel.cu\(2\): error: bad") as raised:
        PyGPU.Kernel("bad", "k", ["-DN"])
    error = raised.value
    assert (error.log, error.source, error.compiler) == ("kernel.cu(2): error: bad", "bad", "nvrtc 12.34")
    assert "-DN" in error.options


def test_compiler_warning_becomes_python_warning() -> None:
    for _ in range(2):  # In the second iteration, the compiled image comes from the cache.
        with pytest.warns(UserWarning, match="warning: odd"):
            PyGPU.Kernel("//!k k\n__global__ void k(); // odd", "k")


def test_kernel_attributes_equal_values_of_driver() -> None:
    kernel = kernel_of("", "")
    known = (kernel.shared_size_bytes, kernel.const_size_bytes, kernel.local_size_bytes, kernel.num_regs)
    assert known == (16, 102, 103, 104)
    assert (kernel.max_threads_per_block, kernel.ptx_version, kernel.binary_version) == (1024, 105, 106)
    kernel.max_dynamic_shared_size_bytes = 70_000
    kernel.preferred_shared_memory_carveout = 50
    assert (kernel.max_dynamic_shared_size_bytes, kernel.preferred_shared_memory_carveout) == (70_000, 50)
    assert kernel.active_blocks((16, 16)) == 8
    assert kernel.suggested_shape(limit=64) == (7, 64)
    kernel.set_cache_config(1)
    with pytest.raises(ValueError, match="0, 1, 2 or 3"):
        kernel.set_cache_config(7)


def test_module_without_kernels_is_unloaded_at_device_synchronization() -> None:
    gc.collect()
    PyGPU.synchronize()
    before = DRIVER.fake_modules()
    module = PyGPU.Module("//!k k\n__global__ void k();")
    kernel = module.get_function("k")
    del module
    kernel[1, 1]()
    PyGPU.synchronize()
    assert DRIVER.fake_modules() == before + 1
    del kernel
    assert DRIVER.fake_modules() == before + 1
    PyGPU.synchronize()
    assert DRIVER.fake_modules() == before


def test_unreferenced_modules_do_not_accumulate() -> None:
    gc.collect()
    PyGPU.synchronize()
    before = DRIVER.fake_modules()
    for _ in range(200):
        PyGPU.Module("//!k k\n__global__ void k();")
    assert DRIVER.fake_modules() < before + 100


def test_launch_after_device_reset_raises_value_error(x: PyGPU.GPUArray) -> None:
    kernel = kernel_of("float *x", "8", device=1)
    PyGPU.reset_device(1)
    with pytest.raises(ValueError, match="was reset"):
        kernel[1, 1](None)
