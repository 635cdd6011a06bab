"""Test the C and C++ headers in the package: build tools find them, each header compiles alone, and C code can use
arrays."""

import ctypes
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import PyGPU

INCLUDE = Path(PyGPU.get_include())
HAS_HEADERS = (Path(sysconfig.get_path("include")) / "Python.h").is_file()

pytestmark = [pytest.mark.starts_processes, pytest.mark.enough_on("cpu")]


def output_of_option(option: str) -> str:
    command = [sys.executable, "-m", "PyGPU", option]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_python_m_pygpu_option_prints_header_directory() -> None:
    assert output_of_option("--includes") == f"-I{INCLUDE}"
    assert (Path(output_of_option("--cmakedir")) / "PyGPUConfig.cmake").is_file()
    assert (Path(output_of_option("--pkgconfigdir")) / "pygpu.pc").is_file()


def test_header_ptr_wrapper_h_is_in_both_include_directories() -> None:
    assert (INCLUDE / "ptr_wrapper.h").is_file()
    assert (INCLUDE / "pygpu" / "ptr_wrapper.h").is_file()


def test_pkg_config_finds_the_headers() -> None:
    if shutil.which("pkg-config") is None:
        pytest.skip("needs pkg-config")
    flags = subprocess.run(
        ["pkg-config", "--cflags", "pygpu"],
        env={"PKG_CONFIG_PATH": output_of_option("--pkgconfigdir"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert Path(flags.strip().removeprefix("-I")).resolve() == INCLUDE.resolve()
    version = (Path(output_of_option("--pkgconfigdir")) / "pygpu.pc").read_text()
    assert f"Version: {PyGPU.__version__}\n" in version


def test_cmake_finds_the_headers(tmp_path: Path) -> None:
    beside = Path(sys.executable).with_name("cmake")
    cmake = str(beside) if beside.is_file() else shutil.which("cmake")
    if cmake is None:
        pytest.skip("needs cmake")
    (tmp_path / "a.c").write_text("#include <pygpu/array_view.h>\nint main(void) { return PYGPU_INT8 == 8 ? 0 : 1; }\n")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.15)\nproject(a C)\nfind_package(PyGPU CONFIG REQUIRED)\n"
        "add_executable(a a.c)\ntarget_link_libraries(a PRIVATE PyGPU::headers)\n"
    )
    subprocess.run(
        [cmake, "-S", tmp_path, "-B", tmp_path / "b", f"-DPyGPU_DIR={output_of_option('--cmakedir')}"], check=True
    )
    subprocess.run([cmake, "--build", tmp_path / "b"], check=True)


STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only"]


@pytest.mark.parametrize(
    ("command", "with_python"),
    [
        (["cc", "-x", "c", "-std=c99", "-pedantic"], False),
        (["cc", "-x", "c", "-std=c11"], True),
        (["c++", "-x", "c++", "-std=c++11"], False),
        (["c++", "-x", "c++", "-std=c++17"], True),
        (["c++", "-x", "c++", "-std=c++20", "-pedantic"], False),
    ],
    ids=["C99", "C11 with Python", "C++11", "C++17 with Python", "C++20"],
)
def test_each_header_compiles_alone_without_warning(command: list[str], with_python: bool, tmp_path: Path) -> None:
    if shutil.which(command[0]) is None or (with_python and not HAS_HEADERS):
        pytest.skip(f"needs {command[0]} and the headers of Python")
    is_c = command[0] == "cc"
    source = "#include <Python.h>\n" if with_python else ""
    source += "#include <pygpu/array_view.h>\n" + ("" if is_c else "#include <pygpu/ptr_wrapper.h>\n")
    if is_c and with_python:
        source += (
            'int f(PyObject *o, pygpu_array_view *v) { return pygpu_view(o, "o", PYGPU_INT8, 1, PYGPU_WRITE, v); }\n'
        )
    if with_python and not is_c:
        source += 'float *f(PyObject *o) { return pygpu::array_view<float, 2>::from(o, "o").data(); }\n'
    (tmp_path / "a.c").write_text(source)
    python = ["-isystem", sysconfig.get_path("include")]
    subprocess.run([*command, *STRICT, *python, f"-I{INCLUDE}", str(tmp_path / "a.c")], check=True)


def test_array_view_header_may_precede_python_header_in_c_but_not_in_cpp(tmp_path: Path) -> None:
    if shutil.which("cc") is None or not HAS_HEADERS:
        pytest.skip("needs a C compiler and the headers of Python")
    include = "#include <pygpu/array_view.h>\n"
    use = 'int f(PyObject *o, pygpu_array_view *v) { return pygpu_view(o, "o", PYGPU_INT8, 1, PYGPU_WRITE, v); }\n'
    (tmp_path / "a.c").write_text(f"{include}#include <Python.h>\n{include}{use}")
    python = ["-isystem", sysconfig.get_path("include")]
    subprocess.run(["cc", *STRICT, *python, f"-I{INCLUDE}", str(tmp_path / "a.c")], check=True)
    # In C++ this include order is an error, because the header's template `array_view` would be incomplete.
    if shutil.which("c++") is not None:
        command = ["c++", "-x", "c++", "-std=c++17", "-fsyntax-only", *python, f"-I{INCLUDE}", str(tmp_path / "a.c")]
        assert (
            "include Python.h, pybind11 or nanobind before"
            in subprocess.run(command, capture_output=True, text=True).stderr
        )


def test_pybind11_header_requires_cpp17(tmp_path: Path) -> None:
    if shutil.which("c++") is None:
        pytest.skip("needs a C++ compiler")
    (tmp_path / "a.cpp").write_text("#include <pygpu/pybind11.h>\n")
    command = ["c++", "-std=c++14", "-fsyntax-only", "-Wfatal-errors", f"-I{INCLUDE}", str(tmp_path / "a.cpp")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0
    assert "needs C++17: compile with -std=c++17" in done.stderr


VIEW = r"""
#include <Python.h>
#include <pygpu/array_view.h>

/* The address of element zero, or -1 with an exception. */
long long view(PyObject *object, int dtype, int ndim, int flags) {
    pygpu_array_view view;
    void *stream;
    if (pygpu_view(object, "x", dtype, ndim, flags, &view) < 0) return -1;
    if (pygpu_current_stream(&view, &stream) < 0) return -1;
    return (long long)(size_t)view.data;
}

long long stream(PyObject *object) {
    pygpu_array_view view;
    void *stream;
    if (pygpu_view(object, "x", PYGPU_ANY_DTYPE, PYGPU_ANY_NDIM, PYGPU_READ, &view) < 0) return -1;
    return pygpu_current_stream(&view, &stream) < 0 ? -1 : (long long)(size_t)stream;
}
"""
FLOAT32, ANY, WRITE, C_CONTIGUOUS, F_CONTIGUOUS, ON_HOST, ON_GPU = 2 * 256 + 32, -1, 1, 2, 4, 8, 16


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.PyDLL:
    """Compile the C source `VIEW`, and load it with `ctypes.PyDLL`, which holds the GIL during calls."""
    if shutil.which("cc") is None or not HAS_HEADERS:
        pytest.skip("needs a C compiler and the headers of Python")
    folder = tmp_path_factory.mktemp("view")
    (folder / "view.c").write_text(VIEW)
    python = sysconfig.get_path("include")
    command = [
        "cc",
        "-O1",
        "-shared",
        "-fPIC",
        f"-I{python}",
        f"-I{INCLUDE}",
        folder / "view.c",
        "-o",
        folder / "view.so",
    ]
    subprocess.run(command, check=True)
    found = ctypes.PyDLL(str(folder / "view.so"))
    found.view.argtypes, found.view.restype = [ctypes.py_object, *[ctypes.c_int] * 3], ctypes.c_longlong
    found.stream.argtypes, found.stream.restype = [ctypes.py_object], ctypes.c_longlong
    return found


@pytest.mark.enough_on("cpu", "cuda", "hip")
def test_c_view_of_array_has_same_address_as_array(library: ctypes.PyDLL) -> None:
    a = PyGPU.zeros((4, 6), "float32")
    for view in (a, a[1:, ::-2], a.T, a[2, 3], a[:0]):
        assert library.view(view, FLOAT32, view.ndim, WRITE) == view.ptr
    assert library.view(PyGPU.zeros(3, "complex128"), 5 * 256 + 128, 1, WRITE) != -1
    assert library.view(PyGPU.zeros(3, "bool"), 6 * 256 + 8, 1, WRITE) != -1


@pytest.mark.enough_on("cpu", "cuda", "hip")
def test_c_view_of_wrong_array_raises_error_with_actual_value(library: ctypes.PyDLL) -> None:
    a = PyGPU.zeros((4, 6), "float32")
    locked = PyGPU.from_pointer(a.ptr, (4, 6), "float32", owner=a, readonly=True)
    with pytest.raises(
        TypeError, match=r"^x: float32 is needed; given is a PyGPU.GPUArray of int64, shape \(3\), strides \(1\)"
    ):
        library.view(PyGPU.zeros(3, "int64"), FLOAT32, ANY, 0)
    with pytest.raises(
        ValueError, match=r"^x: an array of 1 dimension is needed; given .* shape \(4, 6\), strides \(6, 1\)"
    ):
        library.view(a, FLOAT32, 1, 0)
    with pytest.raises(ValueError, match=r"^x: a C-contiguous array"):
        library.view(a[:, ::2], FLOAT32, 2, C_CONTIGUOUS)
    with pytest.raises(ValueError, match=r"^x: an F-contiguous array"):
        library.view(a, FLOAT32, 2, F_CONTIGUOUS)
    with pytest.raises(ValueError, match=r"^x: an array that is not read-only"):
        library.view(locked, FLOAT32, 2, WRITE)
    assert library.view(locked, FLOAT32, 2, 0) == a.ptr
    wrong_place = ON_GPU if PyGPU.backend_name() == "cpu" else ON_HOST
    with pytest.raises(ValueError, match=f"^x: memory .* on {a.device}"):
        library.view(a, FLOAT32, 2, wrong_place)
    for other, remedy in (
        (None, ""),
        (7, ": pass the array itself, not a number or its address"),
        ([1.0], r", whose type .* \(PyGPU.asarray makes an array of it\)"),
        (a.get(), r", whose type .* \(PyGPU.asarray makes an array of it\)"),
    ):
        with pytest.raises(TypeError, match=rf"^x: an array is needed; given is a .*{type(other).__name__}{remedy}$"):
            library.view(other, ANY, ANY, 0)
    with pytest.raises(BufferError, match="stride"):
        library.view(PyGPU.from_pointer(a.ptr, 2, "float32", (6,), owner=a), ANY, ANY, 0)


@pytest.mark.enough_on("cpu", "cuda", "hip")
def test_c_function_gets_current_stream_of_array_device(library: ctypes.PyDLL) -> None:
    stream = PyGPU.Stream()
    a = PyGPU.zeros(3)
    with stream:
        assert library.stream(a) == (0 if PyGPU.backend_name() == "cpu" else stream.handle)
    assert library.stream(a) == 0


@pytest.mark.enough_on("cpu", "cuda", "hip")
def test_c_array_view_accepts_arrays_of_12_subclasses(library: ctypes.PyDLL) -> None:
    # The header caches the results of its type checks for a few types only, fewer than 12.
    for number in range(12):
        own = type(f"Own{number}", (PyGPU.GPUArray,), {})
        assert library.view(own(3, "float32"), FLOAT32, 1, WRITE) != -1
