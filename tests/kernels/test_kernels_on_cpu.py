"""Test kernels on the CPU: printed output, required compiler, and detection of data races and of overruns.

Each test runs in a separate process on the CPU backend. Rust tests check which language features kernels may use.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.enough_on("cpu")

SOURCE = r"""
#include <stdio.h>
extern "C" __global__ void says(int n) { printf("thread %d of %d\n", (int)threadIdx.x, n); }
extern "C" __global__ void beyond(int *o, int n) {
    __shared__ int s[8];
    s[threadIdx.x] = 1;
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x + n];
}
extern "C" __global__ void beyond_dynamic(int *o, int n) {
    extern __shared__ int s[];
    s[threadIdx.x] = 1;
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x + n];
}
extern "C" __global__ void no_barrier(int *o, int) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 5;
    o[threadIdx.x] = s;
}
"""
PROGRAM = """
import sys
import numpy as np
import PyGPU
o = PyGPU.zeros(8, np.int32)
kernel = PyGPU.Kernel(open(sys.argv[1]).read(), sys.argv[2], options=sys.argv[4:])
if sys.argv[2] == "says":
    kernel[1, 3](np.int32(3))
else:
    kernel[1, 8, None, 32](o, np.int32(int(sys.argv[3])))
    print(o.get().tolist(), flush=True)
"""


def run(
    folder: Path, name: str, argument: int = 0, *options: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    source = folder / "source.cu"
    source.write_text(SOURCE)
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(source), name, str(argument), *options],
        env={**os.environ, "PYGPU_BACKEND": "cpu", "PYGPU_CACHE_DIR": str(folder / "cache"), **environment},
        capture_output=True,
        text=True,
        timeout=100,
    )


def sanitizer() -> str:
    compiler = shutil.which("c++")
    if compiler is None or os.environ.get("CXX") or os.environ.get("PYGPU_CXX"):
        pytest.skip("whose sanitizer to load is known of c++ only")
    answer = subprocess.run([compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    library = answer.stdout.strip()
    if not Path(library).is_absolute():
        pytest.skip("the compiler has no sanitizer of addresses")
    return library


def test_device_printf_goes_to_stdout(tmp_path: Path) -> None:
    done = run(tmp_path, "says")
    assert done.stdout.splitlines() == ["thread 0 of 3", "thread 1 of 3", "thread 2 of 3"], done.stderr


def test_error_for_missing_compiler_lists_searched_compilers(tmp_path: Path) -> None:
    done = run(tmp_path, "says", 0, PATH=str(tmp_path), CXX="no-such-compiler", PYGPU_CXX="")
    assert done.returncode != 0
    last = done.stderr[done.stderr.index("kernels on the cpu backend") :]
    for part in [
        "CXX=no-such-compiler: not on PATH",
        "c++: not on PATH",
        "g++: not on PATH",
        "clang++: not on PATH",
        "PYGPU_CXX",
    ]:
        assert part in last


def test_missing_explicitly_named_compiler_is_not_replaced_by_another(tmp_path: Path) -> None:
    done = run(tmp_path, "says", PYGPU_CXX=str(tmp_path / "none"))
    assert done.returncode != 0
    assert (
        f"PYGPU_CXX={tmp_path / 'none'} is to compile the kernels of the cpu backend, and cannot be used" in done.stderr
    )
    assert done.stderr.endswith("there is no such file\n")


@pytest.mark.parametrize("order", ["random", "shuffled:x", "reversed:2"])
def test_process_rejects_unknown_thread_order(order: str, tmp_path: Path) -> None:
    done = run(tmp_path, "no_barrier", PYGPU_CPU_ORDER=order)
    assert done.returncode != 0
    assert f"PYGPU_CPU_ORDER is '{order}'; the orders are 'reversed', 'shuffled' and" in done.stderr


def test_missing_barrier_changes_result_in_reversed_thread_order(tmp_path: Path) -> None:
    assert run(tmp_path, "no_barrier").stdout == f"{[5] * 8}\n"
    assert run(tmp_path, "no_barrier", PYGPU_CPU_ORDER="reversed").stdout != f"{[5] * 8}\n"


@pytest.mark.parametrize("name", ["beyond", "beyond_dynamic"])
def test_sanitizer_detects_shared_memory_overrun(tmp_path: Path, name: str) -> None:
    environment = {"LD_PRELOAD": sanitizer(), "ASAN_OPTIONS": "detect_leaks=0"}
    options = ["-fsanitize=address", "-g"]
    right = run(tmp_path, name, 0, *options, **environment)
    assert right.stdout == f"{[1] * 8}\n", right.stderr
    wrong = run(tmp_path, name, 1, *options, **environment)
    assert wrong.returncode != 0
    assert "AddressSanitizer" in wrong.stderr
    assert "READ" in wrong.stderr


def test_process_without_ld_preload_rejects_sanitized_kernel(tmp_path: Path) -> None:
    sanitizer()
    done = run(tmp_path, "beyond", 0, "-fsanitize=address", LD_PRELOAD="")
    assert "LD_PRELOAD=" in done.stderr
    assert "Error" in done.stderr


def test_dynamic_shared_memory_ends_at_guard_page(tmp_path: Path) -> None:
    done = run(tmp_path, "beyond_dynamic", 1)
    assert done.returncode == 1, done.stdout
    assert "it reads or writes beyond the dynamic shared memory, of which the launch gave 32 bytes" in done.stderr
