"""Test MPI programs in four processes with one device each: each process uses the CPU, under its own device number."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import PyGPU
from processes import mpi

pytest.importorskip("mpi4py")
pytestmark = [
    pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="tests/gpu/interop has MPI on GPUs"),
    pytest.mark.enough_on("cpu"),
    pytest.mark.starts_processes,
]
ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def run(processes: int, *program: str, devices: int = 4) -> subprocess.CompletedProcess[str]:
    """Run a program in the given number of processes."""
    return mpi.run(processes, *program, PYGPU_CPU_DEVICES=str(devices), PYGPU_BACKEND="cpu")


def test_four_mpi_processes_scatter_compute_and_gather() -> None:
    done = run(4, str(EXAMPLES / "mpi_scatter.py"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "4 processes scaled 262144 elements each\n"


@pytest.mark.parametrize("way", [[], ["--device-pointers"]], ids=["buffers", "pointers"])
def test_four_mpi_processes_pass_and_sum_arrays(way: list[str]) -> None:
    # The array needs more than two chunks of an MPI message, and the last chunk is shorter.
    done = run(4, str(EXAMPLES / "mpi_device.py"), "--elements", "9000001", *way)
    assert done.returncode == 0, done.stderr
    assert "4 processes on cpu:0, cpu:1, cpu:2, cpu:3: passed and summed 9000001" in done.stdout


def test_mpi_program_ends_with_message_if_process_has_no_device() -> None:
    done = run(3, "-m", "mpi4py", str(EXAMPLES / "mpi_device.py"), devices=2)
    assert done.returncode != 0
    assert "process 2 is number 2 on" in done.stderr
    assert "which shows 2 devices: start 2 processes there" in done.stderr


def test_mpi4py_program_exchanges_gpuarrays_of_four_processes() -> None:
    """Test mpi4py's lower-case calls, which pickle arrays, and its upper-case calls, which transfer memory directly."""
    done = run(
        4,
        "-c",
        """if True:
        from mpi4py import MPI
        import PyGPU.driver as cuda
        cuda.init()
        from PyGPU import gpuarray
        import numpy as np
        comm = MPI.COMM_WORLD
        current_dev = cuda.Device(comm.rank)
        ctx = current_dev.make_context()
        x = np.arange(400, dtype=np.float32).reshape(4, 100)
        x_gpu_part = gpuarray.to_gpu(comm.scatter(x if comm.rank == 0 else [], 0))
        x_gpu_part = 0.5 * x_gpu_part
        assert x_gpu_part.device.index == comm.rank
        parts = comm.gather(x_gpu_part, 0)  # arrays, on the devices of their processes
        part = gpuarray.empty(100, np.float32)
        comm.Scatter(gpuarray.to_gpu(x) if comm.rank == 0 else None, part, root=0)
        total = gpuarray.empty_like(part)
        comm.Allreduce(part, total)
        np.testing.assert_array_equal(total.get(), x.sum(axis=0))
        if comm.rank == 0:
            assert [each.device.index for each in parts] == [0, 1, 2, 3]
            np.testing.assert_array_equal(np.stack([each.get() for each in parts]), 0.5 * x)
        ctx.pop()
        """,
    )
    assert done.returncode == 0, done.stderr


def test_program_of_mpi_page_sums_over_three_processes() -> None:
    page = (ROOT / "docs" / "howto" / "collectives.md").read_text()
    (program,) = re.findall(r"```python\n(import PyGPU\n(?:(?!```).)*?Iallreduce.*?)```", page, re.DOTALL)
    done = run(3, "-m", "mpi4py", "-c", program + "if MPI.COMM_WORLD.rank == 0: print(int(a[0]))")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "6\n"


def test_failing_mpi_process_ends_waiting_processes() -> None:
    program = """if True:
        from mpi4py import MPI
        import PyGPU
        a = PyGPU.ones(1000)
        if MPI.COMM_WORLD.rank == 1:
            raise RuntimeError("this one has no more to say")
        MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, a)
    """
    done = run(3, "-m", "mpi4py", "-c", program)
    assert done.returncode != 0
    assert "this one has no more to say" in done.stderr


def test_selected_mpi_launcher_belongs_to_mpi_library_of_mpi4py(tmp_path: Path) -> None:
    own = mpi.launcher()
    for name, says in {"mpiexec": "mpirun (Open MPI) 4.1.6", "mpirun": "HYDRA build details:"}.items():
        if mpi.kind_of(says) == mpi.library():
            continue
        other = tmp_path / name
        other.write_text(f"#!/bin/sh\necho '{says}'\n")
        other.chmod(0o755)
    assert mpi.launcher(f"{tmp_path}:{Path(own).parent}") == own
    with pytest.raises(pytest.skip.Exception, match=rf"needs mpiexec of {mpi.library()}, .*there are {tmp_path}"):
        mpi.launcher(str(tmp_path))


def test_killed_mpi_process_ends_all_processes() -> None:
    program = """if True:
        import os, signal
        from mpi4py import MPI
        import PyGPU
        a = PyGPU.ones(1000)
        MPI.COMM_WORLD.Barrier()
        if MPI.COMM_WORLD.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, a)
    """
    assert run(3, "-c", program).returncode != 0
