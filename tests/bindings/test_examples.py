"""Each compiled binding builds by the commands of its example, and does what NumPy does."""

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest

import PyGPU

FOLDER = Path(__file__).parents[2] / "examples" / "bindings"
HAS_HEADERS = (Path(sysconfig.get_path("include")) / "Python.h").is_file()

pytestmark = [pytest.mark.starts_processes, pytest.mark.enough_on("cpu")]


def environment(out: Path) -> dict[str, str]:
    """Paths in which ``python3`` is this Python; the GPU's library where there is one."""
    here = {"PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join([str(out), os.environ.get("PYTHONPATH", "")])}
    if PyGPU.backend_name() == "cuda":
        here["HEAT"] = "cuda"
    return {**os.environ, **here}


def run(out: Path, *command: object) -> str:
    done = subprocess.run(
        [str(part) for part in command], env=environment(out), cwd=FOLDER, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the stranger's library, in which the modules are built too, once."""
    compiler = {"cuda": os.environ.get("NVCC", "nvcc"), "cpu": "cc"}.get(PyGPU.backend_name())
    if compiler is None or shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} for the library on {PyGPU.backend_name()}")
    folder = tmp_path_factory.mktemp("bindings")
    run(folder, "sh", "library/make.sh", folder)
    return folder


@pytest.mark.parametrize("kind", ["pybind11", "nanobind", "cython"])
def test_a_compiled_module_takes_arrays_where_they_are(kind: str, out: Path) -> None:
    if find_spec(kind if kind != "cython" else "Cython") is None:
        pytest.skip(f"needs {kind}")
    if shutil.which("c++") is None or not HAS_HEADERS:
        pytest.skip("needs a C++ compiler and the headers of Python")
    run(out, "sh", f"{kind}/make.sh", out)
    assert "as it should be" in run(out, sys.executable, f"{kind}/use.py")


def test_cffi_takes_arrays_where_they_are(out: Path) -> None:
    if find_spec("cffi") is None or not HAS_HEADERS:
        pytest.skip("needs cffi and the headers of Python")
    run(out, sys.executable, "cffi/make.py", out)
    assert "as it should be" in run(out, sys.executable, "cffi/use.py")


def test_ctypes_takes_arrays_where_they_are(out: Path) -> None:
    assert "as it should be" in run(out, sys.executable, "ctypes/use.py", out)


@pytest.mark.parametrize(("kind", "compiler"), [("fortran", "gfortran"), ("rust", "rustc")])
def test_a_library_in_another_language_takes_arrays_where_they_are(kind: str, compiler: str, out: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    run(out, "sh", f"{kind}/make.sh", out)
    assert "as it should be" in run(out, sys.executable, f"{kind}/use.py", out)


def test_f2py_takes_addresses(out: Path) -> None:
    # f2py builds by itself up to Python 3.11.
    if shutil.which("gfortran") is None or (sys.version_info >= (3, 12) and shutil.which("meson") is None):
        pytest.skip("needs gfortran and, from Python 3.12 on, meson")
    run(out, "sh", "f2py/make.sh", out)
    assert "as it should be" in run(out, sys.executable, "f2py/use.py")


def test_a_triton_kernel_takes_arrays_as_they_are(out: Path) -> None:
    if PyGPU.backend_name() != "cuda" or find_spec("triton") is None:
        pytest.skip("needs Triton and a CUDA device")
    assert "as it should be" in run(out, sys.executable, "triton/use.py")
