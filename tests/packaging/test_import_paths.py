"""Test the import paths of PyGPU's modules, in the package and under the name `pycuda`, and the names in `dir`."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import PyGPU
from PyGPU._protocols import lazy_names

PACKAGE = Path(str(PyGPU.__file__)).parent
MODULES = sorted({*(path.stem for path in PACKAGE.glob("[a-z]*.py")), *lazy_names.MODULES})


def run(code: str) -> str:
    """Run Python code in a new process, and return its output."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.sampled(on="cpu")
@pytest.mark.parametrize("module", MODULES)
def test_public_module_is_attribute_of_package(module: str) -> None:
    assert run(f"import PyGPU; print(PyGPU.{module}.__name__)") == f"PyGPU.{module}\n"


def test_access_to_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'PyGPU' has no attribute 'zeross'"):
        PyGPU.zeross  # noqa: B018


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("ElementwiseKernel", "it is PyGPU.elementwise.ElementwiseKernel"),
        ("SourceModule", "it is PyGPU.compiler.SourceModule"),
        ("mem_alloc", "it is PyGPU.driver.mem_alloc"),
        ("DeviceMemoryPool", "it is PyGPU.tools.DeviceMemoryPool"),
        ("vectorize", "NumPy's vectorize is not planned: .*PyGPU.ElementwiseKernel"),
        ("isnat", "NumPy's isnat is not planned: .*upload them as int64"),
    ],
)
def test_error_for_name_in_wrong_module_contains_right_module(name: str, hint: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'PyGPU' has no attribute '{name}'; {hint}"):
        getattr(PyGPU, name)
    with pytest.raises(ImportError, match=f"cannot import name '{name}' from 'PyGPU'; {hint}"):
        exec(f"from PyGPU import {name}")


def test_import_of_unknown_name_raises_import_error_without_hint() -> None:
    with pytest.raises(ImportError, match="cannot import name 'zeross' from 'PyGPU' "):
        from PyGPU import zeross  # noqa: F401


def test_every_submodule_is_importable_from_package() -> None:
    names = [each.name for each in pkgutil.iter_modules(PyGPU.__path__) if not each.name.startswith(("__", "auto"))]
    assert {"debug", "profile", "sparse", "gl", "_core"} <= set(names)
    refused = []
    for name in names:
        try:
            exec(f"from PyGPU import {name}")
        except (ImportError, PyGPU.NotSupportedError) as error:
            # For names of PyCUDA that PyGPU lacks, the import raises an error with an explanation.
            refused.append(str(error))
    assert [text for text in refused if "cannot import name" in text] == []


def test_import_of_package_loads_native_module_and_two_files() -> None:
    code = "import PyGPU, sys; print(sorted(name for name in sys.modules if name.startswith('PyGPU')))"
    assert run(code) == "['PyGPU', 'PyGPU._core', 'PyGPU._process', 'PyGPU._process.main_interpreter']\n"


def test_dir_lists_fewer_than_120_names_in_addition_to_numpy() -> None:
    shown = set(dir(PyGPU))
    assert {"GPUArray", "zeros", "Stream", "set_allocator", "driver", "compiler", "gpuarray", "backend"} <= shown
    assert len(shown - set(vars(np))) < 120
    labelled = tuple(f"_{label}" for label in PyGPU.SUPPORTED_DTYPES)
    assert [name for name in shown if name.startswith("cuda") or name.endswith(labelled)] == []


def test_dir_is_unchanged_after_use_of_unlisted_names() -> None:
    before = dir(PyGPU)
    assert callable(PyGPU.cudaMalloc)
    assert dir(PyGPU) == before


def test_every_name_in_dir_exists() -> None:
    assert [name for name in dir(PyGPU) if not hasattr(PyGPU, name)] == []


def test_dir_omits_modules_that_create_contexts() -> None:
    assert {"autoinit", "autoprimaryctx"}.isdisjoint(dir(PyGPU))


def test_star_import_provides_pybindgpu_names() -> None:
    names = PyGPU.__all__
    assert sum(name.startswith("cuda") for name in names) >= 56
    assert sum(name.rpartition("_")[2] in PyGPU.SUPPORTED_DTYPES for name in names if "_" in name) == 60
    assert [name for name in names if not hasattr(PyGPU, name)] == []


@pytest.mark.sampled(on="cpu")
@pytest.mark.parametrize(
    "first",
    [
        "import pycuda.driver as cuda",
        "from pycuda.compiler import SourceModule",
        "import pycuda.autoinit",
        "import pycuda.autoprimaryctx",
        "import pycuda.gpuarray as gpuarray",
        "import pycuda.tools",
        "from pycuda import cumath",
        "from pycuda.elementwise import ElementwiseKernel",
        "from pycuda.reduction import ReductionKernel",
        "from pycuda.scan import InclusiveScanKernel",
        "from pycuda.characterize import platform_bits",
    ],
)
def test_pycuda_program_runs_with_pygpu_as_pycuda(first: str) -> None:
    code = f"""
import sys, PyGPU
sys.modules["pycuda"] = PyGPU
{first}
import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import DynamicSourceModule, SourceModule
import pycuda.tools, pycuda.elementwise, pycuda.reduction, pycuda.scan, pycuda.characterize, pycuda.autoprimaryctx
from PyGPU.driver import Context
print(cuda.Context is Context, gpuarray.GPUArray is PyGPU.GPUArray, pycuda.autoinit.context is not None)
"""
    assert run(code) == "True True True\n"


def test_import_of_autoinit_from_pygpu_and_pycuda_creates_one_context() -> None:
    code = """
import sys, PyGPU, PyGPU.autoinit
sys.modules["pycuda"] = PyGPU
import pycuda.autoinit
print(pycuda.autoinit.context is PyGPU.autoinit.context, pycuda.autoinit.device == PyGPU.autoinit.device)
"""
    assert run(code) == "True True\n"


@pytest.mark.parametrize("package", ["PyGPU", "pycuda"])
def test_default_options_can_be_set_under_names_pygpu_and_pycuda(package: str) -> None:
    code = f"""
import sys, PyGPU
sys.modules["pycuda"] = PyGPU
import {package}.compiler
from PyGPU._pycuda.compiler.source import default_options
before = default_options()
sys.modules["{package}.compiler"].DEFAULT_NVCC_FLAGS = ["-DN=5"]
print(before, default_options())
"""
    assert run(code) == "[] ['-DN=5']\n"
