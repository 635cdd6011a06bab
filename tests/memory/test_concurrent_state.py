"""Test objects whose state several threads change at once: an invariant of the object must hold after each of many
rounds.

`docs/design/threads.md` lists these objects. This file omits the objects that other files test.
"""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU._arguments.argtypes import as_argtype
from PyGPU._arguments.c_types import get_or_register_dtype
from PyGPU._pybindgpu.pointer import pointer_class
from PyGPU._pybindgpu.runtime import ipc
from PyGPU._shared_arrays.handle import driver_bytes
from support import on_cpu

THREADS = 4
ROUNDS = 60


@pytest.fixture(autouse=True)
def frequent_switches() -> Iterator[None]:
    """Make Python switch between threads as often as possible, so that races occur."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def race(
    act: Callable[[Any, int], Any], check: Callable[[Any, list[Any]], None], prepare: Callable[[int], Any], rounds: int
) -> None:
    """Run rounds in which all threads call `act` at once; check the results of each round in this thread.

    Parameters
    ----------
    act : callable
        Function of the subject and the thread's number. An exception is its result.
    check : callable
        Function of the subject and the results of all threads.
    prepare : callable
        Function of the round's number that returns the subject.
    rounds : int
        Number of rounds.
    """
    subject: Any = None
    results: list[Any] = [None] * THREADS
    begin, end = threading.Barrier(THREADS + 1), threading.Barrier(THREADS + 1)
    is_over = False

    def work(number: int) -> None:
        while True:
            begin.wait(60)
            if is_over:
                return
            try:
                results[number] = act(subject, number)
            except Exception as error:
                results[number] = error
            end.wait(60)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    try:
        for round_number in range(rounds):
            subject = prepare(round_number)
            begin.wait(60)
            end.wait(60)
            check(subject, results)
            results[:] = [None] * THREADS
    finally:
        is_over = True
        begin.wait(60)
        for thread in threads:
            thread.join()


def all_same(subject: Any, results: list[Any]) -> None:
    """Check that all threads received the same object."""
    assert not any(isinstance(result, Exception) for result in results), results
    assert len({id(result) for result in results}) == 1, results


def test_ctypes_argument_and_pointer_types_are_created_once() -> None:
    race(lambda ndim, _: as_argtype("u1", ndim), all_same, lambda number: 1000 + number, 5 * ROUNDS)
    dtypes = [np.dtype((np.void, 1000 + number)) for number in range(ROUNDS)]
    race(lambda dtype, _: pointer_class(dtype), all_same, dtypes.__getitem__, ROUNDS)


def test_name_of_dtype_is_registered_for_one_dtype_only() -> None:
    def check(name: str, results: list[Any]) -> None:
        registered = get_or_register_dtype(name)
        for number, result in enumerate(results):
            expected = np.dtype([("field", "i4", number + 1)])
            is_own = registered == expected
            assert result is registered if is_own else isinstance(result, RuntimeError), results

    race(
        lambda name, number: get_or_register_dtype(name, np.dtype([("field", "i4", number + 1)])),
        check,
        lambda number: f"raced_type_{number}",
        5 * ROUNDS,
    )


def test_memoized_functions_return_one_result_while_caches_are_cleared() -> None:
    import PyGPU.cupy as cupy
    from PyGPU.tools import context_dependent_memoize

    def function(key: int) -> list[int]:
        time.sleep(0)  # Let other threads run during the computation of the result.
        return [key]

    made = cupy.memoize()(function)
    race(lambda key, _: made(key), all_same, lambda number: number, 5 * ROUNDS)
    of_context = context_dependent_memoize(function)
    race(lambda key, _: of_context(key), all_same, lambda number: number, 5 * ROUNDS)

    def clear_or_call(key: int, number: int) -> Any:
        return cupy.clear_memo() if number == 0 else made(key)

    def check(key: int, results: list[Any]) -> None:
        assert results == [None, [key], [key], [key]]

    race(clear_or_call, check, lambda number: number, 5 * ROUNDS)


def test_states_of_random_functions_are_created_once() -> None:
    from PyGPU._cupy.functions import random_numbers
    from PyGPU._random import legacy

    race(lambda _, __: random_numbers.get_random_state(), all_same, lambda _: random_numbers.reset_states(), ROUNDS)
    race(lambda _, __: legacy._current(), all_same, lambda _: legacy._states.clear(), ROUNDS)

    def reset_or_get(_: Any, number: int) -> Any:
        return random_numbers.reset_states() if number == 0 else random_numbers.get_random_state()

    def check(_: Any, results: list[Any]) -> None:
        assert [type(result) for result in results] == [type(None), *[random_numbers.RandomState] * 3], results

    race(reset_or_get, check, lambda _: None, ROUNDS)


def test_sobol_generator_draws_each_point_once_in_threads() -> None:
    """Draw from one generator in all threads; formerly, two threads could draw the same points."""
    from PyGPU.curandom import Sobol32RandomNumberGenerator as Generator
    from PyGPU.curandom import XORWOWRandomNumberGenerator

    dimensions = XORWOWRandomNumberGenerator()._count
    vectors = np.tile(np.uint32(1) << np.arange(31, -1, -1, dtype=np.uint32), (dimensions, 1))
    table = PyGPU.to_gpu(vectors)
    expected = PyGPU.empty(THREADS * dimensions, np.uint32)
    Generator(table).fill_uniform(expected)
    rows = sorted(map(tuple, expected.get().reshape(THREADS, dimensions).tolist()))

    def act(generator: Any, _: int) -> Any:
        data = PyGPU.empty(dimensions, np.uint32)
        time.sleep(0)
        generator.fill_uniform(data)
        return tuple(data.tolist())

    def check(_: Any, results: list[Any]) -> None:
        assert sorted(results) == rows

    race(act, check, lambda _: Generator(table), ROUNDS // 2)


def test_memory_hook_of_several_threads_sums_all_allocations() -> None:
    from PyGPU.cupy.cuda import memory_hooks

    hook = memory_hooks.LineProfileHook(max_depth=1)

    def act(_: Any, number: int) -> None:
        for step in range(20):
            hook.malloc_preprocess(mem_size=number + step)

    def check(_: Any, results: list[Any]) -> None:
        assert results == [None] * THREADS

    race(act, check, lambda _: None, 5)
    assert hook._root.used_bytes == 5 * sum(number + step for number in range(THREADS) for step in range(20))


def test_threads_receive_same_cupy_object_for_one_stream() -> None:
    from PyGPU._cupy.cuda.stream import _facade

    race(lambda stream, _: _facade(stream), all_same, lambda _: PyGPU.Stream(), ROUNDS)


def freed_once(blocks: Callable[[], int]) -> Callable[[Any, list[Any]], None]:
    """Return a function that checks that the pool has exactly one block: the block that all threads freed."""

    def check(_: Any, results: list[Any]) -> None:
        assert all(result is None or isinstance(result, PyGPU.CudaError) for result in results), results
        assert blocks() == 1

    return check


def test_memory_freed_by_several_threads_returns_to_pool_once() -> None:
    """Free one block by all threads at once; formerly, a pool could get the block twice, and return it from two
    allocations."""
    from PyGPU.cupy import cuda
    from PyGPU.tools import DeviceMemoryPool, PageLockedMemoryPool

    gc.disable()
    try:
        device = DeviceMemoryPool()
        race(
            lambda memory, _: memory.free(),
            freed_once(lambda: device.held_blocks),
            lambda _: device.allocate(100),
            5 * ROUNDS,
        )
        locked = PageLockedMemoryPool()
        race(
            lambda memory, _: memory.free(),
            freed_once(lambda: locked.held_blocks),
            lambda _: locked.allocate((100,), "u1").base,
            5 * ROUNDS,
        )
        pinned = cuda.PinnedMemoryPool()
        race(
            lambda memory, _: memory.free(),
            freed_once(pinned.n_free_blocks),
            lambda _: pinned.malloc(100).mem,
            5 * ROUNDS,
        )
        pool = cuda.MemoryPool()
        race(
            lambda memory, _: memory.free(), freed_once(pool.n_free_blocks), lambda _: pool.malloc(100).mem, 5 * ROUNDS
        )
    finally:
        gc.enable()


@pytest.mark.parametrize("name", ["DeviceMemoryPool", "MemoryPool", "PinnedMemoryPool"])
def test_pools_return_separate_blocks_to_threads(name: str) -> None:
    from PyGPU import tools
    from PyGPU.cupy import cuda

    pool: Any = tools.DeviceMemoryPool() if name == "DeviceMemoryPool" else getattr(cuda, name)()
    allocate = pool.allocate if name == "DeviceMemoryPool" else pool.malloc

    def act(_: Any, number: int) -> list[Any]:
        held = []
        for step in range(8):
            held.append(allocate(512))
            if step % 3 == number % 3:
                held.pop(0)
        return held

    def check(_: Any, results: list[Any]) -> None:
        addresses = [int(memory.ptr) for held in results for memory in held]
        assert len(set(addresses)) == len(addresses)

    race(act, check, lambda _: None, ROUNDS)


SHARER = """
import pickle, sys, PyGPU
arrays = [PyGPU.full(100, number, "u1", shared=True) for number in range(int(sys.argv[1]))]
sys.stdout.buffer.write(pickle.dumps([array.share() for array in arrays]))
sys.stdout.flush()
sys.stdin.read()
"""


@pytest.mark.starts_processes
def test_block_shared_by_other_process_is_opened_once() -> None:
    """Open one block by all threads at once; formerly, PyGPU could track the uses of one block in two objects."""
    command = [sys.executable, "-c", SHARER, str(ROUNDS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        handles = pickle.load(process.stdout)

        def check(handle: Any, results: list[Any]) -> None:
            assert all(type(result) is PyGPU.GPUArray for result in results), results
            assert len({id(result.base) for result in results}) == 1
            assert len({result.ptr for result in results}) == 1
            assert results[0][0].item() == handles.index(handle)

        race(lambda handle, _: PyGPU.open_shared(handle), check, handles.__getitem__, ROUNDS)
        process.communicate(b"")


class YieldingTable(dict[int, Any]):
    """Define a table of opened memory that lets other threads run before each access to the table."""

    def get(self, *arguments: Any) -> Any:
        time.sleep(0)
        return super().get(*arguments)

    def pop(self, *arguments: Any) -> Any:
        time.sleep(0)
        return super().pop(*arguments)


@pytest.mark.skipif(on_cpu(), reason="the CPU backend has no such handles")
@pytest.mark.starts_processes
def test_threads_open_and_close_the_same_driver_handle_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open and close one handle in all threads; formerly, an opened block could be closed while another thread opened
    it."""
    monkeypatch.setattr(ipc, "_opened", YieldingTable())
    command = [sys.executable, "-c", SHARER, "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        (handle,) = pickle.load(process.stdout)
        memory = driver_bytes(handle.block.memory)

        def act(_: Any, number: int) -> Any:
            for _ in range(5):
                address, status = PyGPU.cudaIpcOpenMemHandle(memory)
                if status:
                    return status
                if PyGPU.from_pointer(address, 100, "u1").sum().item() != 0:
                    return "wrong values"
                if status := PyGPU.cudaIpcCloseMemHandle(address):
                    return status
            return None

        def check(_: Any, results: list[Any]) -> None:
            assert results == [None] * THREADS

        race(act, check, lambda _: None, ROUNDS // 2)
        process.communicate(b"")


@pytest.mark.enough_on("cpu", "cuda")
def test_kernels_first_called_by_several_threads_compute_correct_values() -> None:
    import PyGPU.cupy as cupy
    from PyGPU.elementwise import ElementwiseKernel
    from PyGPU.reduction import ReductionKernel

    def act(kernels: Any, number: int) -> list[Any]:
        elementwise, reduction, of_cupy, raw = kernels
        x = PyGPU.full(50, number + 1.0, "f4")
        y = PyGPU.empty(50, "f4")
        elementwise(x, y, number)
        z = PyGPU.zeros(1, "f4")
        raw((1,), (1,), (z, np.float32(number)))
        return [y[0].item(), reduction(x).item(), of_cupy(x, 3.0)[1].item(), z.item(), len(of_cupy.cached_code) > 0]

    def check(_: Any, results: list[Any]) -> None:
        assert results == [[2.0 * n + 1, 50.0 * (n + 1), 3.0 * (n + 1), float(n), True] for n in range(THREADS)], (
            results
        )

    race(
        act,
        check,
        lambda _: (
            ElementwiseKernel("const float *x, float *y, float a", "y[i] = x[i] + a", "raced_sum"),
            ReductionKernel(np.float32, "0", "a + b", "x[i]", "const float *x", name="raced_total"),
            cupy.ElementwiseKernel("float32 x, float32 a", "float32 y", "y = a * x", "raced_product"),
            cupy.RawKernel('extern "C" __global__ void raced(float *x, float a) { *x = a; }', "raced"),
        ),
        5,
    )
