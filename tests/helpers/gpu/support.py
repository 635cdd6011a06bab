"""Provide shared code of the tests on a GPU: values, views, producers of arrays, and scripts in separate processes."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import PyGPU
import simulated_driver

# Seconds for which a test keeps a stream busy. A call that must not wait for the stream takes much less time.
SECONDS = 0.4

# Number of elements of an array on which a busy stream works.
COUNT = 1 << 20

SHAPE = (6, 8)

# Views of an array of shape SHAPE. Each has a layout that some library handled wrongly in the past.
VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda a: a,
    "inner rows": lambda a: a[1:-1],
    "every second column": lambda a: a[:, ::2],
    "corner": lambda a: a[2:, 3:7],
    "one column": lambda a: a[:, 1],
    "one row": lambda a: a[3],
    "transposed": lambda a: a.T,
    "new axis": lambda a: a[None],
    "length-one axis": lambda a: a[:, :1],
    "element as 0-d": lambda a: a[2, 3, ...],
    "no rows": lambda a: a[3:3],
}

# Views with negative strides, which every standard allows and many consumers reject.
REVERSED: dict[str, Callable[[Any], Any]] = {
    "rows backwards": lambda a: a[::-1],
    "columns backwards": lambda a: a[:, ::-1],
    "both backwards by two": lambda a: a[::-2, ::-2],
}

SHAPES: list[tuple[int, ...]] = [(), (0,), (3, 0, 2), (1,), (5,), (2, 3, 4), (1, 7), (7, 1)]


def in_a_child(work: str) -> str:
    """Return the lines of a script that runs the code `work` in a forked child, and fails if the child fails."""
    return f"""
child = os.fork()
if child == 0:
    status = 1
    try:
{textwrap.indent(work, " " * 8)}
        status = 0
    except BaseException:
        import traceback
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)
_, status = os.waitpid(child, 0)
assert status == 0, status
"""


def _backend() -> str:
    try:
        return PyGPU.backend_name()
    except PyGPU.BackendUnavailableError as error:
        pytest.skip(f"no GPU: {error}", allow_module_level=True)


def require_gpu() -> None:
    """Skip the module unless PyGPU computes on a GPU."""
    if _backend() == "cpu":
        pytest.skip("needs a GPU; PyGPU's backend here is 'cpu'", allow_module_level=True)


def require_cuda() -> None:
    """Skip the module unless PyGPU computes on CUDA."""
    if _backend() != "cuda":
        pytest.skip(f"needs an NVIDIA GPU; PyGPU's backend here is {_backend()!r}", allow_module_level=True)


def require_peers() -> None:
    """Skip the test or module unless libraries for CUDA can use PyGPU's memory."""
    require_gpu()
    if _backend() == "hip":
        pytest.skip("the peers are made for CUDA, and memory of HIP calls itself ROCm's", allow_module_level=True)


def is_simulated() -> bool:
    """Return whether the GPU is simulated in host memory, where smaller sizes suffice."""
    PyGPU.config()  # This opens the driver. Before, `simulated_driver.driver` returns None.
    return simulated_driver.driver() is not None


def on_hip() -> bool:
    """Return whether DLPack and the array interface use ROCm's stream numbers."""
    return _backend() == "hip"


def device_name(index: int = 0) -> str:
    """Return the name of a device, such as `cuda:0`."""
    return f"{_backend()}:{index}"


def values(shape: int | tuple[int, ...] = SHAPE, dtype: Any = numpy.float32) -> numpy.ndarray:
    """Return numbers of a dtype that repeat 1, 2, ..., 100; of the elements of type bool, every third is true."""
    count = int(numpy.prod(shape))
    dtype = numpy.dtype(dtype)
    if dtype == numpy.bool_:
        return (numpy.arange(count) % 3 == 0).reshape(shape)
    numbers = (numpy.arange(count) % 100 + 1).reshape(shape)
    result = numbers.astype(dtype)
    return result + (result * 1j).astype(dtype) if dtype.kind == "c" else result


def element_strides(array: Any) -> tuple[int, ...]:
    """Return the strides of an array in elements, as DLPack counts them."""
    return tuple(stride // array.itemsize for stride in array.strides)


def same(actual: Any, expected: Any) -> None:
    """Assert equal values, shapes and dtypes; NaN equals NaN."""
    actual, expected = numpy.asarray(actual), numpy.asarray(expected)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    assert actual.tobytes() == expected.tobytes()


@contextlib.contextmanager
def no_wait(limit: float = SECONDS * 3 / 4) -> Iterator[None]:
    """Assert that the `with` block does not wait for a stream that is busy for SECONDS."""
    # Collect garbage before the block. Within the block, a collection could unload compiled modules of earlier tests,
    # and unloading waits for the device.
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    try:
        yield
        elapsed = time.perf_counter() - start
    finally:
        gc.enable()
    assert elapsed < limit, f"the host waited: {elapsed:.3f} s"


class Interface:
    """Export an array by `__cuda_array_interface__` only."""

    def __init__(self, array: Any, **changes: Any) -> None:
        self.owner = array
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ptr, False),
            "strides": array.strides,
            "version": 3,
            **changes,
        }


class Producer:
    """Export an array by DLPack, and record the arguments with which consumers call its methods."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.requests: dict[str, Any] = {}

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **keywords: Any) -> Any:
        self.requests = keywords
        return self.array.__dlpack__(**keywords)


def run_script(body: str, *arguments: str, timeout: float = 60, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a separate process; if the process hangs, raise an error with its output."""
    if PyGPU.backend_name() != "cpu":
        # Release unused memory of this process's pool, because the new process uses the same device.
        PyGPU.trim_memory()
    try:
        return subprocess.run(
            [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(body), *arguments],
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, **environment},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        output = (error.stdout or b"").decode() + (error.stderr or b"").decode()
        raise AssertionError(f"the process did not end in {timeout} s; it printed: {output}") from error


def ended_well(result: subprocess.CompletedProcess[str]) -> str:
    """Check that a process terminated normally without error output; return the output of the process."""
    report = f"exit {result.returncode}\n--- stdout\n{result.stdout}\n--- stderr\n{result.stderr}"
    assert result.returncode == 0, report
    for complaint in ("panicked", "Fatal Python error", "Segmentation fault", "Traceback", "terminate called"):
        assert complaint not in result.stderr, report
    return result.stdout.strip()


def driver() -> ctypes.CDLL:
    """Return CUDA's driver library, for checks that must be independent of PyGPU."""
    library = ctypes.CDLL("libcuda.so.1")
    assert library.cuInit(0) == 0
    return library


def current_context() -> int:
    """Return the handle of the calling thread's current CUDA context; 0 if the thread has none."""
    context = ctypes.c_void_p()
    assert driver().cuCtxGetCurrent(ctypes.byref(context)) == 0
    return context.value or 0


def primary_context_is_active(device: int = 0) -> bool:
    """Return whether the primary context of a device exists in this process."""
    flags, active = ctypes.c_uint(), ctypes.c_int()
    assert driver().cuDevicePrimaryCtxGetState(device, ctypes.byref(flags), ctypes.byref(active)) == 0
    return bool(active.value)
