"""Test arrays that several processes share, on the CPU and on simulated and real GPUs."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import PyGPU
from PyGPU._shared_arrays.handle import checked_bytes

CPU = PyGPU.backend_name() == "cpu"


def test_shared_memory_can_be_used_like_ordinary_array() -> None:
    for made, twin in (
        (PyGPU.zeros((2, 3), "i4", shared=True), np.zeros((2, 3), "i4")),
        (PyGPU.full(4, 2.5, shared=True), np.full(4, 2.5)),
        (PyGPU.zeros((3, 2), order="F", shared=True), np.zeros((3, 2), order="F")),
        (PyGPU.zeros((), "u1", shared=True), np.zeros((), "u1")),
        (PyGPU.zeros((2, 0), shared=True), np.zeros((2, 0))),
        (PyGPU.full((2, 2), [1, 2], shared=True), np.full((2, 2), [1, 2])),
    ):
        assert type(made) is PyGPU.GPUArray
        assert (made.shape, made.strides, made.dtype) == (twin.shape, twin.strides, twin.dtype)
        np.testing.assert_array_equal((made + 1).get(), twin + 1)
    assert PyGPU.empty(5, "f4", shared=True, device=0).nbytes == 20
    with pytest.raises(TypeError, match="allocator"):
        PyGPU.empty(3, shared=True, allocator=PyGPU.driver.mem_alloc)
    with pytest.raises(ValueError, match="order"):
        PyGPU.empty(3, order="K", shared=True)
    with pytest.raises(ValueError, match="negative"):
        PyGPU.empty((2, -1), shared=True)
    with pytest.raises(TypeError):
        PyGPU.empty(3, object, shared=True)


def test_handle_opened_by_sharing_process_refers_to_original_memory() -> None:
    a = PyGPU.zeros((4, 5), "f4", shared=True)
    a[...] = np.arange(20).reshape(4, 5)
    views = [a, a.T, a[::-1, ::2], a[1:3], a[2, 3], a[:0], PyGPU.broadcast_to(a[0], (3, 5)), a.view("i4")]
    for view in views:
        b = PyGPU.open_shared(pickle.loads(pickle.dumps(view.share())))
        assert (b.shape, b.strides, b.dtype, b.ptr) == (view.shape, view.strides, view.dtype, view.ptr) or not b.size
        assert b.flags.writeable == view.flags.writeable
        np.testing.assert_array_equal(b.get(), view.get())
    PyGPU.open_shared(a[1].share())[...] = 7
    assert a[1].tolist() == [7.0] * 5


def test_share_rejects_unshareable_memory_with_remedy() -> None:
    for array in (PyGPU.zeros(1000), PyGPU.to_gpu(np.ones(3))[1:]):
        with pytest.raises(ValueError, match="shared=True"):
            array.share()
    with pytest.raises(TypeError, match=r"share\(\)"):
        PyGPU.open_shared(PyGPU.zeros(3))  # type: ignore[arg-type]


def test_open_shared_error_names_missing_memory_or_wrong_machine_or_device() -> None:
    a = PyGPU.zeros(10, shared=True)
    handle = a.share()
    block = handle.block
    assert block is not None
    elsewhere = replace(block, token="0", process=os.getppid())
    for changed, kind, said in (
        (replace(elsewhere, machine="another"), ValueError, "another machine"),
        (replace(elsewhere, device="metal"), ValueError, "metal"),
        (
            replace(elsewhere, memory=checked_bytes(bytes(64)) if isinstance(block.memory, bytes) else 10_000),
            RuntimeError,
            "has ended",
        ),
    ):
        with pytest.raises(kind, match=said):
            PyGPU.open_shared(replace(handle, block=changed))
    if not CPU:
        with pytest.raises(ValueError, match=r"GPU-none.*does not see; it sees 0: "):
            PyGPU.open_shared(replace(handle, block=replace(elsewhere, uuid="GPU-none")))
    del a
    gc.collect()
    with pytest.raises(RuntimeError, match="keep an array"):
        PyGPU.open_shared(handle)


def other(to_child, from_child) -> None:
    """Run the code of the second process, which opens the shared array."""

    def receive(timeout: float = 60):
        assert to_child.poll(timeout)
        return to_child.recv()

    handle, part, twice = receive()
    a, b, c = PyGPU.open_shared(handle), PyGPU.open_shared(part), PyGPU.open_shared(twice)
    from_child.send((a.get(), b.get(), a.ptr == c.ptr, str(a.device)))
    a += 1  # This kernel modifies the shared array in place.
    b[...] = -1
    a.synchronize()
    from_child.send("written")
    receive()
    again = pickle.loads(pickle.dumps(a.share()))  # This process passes the handle to a third process.
    del b, c
    result = PyGPU.open_shared(again)[0, 0].item()
    del a
    own = PyGPU.full(3, 9.0, shared=True)
    from_child.send((result, own.share()))
    receive()
    from_child.send(None)
    os._exit(0)  # End the process without cleanup, like a crash.


@pytest.mark.starts_processes
def test_two_processes_share_one_array() -> None:
    context = multiprocessing.get_context("spawn")
    (mine, theirs), (answers, answer) = context.Pipe(), context.Pipe()
    a = PyGPU.empty((300, 5), "f4", shared=True)
    host = np.arange(1500, dtype="f4").reshape(300, 5)
    # This process need not wait for the work below, because opening the handle makes the other process wait for it.
    with PyGPU.Stream():
        a.set(host)
        a *= 2
        handles = (a.share(), a[::-2, 1].share(), a.share())
    process = context.Process(target=other, args=(theirs, answer))
    process.start()

    def ask(message):
        mine.send(message)
        return hear()

    def hear():
        assert answers.poll(60), "the other process says nothing"
        return answers.recv()

    try:
        whole, part, is_same, device = ask(handles)
        np.testing.assert_array_equal(whole, 2 * host)
        np.testing.assert_array_equal(part, 2 * host[::-2, 1])
        assert is_same
        assert device == str(a.device)
        assert hear() == "written"
        expected = 2 * host + 1
        expected[::-2, 1] = -1
        np.testing.assert_array_equal(a.get(), expected)
        result, theirs_handle = ask("go on")
        assert result == 1.0
        b = PyGPU.open_shared(theirs_handle)
        assert b.tolist() == [9.0] * 3
        if CPU:
            assert ask("end") is None
            process.join(60)
            # Arrays that are already open stay valid, but the handle can no longer be opened.
            assert b.tolist() == [9.0] * 3
        else:
            del b
            assert ask("end") is None
            process.join(60)
        b = None
        gc.collect()
        with pytest.raises(RuntimeError, match="has ended"):
            PyGPU.open_shared(theirs_handle)
        np.testing.assert_array_equal(a.get(), expected)
    finally:
        with contextlib.suppress(OSError):
            process.kill()
        process.join(60)


@pytest.mark.skipif(not CPU, reason="blocks of the CPU are files")
def test_file_of_shared_block_cannot_be_truncated() -> None:
    """Test that the file of a shared block cannot be truncated. An access past the end of a truncated file would be a
    bus error."""
    a = PyGPU.full(10_000, 3.0, shared=True)
    block = a.share().block
    assert block is not None
    for nbytes in (0, 4096, 10**6):
        with pytest.raises(PermissionError):
            os.truncate(f"/proc/self/fd/{block.memory}", nbytes)
    assert a.sum().item() == 30_000.0


@pytest.mark.skipif(not CPU, reason="blocks of the CPU are files")
@pytest.mark.starts_processes
def test_open_shared_rejects_file_that_may_be_truncated() -> None:
    token = "5ea1ed"
    with os.fdopen(os.memfd_create(f"pygpu-{token}"), "wb") as file:
        file.truncate(80)
        handle = PyGPU.zeros(10, shared=True).share()
        assert handle.block is not None
        block = replace(handle.block, token=token, memory=file.fileno())
        script = "import pickle, sys, PyGPU\nPyGPU.open_shared(pickle.load(sys.stdin.buffer))"
        for nbytes, said in ((80, "no seals"), (79, "79 bytes of memory, and the file has 80")):
            sent = pickle.dumps(replace(handle, block=replace(block, nbytes=nbytes)))
            done = subprocess.run([sys.executable, "-c", script], input=sent, capture_output=True, timeout=60)
            assert done.returncode == 1
            assert said in done.stderr.decode()


def test_open_shared_rejects_elements_outside_of_block() -> None:
    a = PyGPU.zeros((4, 5), "f4", shared=True)
    handle = a.share()
    for changed in (
        {"offset": 4},
        {"offset": 2**62},
        {"shape": (4, 6)},
        {"shape": (2**40, 2**40)},
        {"strides": (24, 4)},
        {"strides": (-20, 4)},
        {"strides": (2**62, 4)},
        {"dtype": np.dtype("f8")},
        {"shape": (0, 5), "offset": 81},
    ):
        with pytest.raises(ValueError, match=r"block of 80 bytes|too big|beyond 64 bits"):
            PyGPU.open_shared(replace(handle, **changed))
    for changed, said in (
        ({"offset": -4}, "offset is -4"),
        ({"block": None}, "names no memory block"),
        ({"strides": (4,)}, "2 lengths in shape and 1 strides"),
        ({"event": b"123"}, "changed: event: a driver's handle of 64 bytes"),
    ):
        with pytest.raises(ValueError, match=said):
            PyGPU.open_shared(replace(handle, **changed))
    with pytest.raises(ValueError, match="the handle was changed"):
        PyGPU.open_shared(replace(handle, block=replace(handle.block, nbytes=1 << 20)))
    with pytest.raises(TypeError, match="dtype of a SharedHandle is dtype, not str"):
        PyGPU.open_shared(replace(handle, dtype="f4"))
    np.testing.assert_array_equal(PyGPU.open_shared(handle).get(), a.get())
