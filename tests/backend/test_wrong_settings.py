"""Test environment variables with wrong values: each one raises an error, causes a warning, or has no effect."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import PyGPU

ROOT = Path(__file__).parents[2]
NONE = "/nowhere/none"
on_gpus = pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="the CPU backend does not use the library")
pytestmark = pytest.mark.starts_processes

WARNED = {
    "PYGPU_CACHE": ("maybe", "'1' (the default) or '0'"),
    "PYGPU_CACHE_SIZE": ("lots", "no size such as 256M"),
    "PYGPU_CHECK_STREAMS": ("maybe", "'0' (the default) or '1'"),
    "PYGPU_CPU_BREAK": ("maybe", "'0' (the default) or '1'"),
    "PYGPU_CUDA_ARRAY_INTERFACE_SYNC": ("maybe", "'1' (the default) or '0'"),
    "PYGPU_PROFILE": ("all", "no kind of ranges"),
    "PYGPU_RECYCLE": ("maybe", "'1' (the default) or '0'"),
    "PYGPU_STRICT": ("maybe", "'0' (the default) or '1'"),
}
"""Variables whose wrong value is ignored with a warning: the value, and a part of the warning."""
WARNED_ON_GPUS = {
    "PYGPU_BLAS": ("mine", "'own' and a number of multiply-adds"),
    "PYGPU_STRIDED_COPY": ("tiles,lanes=3", "'tiles', 'flat', 'driver'"),
    "PYGPU_TF32": ("maybe", "'0' (the default) or '1'"),
}
REFUSED_AT_FIRST_USE = {
    "PYGPU_BACKEND": ("metal", "metal"),
    "PYGPU_CPU_DEVICES": ("several", "several"),
    "PYGPU_CPU_ORDER": ("sideways", "'reversed', 'shuffled'"),
    "PYGPU_DEVICE": ("7000", "7000"),
}
"""Variables with a wrong value at which the first use of PyGPU raises: the value, and a part of the message."""
REFUSED_COPIES = ("PYGPU_PINNED_LIMIT", "PYGPU_STAGING_CHUNK", "PYGPU_STAGING_THREADS", "PYGPU_STAGING_THRESHOLD")
REFUSED_LIBRARIES = ("PYGPU_CUBLAS", "PYGPU_CUFFT", "PYGPU_CURAND", "PYGPU_CUSOLVER", "PYGPU_NVRTC")
REFUSED_MODES = ("PYGPU_FUSION", "PYGPU_FUSION_COMPILE")
REFUSED_BY_COMPILER = ("PYGPU_CPU_OPTIONS", "PYGPU_CXX")
REFUSED_BY_PYTHON = {
    "CUDA_DEVICE": "PyGPU.tools.make_default_context()",
    "CUPY_GPU_MEMORY_LIMIT": "import PyGPU.cupy as cupy; cupy.cuda.MemoryPool().malloc(8)",
    "CUPY_TEST_GPU_LIMIT": "import PyGPU.cupy as cupy; from PyGPU.cupy import testing; testing.multi_gpu(2)",
}
"""Variables that Python code reads, and the statement that raises for the value ``lots``."""
FOLDERS = (
    *("CONDA_PREFIX", "CPATH", "CPLUS_INCLUDE_PATH", "CUDA_HOME", "CUDA_PATH", "C_INCLUDE_PATH", "HIP_CLANG_PATH"),
    *("HIP_PATH", "HOME", "LIBRARY_PATH", "LOCALAPPDATA", "PYCUDA_CACHE_DIR", "ROCM_HOME", "ROCM_PATH"),
    "XDG_CACHE_HOME",
)
"""Variables that name folders in which PyGPU or a compiler searches; an absent folder has no effect."""
TESTED_WITH_REASON = {
    "PYGPU_CACHE_DIR": "test_unusable_cache_folder_does_not_prevent_use_of_kernels",
    "TMPDIR": "test_absent_temporary_folder_is_named_in_error",
}
ANY_VALUE = {
    "CCC_OVERRIDE_OPTIONS": "clang alone reads it",
    "COMPILER_PATH": "gcc searches further",
    "CUDA_VISIBLE_DEVICES": "the driver decides",
    "CUPY_TEST_FULL_COMBINATION": "each value but 0 is the same",
    "CUPY_TEST_RANDOM_NONDETERMINISTIC": "each value but 0 is the same",
    "CXX": "tested with PYGPU_CXX; PyGPU tries other compilers after it",
    "GCC_EXEC_PREFIX": "gcc alone reads it",
    "HIPCC_COMPILE_FLAGS_APPEND": "hipcc alone reads it",
    "HIP_VISIBLE_DEVICES": "the runtime decides",
    "LD_LIBRARY_PATH": "the system's loader decides",
    "NVCC": "a result, which nothing opens",
    "NVCC_APPEND_FLAGS": "nvcc alone reads it",
    "NVCC_CCBIN": "nvcc alone reads it",
    "NVCC_PREPEND_FLAGS": "nvcc alone reads it",
    "PATH": "a search without a result",
    "PYCUDA_DEFAULT_NVCC_FLAGS": "options, which the compiler checks",
    "PYCUDA_DISABLE_CACHE": "each value is the same",
    "ROCR_VISIBLE_DEVICES": "the runtime decides",
}
"""Variables for which PyGPU defines no wrong value, each with the reason."""


def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script]
    variables = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=variables, timeout=110)


def refusals(statements: list[str], **environment: str) -> list[str]:
    """Run statements in one process; return the class and text of each statement's exception, or an empty text."""
    script = "import numpy as np, PyGPU, warnings\n"
    for statement in statements:
        script += f"try:\n    {statement}\nexcept Exception as error:\n"
        script += "    print(type(error).__name__, str(error).replace('\\n', ' '))\nelse:\n    print()\n"
    done = run(script, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.enough_on("cpu")
def test_every_documented_variable_is_tested_with_wrong_value() -> None:
    documented = re.findall(r"^\| `(\w+)` \| ", (ROOT / "docs" / "environment.md").read_text(), re.MULTILINE)
    groups = (WARNED, WARNED_ON_GPUS, REFUSED_AT_FIRST_USE, REFUSED_COPIES, REFUSED_LIBRARIES, REFUSED_MODES)
    groups += (REFUSED_BY_COMPILER, REFUSED_BY_PYTHON, FOLDERS, TESTED_WITH_REASON, ANY_VALUE)
    assert sorted(name for group in groups for name in group) == sorted(documented)
    assert all(name in globals() for name in TESTED_WITH_REASON.values())


def test_ignored_environment_variables_are_named_in_warnings() -> None:
    is_cpu = PyGPU.backend_name() == "cpu"
    unread = (
        {"PYGPU_CHECK_STREAMS", "PYGPU_CUDA_ARRAY_INTERFACE_SYNC", "PYGPU_RECYCLE"} if is_cpu else {"PYGPU_CPU_BREAK"}
    )
    warned = WARNED if is_cpu else WARNED | WARNED_ON_GPUS
    warned = {name: case for name, case in warned.items() if name not in unread}
    script = """if True:
        import numpy as np
        import PyGPU
        a = PyGPU.to_gpu(np.arange(300 * 300, dtype="f4").reshape(300, 300))
        assert (a.T.copy().get() == a.get().T).all()
        assert (a @ a).shape == (300, 300)
        PyGPU.asarray(np.ones(3))
        if a.device.kind != "cpu":
            class Foreign:
                __cuda_array_interface__ = {**a.__cuda_array_interface__, "stream": 1}
            PyGPU.asarray(Foreign())
        PyGPU.Kernel('extern "C" __global__ void put(int *x) { *x = 1; }', "put")[1, 1](PyGPU.zeros(1, "i4"))
        PyGPU.synchronize()
        """
    done = run(script, **{name: value for name, (value, _) in warned.items()})
    assert done.returncode == 0, done.stderr
    for name, (_, text) in warned.items():
        lines = [line for line in done.stderr.splitlines() if re.match(rf"{name}\b", line)]
        assert len(lines) == 1, (name, done.stderr)
        assert text in lines[0]


@pytest.mark.enough_on("cpu")
def test_first_use_raises_if_backend_device_or_thread_order_is_invalid() -> None:
    for name, (value, text) in REFUSED_AT_FIRST_USE.items():
        (refusal,) = refusals(["PyGPU.zeros(1)"], **{name: value})
        assert text in refusal, (name, refusal)
        assert name in refusal, (name, refusal)


@on_gpus
@pytest.mark.enough_on("cpu", "cuda")
def test_copies_raise_if_value_of_environment_variable_is_no_number() -> None:
    for name in REFUSED_COPIES:
        (refusal,) = refusals(["PyGPU.to_gpu(np.ones(1 << 20))"], **{name: "lots"})
        assert refusal.startswith(f"ValueError the environment variable {name} is 'lots'"), (name, refusal)


@on_gpus
@pytest.mark.enough_on("cpu", "cuda")
def test_operations_raise_if_variable_has_unknown_mode_of_deferral() -> None:
    for name in REFUSED_MODES:
        (refusal,) = refusals(["PyGPU.ones(3) + 1"], **{name: "maybe"})
        assert refusal.startswith(f"ValueError {name} must be "), (name, refusal)


@on_gpus
def test_variable_with_absent_library_file_raises_without_search() -> None:
    statements = {
        "PYGPU_CUFFT": "PyGPU.fft.fft(PyGPU.ones(8, 'complex64'))",
        "PYGPU_CURAND": "PyGPU.curandom.Sobol64RandomNumberGenerator()",
        "PYGPU_CUSOLVER": "PyGPU.linalg.solve(PyGPU.to_gpu(np.eye(100)), PyGPU.ones(100))",
        # If the cuBLAS file is absent, PyGPU computes products by its own kernels, and `config()` names the absent
        # file.
        "PYGPU_CUBLAS": "a = PyGPU.ones((300, 300), 'f4'); a @ a; raise RuntimeError(str(PyGPU.config()))",
    }
    lines = refusals(list(statements.values()), **{name: f"{NONE}-{name}.so" for name in statements})
    for name, line in zip(statements, lines, strict=True):
        assert f"{NONE}-{name}.so" in line, (name, line)


@on_gpus
@pytest.mark.enough_on("cuda")
def test_variable_with_absent_nvrtc_file_raises_without_search() -> None:
    """Check that PyGPU searches no other NVRTC if `PYGPU_NVRTC` names an absent file. A former defect: the variable was
    ignored."""
    kernel = "PyGPU.Kernel('extern \"C\" __global__ void never_compiled(int *x) { *x = 7; }', 'never_compiled')"
    own = "(PyGPU.to_gpu(np.ones(5)) + 1).get()"
    for refusal in refusals([kernel, own], PYGPU_NVRTC=f"{NONE}.so", PYGPU_CACHE="off"):
        assert refusal.startswith("BackendUnavailableError"), refusal
        assert f"PYGPU_NVRTC names the file {NONE}.so" in refusal


@pytest.mark.enough_on("cpu")
def test_wrong_compiler_or_compiler_options_are_named_in_error() -> None:
    kernel = "PyGPU.Kernel('extern \"C\" __global__ void never_compiled_2(int *x) { *x = 7; }', 'never_compiled_2')"
    (refusal,) = refusals([kernel], PYGPU_BACKEND="cpu", PYGPU_CXX=NONE)
    assert NONE in refusal
    (refusal,) = refusals([kernel], PYGPU_BACKEND="cpu", PYGPU_CPU_OPTIONS="-fno-such-option-exists")
    assert "-fno-such-option-exists" in refusal
    assert refusals([kernel], PYGPU_BACKEND="cpu", CXX=NONE) == [""]


def test_python_functions_raise_for_wrong_environment_variables() -> None:
    for name, statement in REFUSED_BY_PYTHON.items():
        (refusal,) = refusals([statement], **{name: "lots"})
        assert name in refusal, (name, refusal)
        assert "lots" in refusal, (name, refusal)


def test_environment_variables_that_name_absent_folders_are_ignored(tmp_path: Path) -> None:
    kernel = f"PyGPU.Kernel('extern \"C\" __global__ void put(int *x) {{ *x = {os.getpid()}; }}', 'put')"
    lines = refusals(
        [f"a = PyGPU.zeros(1, 'i4'); {kernel}[1, 1](a); assert a.item() == {os.getpid()}"],
        **dict.fromkeys(FOLDERS, str(tmp_path / "absent")) | {"PYGPU_CACHE_DIR": str(tmp_path)},
    )
    assert lines == [""]


@pytest.mark.enough_on("cpu")
def test_unusable_cache_folder_does_not_prevent_use_of_kernels(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    kernel = "PyGPU.Kernel('extern \"C\" __global__ void put(int *x) { *x = 5; }', 'put')"
    assert refusals(
        [f"a = PyGPU.zeros(1, 'i4'); {kernel}[1, 1](a); assert a.item() == 5"], PYGPU_CACHE_DIR=str(file)
    ) == [""]


@pytest.mark.enough_on("cpu")
def test_absent_temporary_folder_is_named_in_error(tmp_path: Path) -> None:
    kernel = "PyGPU.Kernel('extern \"C\" __global__ void never_compiled_3(int *x) { *x = 7; }', 'never_compiled_3')"
    # Only the CPU backend's compiler writes temporary files.
    (refusal,) = refusals([kernel], PYGPU_BACKEND="cpu", TMPDIR=NONE, PYGPU_CACHE_DIR=str(tmp_path))
    assert NONE in refusal, refusal
