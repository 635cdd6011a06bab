"""Test mpi4py: address and size of arrays as message buffers, and messages within one process and between two.

Only MPI libraries with CUDA support can send device memory; others may crash. The tests therefore send messages in
separate processes. If a message of a PyGPU array fails, the test sends a CuPy array: if this message fails too, the
cause is MPI.
"""

from __future__ import annotations

import importlib.util
import subprocess
import textwrap

import numpy
import pytest

import PyGPU
import simulated_driver
from gpu import support
from gpu.support import values
from processes import mpi

support.require_peers()
pytest.importorskip("mpi4py")
try:
    from mpi4py import MPI
except (ImportError, RuntimeError) as error:
    pytest.skip(f"mpi4py finds no MPI library: {error}", allow_module_level=True)

pytestmark = pytest.mark.starts_processes

SEND_TO_SELF = """
    import numpy
    from mpi4py import MPI
    {imports}
    communicator = MPI.COMM_SELF
    host = numpy.arange(1000, dtype=numpy.float32)
    source, target = {make}(host), {make}(numpy.zeros_like(host))
    {synchronize}
    communicator.Sendrecv(source, dest=0, recvbuf=target, source=0)
    assert (target.get() == host).all()
    print("sent")
"""
PYGPU = {"imports": "import PyGPU", "make": "PyGPU.to_gpu", "synchronize": "PyGPU.synchronize()"}
CUPY = {"imports": "import cupy", "make": "cupy.asarray", "synchronize": "cupy.cuda.Stream.null.synchronize()"}

SEND_TO_OTHER = """
    import numpy, PyGPU
    from mpi4py import MPI
    communicator = MPI.COMM_WORLD
    rank = communicator.Get_rank()
    assert communicator.Get_size() == 2
    host = numpy.arange(100_000, dtype=numpy.float64)
    pinned = PyGPU.empty_pinned(host.shape, host.dtype)
    if rank == 0:
        PyGPU.to_gpu(host).get(pinned)
        communicator.Send(pinned, dest=1, tag=1)
        if {device}:
            array = PyGPU.to_gpu(host)
            PyGPU.synchronize()
            communicator.Send(array, dest=1, tag=2)
    else:
        communicator.Recv(pinned, source=0, tag=1)
        assert (PyGPU.to_gpu(pinned).get() == host).all()
        if {device}:
            array = PyGPU.zeros(host.shape, host.dtype)
            PyGPU.synchronize()
            communicator.Recv(array, source=0, tag=2)
            assert (array.get() == host).all()
        print("received")
    communicator.Barrier()
"""


def mpi_reads_device_memory() -> str | None:
    """Return the reason why the MPI library cannot read device memory, or None."""
    if simulated_driver.driver() is not None:
        return "no MPI library reads the memory of a simulated GPU"
    if importlib.util.find_spec("cupy") is None:
        return None
    result = support.run_script(SEND_TO_SELF.format(**CUPY))
    if result.returncode == 0:
        return None
    last = (result.stderr.strip().splitlines() or ["no message"])[-1]
    return f"{MPI.Get_library_version().splitlines()[0]} cannot send CuPy's memory either ({result.returncode}: {last})"


def test_mpi_buffer_of_array_has_its_address_and_size() -> None:
    buffer = getattr(MPI, "buffer", None) or MPI.memory
    array = PyGPU.to_gpu(values())
    seen = buffer(array)
    assert seen.address == array.ptr
    assert seen.nbytes == array.nbytes
    assert not seen.readonly
    inner = buffer(array[2:4])
    assert inner.address == array[2:4].ptr
    assert inner.nbytes == 2 * array.strides[0]


def test_mpi_buffer_of_view_with_gaps_raises() -> None:
    buffer = getattr(MPI, "buffer", None) or MPI.memory
    array = PyGPU.to_gpu(values())
    for view in (array[:, ::2], array[::-1]):
        with pytest.raises((BufferError, ValueError)):
            buffer(view)


def test_mpi_message_of_pinned_memory_to_same_process_arrives() -> None:
    source, target = PyGPU.empty_pinned(1000, "float32"), PyGPU.empty_pinned(1000, "float32")
    source[:] = numpy.arange(1000)
    target[:] = 0
    MPI.COMM_SELF.Sendrecv(source, dest=0, recvbuf=target, source=0)
    assert (target == source).all()


def test_mpi_message_of_device_memory_to_same_process_arrives() -> None:
    result = support.run_script(SEND_TO_SELF.format(**PYGPU))
    if result.returncode != 0 and (reason := mpi_reads_device_memory()):
        pytest.skip(reason)
    assert support.ended_well(result) == "sent"


def test_mpi_messages_between_two_processes_arrive() -> None:
    device = mpi_reads_device_memory() is None
    script = textwrap.dedent(SEND_TO_OTHER.format(device=device))
    # `mpi.run` removes the variables that MPI has added to the environment of this process.
    try:
        result = mpi.run(2, "-m", "mpi4py", "-c", script)
    except subprocess.TimeoutExpired as error:
        pytest.fail(f"the processes did not end: {error.stdout!r} {error.stderr!r}")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "received" in result.stdout
    if not device:
        pytest.skip("host memory was exchanged; this MPI does not read device memory")
