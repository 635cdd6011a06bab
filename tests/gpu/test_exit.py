"""Test that a process exits cleanly while arrays, streams, events and other objects are alive."""

from __future__ import annotations

import textwrap

import pytest

from gpu import support
from gpu.kernel_library import Kernels

support.require_gpu()
pytestmark = pytest.mark.starts_processes

# Scripts that end while one object is alive. `test_lifetime.py` and the regression tests of process exit cover more
# objects.
SCRIPTS = {
    "arrays on streams": """
        streams = [PyGPU.Stream(), PyGPU.Stream(non_blocking=True)]
        arrays = []
        for stream in streams:
            with stream:
                arrays.append(PyGPU.zeros(1000))
    """,
    "a stream that was never left": """
        stream = PyGPU.Stream()
        stream.__enter__()
        array = PyGPU.zeros(1000)
    """,
    "events": """
        events = [PyGPU.Event().record() for _ in range(10)]
    """,
    "pinned memory": """
        pinned = PyGPU.empty_pinned(1000)
        view = pinned[::2]
    """,
    "an asynchronous copy": """
        pinned = PyGPU.empty_pinned(1 << 24)
        array = PyGPU.to_gpu_async(pinned, stream=PyGPU.Stream())
        array.get_async(PyGPU.Stream(), pinned)
    """,
    "exported capsules": """
        capsules = [PyGPU.zeros(1000).__dlpack__() for _ in range(10)]
        imported = PyGPU.from_dlpack(PyGPU.zeros(10).__dlpack__())
    """,
    "an array in a class and a closure": """
        class Holder:
            array = PyGPU.zeros(1000)
            def __del__(self):
                self.array = None
        holder = Holder()
        function = (lambda array: lambda: array)(PyGPU.zeros(10))
    """,
    "an exception": """
        array = PyGPU.zeros(1000)
        try:
            array[5000]
        except IndexError as error:
            kept = error
    """,
    "threads that ended": """
        import threading
        kept = []
        def work():
            with PyGPU.Stream():
                kept.append(PyGPU.zeros(1000))
        threads = [threading.Thread(target=work) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    """,
    "sys.exit in a stream": """
        import sys
        with PyGPU.Stream():
            array = PyGPU.zeros(1000)
            print("ended")
            sys.exit(0)
    """,
    "a reset device": """
        array = PyGPU.zeros(1000)
        stream = PyGPU.Stream()
        PyGPU.reset_device()
    """,
}


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("name", SCRIPTS)
def test_process_exits_cleanly_with_live_object(name: str) -> None:
    script = "import PyGPU\n" + textwrap.dedent(SCRIPTS[name]) + "\nprint('ended')\n"
    assert "ended" in support.ended_well(support.run_script(script)).splitlines()


def test_process_exits_cleanly_while_gpu_work_is_running(kernels: Kernels) -> None:
    script = """
        import ctypes, sys
        import PyGPU
        library = ctypes.CDLL(sys.argv[1])
        library.guest_spin.argtypes = [ctypes.c_double, ctypes.c_void_p]
        arrays = []
        for _ in range(4):
            with PyGPU.Stream(non_blocking=True) as stream:
                arrays.append(PyGPU.zeros(1000))
                assert library.guest_spin(1.0, stream.handle) == 0
                arrays[-1].fill(2)
        capsule = arrays[0].__dlpack__()
        print("ended")
    """
    assert support.ended_well(support.run_script(script, str(kernels.path))) == "ended"


@pytest.mark.parametrize("first", ["torch", "cupy", "jax", "numba.cuda"])
def test_process_exits_cleanly_if_another_library_uses_gpu_too(first: str) -> None:
    support.require_peers()
    pytest.importorskip(first)
    share = {
        "torch": "import torch; shared = torch.from_dlpack(array); kept = PyGPU.asarray(torch.zeros(9, device='cuda'))",
        "cupy": "import cupy; shared = cupy.asarray(array); kept = PyGPU.asarray(cupy.zeros(9))",
        "jax": "import jax; shared = jax.numpy.from_dlpack(array); kept = PyGPU.from_dlpack(jax.numpy.zeros(9))",
        "numba.cuda": "from numba import cuda; shared = cuda.as_cuda_array(array); "
        "kept = PyGPU.asarray(cuda.device_array(9))",
    }[first]
    script = f"import PyGPU\narray = PyGPU.zeros(1000, 'float32')\n{share}\nprint('ended')\n"
    result = support.run_script(script, timeout=110, XLA_PYTHON_CLIENT_PREALLOCATE="false")
    assert support.ended_well(result).splitlines()[-1] == "ended"
