"""Test PyGPU in unusual processes: a limited address space, a spawned child, and no home folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.enough_on("cpu")


def outcome(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program on the CPU backend in a new process."""
    environment = {**os.environ, "PYGPU_BACKEND": "cpu", **variables}
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_array_beyond_address_space_raises_and_process_continues() -> None:
    # Set the limit of `ulimit -v` after the import of PyGPU, because the address space that the import needs depends on
    # NumPy's threads.
    done = outcome(
        "import resource, PyGPU\n"
        "a = PyGPU.ones(10)\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (256 << 20), resource.RLIM_INFINITY))\n"
        "try:\n"
        "    PyGPU.empty(1 << 30, 'u1')\n"
        "except PyGPU.OutOfMemoryError as error:\n"
        "    print('1073741824' in str(error) or '1.0' in str(error), a.sum().item())\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True 10.0\n", "")


def test_spawned_child_receives_and_returns_arrays(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import multiprocessing, PyGPU\n"
        "def double(a):\n"
        "    return a * 2\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.apply(double, (PyGPU.arange(3),)).tolist())\n"
    )
    done = subprocess.run(
        [sys.executable, program], env=os.environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[0, 2, 4]\n", "")


def test_process_without_home_and_cache_folder_can_use_arrays() -> None:
    program = "import PyGPU; print(PyGPU.arange(3).sum().item())"
    done = outcome(program, HOME="/nonexistent", XDG_CACHE_HOME="", PYGPU_CACHE_DIR="")
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")
