"""Test interop regressions 11 and 15 of docs/design/interop_regressions.md: deleters and the end of the process."""

from __future__ import annotations

import gc
import sys
import threading
import weakref

import numpy as np
import pytest

import dlpack_forge
import PyGPU
import regression_support
from gpu.kernel_library import Kernels
from gpu.support import SECONDS
from regression_support import run

BACKEND = PyGPU.backend_name()
gpu_only = pytest.mark.skipif(BACKEND == "cpu", reason="host memory has no streams")


# Regression 11: deleters that run on any thread, without the GIL, and after finalization.


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("owner", ["PyGPU", "somebody else"])
def test_regression_11_deleter_may_run_on_thread_unknown_to_python(owner: str, versioned: bool) -> None:
    """Rule out the defect that a deleter crashes or hangs on a thread of the consumer, with or without the GIL."""
    host = np.arange(1000.0)
    before = sys.getrefcount(host)
    capsules = []
    for _ in range(8):
        array = PyGPU.to_gpu(host) if owner == "PyGPU" else PyGPU.asarray(host, device="cpu")
        capsules.append(array.__dlpack__(max_version=(1, 0) if versioned else None))
    del array
    tensors = [dlpack_forge.consume(capsule) for capsule in capsules]
    capsules.clear()
    regression_support.delete_in_threads(tensors, versioned=versioned)
    PyGPU.zeros(1, device="cpu")  # This call releases the references that were dropped without the GIL.
    assert sys.getrefcount(host) == before
    if BACKEND != "cpu":
        PyGPU.synchronize()
    assert PyGPU.to_gpu(host).tolist() == host.tolist()


@gpu_only
def test_regression_11_deleter_returns_while_other_thread_waits_for_gpu(kernels: Kernels, slow: PyGPU.Stream) -> None:
    """Rule out the defect that a deleter waits for the GIL, while the thread that holds the GIL waits for the
    driver."""
    tensors = [dlpack_forge.consume(PyGPU.zeros(1000).__dlpack__()) for _ in range(4)]
    kernels.spin(SECONDS / 2, slow.handle)
    thread = threading.Thread(target=lambda: [kernels.delete_in_thread(tensor) for tensor in tensors])
    thread.start()
    slow.synchronize()
    PyGPU.synchronize()
    thread.join(30)
    assert not thread.is_alive()


MAKE_TENSORS = """
import ctypes, atexit
import numpy as np
import dlpack_forge, PyGPU
process = ctypes.CDLL(None)
host = np.arange(1000.0)
stream = PyGPU.Stream(non_blocking=True)
def tensor(array, max_version=(1, 0)):
    return dlpack_forge.consume(array.__dlpack__(max_version=max_version, **({} if max_version else {})))
arrays = [PyGPU.to_gpu(host), PyGPU.to_gpu(host)[::-2], PyGPU.asarray(host, device="cpu"), PyGPU.zeros((0, 3))]
arrays += [PyGPU.to_gpu_async(host, stream=stream)]
tensors = [tensor(array) for array in arrays]
def deleter(pointer):
    return dlpack_forge.DLManagedTensorVersioned.from_address(pointer).deleter
"""
# exit() calls these functions after Py_Finalize, in reverse order of their registration. The function `puts` was
# registered first, so it prints "all deleted" after all deleters have run.
AFTER_PYTHON = """
process.__cxa_atexit.argtypes = [ctypes.c_void_p] * 3
text = ctypes.create_string_buffer(b"all deleted")
ctypes.pythonapi.Py_IncRef(ctypes.py_object(text))
assert process.__cxa_atexit(ctypes.cast(process.puts, ctypes.c_void_p), ctypes.addressof(text), None) == 0
for pointer in tensors:
    assert process.__cxa_atexit(deleter(pointer), pointer, None) == 0
"""
LATE_DELETERS = {
    "when Python is gone": AFTER_PYTHON,
    "when Python is gone and the arrays before": AFTER_PYTHON + "del arrays, host\n",
    "in atexit": """
atexit.register(lambda: [dlpack_forge.delete(pointer) for pointer in tensors])
del arrays
""",
    "in atexit on threads": """
import regression_support
atexit.register(regression_support.delete_in_threads, tensors)
del arrays
""",
    "in __del__ at the end": """
class Consumer:
    def __init__(self, pointer):
        self.pointer, self.call, self.kind = pointer, dlpack_forge.delete, dlpack_forge.DLManagedTensorVersioned
        self.itself = self
    def __del__(self):
        self.call(self.pointer)
consumers = [Consumer(pointer) for pointer in tensors]
import builtins
builtins.kept = consumers
del arrays, consumers
""",
    "on threads that nobody waits for": """
thread = ctypes.c_ulong()
for pointer in tensors:
    function = ctypes.c_void_p(deleter(pointer))
    assert process.pthread_create(ctypes.byref(thread), None, function, ctypes.c_void_p(pointer)) == 0
del arrays
""",
    "never": "",
}


@pytest.mark.sampled(on="cuda")
@pytest.mark.starts_processes
@pytest.mark.parametrize("when", LATE_DELETERS)
def test_regression_11_deleter_may_run_during_process_exit(when: str) -> None:
    """Rule out the defect that the consumer library ends last, and calls a deleter after the end of Python or of the
    driver."""
    printed = run(MAKE_TENSORS + LATE_DELETERS[when] + "print('ended')\n", PYGPU_SIM_DELAY_US="0-500")
    assert printed.split("\n") == ["ended", "all deleted"][: 2 if "gone" in when else 1]


def test_regression_11_memory_in_reference_cycle_is_freed() -> None:
    """Rule out the defect that an array in a reference cycle is never freed, because the collector cannot traverse
    it."""
    gc.collect()
    held = PyGPU.memory_statistics()["count"]
    array = PyGPU.zeros(1000)
    array.itself = [array, array[1:]]  # type: ignore[attr-defined]
    reference = weakref.ref(array)
    del array
    gc.collect()
    assert reference() is None
    assert PyGPU.memory_statistics()["count"] == held


# Regression 15: a crash at process exit.


ENDS = {
    "arrays and views": "kept = [PyGPU.zeros(1000)[::2] for _ in range(5)]",
    "a cycle": "array = PyGPU.zeros(1000); array.itself = [array, array[1:]]; del array",
    "streams": "kept = [PyGPU.Stream(), PyGPU.Stream(non_blocking=True), PyGPU.Event().record()]",
    "a stream that is never left": "PyGPU.Stream().__enter__(); array = PyGPU.full(1000, 2)",
    "a capsule": "capsule = PyGPU.zeros(1000).__dlpack__()",
    "pinned memory": "pinned = PyGPU.empty_pinned(1000); array = PyGPU.to_gpu_async(pinned, stream=PyGPU.Stream())",
    "use in atexit": "import atexit; array = PyGPU.zeros(9); atexit.register(lambda: array.copy().fill(1).get())",
    "a module": "sys.modules['kept'] = PyGPU.zeros(1000)",
    "a daemon thread": """
import threading, time
def work():
    while True:
        PyGPU.full(1000, 1)[::2].copy().get()
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
""",
    "an exception": "array = PyGPU.zeros(3); raise SystemExit(0)",
}


@pytest.mark.sampled(on="cuda")
@pytest.mark.starts_processes
@pytest.mark.parametrize("name", ENDS)
def test_regression_15_process_exits_cleanly_with_live_objects(name: str) -> None:
    """Rule out the defect that the process ends with a segmentation fault, or with the message "context stack was not
    empty"."""
    # The simulated driver delays work, so that work is unfinished when the process exits.
    # `test_lifetime.py` tests exits without unfinished work.
    run(f"import PyGPU\n{ENDS[name]}\n", PYGPU_SIM_DELAY_US="0-2000")


@gpu_only
@pytest.mark.starts_processes
def test_regression_15_process_exits_cleanly_with_running_kernel(kernels: Kernels) -> None:
    """Rule out the defect that the process does not exit, or frees memory that a running kernel uses."""
    script = """
import ctypes
import PyGPU
library = ctypes.CDLL(sys.argv[1])
library.guest_spin.argtypes = [ctypes.c_double, ctypes.c_void_p]
stream = PyGPU.Stream(non_blocking=True)
assert library.guest_spin(0.5, stream.handle) == 0
array = PyGPU.zeros(1000).fill(2, stream=stream)
print("ended")
"""
    assert run(script, str(kernels.path)) == "ended"


INTERPRETERS = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
def in_another(code):
    other = interpreters.create()
    lines = "".join(f"    {line}\\n" for line in code.splitlines())
    failure = interpreters.run_string(
        other,
        f"import sys; sys.path = {sys.path!r}\\n"
        f"try:\\n{lines}except ImportError as error:\\n    print(type(error).__name__, error)\\n"
        "else:\\n    print('imported')\\nsys.stdout.flush()\\n",
    )
    assert failure is None, failure
    interpreters.destroy(other)
"""


@pytest.mark.starts_processes
@pytest.mark.parametrize("first", ["the main interpreter", "the subinterpreter"])
def test_regression_15_import_in_subinterpreter_raises_error_with_remedy(first: str) -> None:
    """Rule out the defect that a process with a subinterpreter crashes later, or that the end of the subinterpreter
    closes the library for the main interpreter."""
    use = "import PyGPU\narray = PyGPU.arange(3)\nassert array.tolist() == [0, 1, 2]\n"
    ask = "in_another('import PyGPU')\n"
    printed = run(
        INTERPRETERS + (use + ask if first == "the main interpreter" else ask) + use + "del array\nprint('ended')"
    )
    refusal, ended = printed.splitlines()
    assert refusal.startswith("ImportError PyGPU works in the main interpreter of a process only"), refusal
    assert "spawn" in refusal
    assert ended == "ended"


@pytest.mark.starts_processes
def test_regression_15_subinterpreter_with_numpy_raises_same_error() -> None:
    # In a subinterpreter, some versions of NumPy raise their own ImportError.
    code = "import contextlib, warnings\nwarnings.simplefilter('ignore')\n"
    code += "with contextlib.suppress(ImportError):\n    import numpy\nimport PyGPU"
    ask = f"in_another({code!r})\n"
    (refusal,) = run(INTERPRETERS + ask).splitlines()
    assert refusal.startswith("ImportError PyGPU works in the main interpreter of a process only"), refusal
