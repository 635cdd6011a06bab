"""Test copies between two devices: arrays of any layout and kind of memory are copied in stream order."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU import driver

pytestmark = [
    pytest.mark.enough_on("cuda", "hip"),
    pytest.mark.skipif(PyGPU.backend_name() == "cpu" or PyGPU.device_count() < 2, reason="needs two GPUs"),
]

SHAPE = (6, 10, 8)
Take = Callable[[Any], Any]


def random_view(chance: random.Random) -> Take:
    """Return a function that returns a view of an array of shape `SHAPE`. The kind of view is chosen at random."""
    keys, kept = [], 0
    for length in SHAPE:
        if chance.random() < 0.2 and len(keys) - kept < len(SHAPE) - 1:
            keys.append(chance.randrange(length))
            continue
        kept += 1
        step = chance.choice([1, 1, 2, 3, -1, -2])
        keys.append(slice(None, None, step) if chance.random() < 0.7 else slice(chance.randrange(length // 2), None))
    order = chance.sample(range(kept), kept)
    return lambda a: a[tuple(keys)].transpose(order)


def memory_of_pool(shape: tuple[int, ...], device: int) -> Any:
    return PyGPU.zeros(shape, "f4", device=device)


def shared_memory(shape: tuple[int, ...], device: int) -> Any:
    return PyGPU.zeros(shape, "f4", device=device, shared=True)


def memory_of_allocator(shape: tuple[int, ...], device: int) -> Any:
    with PyGPU.Device(device):
        array = PyGPU.empty(shape, "f4", allocator=driver.mem_alloc)
    return array.fill(0)


def imported_memory(shape: tuple[int, ...], device: int) -> Any:
    return PyGPU.from_dlpack(PyGPU.zeros(shape, "f4", device=device))


MEMORIES = [memory_of_pool, shared_memory, memory_of_allocator, imported_memory]


def test_peer_copies_of_random_layouts_and_memory_kinds_match_numpy() -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    host = np.arange(np.prod(SHAPE), dtype="f4").reshape(SHAPE)
    for _ in range(60):
        take = random_view(chance)
        source = take(host)
        there, here = chance.sample([0, 1], 2)
        base = chance.choice(MEMORIES)(SHAPE, there)
        base.set(host)
        # The target is a view into a larger array: it has the shape of the source, but another axis order in memory.
        order = chance.sample(range(source.ndim), source.ndim)
        back = np.argsort(order)
        around = tuple(source.shape[axis] + 2 for axis in order)
        larger = chance.choice(MEMORIES)(around, here)
        inner = tuple(slice(1, -1) for _ in order)
        target = larger[inner].transpose(back)[:: chance.choice([1, -1])]
        expected = np.zeros(around, "f4")
        place = expected[inner].transpose(back)
        (place if target.strides[0] == place.strides[0] else place[::-1])[...] = source
        with PyGPU.Stream(device=chance.choice([0, 1])):
            target[...] = take(base)
        np.testing.assert_array_equal(larger.get(), expected, err_msg=f"seed {seed}")
        np.testing.assert_array_equal(take(base).copy(device=here).get(), source, err_msg=f"seed {seed}")


@pytest.mark.parametrize("take", [lambda a: a, lambda a: a.T, lambda a: a[:, ::2]], ids=["whole", "turned", "columns"])
@pytest.mark.parametrize("asked_on", [0, 1])
def test_peer_copy_waits_for_earlier_work_of_its_stream(take: Take, asked_on: int) -> None:
    go_on = threading.Event()
    source = take(PyGPU.to_gpu(np.arange(64, dtype="f4").reshape(8, 8), device=0))
    target = PyGPU.zeros(source.shape, "f4", device=1)
    PyGPU.synchronize(0)
    PyGPU.synchronize(1)
    streams = [PyGPU.Stream(device=0), PyGPU.Stream(device=1)]
    streams[asked_on].launch_host_function(go_on.wait, 60)  # Block the stream of the copy until `go_on.set()`.
    try:
        with streams[1 - asked_on], streams[asked_on]:
            target[...] = source
        is_early = [stream.query() for stream in streams]
    finally:
        go_on.set()
    assert is_early[1] is False
    assert target.tolist() == source.tolist()


def test_write_to_source_after_peer_copy_does_not_change_copy() -> None:
    for take in (lambda a: a, lambda a: a.T, lambda a: a[::2, ::-1]):
        base = PyGPU.to_gpu(np.arange(64, dtype="f4").reshape(8, 8), device=0)
        with PyGPU.Stream(device=1):
            there = take(base).copy(device=1)
            with PyGPU.Stream(device=0):
                base.fill(-1)
        np.testing.assert_array_equal(there.get(), take(np.arange(64, dtype="f4").reshape(8, 8)))
        del there
        there = take(base).copy(device=1)
        del base  # The next array may reuse the memory of `base` only after the copy has read it.
        PyGPU.zeros((8, 8), "f4", device=0)
        assert (there.get() == -1).all()
