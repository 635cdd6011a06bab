"""Test work on several streams: results match NumPy for any order in which the device runs work that has no required
order.

On the simulated driver, a test also fails if two conflicting uses have no order, even if the results are right.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

import hostile_consumer
import PyGPU
import simulated_driver

HIP = PyGPU.backend_name() == "hip"
SHAPE = (6, 8)
VIEWS = [
    (slice(None), slice(None)),
    (slice(None), slice(None, None, 2)),
    (slice(None, None, -1), slice(1, 5)),
    (slice(2, 4), slice(None, None, -3)),
]

gpu_only = pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="the CPU has no streams")


@pytest.fixture(params=[0, 200], ids=["at once", "delayed"])
def unrest(request: pytest.FixtureRequest) -> Iterator[None]:
    """Make the simulated driver delay work at random, so that a test with a missing wait gets wrong values."""
    PyGPU.zeros(1)
    with simulated_driver.delayed(request.param):
        yield


class Walk:
    """Perform random operations on pairs of a device array and an equal NumPy array."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.streams = [PyGPU.Stream(non_blocking=True) for _ in range(3)] + [PyGPU.Stream()]
        self.pairs: list[tuple[PyGPU.GPUArray, np.ndarray]] = []
        self.serial = 0

    def values(self, shape: tuple[int, ...]) -> np.ndarray:
        self.serial += 1
        return np.arange(np.prod(shape), dtype="float32").reshape(shape) + 1000 * self.serial

    def step(self) -> None:
        steps = [self.make, self.make_full, self.copy, self.assign, self.fill, self.upload, self.fetch, self.drop]
        step = self.random.choice(steps if len(self.pairs) > 2 else [self.make, self.make_full])
        with self.random.choice(self.streams):
            step()

    def pick(self) -> tuple[PyGPU.GPUArray, np.ndarray]:
        return self.random.choice(self.pairs)

    def make(self) -> None:
        host = self.values(SHAPE)
        self.pairs.append((PyGPU.to_gpu(host), host))

    def make_full(self) -> None:
        self.serial += 1
        self.pairs.append((PyGPU.full(SHAPE, self.serial, "float32"), np.full(SHAPE, self.serial, "float32")))

    def copy(self) -> None:
        device, host = self.pick()
        view = self.random.choice(VIEWS)
        copied = np.empty(SHAPE, "float32")
        target = PyGPU.empty(SHAPE, "float32")
        target[...], copied[...] = 1, 1
        target[view], copied[view] = device[view].copy(), host[view].copy()
        self.pairs.append((target, copied))

    def assign(self) -> None:
        (to, host_to), (source, host_source) = self.pick(), self.pick()
        view = self.random.choice(VIEWS)
        if to is not source:
            to[view], host_to[view] = source[view], host_source[view]

    def fill(self) -> None:
        device, host = self.pick()
        view = self.random.choice(VIEWS)
        self.serial += 1
        device[view], host[view] = self.serial, self.serial

    def upload(self) -> None:
        device, host = self.pick()
        values = self.values(SHAPE)
        pinned = PyGPU.empty_pinned(SHAPE, "float32")
        pinned[...] = values
        device.set_async(pinned)
        host[...] = values

    def fetch(self) -> None:
        device, host = self.pick()
        np.testing.assert_array_equal(device.get(), host)

    def drop(self) -> None:
        del self.pairs[self.random.randrange(len(self.pairs))]


@pytest.mark.usefixtures("unrest")
@pytest.mark.parametrize("round_", range(3))
def test_random_work_on_four_streams_is_ordered(round_: int) -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    walk = Walk(seed)
    for _ in range(300):
        walk.step()
    for device, host in walk.pairs:
        np.testing.assert_array_equal(device.get(), host)


@gpu_only
@pytest.mark.usefixtures("unrest")
def test_memory_of_array_is_freed_only_after_reads_on_other_streams() -> None:
    first, second, third = (PyGPU.Stream(non_blocking=True) for _ in range(3))
    for number in range(20):
        with first:
            a = PyGPU.full(1000, number, "int32")
        with second:
            b = a.copy()
        with third:
            c = a.copy()
        del a
        assert (b.get() == number).all()
        assert (c.get() == number).all()


@gpu_only
@pytest.mark.usefixtures("unrest")
def test_write_waits_for_reads_on_other_streams() -> None:
    first, second, third = (PyGPU.Stream(non_blocking=True) for _ in range(3))
    with first:
        a = PyGPU.full(1000, 1, "int32")
    for number in range(1, 20):
        with second:
            b = a.copy()
        with third:
            a.fill(number + 1)
        assert (b.get() == number).all()


@gpu_only
@pytest.mark.usefixtures("unrest")
def test_pinned_memory_is_not_reused_while_pending_copy_reads_it() -> None:
    stream = PyGPU.Stream(non_blocking=True)
    device = [PyGPU.zeros(1000, "int32") for _ in range(20)]
    for number, array in enumerate(device):
        pinned = PyGPU.empty_pinned(1000, "int32")
        pinned[...] = number
        array.set_async(pinned, stream)
        del pinned
    for number, array in enumerate(device):
        assert (array.get() == number).all()


def test_exported_memory_is_freed_after_work_of_consumer() -> None:
    PyGPU.zeros(1)
    driver = simulated_driver.driver()
    if driver is None:
        pytest.skip("foreign work is started through the simulated driver")
    stream = PyGPU.Stream(non_blocking=True)
    driver.delay(5000, stream.handle)
    a = PyGPU.zeros(100, "uint8")
    pointer, capsule = a.ptr, a.__dlpack__(stream=stream.handle)
    driver.foreign_fill(pointer, 1, 100, stream.handle)
    del a, capsule
    assert (PyGPU.full(100, 2, "uint8").get() == 2).all()


class Lender:
    """Imitate an array of another library on the default stream, exported by the CUDA array interface or by DLPack."""

    def __init__(self, array: PyGPU.GPUArray, way: str) -> None:
        self.capsule = hostile_consumer.library().wrap(array.__dlpack__(stream=0 if HIP else 1, max_version=(1, 0)), 0)
        if way == "interface":
            names = {"shape": array.shape, "typestr": "|u1", "version": 3, "stream": 1}
            self.__cuda_array_interface__ = {**names, "data": (array.ptr, False)}

    def __dlpack__(self, **_: object) -> object:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return PyGPU.zeros(1).__dlpack_device__()


@gpu_only
@pytest.mark.parametrize("way", ["interface", "tensor"])
@pytest.mark.parametrize("again", ["interface", "tensor"])
def test_imported_memory_is_freed_after_work_of_second_consumer(way: str, again: str) -> None:
    block = PyGPU.zeros(100, "uint8")
    driver = simulated_driver.driver()
    if driver is None:
        pytest.skip("foreign work is started through the simulated driver")
    foreign = driver.foreign_stream()
    driver.delay(5000, foreign)
    lender = Lender(block, way)
    imported = PyGPU.asarray(lender) if way == "interface" else PyGPU.from_dlpack(lender)
    pointer = imported.ptr
    lent = imported.__dlpack__(stream=foreign) if again == "tensor" else imported.__cuda_array_interface__
    if again == "interface":
        PyGPU.synchronize()  # Wait for the stream that the array interface contains, as the second consumer must do.
    driver.foreign_fill(pointer, 1, 100, foreign)
    del block, lender, imported, lent
    assert (PyGPU.full(100, 2, "uint8").get() == 2).all()
    driver.delay(0, foreign)


def test_pinned_memory_is_not_reused_while_other_library_copies_from_it() -> None:
    a = PyGPU.zeros(100, "uint8")
    PyGPU.synchronize()
    driver = simulated_driver.driver()
    if driver is None:
        pytest.skip("foreign work is started through the simulated driver")
    stream = PyGPU.Stream(non_blocking=True)
    driver.delay(5000, stream.handle)
    pinned = PyGPU.empty_pinned(100, "uint8")
    pinned[...] = 1
    driver.foreign_upload(a.ptr, pinned.ctypes.data, 100, stream.handle)
    del pinned
    PyGPU.empty_pinned(100, "uint8")[...] = 2
    stream.synchronize()
    assert (a.get() == 1).all()
