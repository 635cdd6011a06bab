"""Test each example in examples/bindings: its own commands build it, and its program gives correct results."""

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest

import PyGPU

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "bindings"
# `make test` installs gfortran into this folder if the machine has none.
FORTRAN = ROOT / "build" / "fortran"
HAS_HEADERS = (Path(sysconfig.get_path("include")) / "Python.h").is_file()

pytestmark = [pytest.mark.starts_processes, pytest.mark.enough_on("cpu")]


def environment(out: Path) -> dict[str, str]:
    """Return environment variables for the commands of an example. PATH begins with this Python's folder."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", ""), str(FORTRAN / "bin")])
    here = {
        "PATH": programs,
        "PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(out), os.environ.get("PYTHONPATH", "")]),
    }
    if PyGPU.backend_name() == "cuda":
        here["HEAT"] = "cuda"
    return {**os.environ, **here}


def run(out: Path, *command: object) -> str:
    folder = next(parent for parent in out.parents if (parent / "binding_checks.py").is_file())
    done = subprocess.run(
        [str(part) for part in command], env=environment(out), cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the examples, build their C library once, and return the library's folder, into which the examples' modules
    are built too.

    The folder is in a copy of the examples without the rest of the repository, because the pages tell readers to copy
    the examples.
    """
    compiler = {"cuda": os.environ.get("NVCC", "nvcc"), "cpu": "cc"}.get(PyGPU.backend_name())
    if compiler is None or shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} for the library on {PyGPU.backend_name()}")
    copy = tmp_path_factory.mktemp("bindings") / "copy"
    shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    folder = copy / "build"
    folder.mkdir()
    run(folder, "sh", "library/make.sh", folder)
    return folder


@pytest.mark.parametrize("kind", ["pybind11", "nanobind", "cython"])
def test_example_of_compiled_module_uses_arrays_in_place(kind: str, out: Path) -> None:
    if find_spec(kind if kind != "cython" else "Cython") is None:
        pytest.skip(f"needs {kind}")
    if shutil.which("c++") is None or not HAS_HEADERS:
        pytest.skip("needs a C++ compiler and the headers of Python")
    run(out, "sh", f"{kind}/make.sh", out)
    assert "as it should be" in run(out, sys.executable, f"{kind}/use.py")


def needs_c() -> None:
    if shutil.which("cc") is None or not HAS_HEADERS:
        pytest.skip("needs a C compiler and the headers of Python")


def tool(name: str) -> str:
    """Return the path of a program that is in the folder of the running Python or in PATH. Skip the test if it is in
    neither."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.is_file() else shutil.which(name)
    if found is None:
        pytest.skip(f"needs {name}")
    return found


def test_example_of_c_extension_module_uses_arrays_in_place(out: Path) -> None:
    needs_c()
    run(out, "sh", "c/make.sh", out)
    assert "as it should be" in run(out, sys.executable, "c/use.py")


def test_example_of_cmake_builds_c_module(out: Path) -> None:
    needs_c()
    cmake, build = tool("cmake"), out / "cmake"
    folder = run(out, sys.executable, "-m", "PyGPU", "--cmakedir").strip()
    settings = [f"-DHEAT={out}", f"-DPyGPU_DIR={folder}", f"-DPython_EXECUTABLE={sys.executable}"]
    run(out, cmake, "-S", "c", "-B", build, *settings)
    run(out, cmake, "--build", build)
    assert "as it should be" in run(build, sys.executable, "c/use.py")


def test_example_of_meson_builds_c_module(out: Path) -> None:
    needs_c()
    meson, ninja, build = tool("meson"), tool("ninja"), out / "meson"
    run(out, meson, "setup", build, "c")
    run(out, ninja, "-C", build)
    assert "as it should be" in run(build, sys.executable, "c/use.py")


def test_example_of_cffi_uses_arrays_in_place(out: Path) -> None:
    if find_spec("cffi") is None or not HAS_HEADERS:
        pytest.skip("needs cffi and the headers of Python")
    if sys.version_info >= (3, 12) and find_spec("setuptools") is None:
        pytest.skip("needs setuptools, by which cffi compiles from Python 3.12 on")
    run(out, sys.executable, "cffi/make.py", out)
    assert "as it should be" in run(out, sys.executable, "cffi/use.py")


def test_example_of_ctypes_uses_arrays_in_place(out: Path) -> None:
    assert "as it should be" in run(out, sys.executable, "ctypes/use.py", out)


def needs_fortran(out: Path) -> None:
    if shutil.which("gfortran", path=environment(out)["PATH"]) is None:
        reason = FORTRAN / "why-not"
        pytest.skip(f"needs gfortran: {reason.read_text().strip() if reason.exists() else 'make test would fetch it'}")


def test_example_of_fortran_uses_arrays_in_place(out: Path) -> None:
    needs_fortran(out)
    run(out, "sh", "fortran/make.sh", out)
    assert "as it should be" in run(out, sys.executable, "fortran/use.py", out)


def test_example_of_rust_uses_arrays_in_place(out: Path) -> None:
    if shutil.which("rustc") is None:
        pytest.skip("needs rustc")
    run(out, "sh", "rust/make.sh", out)
    assert "as it should be" in run(out, sys.executable, "rust/use.py", out)


def test_example_of_cudarc_uses_arrays_in_place(out: Path) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("needs cargo")
    manifest = out.parent / "cudarc" / "Cargo.toml"
    command = ["cargo", "check", "--offline", "--locked", "--manifest-path", manifest, "--target-dir", out / "cudarc"]
    checked = subprocess.run(command, capture_output=True, text=True)
    if "--offline" in checked.stderr:
        pytest.skip("needs cudarc in cargo's folder: cargo fetch")
    assert checked.returncode == 0, checked.stderr
    if PyGPU.backend_name() == "cuda":
        run(out, "env", "CARGO_NET_OFFLINE=true", "sh", "cudarc/make.sh", out)
        assert "as it should be" in run(out, sys.executable, "cudarc/use.py", out)


def test_f2py_example_passes_addresses_of_arrays(out: Path) -> None:
    needs_fortran(out)
    # f2py builds modules with distutils up to Python 3.11, and with Meson and Ninja from Python 3.12 on.
    if sys.version_info >= (3, 12):
        tool("meson")
        tool("ninja")
    run(out, "sh", "f2py/make.sh", out)
    assert "as it should be" in run(out, sys.executable, "f2py/use.py")


def test_example_of_triton_kernel_accepts_arrays(out: Path) -> None:
    if PyGPU.backend_name() != "cuda" or find_spec("triton") is None:
        pytest.skip("needs Triton and a CUDA device")
    assert "as it should be" in run(out, sys.executable, "triton/use.py")


def test_setup_py_of_cython_page_builds_module(out: Path, tmp_path: Path) -> None:
    needs_c()
    if find_spec("Cython") is None or find_spec("setuptools") is None:
        pytest.skip("needs Cython and setuptools")
    page = (ROOT / "docs" / "bindings" / "cython.md").read_text()
    lines = page.split("```text\n")[1].split("```")[0]
    here = f"include_dirs=[PyGPU.get_include(), {str(out.parent / 'library')!r}], library_dirs=[{str(out)!r}]"
    lines = lines.replace("include_dirs=[PyGPU.get_include()]", here)
    names = "from Cython.Build import cythonize\nfrom setuptools import Extension, setup\nimport PyGPU\n"
    (tmp_path / "setup.py").write_text(names + lines)
    # A short module suffices, because the test checks only whether `setup.py` finds PyGPU's header and library.
    (tmp_path / "heat_cython.pyx").write_text(
        "from pygpu cimport *\n"
        "def size(x):\n"
        "    cdef pygpu_array_view view\n"
        '    pygpu_view(x, "x", PYGPU_FLOAT32, 1, PYGPU_READ, &view)\n'
        "    return view.shape[0]\n"
    )
    code = "import heat_cython, PyGPU; print(heat_cython.size(PyGPU.zeros(5, 'float32')))"
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    for command in (build, [sys.executable, "-c", code]):
        paths = {**environment(tmp_path), "CFLAGS": "-O0", "LD_LIBRARY_PATH": str(out)}
        done = subprocess.run(command, cwd=tmp_path, env=paths, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "5\n"
