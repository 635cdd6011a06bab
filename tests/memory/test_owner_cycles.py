"""Test arrays in memory that a Python object owns: a reference cycle of array and owner is collected."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from support import on_cpu, pair


class Lender:
    """Own memory, and provide its address and a CUDA array interface."""

    def __init__(self) -> None:
        self.memory = PyGPU.to_gpu(np.arange(4.0))
        self.shape, self.dtype, self.device_ptr = (4,), np.dtype("float64"), self.memory.ptr

    @property
    def ptr(self) -> int:
        return self.memory.ptr

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.memory.__cuda_array_interface__


class HostLender(np.ndarray):
    """Define an ndarray to which a test can add attributes."""


def host_lender() -> HostLender:
    return np.arange(4.0).view(HostLender)


WAYS: dict[str, tuple[Callable[[], Any], Callable[[Any], PyGPU.GPUArray]]] = {
    "base": (Lender, lambda lender: PyGPU.GPUArray((4,), "float64", gpudata=lender.ptr, base=lender)),
    "gpudata": (Lender, lambda lender: PyGPU.GPUArray((4,), "float64", gpudata=lender)),
    "allocator": (Lender, lambda lender: PyGPU.GPUArray((4,), "float64", allocator=lambda nbytes: lender)),
    "description": (Lender, lambda lender: PyGPU.GPUArray(allocator=lender)),
    "ndarray": (host_lender, lambda lender: PyGPU.asarray(lender, device="cpu")),
}
if not on_cpu():
    WAYS["CUDA array interface"] = (Lender, PyGPU.asarray)
ways = pytest.mark.parametrize(("make", "borrow"), WAYS.values(), ids=WAYS)


def is_gone(reference: weakref.ref[Any]) -> bool:
    gc.collect()
    return reference() is None


@ways
def test_memory_owner_that_refers_to_its_array_is_collected(make: Any, borrow: Any) -> None:
    lender = make()
    lender.array = borrow(lender)
    references = weakref.ref(lender), weakref.ref(lender.array)
    del lender
    assert is_gone(references[0])
    assert references[1]() is None


@ways
def test_owner_of_memory_stays_alive_while_array_is_reachable(make: Any, borrow: Any) -> None:
    lender = make()
    lender.array = array = borrow(lender)
    reference = weakref.ref(lender)
    del lender
    assert not is_gone(reference)
    assert array.tolist() == [0, 1, 2, 3]
    del array
    assert is_gone(reference)


@ways
def test_view_outside_cycle_keeps_array_and_owner_alive(make: Any, borrow: Any) -> None:
    lender = make()
    lender.array = borrow(lender)
    reference, view = weakref.ref(lender), lender.array[1:]
    del lender
    assert not is_gone(reference)
    assert view.tolist() == [1, 2, 3]
    del view
    assert is_gone(reference)


@ways
def test_dlpack_consumer_outside_cycle_keeps_array_and_owner_alive(make: Any, borrow: Any) -> None:
    lender = make()
    lender.array = borrow(lender)
    reference, capsule = weakref.ref(lender), lender.array.__dlpack__()
    del lender
    assert not is_gone(reference)
    shared = PyGPU.from_dlpack(capsule)
    del capsule
    assert not is_gone(reference)
    assert shared.tolist() == [0, 1, 2, 3]
    del shared
    assert is_gone(reference)


@ways
def test_finalizer_that_revives_array_also_revives_owner(make: Any, borrow: Any) -> None:
    revived: list[PyGPU.GPUArray] = []

    class Reviver:
        def __del__(self) -> None:
            revived.append(self.array[1:])

    lender = make()
    lender.array, lender.reviver = borrow(lender), Reviver()
    lender.reviver.array = lender.array
    del lender
    gc.collect()
    filler = [PyGPU.zeros(4) for _ in range(50)]
    assert revived[0].tolist() == [1, 2, 3]
    del filler
    revived.clear()
    gc.collect()


def test_cycle_with_two_arrays_is_collected_after_one_array_is_deleted() -> None:
    # The array and its view share one reference to the owner, so neither of the two can report this reference to the
    # collector.
    lender = Lender()
    lender.array = PyGPU.GPUArray((4,), "float64", gpudata=lender.ptr, base=lender)
    lender.view = lender.array[1:]
    reference = weakref.ref(lender)
    del lender
    assert not is_gone(reference)
    del reference().view
    assert is_gone(reference)


def test_owners_stay_alive_while_threads_use_memory_during_collection() -> None:
    failures: list[BaseException] = []
    stop = threading.Event()

    def work(number: int) -> None:
        try:
            host, _ = pair((1000,), "int32")
            host += number
            while not stop.is_set():
                lender = Lender()
                lender.memory = PyGPU.to_gpu(host)
                array = PyGPU.GPUArray((1000,), "int32", gpudata=lender.memory.ptr, base=lender)
                lender.array = array
                del lender
                for _ in range(5):
                    part = array[::2].copy()
                    np.testing.assert_array_equal(part.get(), host[::2])
                    np.testing.assert_array_equal(PyGPU.from_dlpack(array)[1:].get(), host[1:])
                    assert array.base.memory is not None
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(60):
        gc.collect()
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []


def test_many_reference_cycles_are_all_collected() -> None:
    lenders: list[weakref.ref[Lender]] = []
    for _ in range(4_000):
        lender = Lender()
        lender.array = PyGPU.GPUArray((4,), "float64", gpudata=lender.ptr, base=lender)
        lenders.append(weakref.ref(lender))
    del lender
    gc.collect()
    assert not any(lender() for lender in lenders)
