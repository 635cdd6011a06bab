"""Measure the driver's own calls without a library, as the lower bound of all times.

The calls run in loops in C (driver_calls.c) if a compiler is available. Otherwise they run through ctypes. The times
then include the cost of ctypes, which is also reported separately. The hardware's copies are measured too: copies of
pinned memory, and the driver's copy of pageable memory.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
from compared_libraries import FIVE, Library
from transfers import Arrays, TimedTransfer

ADDRESS, SIZE, WORD = ctypes.c_uint64, ctypes.c_size_t, ctypes.c_uint64
# Value of CUDA's enumerator CU_MEMPOOL_ATTR_RELEASE_THRESHOLD. The attribute limits the bytes of freed memory that a
# pool keeps.
RELEASE_THRESHOLD = 4
PTX = b"""
.version 6.3
.target sm_75
.address_size 64
.visible .entry nothing(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 n, .param .f32 x) { ret; }
"""


class Driver:
    """Call functions of libcuda through ctypes, and raise an error for a nonzero error code."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")

    def __getattr__(self, name: str) -> Callable[..., None]:
        function = getattr(self.library, name)

        def checked(*arguments: Any) -> None:
            code = function(*arguments)
            if code:
                raise RuntimeError(f"{name} gave {code}")

        setattr(self, name, checked)
        return checked

    def made(self, name: str, kind: type = ctypes.c_void_p, *arguments: Any) -> Any:
        """Call a driver function, and return the value that the function writes through its first argument."""
        output = kind()
        getattr(self, name)(ctypes.byref(output), *arguments)
        return output


class Floor(Library):
    """Present the driver's own calls as a library for compare.py.

    The statements of this library are names of loops in C.
    """

    def __init__(self) -> None:
        super().__init__("floor", {})
        self.driver = driver = Driver()
        driver.cuInit(0)
        device = driver.made("cuDeviceGet", ctypes.c_int, 0)
        driver.cuCtxSetCurrent(driver.made("cuDevicePrimaryCtxRetain", ctypes.c_void_p, device))
        self.pool = driver.made("cuDeviceGetDefaultMemPool", ctypes.c_void_p, device)
        keep = ctypes.c_uint64(2**64 - 1)
        driver.cuMemPoolSetAttribute(self.pool, RELEASE_THRESHOLD, ctypes.byref(keep))
        self.stream = driver.made("cuStreamCreate", ctypes.c_void_p, 0)
        self.event = driver.made("cuEventCreate", ctypes.c_void_p, 0)
        self.small = driver.made("cuMemAlloc_v2", ADDRESS, SIZE(FIVE.nbytes))
        self.back = numpy.empty_like(FIVE)
        self.loops = compiled()
        self.synchronize = driver.cuCtxSynchronize
        self.note = "loops in C" if self.loops else f"through ctypes, which takes {self._ctypes_cost():.0f} ns itself"

    def timer(self, statement: str) -> Callable[[int], float]:
        """Return a function that runs the loop named `statement` for a number of iterations and returns the seconds."""
        if statement == "allocate and free":
            return self._allocation()
        if statement == "launch, 5 arguments":
            return self._launch()
        return self._repeat(*self._call(statement))

    def ways(self, arrays: Arrays) -> dict[str, TimedTransfer]:
        """Return driver calls that perform the transfers of transfers.py without any library."""
        driver, stream, length = self.driver, self.stream, SIZE(arrays.host.nbytes)
        device = driver.made("cuMemAlloc_v2", ADDRESS, length)
        pinned = driver.made("cuMemHostAlloc", ctypes.c_void_p, length, 0)
        ctypes.memmove(pinned, arrays.host.ctypes.data, arrays.host.nbytes)
        host, out = ctypes.c_void_p(arrays.host.ctypes.data), ctypes.c_void_p(arrays.out.ctypes.data)

        def to_device() -> None:
            driver.cuMemcpyHtoDAsync_v2(device, pinned, length, stream)
            driver.cuStreamSynchronize(stream)

        def from_device() -> None:
            driver.cuMemcpyDtoHAsync_v2(pinned, device, length, stream)
            driver.cuStreamSynchronize(stream)

        def release() -> None:
            driver.cuMemFree_v2(device)
            driver.cuMemFreeHost(pinned)

        return {
            "to device, pinned": TimedTransfer(to_device),
            "into pinned": TimedTransfer(from_device),
            "into device": TimedTransfer(
                lambda: (driver.cuMemcpyHtoD_v2(device, host, length), driver.cuCtxSynchronize())
            ),
            "into ndarray": TimedTransfer(lambda: driver.cuMemcpyDtoH_v2(out, device, length), release=release),
        }

    def _call(self, statement: str) -> tuple[str, list[Any]]:
        """Return the name of the driver function that a loop calls, and the arguments of the call."""
        length = SIZE(FIVE.nbytes)
        return {
            "event record": ("cuEventRecord", [self.event, self.stream]),
            "stream wait event": ("cuStreamWaitEvent", [self.stream, self.event, ctypes.c_uint(0)]),
            "stream synchronize": ("cuStreamSynchronize", [self.stream]),
            "stream query": ("cuStreamQuery", [self.stream]),
            "copy 20 bytes to the device": ("cuMemcpyHtoD_v2", [self.small, WORD(FIVE.ctypes.data), length]),
            "copy 20 bytes to the host": ("cuMemcpyDtoH_v2", [WORD(self.back.ctypes.data), self.small, length]),
        }[statement]

    def _repeat(self, name: str, arguments: list[Any]) -> Callable[[int], float]:
        function = getattr(self.driver.library, name)
        if self.loops is None:
            return Library(name, {"function": function, "arguments": arguments}).timer("function(*arguments)")
        words = (WORD * 6)(*(argument.value or 0 for argument in arguments))
        address = ctypes.cast(function, ctypes.c_void_p)
        return self._seconds(lambda turns: self.loops.repeat(ctypes.c_long(turns), address, words), name)

    def _allocation(self) -> Callable[[int], float]:
        library, size = self.driver.library, SIZE(36)
        if self.loops is None:

            def pair() -> None:
                address = ADDRESS()
                library.cuMemAllocFromPoolAsync(ctypes.byref(address), size, self.pool, None)
                library.cuMemFreeAsync(address, None)

            return Library("pair", {"pair": pair}).timer("pair()")
        allocate = ctypes.cast(library.cuMemAllocFromPoolAsync, ctypes.c_void_p)
        release = ctypes.cast(library.cuMemFreeAsync, ctypes.c_void_p)
        words = [WORD(36), WORD(self.pool.value), WORD(0)]
        return self._seconds(
            lambda turns: self.loops.repeat_allocation(ctypes.c_long(turns), allocate, release, *words), "allocation"
        )

    def _launch(self) -> Callable[[int], float]:
        driver, library = self.driver, self.driver.library
        module = driver.made("cuModuleLoadData", ctypes.c_void_p, ctypes.c_char_p(PTX))
        kernel = driver.made("cuModuleGetFunction", ctypes.c_void_p, module, ctypes.c_char_p(b"nothing"))
        values = [WORD(1), WORD(2), WORD(3), WORD(4), ctypes.c_float(5)]
        pointers = (ctypes.c_void_p * 5)(*(ctypes.addressof(value) for value in values))
        if self.loops is None:

            def launch() -> None:
                library.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, self.stream, pointers, None)

            return Library("launch", {"launch": launch, "values": values}).timer("launch()")
        used = (library.cuLaunchKernel, library.cuStreamSynchronize)
        functions = [ctypes.cast(function, ctypes.c_void_p) for function in used]
        words = [WORD(kernel.value), WORD(self.stream.value)]

        def run(turns: int) -> float:
            # `pointers` contains the addresses of the objects in `values`. This reference to `values` keeps the objects
            # alive.
            assert values
            return self.loops.repeat_launch(ctypes.c_long(turns), *functions, *words, pointers)

        return self._seconds(run, "launch")

    @staticmethod
    def _seconds(run: Callable[[int], float], name: str) -> Callable[[int], float]:
        def seconds(turns: int) -> float:
            nanoseconds = run(turns)
            if nanoseconds < 0:
                raise RuntimeError(f"{name}: the driver gave {-nanoseconds:.0f}")
            return nanoseconds * turns / 1e9

        return seconds

    def _ctypes_cost(self) -> float:
        """Return the nanoseconds of an empty call through ctypes."""
        timer = Library("ctypes", {"function": ctypes.CDLL(None).getppid}).timer("function()")
        return 1e9 * min(timer(1000) for _ in range(5)) / 1000


def compiled() -> Any:
    """Compile the loops of driver_calls.c and return the loaded library, or None without a compiler."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "floor.so"
        source = Path(__file__).parent / "driver_calls.c"
        command = [*compiler.split(), "-O2", "-shared", "-fPIC", "-o", str(path), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"no loops in C: {done.stderr.strip()}")
            return None
        # The temporary library file may be deleted, because the library is already mapped into the process.
        library = ctypes.CDLL(str(path))
    for name in ("repeat", "repeat_allocation", "repeat_launch"):
        getattr(library, name).restype = ctypes.c_double
    return library
