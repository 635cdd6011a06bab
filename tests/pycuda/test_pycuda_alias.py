"""Test `as_pycuda`, after which `import pycuda` gives PyGPU's modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.enough_on("cpu")


def run(code: str, *arguments: str, folder: Path | None = None) -> str:
    """Run Python in a new process, and return its output."""
    command = [sys.executable, *(["-c", code] if code else []), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_library_that_imports_pycuda_gets_pygpu(tmp_path):
    (tmp_path / "library.py").write_text(
        "import pycuda.autoinit\nimport pycuda.driver as cuda\nfrom pycuda import gpuarray\n"
        "from pycuda.compiler import SourceModule\nimport pycuda.tools, pycuda\n"
        "def shape():\n    return gpuarray.zeros((2, 3), 'f4').shape, cuda.Context.get_current() is not None\n"
    )
    code = "import PyGPU; PyGPU.as_pycuda(); import library; print(library.shape())"
    assert run(code, folder=tmp_path) == "((2, 3), True)\n"


def test_pycuda_alias_has_same_module_objects_as_pygpu():
    code = """
import sys, PyGPU
assert PyGPU.as_pycuda() is PyGPU
before = [name for name in sys.modules if name.startswith("pycuda.") or name == "PyGPU.driver"]
import pycuda.driver, pycuda.compiler, PyGPU.compiler
print(before, pycuda is PyGPU, pycuda.driver is PyGPU.driver, sys.modules["pycuda.compiler"] is PyGPU.compiler)
print(PyGPU.driver.__name__, PyGPU.driver.__spec__.name, PyGPU.as_pycuda() is PyGPU)
"""
    assert run(code) == "[] True True True\nPyGPU.driver PyGPU.driver True\n"


def test_import_of_missing_pycuda_module_raises_import_error():
    code = """
import PyGPU
PyGPU.as_pycuda()
for name in ("gl", "gl.autoinit", "sparse", "nothing"):
    try:
        __import__(f"pycuda.{name}")
    except ImportError as error:
        print(type(error).__name__, str(error)[:40])
"""
    assert run(code).splitlines() == [
        "ImportError OpenGL interoperation (pycuda.gl) is not",
        "ImportError OpenGL interoperation (pycuda.gl) is not",
        "ImportError sparse matrices (pycuda.sparse) are not ",
        "ModuleNotFoundError No module named 'pycuda.nothing'",
    ]


def test_installed_pycuda_is_replaced_only_on_request(tmp_path):
    (tmp_path / "pycuda").mkdir()
    (tmp_path / "pycuda" / "__init__.py").write_text("real = True\n")
    (tmp_path / "pycuda" / "driver.py").write_text("")
    code = """
import pycuda.driver, PyGPU
try:
    PyGPU.as_pycuda()
except RuntimeError as error:
    print(error)
PyGPU.as_pycuda(replace=True)
import pycuda.driver
print(pycuda is PyGPU, hasattr(pycuda.driver, "mem_alloc"))
"""
    said, done = run(code, folder=tmp_path).splitlines()
    assert said.startswith("pycuda, pycuda.driver was imported before, and is not PyGPU: call PyGPU.as_pycuda()")
    assert done == "True True"


def test_as_pycuda_accepts_alias_already_set_in_sys_modules():
    code = """
import sys, PyGPU
sys.modules["pycuda"] = PyGPU
import pycuda.tools
PyGPU.as_pycuda()
import pycuda.tools
print(pycuda.tools is PyGPU.tools)
"""
    assert run(code) == "True\n"


def test_debug_module_runs_program_with_debug_information(tmp_path):
    (tmp_path / "program.py").write_text(
        "import sys\nimport pycuda.driver as cuda\n"
        "if __name__ == '__main__':\n    print(sys.argv[1:], cuda.CUDA_DEBUGGING)\n"
    )
    assert run("", "-m", "PyGPU.debug", "program.py", "one", folder=tmp_path) == "['one'] True\n"
    done = subprocess.run([sys.executable, "-m", "PyGPU.debug"], capture_output=True, text=True, check=False)
    assert "usage" in done.stderr


def test_cluda_keywords_compile_to_kernel():
    code = '''
import PyGPU, numpy
PyGPU.as_pycuda()
import pycuda.autoinit
from pycuda import gpuarray
from pycuda._cluda import CLUDA_PREAMBLE
from pycuda.compiler import SourceModule
source = CLUDA_PREAMBLE + """
KERNEL void REQD_WG_SIZE(4, 1, 1) number(GLOBAL_MEM int *x) {
    LOCAL_MEM int shared[4];
    shared[LID_0] = GID_0 * LDIM_0 + LID_0;
    local_barrier();
    x[GID_0 * LDIM_0 + LID_0] = shared[LDIM_0 - 1 - LID_0] + 10 * (GDIM_0 + GID_1);
}"""
x = gpuarray.zeros(8, numpy.int32)
SourceModule(source, no_extern_c=True).get_function("number")(x, block=(4, 1, 1), grid=(2, 1))
print(x.get().tolist())
'''
    assert run(code) == "[23, 22, 21, 20, 27, 26, 25, 24]\n"


def test_missing_mako_error_names_install_command():
    code = """
import sys, PyGPU
sys.modules["mako"] = None
PyGPU.as_pycuda()
try:
    import pycuda._mymako
except ImportError as error:
    print(error)
"""
    assert run(code) == "the template engine Mako is not installed, and this program needs it: pip install mako\n"
