"""Provide shared code of the interop regression tests: driver calls, threads without Python state, and scripts."""

from __future__ import annotations

import ctypes
import textwrap
from collections.abc import Sequence
from pathlib import Path

import dlpack_forge
import PyGPU
from gpu import support

_LIBRARIES = {"cuda": "libcuda.so.1", "hip": "libamdhip64.so.7"}
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_HANDLE = ctypes.c_void_p


class Vendor:
    """Call functions of the loaded driver directly, so that PyGPU does not observe the calls."""

    def __init__(self) -> None:
        name = PyGPU.backend_name()
        self.is_hip = name == "hip"
        self._library = ctypes.CDLL(_LIBRARIES[name])

    def _call(self, cuda: str, hip: str, *arguments: object) -> None:
        name = hip if self.is_hip else cuda
        code = getattr(self._library, name)(*arguments)
        assert code == 0, f"{name} gave {code}"

    def create_stream(self) -> int:
        """Create a non-blocking stream of the current device."""
        stream = _HANDLE()
        self._call("cuStreamCreate", "hipStreamCreateWithFlags", ctypes.byref(stream), 1)
        assert stream.value
        return stream.value

    def destroy_stream(self, stream: int) -> None:
        """Destroy a stream; the driver completes the work of the stream first."""
        self._call("cuStreamDestroy_v2", "hipStreamDestroy", _HANDLE(stream))

    def make_current(self, device: int) -> None:
        """Change the current device of the thread by driver calls, as another library does."""
        if self.is_hip:
            self._call("", "hipSetDevice", device)
            return
        context = _HANDLE()
        # Never release the primary context, because real libraries do not release it either.
        self._call("cuDevicePrimaryCtxRetain", "", ctypes.byref(context), device)
        self._call("cuCtxSetCurrent", "", context)

    def current(self) -> int:
        """Return the current device of the calling thread; the thread must have a current context."""
        device = ctypes.c_int()
        self._call("cuCtxGetDevice", "hipGetDevice", ctypes.byref(device))
        return device.value

    def launch_host_function(self, stream: int, function: object) -> None:
        """Enqueue a host function on a stream."""
        self._call("cuLaunchHostFunc", "hipLaunchHostFunc", _HANDLE(stream), function, None)


def delete_in_threads(tensors: Sequence[int], *, versioned: bool = True) -> None:
    """Call the deleters of consumed tensors without the GIL, each on a separate thread that Python did not create."""
    kind = dlpack_forge.DLManagedTensorVersioned if versioned else dlpack_forge.DLManagedTensor
    process = ctypes.CDLL(None)
    threads = [ctypes.c_ulong() for _ in tensors]
    for thread, tensor in zip(threads, tensors, strict=True):
        deleter = ctypes.c_void_p(kind.from_address(tensor).deleter)
        assert process.pthread_create(ctypes.byref(thread), None, deleter, ctypes.c_void_p(tensor)) == 0
    for thread in threads:
        assert process.pthread_join(thread, None) == 0


def run(script: str, *arguments: str, **environment: str) -> str:
    """Run a script that may import regression_support.py.

    A script that hangs is stopped, and the stacks of all its threads are printed.
    """
    prelude = (
        "import faulthandler, sys\n"
        f"sys.path[:0] = [{str(Path(__file__).parent)!r}]\n"
        "faulthandler.dump_traceback_later(45, exit=True)\n"
    )
    return support.ended_well(support.run_script(prelude + textwrap.dedent(script), *arguments, **environment))
