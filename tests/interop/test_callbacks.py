"""Test PyGPU's C callbacks, which other libraries call with or without the GIL, in nested calls, and after
finalization.

The other library in these tests is ``hostile_consumer``: a C extension whose deleters release the GIL before they call
PyGPU's deleters. The process aborts if a Python object is destroyed without the GIL. Most tests run a script in a
separate process, so that they detect such an abort.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import hostile_consumer
from support import child_environment, on_cpu

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.starts_processes,
    pytest.mark.skipif(
        hostile_consumer.compiler() is None, reason="there is no C compiler, or Python's headers are missing"
    ),
]

PRELUDE = """
import gc, sys, threading, time
import numpy as np
import PyGPU
import hostile_consumer
hostile = hostile_consumer.library()
WAYS = [hostile.KEEP, hostile.RELEASE, hostile.ENSURE, hostile.THREAD]

class Lender(np.ndarray):
    pass

class DeviceLender:
    def __init__(self):
        self.memory = PyGPU.to_gpu(np.arange(4.0))
    @property
    def __cuda_array_interface__(self):
        return self.memory.__cuda_array_interface__

def lent(device):
    '''An array whose memory is lent by an object that must not end without the GIL.'''
    if device == "cpu":
        lender = np.arange(4.0).view(Lender)
        lender.sentinel = hostile.Sentinel()
        return PyGPU.asarray(lender, device="cpu")
    lender = DeviceLender()
    lender.sentinel = hostile.Sentinel()
    return PyGPU.asarray(lender)

def capsule(device):
    return lent(device).__dlpack__(max_version=(1, 0), stream=-1 if device == "cpu" else None)

class Tensor:
    '''A producer for which the peer answers.'''
    def __init__(self, capsule, device):
        self.capsule, self.device = capsule, device
    def __dlpack__(self, **keywords):
        return self.capsule
    def __dlpack_device__(self):
        return {"cpu": (1, 0), "cuda": (2, 0), "hip": (10, 0)}[self.device]

def settle():
    '''What ended without the GIL is let go of by the main thread in its next steps.'''
    for _ in range(2000):
        if hostile.alive() == 0:
            return
        time.sleep(0.001)
    raise AssertionError(f"{hostile.alive()} lenders are left")

DEVICE = PyGPU.backend_name()
DEVICES = ["cpu"] if DEVICE == "cpu" else ["cpu", DEVICE]
"""


def run(script: str, *, status: int = 0, ending: str = "print('ended')") -> str:
    """Run the prelude and a script in a separate process, and return the error output of the process."""
    text = PRELUDE + textwrap.dedent(script) + "\n" + ending
    environment = {**child_environment(ROOT / "tests" / "helpers"), "PYTHONFAULTHANDLER": "1"}
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == status, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "ended" in done.stdout.splitlines()
    assert "panicked" not in done.stderr, done.stderr
    return done.stderr


def test_memory_owner_is_dropped_with_gil_if_peer_releases_gil() -> None:
    # PyGPU holds the GIL while it drops a tensor of another library. That library releases the GIL and calls PyGPU's
    # deleter. This deleter must acquire the GIL before it destroys the owner of the memory.
    run(
        """
        for device in DEVICES:
            for how in WAYS:
                array = PyGPU.from_dlpack(Tensor(hostile.wrap(capsule(device), how), device))
                assert array.get().tolist() == [0, 1, 2, 3]
                del array
                settle()
        """
    )


def test_chain_of_twenty_foreign_tensors_is_released_without_error() -> None:
    # Each tensor wraps another tensor. The outer tensor's deleter may release the GIL
    # before it calls the deleter of the wrapped tensor.
    run(
        """
        for device in DEVICES:
            for first in range(len(WAYS)):
                chain = capsule(device)
                for depth in range(20):
                    chain = hostile.wrap(chain, WAYS[(first + depth) % len(WAYS)])
                    if depth % 3 == 0:
                        chain = PyGPU.from_dlpack(Tensor(chain, device)).__dlpack__(max_version=(1, 0))
                array = PyGPU.from_dlpack(Tensor(chain, device))
                del chain, array
                settle()
        """
    )


def test_deleters_run_on_threads_unknown_to_python() -> None:
    # The deleters run without the GIL, on threads that Python did not create.
    run(
        """
        stop = threading.Event()
        def work():
            while not stop.is_set():
                [object() for _ in range(1000)]
                gc.collect(0)
        worker = threading.Thread(target=work)
        worker.start()
        for device in DEVICES:
            for how in WAYS:
                hostile.end_in_threads([hostile.wrap(capsule(device), how) for _ in range(60)], 4)
        stop.set()
        worker.join()
        settle()
        """
    )


def test_exchange_table_functions_may_be_called_without_gil() -> None:
    # The tensors are passed by the C exchange table, whose functions another library calls without the GIL.
    run(
        """
        for device in DEVICES:
            for how in WAYS:
                tensor = hostile.wrap(hostile.exported(lent(device)), how)
                array = hostile.imported(tensor, PyGPU.GPUArray)
                assert array.get().tolist() == [0, 1, 2, 3]
                del tensor, array
                settle()
            assert hostile.call_table_without_gil(lent(device)).get().tolist() == [0, 1, 2, 3]
            settle()
        """
    )


def test_user_allocator_is_called_with_gil_if_peer_released_gil() -> None:
    # Another library may call the exchange table's `managed_tensor_allocator` without the GIL,
    # but an allocator that is written in Python requires the GIL.
    run(
        """
        def allocator(nbytes):
            memory = np.empty(nbytes, "u1").view(Lender)
            memory.sentinel = hostile.Sentinel()
            class Memory:
                ptr = memory.ctypes.data
            Memory.keeper = memory
            held = Memory()
            held.memory = memory
            return held
        hostile.let_allocate(PyGPU.GPUArray)
        stop = threading.Event()
        worker = threading.Thread(target=lambda: [gc.collect(0) for _ in iter(stop.is_set, True)])
        worker.start()
        for _ in range(50):
            array = PyGPU.from_dlpack(Tensor(hostile.wrap(capsule("cpu"), hostile.ALLOCATE), "cpu"))
            with PyGPU.using_allocator(allocator):
                del array
        stop.set()
        worker.join()
        gc.collect()
        settle()
        """
    )


def test_garbage_collection_releases_tensor_of_peer_without_error() -> None:
    # The garbage collector drops a tensor of another library. The tensor's deleter releases the GIL during the
    # collection.
    run(
        """
        class Cycle:
            pass
        for device in DEVICES:
            for how in WAYS:
                for _ in range(20):
                    cycle = Cycle()
                    cycle.itself = cycle
                    cycle.array = PyGPU.from_dlpack(Tensor(hostile.wrap(capsule(device), how), device))
                del cycle
                gc.collect()
                settle()
        """
    )


def test_deleters_may_run_during_and_after_interpreter_exit() -> None:
    # As soon as the `atexit` functions run, deleters no longer call Python functions and no longer free memory, which
    # the end of the process frees.
    run(
        """
        for device in DEVICES:
            tensors = [hostile.wrap(capsule(device), WAYS[at % len(WAYS)]) for at in range(200)]
            hostile.end_while_exiting(tensors, 500)
            for how in WAYS:
                hostile.end_after_python(hostile.wrap(capsule(device), how))
            held = [PyGPU.from_dlpack(Tensor(hostile.wrap(capsule(device), how), device)) for how in WAYS]
        def work():
            while True:
                PyGPU.from_dlpack(Tensor(hostile.wrap(capsule("cpu"), hostile.RELEASE), "cpu"))
        for _ in range(2):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.02)
        """
    )


def test_memory_of_downloaded_ndarray_may_be_freed_without_gil() -> None:
    # `get` returns an ndarray whose memory NumPy frees through PyGPU's memory handler, with or without the GIL.
    run(
        """
        import ctypes
        free = ctypes.CDLL(None).free  # only for a separate thread below
        for _ in range(3):
            results = [PyGPU.zeros(1 << 19, device=DEVICE).get() for _ in range(4)]
            hostile.end_in_threads([
                hostile.wrap(PyGPU.asarray(result, device="cpu").__dlpack__(max_version=(1, 0)), hostile.THREAD)
                for result in results
            ], 2)
            del results
        """
    )


FUNCTION = re.compile(
    r'\b(?:unsafe )?extern "C" fn \w+(?:<[^>]*>)?\([^)]*\)(?: -> [^{;]+?)? \{\n(?P<body>.*?)\n\}', re.DOTALL
)
DOORS = re.compile(r"^\s*(?://[^\n]*\n\s*)*(?:unsafe \{\s*)?(?:catch_panic|run_as_c_function)\(")


@pytest.mark.enough_on("cpu")
def test_every_c_callback_uses_ffi_guard() -> None:
    # The FFI guard stops a Rust panic before it reaches foreign C code. Two kinds of callbacks need no guard:
    # the allocator of the exchange table, which reports its errors separately,
    # and the signal handler, which jumps to another stack and has no frames to unwind.
    found = {}
    for path in (ROOT / "src").rglob("*.rs"):
        text = path.read_text().split("#[cfg(test)]\nmod tests")[0]
        for match in FUNCTION.finditer(text):
            found[f"{path.relative_to(ROOT)}: {match[0].splitlines()[0]}"] = match["body"]
    assert len(found) > 12, "too few were found: this test would hold nothing"
    outside = [name for name, body in found.items() if not DOORS.match(body) and "catch_panic(" not in body]
    outside = [name for name in outside if 'fault_handlers.rs: extern "C" fn handler(' not in name]
    assert outside == []


@pytest.mark.enough_on("cpu")
def test_only_listed_source_files_acquire_gil() -> None:
    # pyo3 counts its own acquisitions of the GIL. The count is wrong after another library has released the GIL. Only
    # the files in `may` acquire the GIL. Other code queries the interpreter to find out whether the thread holds the
    # GIL.
    folder = ROOT / "src" / "python"
    may = {"callback.rs", "errors.rs", "atexit.rs", "array/class.rs", "ffi/interpreter.rs", "ffi/capi_optional.rs"}
    asking = {
        str(path.relative_to(folder))
        for path in folder.rglob("*.rs")
        if re.search(r"Python::(?:try_)?attach\(|PyGILState_", path.read_text())
    }
    assert asking <= may, asking - may


@pytest.mark.enough_on("cpu")
def test_boxed_python_objects_can_be_dropped_without_gil() -> None:
    # Rust code below src/python may drop a boxed Python object without the GIL. A plain `Py<...>` in the box
    # would rely on pyo3's own count of GIL acquisitions; the wrapper type `Kept` does not.
    boxes = re.compile(r"Box::new\((?!Kept::new)[^;]*?unbind\(\)")
    found = [path.name for path in (ROOT / "src" / "python").glob("*.rs") if boxes.search(path.read_text())]
    assert found == []


if not on_cpu():

    def test_device_memory_held_by_other_library_is_freed_without_deadlock() -> None:
        # The driver function that frees memory may wait for a thread inside the driver, and that thread may wait for
        # the GIL.
        run(
            """
            for how in WAYS:
                arrays = [PyGPU.to_gpu(np.arange(100.0)) for _ in range(50)]
                tensors = [hostile.wrap(array.__dlpack__(max_version=(1, 0)), how) for array in arrays]
                del arrays
                hostile.end_in_threads(tensors, 4)
            PyGPU.synchronize()
            """
        )
