"""Control the simulated driver from a test: faults, delays and limits, and query its reports.

`driver()` returns the driver that PyGPU has loaded in this process, or None if PyGPU has loaded a real driver.
`tests/simulated_driver/README.md` describes the driver.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

LIBRARIES = ("libcuda.so.1", "libamdhip64.so.7")
COMPILERS = {"cuda": "libnvrtc.so.12", "hip": "libhiprtc.so.7"}

# Special values of the parameter `times` of `Driver.fault`.
STICKY = -1
ASYNCHRONOUS = -2

# Special values of the parameter `stream` of `Driver.delay`: all streams, and the default streams of all devices.
ALL_STREAMS = 0
DEFAULT_STREAMS = 1


class Driver:
    """Call the functions of the simulated driver whose names begin with `sim_`."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self.is_hip = hasattr(library, "hipInit")
        library.sim_fault.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_int64]
        library.sim_delay_between.argtypes = [ctypes.c_uint64] * 3
        library.sim_delay_between.restype = None
        library.sim_set_memory_limit.argtypes = [ctypes.c_int, ctypes.c_uint64]
        library.sim_call_count.argtypes = [ctypes.c_char_p]
        library.sim_call_count.restype = library.sim_transferred.restype = ctypes.c_uint64
        for name in ("sim_reports", "sim_calls", "sim_live", "sim_launches"):
            getattr(library, name).argtypes = [ctypes.c_char_p, ctypes.c_size_t]
            getattr(library, name).restype = ctypes.c_size_t

    def call(self, name: str, *arguments: int) -> int:
        """Call a driver function directly, as another library would, and return its error code."""
        return getattr(self.library, name)(*map(ctypes.c_uint64, arguments))

    def foreign_fill(self, address: int, value: int, count: int, stream: int) -> None:
        """Fill device memory by the vendor's own function, as another library would."""
        name = "hipMemsetD8Async" if self.is_hip else "cuMemsetD8Async"
        assert self.call(name, address, value, count, stream) == 0

    def foreign_upload(self, target: int, source: int, count: int, stream: int) -> None:
        """Copy host memory to the device by the vendor's own function, as another library would."""
        if self.is_hip:
            assert self.call("hipMemcpyAsync", target, source, count, 1, stream) == 0
        else:
            assert self.call("cuMemcpyHtoDAsync_v2", target, source, count, stream) == 0

    def foreign_stream(self) -> int:
        """Create a stream by the vendor's own function, as another library would; the stream is never destroyed."""
        handle = ctypes.c_void_p()
        name = "hipStreamCreateWithFlags" if self.is_hip else "cuStreamCreate"
        assert self.call(name, ctypes.addressof(handle), 1) == 0
        return handle.value or 0

    def foreign_download(self, target: int, source: int, count: int, stream: int) -> None:
        """Copy device memory to the host by the vendor's own function, as another library would."""
        if self.is_hip:
            assert self.call("hipMemcpyAsync", target, source, count, 2, stream) == 0
        else:
            assert self.call("cuMemcpyDtoHAsync_v2", target, source, count, stream) == 0

    def fault(self, name: str, code: int, nth: int = 1, times: int = 1) -> None:
        """Make a driver function return an error code in its nth call from now on."""
        if self.library.sim_fault(name.encode(), nth, code, times) != 0:
            raise ValueError(f"no fault can be planted: {name=}, {nth=}, {code=}, {times=}")

    def clear_faults(self) -> None:
        """Remove the injected faults that have not occurred yet."""
        self.library.sim_clear_faults()

    def delay(self, microseconds: int, stream: int = ALL_STREAMS, most: int | None = None) -> None:
        """Delay every operation of a stream. With `most`, the delays are random and at most `most` microseconds."""
        self.library.sim_delay_between(stream, microseconds, microseconds if most is None else most)

    def set_memory_limit(self, device: int, size: int) -> None:
        """Set the size of a device's memory in bytes."""
        if self.library.sim_set_memory_limit(device, size) != 0:
            raise ValueError(f"device {device} cannot have {size} bytes")

    def reports(self) -> list[dict[str, str]]:
        """Return the cases of misuse that the driver has reported so far."""
        return self._json("sim_reports")

    def forget_reports(self) -> None:
        """Clear the reports."""
        self.library.sim_forget_reports()

    def live(self) -> dict[str, list[Any]]:
        """Return the numbers of live objects: allocations, host memory, streams, events and pools."""
        return self._json("sim_live")

    def launches(self) -> list[dict[str, Any]]:
        """Return the most recent launches that had launch attributes.

        Each entry has the name of the call and, by attribute number, the first three integers of the attribute's value.
        """
        return self._json("sim_launches")

    def calls(self) -> list[str]:
        """Return the names of all calls that the driver exports."""
        return self._json("sim_calls")

    def call_count(self, name: str) -> int:
        """Return how often a function of the driver was called."""
        return self.library.sim_call_count(name.encode())

    def transferred(self) -> tuple[int, int]:
        """Return the bytes that copies have moved from the host to devices, and the bytes of the opposite direction."""
        return self.library.sim_transferred(0), self.library.sim_transferred(1)

    def reset_state(self) -> None:
        """Clear injected faults, delays, limits and failed contexts, which otherwise affect the rest of the process."""
        self.library.sim_reset_state()

    def _json(self, name: str) -> Any:
        function = getattr(self.library, name)
        # Another thread may have extended the report since the last call, so query the length of the report again.
        length = 0
        while True:
            buffer = ctypes.create_string_buffer(length + 1)
            needed = function(buffer, length + 1)
            if needed <= length:
                return json.loads(buffer.value)
            length = needed + 256

    @contextlib.contextmanager
    def expecting(self, *kinds: str) -> Iterator[None]:
        """Assert that the `with` block causes reports of exactly these kinds of misuse, and clear the reports."""
        before = self.reports()
        assert before == [], before
        yield
        found = self.reports()
        self.forget_reports()
        assert {report["kind"] for report in found} == set(kinds), found


@functools.cache
def _loaded(name: str) -> Driver | None:
    try:
        library = ctypes.CDLL(name, mode=os.RTLD_NOLOAD)
    except OSError:
        return None
    return Driver(library) if hasattr(library, "sim_reports") else None


def driver() -> Driver | None:
    """Return the simulated driver of this process, or None if PyGPU has opened no driver or a real driver."""
    # A query of PyGPU's configuration may open the drivers of both vendors. The driver of the default backend was
    # opened first.
    names = reversed(LIBRARIES) if os.environ.get("PYGPU_BACKEND") == "hip" else LIBRARIES
    found = [loaded for loaded in map(_loaded, names) if loaded is not None]
    if not found:
        _loaded.cache_clear()
        return None
    return found[0]


@contextlib.contextmanager
def delayed(most: int) -> Iterator[None]:
    """Delay work on a simulated driver by up to `most` microseconds, so that a wrong order gives wrong values."""
    found = driver()
    if found is None:
        yield
        return
    found.delay(0, most=most)
    try:
        yield
    finally:
        found.delay(0)


# With fewer calls left, a further round takes longer than to compile their kernels one by one. The same holds if a
# round took more seconds of processor time for each of its kernels.
FEWEST = 3
SECONDS_PER_KERNEL = 0.04
# So many calls, evenly distributed over all, come first. If their kernels are compiled, as on HIP after a run on CUDA,
# no other call is made.
FIRST = 8


def compile_together(calls: Iterable[Callable[[], object]], rounds: int = 1) -> int:
    """Compile the kernels of the calls in few compilation units, if a simulated compiler caches its images.

    In a round, each function in `calls` is called once, and stops at the first kernel that is not compiled yet. The
    next round repeats the calls that were stopped. The function returns the number of compiled kernels.
    """
    import PyGPU

    if driver() is None:
        return 0
    compiler = ctypes.CDLL(COMPILERS[PyGPU.backend_name()])
    compiler.sim_collect_sources.restype = ctypes.c_bool
    compiler.sim_compile_together.restype = ctypes.c_size_t
    total, left = 0, list(calls)
    step = -(-len(left) // FIRST)
    left = [call for first in range(step) for call in left[first::step]]
    for number in range(rounds):
        if not left or (number > 0 and len(left) < FEWEST) or not compiler.sim_collect_sources():
            break
        calls, left, made, start = left, [], 0, time.process_time()
        try:
            for position, call in enumerate(calls):
                try:
                    call()
                except PyGPU.CompileError:
                    left.append(call)
                if position + 1 == FIRST and not left:
                    break
            with contextlib.suppress(PyGPU.CompileError):
                PyGPU.flush()  # Take the errors of pending operations here, not in a later test.
        finally:
            made = compiler.sim_compile_together()
        total += made
        if made > 0 and time.process_time() - start > SECONDS_PER_KERNEL * made:
            break
        if left and made == 0 and rounds > 1:
            # No unit was compiled, because the next kernel of each call cannot be compiled in a unit. One call now
            # compiles its kernel alone.
            with contextlib.suppress(PyGPU.CompileError):
                left.pop()()
    return total
