"""Test `as_cupy`, after which `import cupy` gives `PyGPU.cupy`, and the command ``python -m PyGPU run --as-cupy``."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from installed.hidden_packages import hide

pytestmark = pytest.mark.enough_on("cpu")

PROGRAM = """
import sys
import cupy as cp
import cupyx
from cupy import ndarray
from cupy.linalg import norm
from cupyx.profiler import benchmark
import cupyx.scipy.special as special

def main():
    a = cp.arange(6, dtype=cp.float32).reshape(2, 3)
    assert isinstance(a, ndarray) and cp.get_array_module(a) is cp and cp.linalg.norm is norm
    a.scatter_add(0, 1)
    print(sys.argv[1:], cp.asnumpy(a).tolist(), float(special.expit(cp.zeros(()))), __name__)

if __name__ == "__main__":
    main()
"""


@pytest.fixture
def no_cupy(tmp_path: Path) -> Path:
    """Return a folder for the Python path of a process: the folder hides an installed CuPy from that process."""
    return hide(tmp_path / "hiding", "cupy", "cupyx")


def environment(path: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(path), os.environ.get("PYTHONPATH")]))}


def run(code: str, *arguments: str, path: Path, folder: Path | None = None) -> str:
    """Run Python in a new process with an additional folder in its Python path, and return its output."""
    command = [sys.executable, *(["-c", code] if code else []), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment(path))
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(*arguments: str, path: Path, folder: Path) -> str:
    """Run a command that fails, and return its error output."""
    command = [sys.executable, "-m", "PyGPU", "run", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment(path))
    assert done.returncode == 2
    return done.stderr


def test_run_command_with_aliases_runs_program_of_cupy_and_pycuda(tmp_path: Path, no_cupy: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "other.py").write_text("import pycuda.gpuarray, sys\nprint(pycuda.gpuarray.__name__, sys.argv)\n")
    expected = "['--one', '2'] [[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]] 0.5 __main__\n"
    keywords = {"path": no_cupy, "folder": tmp_path}
    command = ("-m", "PyGPU", "run", "--as-cupy")
    assert run("", *command, "program.py", "--one", "2", **keywords) == expected
    assert run("", *command, "-m", "program", "--one", "2", **keywords) == expected
    assert run("", "-m", "PyGPU", "run", "--as-pycuda", "other.py", **keywords) == "PyGPU.gpuarray ['other.py']\n"
    assert "give --as-cupy or --as-pycuda" in refused("program.py", **keywords)
    assert "nothing.py does not exist" in refused("--as-cupy", "nothing.py", **keywords)


def test_cupy_alias_gives_modules_of_pygpu_cupy_until_alias_is_removed(no_cupy: Path) -> None:
    code = """
import sys, PyGPU
cupy = PyGPU.as_cupy()
assert cupy is PyGPU.cupy and PyGPU.as_cupy() is cupy
import cupy.linalg, cupyx.scipy.fft, cupy.lib.stride_tricks
print(cupy.linalg is PyGPU.cupy.linalg, cupyx.scipy.fft is sys.modules["PyGPU.cupyx.scipy.fft"], cupy.linalg.__name__)
print(cupy.linalg.__spec__.name, [type(finder).__name__ for finder in sys.meta_path].count("PackageAlias"))
PyGPU.as_cupy(undo=True)
print([name for name in sys.modules if name.partition(".")[0] in ("cupy", "cupyx")])
try:
    import cupy.random
except ImportError as error:
    print(type(error).__name__)
PyGPU.as_cupy()
import cupy.random
print(cupy.random.rand(2).shape)
"""
    assert run(code, path=no_cupy).splitlines() == [
        "True True PyGPU.cupy.linalg", "PyGPU.cupy.linalg 2", "[]", "ModuleNotFoundError", "(2,)",
    ]  # fmt: skip


def test_import_of_missing_cupy_module_raises_and_names_replacement(no_cupy: Path) -> None:
    code = """
import PyGPU
PyGPU.as_cupy()
import cupyx.scipy
for name in ("cupyx.scipy.sparse.linalg", "cupyx.scipy.ndimage", "cupyx.jit", "cupy.nothing"):
    try:
        __import__(name)
    except ImportError as error:
        print(error)
"""
    lines = run(code, path=no_cupy).splitlines()
    assert lines[0].startswith(
        "cupyx.scipy.sparse is not there: sparse matrices are not PyGPU's: share the arrays with"
    )
    assert lines[1].startswith("cupyx.scipy.ndimage is not there: PyGPU has no image filters: share the arrays with")
    assert "cupy.RawKernel" in lines[2]
    assert lines[3] == "No module named 'cupy.nothing'"


def test_each_form_of_access_to_missing_cupy_name_gives_replacement(no_cupy: Path) -> None:
    code = """
import importlib.util
import PyGPU
from PyGPU._cupy.missing_names import MISSING

PyGPU.as_cupy()
count = 0
for text, names in MISSING.items():
    text = text.replace("`", "")
    assert "docs/" not in text and ".md" not in text, text
    for module, _, name in (full.rpartition(".") for full in names):
        from_import = f"cannot import name '{name}' from '{module}'; {text}"
        is_package = hasattr(importlib.import_module(module), "__path__")
        no_module = f"{module}.{name} is not there: {text}" if is_package else f"'{module}' is not a package"
        refused = (
            (f"import {module}.{name}", ImportError, no_module),
            (f"from {module} import {name}", ImportError, from_import),
            (f"from PyGPU.{module} import {name}", ImportError, from_import),
            (f"{module}.{name}", AttributeError, f"module '{module}' has no attribute '{name}'; {text}"),
        )
        exec(f"import {module}")
        for statement, kind, message in refused:
            try:
                exec(statement)
            except kind as error:
                assert str(error).endswith(message), (statement, error)
                count += 1
            else:
                raise SystemExit(f"{statement} raised no error")
        exec(f"assert not hasattr({module}, {name!r})")
    assert importlib.util.find_spec("cupyx.jit") is importlib.util.find_spec("cupyx.scipy.sparse") is None
print(count == 4 * sum(map(len, MISSING.values())))
"""
    assert run(code, path=no_cupy) == "True\n"


def test_installed_cupy_is_replaced_only_on_request(tmp_path: Path) -> None:
    (tmp_path / "site" / "cupy").mkdir(parents=True)
    (tmp_path / "site" / "cupy" / "__init__.py").write_text("is_real = True\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    code = """
import PyGPU
try:
    PyGPU.as_cupy()
except RuntimeError as error:
    print(error)
PyGPU.as_cupy(force=True)
import cupy
print(hasattr(cupy, "is_real"), cupy.ndarray is PyGPU.GPUArray)
PyGPU.as_cupy(undo=True)
import cupy
print(cupy.is_real)
try:
    PyGPU.as_cupy(force=True)
except RuntimeError as error:
    print(error)
"""
    lines = run(code, path=tmp_path / "site").splitlines()
    assert lines[0].startswith("as_cupy: CuPy is installed (")
    assert "PyGPU.as_cupy(force=True)" in lines[0]
    assert lines[1:3] == ["False True", "True"]
    assert lines[3].startswith("as_cupy: cupy was imported before, and is not PyGPU")


ARRAY = """
import PyGPU
PyGPU.as_cupy()
import cupy, numpy as np
a = cupy.arange(12.0).reshape(3, 4)
expected = np.arange(12.0).reshape(3, 4)
"""

# For each library that detects CuPy's arrays, a program that uses `a`, and the program's output.
DETECTING = {
    "array_api_compat": (
        """
import array_api_compat as compat
assert compat.is_array_api_obj(a) and not compat.is_numpy_array(a)
xp = compat.array_namespace(a)
assert np.allclose(cupy.asnumpy(xp.sum(xp.asarray(a) * 2, axis=0)), 2 * expected.sum(0)), xp
assert compat.to_device(a, compat.device(a)).shape == (3, 4) and compat.size(a) == 12
print(isinstance(xp.mean(a), cupy.ndarray))
""",
        "True",
    ),
    "xarray": (
        """
import xarray
x = xarray.DataArray(a, dims=("row", "column"))
assert type(x.data) is cupy.ndarray
mean = x.mean("row")
assert type(mean.data) is cupy.ndarray and np.allclose(mean.data.get(), expected.mean(0))
assert np.allclose(x.to_numpy(), expected)
print(type(x.as_numpy().data).__name__)
""",
        "ndarray",
    ),
    "dask": (
        """
import dask.array as da
d = da.from_array(a, chunks=2, asarray=False)
total = (d + 1).sum(axis=0).compute()
assert type(total) is cupy.ndarray and np.allclose(total.get(), (expected + 1).sum(0))
print(type(d._meta).__name__)
""",
        "GPUArray",
    ),
    "scipy": (
        """
import os
os.environ["SCIPY_ARRAY_API"] = "1"
from scipy import cluster, special
print(type(special.expit(a)) is cupy.ndarray)
""",
        "True",
    ),
}


@pytest.mark.parametrize("library", DETECTING)
def test_libraries_that_detect_cupy_accept_device_arrays(no_cupy: Path, library: str) -> None:
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    code, expected = DETECTING[library]
    assert run(ARRAY + code, path=no_cupy).splitlines()[-1:] == [expected]
