"""Execute the steps of a random program by NumPy, or by PyGPU in one fusion mode."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

import PyGPU
from fusion_support.disturbances import Refusals
from PyGPU import _core
from PyGPU.elementwise import ElementwiseKernel

TRIPLED = """extern "C" __global__ void fusion_tripled(float *x, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) x[i] = 3 * x[i];
}"""


class World:
    """Execute a program once.

    Hold the program's numbered arrays and the values that the program read. A world is one run of the program's steps.
    This class runs the steps in NumPy; `Device` runs them in PyGPU.
    """

    xp: Any = np

    def __init__(self) -> None:
        self.arrays: dict[int, Any] = {}
        self.seen: list[np.ndarray] = []
        self.lent: dict[int, Any] = {}

    def put(self, number: int, host: np.ndarray) -> None:
        self.arrays[number] = host.copy("K")

    def see(self, array: Any) -> None:
        self.seen.append(np.array(array))

    def within(self, _place: int | None) -> contextlib.AbstractContextManager[Any]:
        """Return a context in which operations run on the stream with the given number."""
        return contextlib.nullcontext()

    def in_threads(self, *works: Callable[[], None]) -> None:
        """Run each function in a separate thread, all concurrently, and join them."""
        for work in works:
            work()

    def order(self, _how: int) -> None:
        """Order the work of the two streams, for example by an event; NumPy has no streams and does nothing."""

    def flush(self) -> None:
        pass

    def kernel(self, array: Any, which: int) -> None:
        """Modify an array as a launch of the user-written kernel number `which` does."""
        array *= (np.float32(2), np.float32(3))[which]

    def captured(self, array: Any, times: int) -> None:
        """Modify an array as `times` launches of a captured graph do."""
        for _ in range(times):
            np.add(array, 1, out=array)
            np.multiply(array, 0.5, out=array)

    def lend(self, number: int) -> None:
        """Export an array to another library until `take_back` is called."""

    def take_back(self) -> None:
        self.lent.clear()

    def write_as_others(self, array: Any, host: np.ndarray, _how: int) -> None:
        """Write the values of `host` to the address of an array, as another library does."""
        array[...] = host

    def upload(self, array: Any, host: np.ndarray) -> None:
        array[...] = host

    def starved(self, work: Callable[[], None]) -> None:
        """Call `work` while almost no device memory is free, and drop the results of `work` at once."""

    def pressed(self, host: np.ndarray) -> None:
        """Allocate so much memory that PyGPU must first launch pending operations to release their operands."""
        self.see(host > 0)

    def large(self, host: np.ndarray) -> None:
        """Compute with a large operand, and drop the program's references to this operand before the flush."""
        self.see(host > 0)

    def close(self) -> None:
        self.arrays.clear()
        self.lent.clear()


class Device(World):
    """Run a program with PyGPU in one fusion mode."""

    xp = PyGPU
    _kernels: tuple[Any, ...] = ()

    def __init__(self, mode: str, refusals: Refusals | None = None, *, is_alone: bool = True) -> None:
        super().__init__()
        self.mode = mode
        self.refusals = refusals
        # True if no other thread computes at the same time. Otherwise the program must not limit the memory, because
        # the limit applies to all threads.
        self.is_alone = is_alone
        # True if finalisers must do nothing, for example during a capture.
        self.is_quiet = False
        self._before = _core._set_fusion(mode)
        self._streams = [PyGPU.Stream(), PyGPU.Stream(non_blocking=True)]
        self._others = Others()

    def put(self, number: int, host: np.ndarray) -> None:
        self.arrays[number] = PyGPU.to_gpu(host)

    def see(self, array: Any) -> None:
        self.seen.append(array.get())

    @contextlib.contextmanager
    def within(self, place: int | None) -> Iterator[None]:
        if place is None:
            yield
            return
        with self._streams[place]:
            yield

    def in_threads(self, *works: Callable[[], None]) -> None:
        errors: list[BaseException] = []

        def run(work: Callable[[], None]) -> None:
            try:
                if _core._get_fusion() != self.mode:
                    _core._set_fusion(self.mode)
                with np.errstate(all="ignore"):
                    work()
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=run, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]

    def order(self, how: int) -> None:
        stream = self._streams[how % 2]
        match how % 5:
            case 0:
                PyGPU.synchronize()
            case 1:
                stream.wait_event(PyGPU.Event().record())
            case 2:
                stream.wait_stream(PyGPU.default_stream())
            case 3:
                PyGPU.Event().record(stream).query()
            case 4:
                stream.synchronize()

    def flush(self) -> None:
        _core.flush()

    def kernel(self, array: Any, which: int) -> None:
        if not Device._kernels:
            doubled = ElementwiseKernel("float *x", "x[i] = 2 * x[i]", "fusion_doubled_too")
            Device._kernels = (doubled, PyGPU.Kernel(TRIPLED, "fusion_tripled"))
        if which == 0:
            Device._kernels[0](array)
        else:
            Device._kernels[1][1, 128](array, np.int32(array.size))

    def captured(self, array: Any, times: int) -> None:
        if not self.is_alone:  # Other threads may not use the legacy default stream during a capture.
            for _ in range(times):
                PyGPU.add(array, 1, out=array)
                PyGPU.multiply(array, 0.5, out=array)
            return
        graph = PyGPU.Graph(self._streams[0])
        self.is_quiet = True
        with graph:
            PyGPU.add(array, 1, out=array)
            PyGPU.multiply(array, 0.5, out=array)
        self.is_quiet = False
        for _ in range(times):
            graph.launch()

    def lend(self, number: int) -> None:
        self.lent[number] = self.arrays[number].__dlpack__()

    def write_as_others(self, array: Any, host: np.ndarray, how: int) -> None:
        host = np.ascontiguousarray(host)
        if how == 0:
            PyGPU.driver.memcpy_htod(array.ptr, host)
        elif how == 1:
            self._others.write(array.ptr, host)
        else:
            held = PyGPU.from_dlpack(array.__dlpack__())
            address = array.ptr
            self._others.write(address, host)
            del held

    def upload(self, array: Any, host: np.ndarray) -> None:
        array.set(np.ascontiguousarray(host))

    def starved(self, work: Callable[[], None]) -> None:
        if self.refusals is not None:
            with contextlib.suppress(MemoryError), PyGPU.using_allocator(self.refusals.allocate):
                work()
        if not self.is_alone:
            return
        PyGPU.synchronize()
        PyGPU.trim_memory()
        PyGPU.set_memory_limit(PyGPU.memory_statistics()["bytes"] + 96)
        try:
            with suppress(MemoryError):
                work()
            with suppress(MemoryError):  # PyGPU cannot allocate the results of the pending operations.
                _core.flush()
        finally:
            PyGPU.set_memory_limit(None)
            # A call raises the error of only one launch batch. The next flush raises the errors of the other batches.
            with contextlib.suppress(MemoryError):
                _core.flush()

    def pressed(self, host: np.ndarray) -> None:
        if not self.is_alone:
            return self.large(host)
        big = PyGPU.to_gpu(host)
        PyGPU.synchronize()
        PyGPU.trim_memory()
        PyGPU.set_memory_limit(PyGPU.memory_statistics()["bytes"] + host.nbytes * 3 // 4)
        try:
            mask = big > 0
            del big
            PyGPU.empty(host.nbytes, "uint8")
        finally:
            PyGPU.set_memory_limit(None)
        return self.see(mask)

    def large(self, host: np.ndarray) -> None:
        big = PyGPU.to_gpu(host)
        mask = big > 0
        del big
        self.see(mask)

    def close(self) -> None:
        super().close()
        if self.is_alone:
            PyGPU.set_memory_limit(None)
        _core.flush()
        _core._set_fusion(self._before)


class Others:
    """Write memory by driver calls that PyGPU does not observe, as another library does."""

    def __init__(self) -> None:
        self.is_hip = PyGPU.backend_name() == "hip"
        names = ("libamdhip64.so.7", "libamdhip64.so") if self.is_hip else ("libcuda.so.1",)
        for name in names:
            with contextlib.suppress(OSError):
                self.driver = ctypes.CDLL(name, mode=os.RTLD_NOLOAD)
                return
        raise RuntimeError("the driver is not loaded")

    def write(self, address: int, host: np.ndarray) -> None:
        """Write an array after the device has completed all submitted work."""
        target, source, count = map(ctypes.c_size_t, (address, host.ctypes.data, host.nbytes))
        if self.is_hip:
            codes = [
                self.driver.hipDeviceSynchronize(),
                self.driver.hipMemcpyAsync(target, source, count, 1, None),
                self.driver.hipDeviceSynchronize(),
            ]
        else:
            codes = [
                self.driver.cuCtxSynchronize(),
                self.driver.cuMemcpyHtoDAsync_v2(target, source, count, None),
                self.driver.cuCtxSynchronize(),
            ]
        assert codes == [0, 0, 0], codes
