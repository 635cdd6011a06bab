"""Test host functions on streams: the time and the thread of a call, errors, and the release of the functions and their
arguments."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable

import numpy as np
import pytest

import PyGPU
import simulated_driver

ON_CPU = PyGPU.backend_name() == "cpu"
gpu_only = pytest.mark.skipif(ON_CPU, reason="on the CPU the function runs at once, and may use arrays")


class Callback:
    """Define a callable object that records its calls."""

    def __init__(self, work: Callable[[], object] = lambda: None) -> None:
        self.work = work
        self.calls = 0

    def __call__(self, *_arguments: object) -> None:
        self.calls += 1
        self.work()


def run(program: str) -> str:
    """Run a program in a separate process, and return its output."""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def test_host_function_receives_given_arguments() -> None:
    stream, seen = PyGPU.Stream(), []
    stream.launch_host_function(lambda *arguments: seen.append(arguments), 1, "two")
    assert stream.launch_host_function(seen.append, 3) is None
    stream.synchronize()
    assert seen == [(1, "two"), 3]


def test_host_function_runs_between_earlier_and_later_work(late: None) -> None:
    stream = PyGPU.Stream(non_blocking=True)
    array = PyGPU.zeros(1000, "i4", device=0)
    PyGPU.synchronize()
    host = [PyGPU.zeros_pinned(1000, "i4") for _ in range(8)]
    seen = []
    with stream:
        for step in range(8):
            array.fill(step)
            array.get_async(stream, host[step])
            stream.launch_host_function(lambda step=step: seen.append((step, host[step].min(), host[step].max())))
    stream.synchronize()
    assert seen == [(step, step, step) for step in range(8)]


def test_later_work_waits_for_host_function(late: None) -> None:
    stream = PyGPU.Stream(non_blocking=True)
    source = PyGPU.zeros_pinned(64, "i4")
    array = PyGPU.zeros(64, "i4")
    PyGPU.synchronize()

    def write() -> None:
        time.sleep(0.02)
        source[:] = 7

    stream.launch_host_function(write)
    array.set_async(source, stream)
    stream.synchronize()
    assert (array.get() == 7).all()


def test_another_stream_waits_for_host_function_by_event(late: None) -> None:
    first, second = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True)
    seen = []
    for step in range(10):
        first.launch_host_function(seen.append, ("first", step))
        second.wait_event(first.record())
        second.launch_host_function(seen.append, ("second", step))
        first.wait_event(second.record())
    first.synchronize()
    assert seen == [(name, step) for step in range(10) for name in ("first", "second")]


def test_default_stream_calls_host_functions() -> None:
    seen = []
    PyGPU.default_stream().launch_host_function(seen.append, 1)
    PyGPU.synchronize()
    assert seen == [1]


def test_foreign_stream_calls_host_functions() -> None:
    owner, seen = PyGPU.Stream(), []
    PyGPU.Stream.from_handle(owner.handle, owner=owner).launch_host_function(seen.append, 1)
    owner.synchronize()
    assert seen == [1]


def test_launches_of_3000_host_functions_return() -> None:
    # The queue of a driver holds fewer than 3000 functions. If the queue is full, the launch waits for the driver. The
    # launch must not hold the GIL meanwhile, because the queued functions need the GIL.
    stream, seen = PyGPU.Stream(), []
    for step in range(3000):
        stream.launch_host_function(seen.append, step)
    stream.synchronize()
    assert seen == list(range(3000))


def test_python_threads_run_while_host_function_waits_for_them() -> None:
    stream, requested, answered = PyGPU.Stream(), threading.Event(), threading.Event()

    def answer() -> None:
        requested.wait()
        answered.set()

    thread = threading.Thread(target=answer)
    thread.start()

    def ask() -> None:
        requested.set()
        assert answered.wait(60)

    stream.launch_host_function(ask)
    stream.synchronize()
    thread.join()
    assert answered.is_set()


def test_streams_of_several_threads_call_host_functions() -> None:
    def work(seen: list[int]) -> None:
        stream = PyGPU.Stream(non_blocking=True)
        for step in range(100):
            stream.launch_host_function(seen.append, step)
        stream.synchronize()

    results: list[list[int]] = [[] for _ in range(4)]
    threads = [threading.Thread(target=work, args=(seen,)) for seen in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [list(range(100))] * 4


# Tests of errors in host functions.


def test_exception_of_host_function_is_raised_by_synchronize() -> None:
    stream = PyGPU.Stream()
    stream.launch_host_function(lambda: {}["missing"])
    with pytest.raises(KeyError, match="missing") as raised:
        stream.synchronize()
    assert raised.traceback[-1].name == "<lambda>"
    stream.synchronize()


def test_work_after_failed_host_function_still_runs() -> None:
    stream, array = PyGPU.Stream(), PyGPU.zeros(4)
    PyGPU.synchronize()
    with stream:
        stream.launch_host_function(Callback(lambda: 1 / 0))
        array.fill(3)
    with pytest.raises(ZeroDivisionError):
        stream.synchronize()
    assert array.tolist() == [3, 3, 3, 3]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_second_error_of_host_functions_goes_to_unraisablehook(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = []
    monkeypatch.setattr(sys, "unraisablehook", lambda argument: errors.append((argument.exc_type, argument.object)))
    stream = PyGPU.Stream()
    second = Callback(lambda: [].pop())
    stream.launch_host_function(Callback(lambda: 1 / 0))
    stream.launch_host_function(second)
    with pytest.raises(ZeroDivisionError):
        stream.synchronize()
    assert errors == [(IndexError, second)]


def test_launch_host_function_rejects_non_callables() -> None:
    stream = PyGPU.Stream()
    with pytest.raises(TypeError, match="takes a function, not <class 'int'>"):
        stream.launch_host_function(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        stream.launch_host_function()  # type: ignore[call-arg]


@gpu_only
def test_host_function_that_uses_gpu_raises_error() -> None:
    array, errors = PyGPU.zeros(4), []

    def use() -> None:
        for work in (array.get, PyGPU.synchronize, PyGPU.Stream, lambda: PyGPU.zeros(1 << 20)):
            with pytest.raises(PyGPU.NotSupportedError, match="let it tell another thread") as refused:
                work()
            errors.append(str(refused.value))

    stream = PyGPU.Stream()
    stream.launch_host_function(use)
    stream.synchronize()
    assert len(errors) == 4


@pytest.mark.skipif(simulated_driver.driver() is None, reason="needs a driver that refuses on demand")
@pytest.mark.provokes_errors
def test_failed_launch_releases_host_function() -> None:
    driver = simulated_driver.driver()
    assert driver is not None
    function = Callback()
    alive = weakref.ref(function)
    stream = PyGPU.Stream()
    driver.fault("hipLaunchHostFunc" if driver.is_hip else "cuLaunchHostFunc", 999)
    with pytest.raises(PyGPU.CudaError, match="LaunchHostFunc"):
        stream.launch_host_function(function)
    assert function.calls == 0
    del function
    gc.collect()
    assert alive() is None


# The following tests concern the lifetime of functions and their arguments.


def test_host_function_and_its_arguments_are_released_once() -> None:
    function, argument = Callback(), Callback()
    counts = sys.getrefcount(function), sys.getrefcount(argument)
    stream = PyGPU.Stream()
    for _ in range(50):
        stream.launch_host_function(function, argument)
    stream.synchronize()
    PyGPU.synchronize()
    for _ in range(100):  # A thread of the driver puts the objects into a queue, and the main thread drops them later.
        if (sys.getrefcount(function), sys.getrefcount(argument)) == counts:
            break
        time.sleep(0.01)
    assert (sys.getrefcount(function), sys.getrefcount(argument)) == counts
    assert function.calls == 50


def test_host_function_may_drop_arrays() -> None:
    # An array that is dropped inside a host function must not free its memory at once: the free would wait for the host
    # function, and the host function would wait for the free.
    held = [[PyGPU.zeros(1000), PyGPU.Event().record(), PyGPU.Stream(), PyGPU.driver.mem_alloc(64)] for _ in range(5)]
    PyGPU.synchronize()
    before = PyGPU.memory_statistics()["bytes"]
    stream = PyGPU.Stream()
    stream.launch_host_function(held.clear)
    stream.launch_host_function(lambda array: None, PyGPU.zeros(1000))
    stream.launch_host_function(gc.collect)
    stream.synchronize()
    assert held == []
    PyGPU.synchronize()
    assert PyGPU.memory_statistics()["bytes"] < before


# Tests of host functions in graphs.


def test_graph_calls_host_function_at_each_launch() -> None:
    seen, array = [], PyGPU.zeros(4)
    host = PyGPU.zeros_pinned(4)
    graph = PyGPU.Graph()
    with graph:
        stream = PyGPU.current_stream()
        array += 1
        array.get_async(stream, host)
        stream.launch_host_function(lambda: seen.append(host.sum()))
    assert seen == []
    for _ in range(3):
        graph.launch()
        PyGPU.synchronize()
    assert seen == [4, 8, 12]


def test_host_function_stays_alive_as_long_as_graph() -> None:
    function = Callback()
    alive = weakref.ref(function)
    graph = PyGPU.Graph()
    with graph:
        PyGPU.current_stream().launch_host_function(function)
    del function
    gc.collect()
    assert alive() is not None
    graph.launch()
    graph.launch()
    PyGPU.synchronize()
    found = alive()
    assert found is not None
    assert found.calls == 2
    del found, graph
    for _ in range(100):
        PyGPU.synchronize()
        if alive() is None:
            break
        time.sleep(0.01)
    assert alive() is None


@gpu_only
def test_host_function_is_rejected_in_capture_of_another_library() -> None:
    # The test begins the capture by a call of the driver, so PyGPU does not observe the beginning of the capture.
    driver = ctypes.CDLL("libamdhip64.so.7" if PyGPU.backend_name() == "hip" else "libcuda.so.1")
    begin, end = (
        (driver.hipStreamBeginCapture, driver.hipStreamEndCapture)
        if PyGPU.backend_name() == "hip"
        else (driver.cuStreamBeginCapture_v2, driver.cuStreamEndCapture)
    )
    function, graph = Callback(), ctypes.c_void_p()
    stream = PyGPU.Stream(non_blocking=True)
    assert begin(ctypes.c_void_p(stream.handle), 2) == 0
    with pytest.raises(PyGPU.NotSupportedError, match="another library began"):
        stream.launch_host_function(function)
    assert PyGPU.cudaLaunchHostFunc(stream, function) == 801
    assert end(ctypes.c_void_p(stream.handle), ctypes.byref(graph)) == 0, "the capture is still valid"
    stream.synchronize()
    assert function.calls == 0


def test_exception_of_host_function_in_graph_is_raised_by_synchronize() -> None:
    graph = PyGPU.Graph()
    with graph:
        PyGPU.current_stream().launch_host_function(lambda: 1 / 0)
    for _ in range(2):
        graph.launch()
        with pytest.raises(ZeroDivisionError):
            PyGPU.synchronize()


# Tests of host functions at process exit.


@pytest.mark.starts_processes
def test_process_exits_while_host_functions_are_pending() -> None:
    program = """
import time, PyGPU
stream = PyGPU.Stream()
for _ in range(100):
    stream.launch_host_function(time.sleep, 0.005)
print("ended")
"""
    assert run(program) == "ended\n"


@pytest.mark.starts_processes
def test_process_exit_waits_for_running_host_function() -> None:
    # At exit, PyGPU waits longer for a user's host function than for a callback of a library. Otherwise, the
    # interpreter would end the thread of a running function, which would abort the process.
    program = """
import time, threading, PyGPU
begun = threading.Event()
def work():
    begun.set()
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        pass
stream = PyGPU.Stream()
stream.launch_host_function(work)
stream.launch_host_function(print, "never" if PyGPU.backend_name() != "cpu" else "")
begun.wait()
"""
    assert run(program).strip() == ""


@pytest.mark.starts_processes
def test_host_function_error_is_reported_at_exit_if_not_raised_before() -> None:
    program = """
import sys, time, PyGPU
stream = PyGPU.Stream()
stream.launch_host_function(lambda: 1 / 0)
while not stream.query():
    time.sleep(0.001)
sys.unraisablehook = lambda argument: print(argument.exc_type.__name__)
"""
    assert run(program) == "ZeroDivisionError\n"


# Tests of the functions in PyGPU.runtime, which offers the same interface as PybindGPU.


def test_function_cuda_launch_host_func_returns_status() -> None:
    stream, seen = PyGPU.cudaStream_t(), []
    assert PyGPU.cudaLaunchHostFunc(stream, seen.append, 1) == 0
    assert PyGPU.cudaLaunchHostFunc(None, seen.append) == 0
    assert PyGPU.cudaDeviceSynchronize() == 0
    assert sorted(seen, key=repr) == [1, None]
    assert PyGPU.cudaStreamDestroy(stream) == 0
    assert PyGPU.cudaLaunchHostFunc(stream, seen.append) == 400
    with pytest.raises(TypeError, match="no function"):
        PyGPU.cudaLaunchHostFunc(None, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("error", [ValueError, RuntimeError, MemoryError])
def test_exception_of_host_function_is_not_converted_to_status(error: type[Exception]) -> None:
    def fail(text: str) -> None:
        raise error(text)

    assert PyGPU.cudaLaunchHostFunc(None, fail, "of a test") == 0
    with pytest.raises(PyGPU.HostFunctionError, match="of a test") as raised:
        PyGPU.cudaDeviceSynchronize()
    assert type(raised.value.__cause__) is error
    assert PyGPU.cudaDeviceSynchronize() == 0


def test_host_function_can_use_numpy() -> None:
    stream, host = PyGPU.Stream(), PyGPU.zeros_pinned(1000, "f4")
    stream.launch_host_function(lambda: np.add(host, 1, out=host))
    stream.launch_host_function(lambda: np.sort(np.random.default_rng(0).random(10_000)))
    stream.synchronize()
    assert (host == 1).all()
