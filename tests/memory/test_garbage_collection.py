"""Test that the garbage collector never reads uninitialized objects, and that long owner chains are dropped.

In an owner chain each array keeps the next one alive. Such a chain must be dropped without recursion.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

import import_stress
from installed.numpy_version import is_numpy
from support import on_cpu

pytestmark = pytest.mark.starts_processes
IMPORTS = 12 if on_cpu() else 4


def run(script: str) -> None:
    """Run a script in a separate process, and fail if the process crashes."""
    text = "import gc\nimport numpy as np\nimport PyGPU\n" + textwrap.dedent(script) + "\nprint('ended', flush=True)\n"
    command = [sys.executable, "-X", "faulthandler", "-c", text]
    # The chains contain ndarrays, and in strict mode NumPy cannot read a host array.
    environment = {**os.environ, "PYGPU_STRICT": "0"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, env=environment, check=False)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "ended" in done.stdout.splitlines()


def test_import_during_concurrent_garbage_collection_does_not_crash() -> None:
    # A former defect: the collector visited an object during its creation, which crashed 1 of 40 imports.
    assert import_stress.failed_imports(IMPORTS) == []


def test_collector_may_visit_uninitialized_object_of_any_class() -> None:
    # An object that `tp_alloc` returns contains only zeros, but the garbage collector can visit the object at once.
    run(
        """
        import ctypes, os
        from PyGPU import _core
        alloc = ctypes.pythonapi.PyType_GenericAlloc
        alloc.argtypes, alloc.restype = [ctypes.py_object, ctypes.c_ssize_t], ctypes.c_void_p
        class Derived(PyGPU.GPUArray):
            pass
        classes = {value for name in dir(_core) if isinstance(value := getattr(_core, name), type)}
        classes = {each for each in classes if each.__flags__ & (1 << 14) and not issubclass(each, BaseException)}
        classes |= {Derived, type(iter(PyGPU.zeros(3, device="cpu")))}
        assert len(classes) > 15, classes
        for each in classes:
            assert alloc(each, 0)  # never let go of: there is no value to end
            gc.collect()
        print("ended", flush=True)
        os._exit(0)
        """
    )


CHAINS = {
    "base": "d = PyGPU.GPUArray((3,), 'f8', gpudata=d.gpudata, base=d)",
    "gpudata": "d = PyGPU.GPUArray((3,), 'f8', gpudata=d)",
    "base on an own block": "d = PyGPU.GPUArray((3,), 'f8', gpudata=memory, base=d)",
    "a view of a view": "d = d[:]",
    "an attribute": "e = PyGPU.zeros(3); e.before = d; d = e",
    "an array that describes itself": "d = PyGPU.GPUArray(allocator=Description(d))",
}
HOST_CHAINS = {
    "ndarray of DLPack": "c = np.asarray(PyGPU.from_dlpack(c))",
    "DLPack of DLPack": "c = PyGPU.from_dlpack(Capsule(PyGPU.asarray(c, device='cpu')))",
    "DLPack through NumPy": "c = PyGPU.from_dlpack(np.from_dlpack(PyGPU.asarray(c, device='cpu')))",
    "ndarray of an array": "c = np.asarray(PyGPU.asarray(c, device='cpu'))",
    "host side": "h = np.zeros(3).view(Owner); h.before = c; c = PyGPU.GPUArray(h)",
    "a memoryview between": "c = PyGPU.asarray(np.frombuffer(memoryview(np.asarray(c)), 'f8'), device='cpu')",
}
if not is_numpy("2.1"):  # Arrays of from_dlpack are read-only in NumPy 2.0, which exports only writable arrays.
    del HOST_CHAINS["DLPack through NumPy"]
PRELUDE = """
class Description:
    def __init__(self, of):
        self.of, self.shape, self.dtype, self.device_ptr = of, (3,), np.dtype("f8"), of.ptr
class Capsule:
    '''Not a GPUArray, which would be taken as it is.'''
    def __init__(self, of):
        self.capsule = of.__dlpack__(max_version=(1, 0))
    def __dlpack__(self, **keywords):
        return self.capsule
    def __dlpack_device__(self):
        return (1, 0)
class Owner(np.ndarray):
    '''An ndarray that takes attributes.'''
"""


# The thread has a small stack, so a recursion over the chain would overflow the stack even with small frames.
IN_A_SMALL_STACK = """
import threading
from PyGPU import driver
def on_a_small_stack(name, work):
    print(name, flush=True)  # the last one printed is the one that crashed
    made = []
    thread = threading.Thread(target=lambda: made.append(work()))
    thread.start()
    thread.join()
    assert made == [None]
    gc.collect()
threading.stack_size(256 << 10)
"""
LINKS = 4000


def chains(links: dict[str, str], first: str) -> str:
    """Return a script that creates a chain of owners of each kind and drops the chain."""
    text = PRELUDE + IN_A_SMALL_STACK
    for name, link in links.items():
        text += f"def work():\n    {first}\n    for _ in range({LINKS}):\n        {link}\n"
        text += f"on_a_small_stack({name!r}, work)\n"
    return text


def test_long_owner_chains_are_dropped_without_stack_overflow() -> None:
    # A former defect: a recursive drop of 30 000 links overflowed a stack of 8 MiB.
    run(chains(CHAINS, "memory, d = driver.mem_alloc(24), PyGPU.zeros(3)"))


def test_long_owner_chains_through_other_libraries_are_dropped() -> None:
    # A former defect: a recursive drop of 20 000 links overflowed a stack of 8 MiB.
    run(chains(HOST_CHAINS, "c = np.zeros(3)"))


def test_first_ndarray_of_owner_chain_is_released_with_last_array() -> None:
    # Each array of the chain keeps the previous one alive, so all of them keep the first ndarray alive,
    # which owns the memory. The ndarray must be released together with the last array.
    run(
        """
        import weakref
        class First(np.ndarray):
            pass
        first = np.zeros(3).view(First)
        reference = weakref.ref(first)
        c = first
        for _ in range(1000):
            c = np.asarray(PyGPU.asarray(c, device="cpu"))
        del first
        assert reference() is not None
        del c
        assert reference() is None
        """
    )
