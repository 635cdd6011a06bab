"""Arrays in a ring of processes
=============================

Arrays of several MPI processes, each on a separate device: passed around a ring, and summed over all.

    mpiexec -n 2 python -m mpi4py examples/mpi_device.py [--device-pointers] [--elements N]

Needs mpi4py. With `--device-pointers` MPI receives the arrays themselves, which requires a CUDA-aware MPI.
Without it, they pass through two pinned buffers alternately, so that one is copied while MPI uses the other.
`-m mpi4py` ends all processes when one of them fails; otherwise the others would wait for it.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable

import numpy as np

try:
    from mpi4py import MPI
except ImportError:
    raise SystemExit("processes talk by mpi4py, which is not installed: pip install mpi4py") from None

import PyGPU

CHUNK = 16 << 20


def choose_device(world: MPI.Comm) -> PyGPU.Device:
    """Return this process's device, by its rank among the processes of the machine."""
    number = world.Split_type(MPI.COMM_TYPE_SHARED).rank
    count = PyGPU.device_count()
    if number >= count:
        raise RuntimeError(
            f"process {world.rank} is number {number} on {MPI.Get_processor_name()}, which shows {count} devices: "
            f"start {count} processes there, or show it more devices (CUDA_VISIBLE_DEVICES)"
        )
    PyGPU.set_default_device(number)
    return PyGPU.Device(number)


def bytes_in_chunks(array: PyGPU.GPUArray) -> list[PyGPU.GPUArray]:
    """Return the parts of a dense array that fit into a buffer."""
    flat = array.reshape(-1)
    step = CHUNK // array.dtype.itemsize
    return [flat[start : start + step] for start in range(0, flat.size, step)]


def buffers(array: PyGPU.GPUArray) -> list[np.ndarray]:
    """Return two pinned buffers for chunks of an array."""
    size = min(array.size, CHUNK // array.dtype.itemsize)
    return [PyGPU.empty_pinned(size, array.dtype) for _ in range(2)]


def send(world: MPI.Comm, array: PyGPU.GPUArray, to: int) -> None:
    """Send a dense array through pinned buffers."""
    slots, requests = buffers(array), [MPI.REQUEST_NULL, MPI.REQUEST_NULL]
    for i, part in enumerate(bytes_in_chunks(array)):
        requests[i % 2].Wait()  # the buffer is free; MPI may still use the other
        slot = slots[i % 2][: part.size]
        part.get(slot)
        requests[i % 2] = world.Isend(slot, to)
    MPI.Request.Waitall(requests)


def fill(array: PyGPU.GPUArray, begin: Callable[[PyGPU.GPUArray, np.ndarray], MPI.Request]) -> None:
    """Fill a dense array from pinned buffers: ``begin(part, buffer)`` requests a chunk."""
    slots, under_way = buffers(array), deque()

    def land() -> None:
        request, part, slot = under_way.popleft()
        request.Wait()
        part.set(slot)

    for i, part in enumerate(bytes_in_chunks(array)):
        if len(under_way) == 2:
            land()
        slot = slots[i % 2][: part.size]
        under_way.append((begin(part, slot), part, slot))
    while under_way:
        land()


def receive(world: MPI.Comm, array: PyGPU.GPUArray, source: int) -> None:
    """Receive a dense array through pinned buffers."""
    fill(array, lambda part, slot: world.Irecv(slot, source))


def allreduce(world: MPI.Comm, array: PyGPU.GPUArray) -> None:
    """Sum a dense array over all processes, in place, through pinned buffers."""

    def begin(part: PyGPU.GPUArray, slot: np.ndarray) -> MPI.Request:
        part.get(slot)
        return world.Iallreduce(MPI.IN_PLACE, slot)

    fill(array, begin)


def ring_by_buffers(world: MPI.Comm, mine: PyGPU.GPUArray, theirs: PyGPU.GPUArray) -> None:
    """Send to the next process and receive from the previous one; the first receives last, to avoid a deadlock."""
    after, before = (world.rank + 1) % world.size, (world.rank - 1) % world.size
    if world.size == 1:
        theirs[...] = mine
    elif world.rank == 0:
        send(world, mine, after)
        receive(world, theirs, before)
    else:
        receive(world, theirs, before)
        send(world, mine, after)


def main(elements: int = 1 << 20, device_pointers: bool = False) -> None:
    """Pass arrays around and sum them, and compare the values with the expected ones."""
    world = MPI.COMM_WORLD
    device = choose_device(world)
    mine = PyGPU.full(elements, world.rank + 1.0, np.float32)
    theirs = PyGPU.empty_like(mine)
    if device_pointers:
        PyGPU.synchronize(device)  # MPI does not follow the order of streams, so the host waits.
        after, before = (world.rank + 1) % world.size, (world.rank - 1) % world.size
        world.Sendrecv(mine, dest=after, recvbuf=theirs, source=before)
        world.Allreduce(MPI.IN_PLACE, mine)
    else:
        ring_by_buffers(world, mine, theirs)
        allreduce(world, mine)
    assert (theirs.get() == (world.rank - 1) % world.size + 1).all()
    assert (mine.get() == world.size * (world.size + 1) / 2).all()
    devices = world.gather(f"{device}", root=0)
    if world.rank == 0:
        print(f"{world.size} processes on {', '.join(devices)}: passed and summed {elements} elements")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device-pointers", action="store_true")
    parser.add_argument("--elements", type=int, default=1 << 20)
    arguments = parser.parse_args()
    main(arguments.elements, arguments.device_pointers)
