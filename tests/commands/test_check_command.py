"""Test `python -m PyGPU check program.py`: it reports defects of kernels, and nothing for correct kernels."""

import subprocess
import sys
from pathlib import Path

import pytest

from PyGPU._cli import check as checking

pytestmark = [pytest.mark.enough_on("cpu"), pytest.mark.starts_processes]

PROGRAM = r"""
import sys, time
import numpy as np
import PyGPU
module = PyGPU.Module('''
extern "C" __global__ void right(int *o) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 5;
    __syncthreads();
    o[threadIdx.x] = s;
}
extern "C" __global__ void without_a_barrier(int *o) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 5;
    o[threadIdx.x] = s;
}
extern "C" __global__ void beyond(int *o) {
    int i = threadIdx.x;
    o[i] = 1;
}
extern "C" __global__ void null(int *o) {
    o[threadIdx.x] = 1;
}
''')
out = PyGPU.zeros(32, np.int32)
print(time.time_ns())
for name in sys.argv[1:]:
    module.get_function(name)[1, 33 if name == "beyond" else 32](0 if name == "null" else out)
    print(name, out.get().sum())
"""


SILENT = r"""
import numpy as np
import PyGPU
module = PyGPU.Module('''
extern "C" __global__ void last(int *o) { *o = threadIdx.x; }
extern "C" __global__ void sums(float *o, const float *x) { atomicAdd(o, x[threadIdx.x]); }
''')

def main():
    winner, total = PyGPU.zeros(2, np.int32)[1:], PyGPU.zeros(1, np.float32)
    noise = np.random.default_rng().random(5)
    module.get_function("sums")[1, 32](total, PyGPU.to_gpu(np.arange(32, dtype=np.float32) / 7))
    module.get_function("last")[1, 32](winner)

main()
"""


def check(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = folder / "program.py"
    program.write_text(SILENT if arguments[-1] == "silent" else PROGRAM)
    command = [sys.executable, "-m", "PyGPU", "check", "--shuffles", "1", *arguments[:-1], str(program), arguments[-1]]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=110)


def test_check_command_reports_nothing_for_correct_program(tmp_path: Path) -> None:
    done = check(tmp_path, "right")
    assert (done.returncode, done.stdout[:13]) == (0, "nothing found"), done.stdout + done.stderr


def test_check_command_reports_output_that_depends_on_thread_order(tmp_path: Path) -> None:
    done = check(tmp_path, "--no-sanitizer", "without_a_barrier")
    assert done.returncode == 1
    assert "1. the result depends on the order in which blocks and threads run" in done.stdout
    assert "and as it is\n      without_a_barrier 160" in done.stdout
    assert "[reversed, shuffled:1]" in done.stdout


def test_check_command_reports_array_that_depends_on_thread_order(tmp_path: Path) -> None:
    done = check(tmp_path, "--no-sanitizer", "silent")
    assert done.returncode == 1
    found = (
        "(a missing barrier, or a race): the array winner of main() holds at [0]\n      0\n    and as it is\n      31\n"
    )
    assert found in done.stdout, done.stdout + done.stderr
    assert "total" not in done.stdout  # Results that differ only by rounding are not reported.
    assert "noise" not in done.stdout


def test_check_command_reports_source_line_of_write_beyond_array(tmp_path: Path) -> None:
    if checking.sanitizer() is None:
        pytest.skip("the compiler has no sanitizer of addresses")
    done = check(tmp_path, "beyond")
    assert done.returncode == 1
    assert "wrote beyond the end of the 128 bytes of argument 1" in done.stdout
    assert "0 bytes behind the end of an array of 128 bytes, in beyond at kernel.cu:15\n      o[i] = 1;" in done.stdout


def test_check_command_reports_null_pointer_write_once_with_its_line(tmp_path: Path) -> None:
    done = check(tmp_path, "--no-sanitizer", "null")
    assert done.returncode == 1
    assert "kernel null, block (0,0,0), thread (" in done.stdout
    assert "at kernel.cu:18\n      o[threadIdx.x] = 1;\n      (exit status 1)" in done.stdout
    assert "\n2. " not in done.stdout


def test_check_command_reports_missing_program() -> None:
    command = [sys.executable, "-m", "PyGPU", "check", "no_such_program.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=110)
    assert done.returncode == 2
    assert "there is no file 'no_such_program.py'" in done.stderr


def test_last_message_has_all_lines_of_last_error_in_program_output() -> None:
    errors = [
        "Traceback (most recent call last):",
        '  File "program.py", line 1, in <module>',
        "    f[1, 8](x)",
        "PyGPU.BackendUnavailableError: none was found; looked for:",
        "  c++: not on PATH",
    ]
    message = "PyGPU.BackendUnavailableError: none was found; looked for:\n      c++: not on PATH"
    assert checking.last_message(errors) == message
    assert checking.last_message(["a program that ends itself", ""]) == "a program that ends itself"


def test_last_message_omits_hint_to_run_check_command() -> None:
    errors = [
        "Traceback (most recent call last):",
        "  File",
        "CudaError: beyond; python -m PyGPU check shows the line]",
    ]
    assert checking.last_message(errors) == "CudaError: beyond]"
