"""Call kernels of another library through ctypes.

The kernels are compiled by nvcc from kernels.cu, or exported by a simulated driver.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import PyGPU

SOURCE = Path(__file__).with_name("kernels.cu")

_POINTER = ctypes.c_void_p
_COUNT = ctypes.c_longlong
_SIGNATURES = {
    "spin": (ctypes.c_double, _POINTER),
    "fill": (_POINTER, ctypes.c_float, _COUNT, _POINTER),
    "axpy": (_POINTER, _POINTER, ctypes.c_float, _COUNT, _POINTER),
    "read_strided": (_POINTER, _POINTER, _COUNT, _COUNT, _POINTER),
    "fault": (_POINTER,),
    "delete_in_thread": (_POINTER,),
}


def find_compiler() -> str | None:
    """Return the path of nvcc from PATH or the usual folder of CUDA; None if there is no nvcc."""
    for folder in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        found = folder and shutil.which("nvcc", path=str(Path(folder, "bin")))
        if found:
            return found
    return shutil.which("nvcc")


def simulated() -> Path | None:
    """Return the path of the simulated driver that PyGPU uses, which exports the kernels; None for a real driver."""
    name = {"cuda": "libcuda.so.1", "hip": "libamdhip64.so.7"}.get(PyGPU.backend_name())
    if name is None:
        return None
    try:
        # `ctypes` returns the library that the process has already loaded.
        return Path(name) if hasattr(ctypes.CDLL(name), "guest_spin") else None
    except OSError:
        return None


def build(compiler: str, folder: Path) -> Path:
    """Compile the kernels into a shared library in a folder."""
    library = folder / "libkernels.so"
    command = [
        compiler,
        "-O2",
        "-std=c++17",
        "-shared",
        "-Xcompiler",
        "-fPIC,-pthread",
        "-o",
        str(library),
        str(SOURCE),
    ]
    result = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")
    return library


class Kernels:
    """Call the functions of kernels.cu or of a simulated driver.

    `stream` is a stream handle; 0 is the legacy default stream.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._library = ctypes.CDLL(str(path))
        for name, arguments in _SIGNATURES.items():
            function = getattr(self._library, f"guest_{name}")
            function.argtypes = arguments
            function.restype = ctypes.c_int

    def _call(self, name: str, *arguments: float | int) -> None:
        status = getattr(self._library, f"guest_{name}")(*arguments)
        assert status == 0, f"{name} gave cudaError_t {status}"

    def spin(self, seconds: float, stream: int = 0) -> None:
        """Keep a stream busy for the given number of seconds."""
        self._call("spin", seconds, stream)

    def fill(self, out: int, value: float, count: int, stream: int = 0) -> None:
        """Write a float32 value into `count` elements."""
        self._call("fill", out, value, count, stream)

    def axpy(self, y: int, x: int, a: float, count: int, stream: int = 0) -> None:
        """Compute y = y + a * x on float32."""
        self._call("axpy", y, x, a, count, stream)

    def read(self, out: int, source: int, count: int, stream: int = 0, stride: int = 4) -> None:
        """Copy float32 elements with a distance of `stride` bytes into contiguous memory."""
        self._call("read_strided", out, source, stride, count, stream)

    def fault(self, stream: int = 0) -> None:
        """Write to an invalid address on the device; the failed write makes the CUDA context unusable."""
        self._call("fault", stream)

    def delete_in_thread(self, managed: int) -> None:
        """Call the deleter of a DLManagedTensor on a thread that Python did not create."""
        self._call("delete_in_thread", managed)

    def warm_up(self, memory: int) -> None:
        """Launch each kernel once, because its first launch loads it and may wait for all work on the device."""
        self.spin(0.0)
        self.fill(memory, 0.0, 1)
        self.axpy(memory, memory, 0.0, 1)
        self.read(memory, memory, 1)
