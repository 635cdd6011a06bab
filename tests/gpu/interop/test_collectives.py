"""Test programs of two processes with one GPU each: torch.distributed, nccl4py, MPI, and shared device memory."""

from __future__ import annotations

import importlib.util
import os
import pickle
from pathlib import Path

import pytest

import PyGPU
from gpu import support
from processes import mpi, process_group

support.require_peers()
if PyGPU.device_count() < 2:
    pytest.skip("needs two devices", allow_module_level=True)

# The numbers of two devices for CUDA_VISIBLE_DEVICES, which may already select the devices of this process.
DEVICES = os.environ.get("CUDA_VISIBLE_DEVICES", "0,1").split(",")[:2]
pytestmark = pytest.mark.starts_processes
ROOT = Path(__file__).parents[3]


def require(*modules: str) -> None:
    for module in modules:
        if importlib.util.find_spec(module.partition(".")[0]) is None:
            pytest.skip(f"needs {module}")


@pytest.mark.parametrize("device_order", [",".join(DEVICES), ",".join(reversed(DEVICES))], ids=["same", "reversed"])
def test_torch_all_reduce_sums_in_memory_of_pygpu_arrays(device_order: str) -> None:
    require("torch")
    process_group.run(
        """
        import os, torch, torch.distributed as dist, PyGPU
        rank = int(os.environ["RANK"])
        torch.cuda.set_device(rank)
        PyGPU.set_default_device(rank)
        dist.init_process_group("nccl")
        double = PyGPU.Kernel("__global__ void twice(float *x, int n)"
            "{ for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] *= 2; }")
        a = PyGPU.zeros(1 << 24, "float32")
        t = torch.from_dlpack(a)
        assert t.data_ptr() == a.ptr and t.device.index == rank
        for turn in range(20):
            a.fill(rank + 1.0)
            double[64, 256](a, a.size)  # before, on PyGPU's stream
            dist.all_reduce(t)
            double[64, 256](a, a.size)  # and behind
            assert (a.get() == 12).all(), turn
        other = PyGPU.Stream()
        with other:
            a.fill(rank + 1.0)
            dist.all_reduce(torch.from_dlpack(a))
            a.record_stream(PyGPU.Stream.from_handle(torch.cuda.current_stream().cuda_stream))
            double[64, 256](a, a.size)
            assert (a.get() == 6).all()
        dist.destroy_process_group()
        """,
        CUDA_VISIBLE_DEVICES=device_order,
    )


def test_nccl4py_all_reduce_runs_on_pygpu_streams() -> None:
    require("nccl", "cuda")
    process_group.run("""
        import os, pathlib, pickle, tempfile, time, PyGPU
        import nccl.core as nccl
        rank, port = int(os.environ["RANK"]), os.environ["MASTER_PORT"]
        PyGPU.set_default_device(rank)
        # The name goes by a file: no MPI is needed for it.
        file = pathlib.Path(tempfile.gettempdir(), f"nccl-name-{port}")
        if rank == 0:
            name = nccl.get_unique_id()
            file.with_suffix(".new").write_bytes(pickle.dumps(name))
            file.with_suffix(".new").rename(file)
        else:
            while not file.exists():
                time.sleep(0.01)
            name = pickle.loads(file.read_bytes())
        comm = nccl.Communicator.init(2, rank, name)
        file.unlink(missing_ok=True)
        for stream in (PyGPU.default_stream(), PyGPU.Stream()):
            with stream:
                a = PyGPU.full(1 << 22, rank + 1.0, "float32")
                comm.allreduce(a, a, nccl.SUM, stream=stream)
                a.record_stream(stream)
                assert (a.get() == 3).all()
                # Strides are not looked at: dense copies go.
                wide = PyGPU.full((1000, 8), rank + 1.0, "float32")
                dense = wide[:, ::2].copy("C")
                comm.allreduce(dense, dense, nccl.SUM, stream=stream)
                dense.record_stream(stream)
                wide[:, ::2] = dense
                assert (wide[:, ::2].get() == 3).all() and (wide[:, 1::2].get() == rank + 1).all()
    """)


@pytest.mark.parametrize("way", ["", "--device-pointers"], ids=["buffers", "pointers"])
def test_mpi_device_example_runs_in_two_processes(way: str) -> None:
    require("mpi4py")
    if way and not os.environ.get("PYGPU_TEST_CUDA_AWARE_MPI"):
        pytest.skip("needs an MPI that reads device memory (PYGPU_TEST_CUDA_AWARE_MPI=1 says there is one)")
    program = [str(ROOT / "examples" / "mpi_device.py"), "--elements", "9000001", *way.split()]
    done = mpi.run(2, "-m", "mpi4py", *program)
    assert done.returncode == 0, done.stderr
    assert "2 processes on" in done.stdout


@pytest.mark.parametrize("device", [0, 1])
def test_shared_array_opens_in_process_that_numbers_devices_differently(device: int) -> None:
    if support.is_simulated():
        pytest.skip("a simulated driver shows all its devices")
    array = PyGPU.full((1000, 10), 2.0, "float32", device=device, shared=True)
    handle = pickle.dumps(array[:, ::2].share()).hex()
    process_group.run(
        f"""
        import pickle, PyGPU
        handle = pickle.loads(bytes.fromhex("{handle}"))
        b, c = PyGPU.open_shared(handle), PyGPU.open_shared(handle)
        assert b.ptr == c.ptr and b.device.index == {1 - device}
        assert (b.get() == 2).all()
        b += 1
        other = b.copy(device={device})  # on to the other GPU, out of memory of another process
        assert other.device.index == {device} and (other.get() == 3).all()
        del b, c
        d = PyGPU.open_shared(handle)  # closed, and opened again
        assert (d.get() == 3).all()
        """,
        processes=1,
        CUDA_VISIBLE_DEVICES=",".join(reversed(DEVICES)),
    )
    assert (array[:, ::2].get() == 3).all()
    assert (array[:, 1::2].get() == 2).all()
    with pytest.raises(AssertionError, match="does not see"):
        process_group.run(
            f"""
            import pickle, PyGPU
            PyGPU.open_shared(pickle.loads(bytes.fromhex("{handle}")))
            """,
            processes=1,
            CUDA_VISIBLE_DEVICES=DEVICES[1 - device],
        )


def test_shared_memory_handle_of_ended_process_is_rejected() -> None:
    said = process_group.run(
        """
        import pickle, PyGPU
        print(pickle.dumps(PyGPU.zeros(1000, shared=True).share()).hex())
        """,
        processes=1,
    )
    with pytest.raises(RuntimeError, match="has ended"):
        PyGPU.open_shared(pickle.loads(bytes.fromhex(said[0].split()[-1])))
