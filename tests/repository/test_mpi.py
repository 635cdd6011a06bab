"""Programs for MPI: four processes with a device each, of the CPU under four numbers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import PyGPU

pytest.importorskip("mpi4py")
MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", ""))))
pytestmark = [
    pytest.mark.skipif(MPIEXEC is None, reason="needs mpiexec"),
    pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="tests/gpu/peers has MPI on GPUs"),
    pytest.mark.enough_on("cpu"),
    pytest.mark.starts_processes,
]
EXAMPLES = Path(__file__).parents[2] / "examples"


def mpi(processes: int, *program: str, devices: int = 4) -> subprocess.CompletedProcess[str]:
    """Run a program in so many processes."""
    environment = os.environ | {"PYGPU_CPU_DEVICES": str(devices), "PYGPU_BACKEND": "cpu"}
    command = [str(MPIEXEC), "-n", str(processes), sys.executable, *program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_four_processes_scatter_compute_and_gather() -> None:
    done = mpi(4, str(EXAMPLES / "mpi_scatter.py"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "4 processes scaled 262144 elements each\n"


@pytest.mark.parametrize("way", [[], ["--device-pointers"]], ids=["buffers", "pointers"])
def test_four_processes_pass_arrays_around_and_sum_them(way: list[str]) -> None:
    # More than two chunks, the last of them short.
    done = mpi(4, str(EXAMPLES / "mpi_device.py"), "--elements", "9000001", *way)
    assert done.returncode == 0, done.stderr
    assert "4 processes on cpu:0, cpu:1, cpu:2, cpu:3: passed and summed 9000001" in done.stdout


def test_a_process_without_a_device_says_so_and_ends_the_others() -> None:
    done = mpi(3, "-m", "mpi4py", str(EXAMPLES / "mpi_device.py"), devices=2)
    assert done.returncode != 0
    assert "process 2 is number 2 on" in done.stderr
    assert "which shows 2 devices: start 2 processes there" in done.stderr


def test_the_seeds_program_runs_with_gpuarrays_of_four_processes() -> None:
    """Its calls with small letters, which pickle, and those with capital letters, which take arrays as they are."""
    done = mpi(
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
