"""Test the behaviour of HIP that differs from CUDA, on a simulated GPU that exports the functions of AMD's runtime.

Each test runs in a separate process, so these tests do not depend on the backend of the test run. With
`PYGPU_BACKEND=hip` and `LD_LIBRARY_PATH=build/simulated`, all other tests run on the simulated HIP GPU too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "simulated"

pytestmark = [
    pytest.mark.enough_on("cpu"),
    pytest.mark.skipif(
        not (FOLDER / "libamdhip64.so.7").exists(), reason="the simulated runtime is not built: 'make test' builds it"
    ),
]

PRELUDE = """
import ctypes, gc, os
import numpy, PyGPU, simulated_driver
runtime = ctypes.CDLL("libamdhip64.so.7")
PyGPU.config()
sim = simulated_driver.driver()
def raised(call):
    try: call()
    except Exception as error: return error
    raise AssertionError("nothing was raised")
"""


def run(body: str, **environment: str) -> str:
    """Run a script after PRELUDE on the simulated HIP driver, check for a clean exit, and return its output."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PYGPU_")}
    settings |= {"PYGPU_BACKEND": "hip", "LD_LIBRARY_PATH": str(FOLDER), "PYTHONPATH": str(ROOT / "tests" / "helpers")}
    command = [sys.executable, "-c", PRELUDE + textwrap.dedent(body)]
    done = subprocess.run(command, capture_output=True, text=True, env=settings | environment, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def test_hip_device_has_name_hip_and_architecture() -> None:
    output = run("""
        assert PyGPU.Device() == PyGPU.Device("hip:0") == PyGPU.Device("hip")
        assert repr(PyGPU.Device("hip:1")) != repr(PyGPU.Device("hip:0"))
        properties = PyGPU.device_properties(1)
        print(properties["architecture"], properties["warp_size"], properties["multiprocessor_count"])
        print(PyGPU.driver_version(), PyGPU.cudaDriverGetVersion()[0], PyGPU.use_hip, PyGPU.zeros(3).device)
    """)
    assert output == "gfx942:sramecc+:xnack- 64 304\n70253211 70253211 True hip:0\n"


def test_hip_set_device_is_not_called_for_current_device() -> None:
    run("""
        PyGPU.zeros(5).get()
        before = sim.call_count("hipSetDevice")
        PyGPU.to_gpu(numpy.ones(5)).get()
        assert sim.call_count("hipSetDevice") == before
        array = PyGPU.zeros(3, device=1)
        assert sim.call_count("hipSetDevice") > before
        current = ctypes.c_int(-1)
        assert runtime.hipGetDevice(ctypes.byref(current)) == 0 and current.value == 0
        assert runtime.hipSetDevice(1) == 0
        assert PyGPU.current_device() == 1 and PyGPU.zeros(3).device.index == 1
    """)


def test_failed_hip_call_clears_last_error_of_runtime() -> None:
    run("""
        array, event, stream = PyGPU.zeros(5), PyGPU.Event(), PyGPU.Stream()
        sim.delay(20000, stream.handle)
        with stream:
            array.fill(1)
        event.record(stream)
        assert not stream.query() and not event.query()
        assert runtime.hipPeekAtLastError() == 0
        raised(lambda: PyGPU.zeros(1 << 40, "uint8"))
        assert runtime.hipPeekAtLastError() == 0
        sim.fault("hipStreamSynchronize", 400)
        error = raised(stream.synchronize)
        assert (error.code, error.name, error.device) == (400, "hipErrorInvalidHandle", "hip:0"), vars(error)
        assert runtime.hipPeekAtLastError() == 0
        sim.fault("hipStreamQuery", 700, times=simulated_driver.STICKY)
        assert "only a new process" in str(raised(stream.query))
        assert runtime.hipPeekAtLastError() == 0
        os._exit(0)
    """)


def test_error_code_unique_to_hip_raises_error_with_hip_name() -> None:
    run("""
        for code, name in ((911, "hipErrorInvalidChannelDescriptor"), (1053, "hipErrorRuntimeOther")):
            sim.fault("hipDeviceSynchronize", code)
            status = PyGPU.cudaDeviceSynchronize()
            assert status == code and PyGPU.cudaGetErrorName(status) == name
        assert PyGPU.cudaGetErrorName(2) == "cudaErrorMemoryAllocation"
    """)


def test_hip_out_of_memory_raises_memory_error_with_free_bytes() -> None:
    run("""
        kept = PyGPU.zeros(1000)
        error = raised(lambda: PyGPU.zeros(1 << 40, "uint8"))
        assert isinstance(error, MemoryError) and "hip:0" in str(error) and "bytes free" in str(error), error
        assert kept.get().sum() == 0
    """)


def test_dlpack_on_hip_uses_rocm_device_type_and_stream_numbers() -> None:
    run("""
        array = PyGPU.arange(5)
        assert array.__dlpack_device__() == (10, 0)
        assert PyGPU.zeros(2, device=1).__dlpack_device__() == (10, 1)
        own = PyGPU.Stream()
        for stream in (None, -1, 0, own.handle):
            assert PyGPU.from_dlpack(array.__dlpack__(stream=stream, max_version=(1, 0))).tolist() == [0, 1, 2, 3, 4]
        for stream in (1, 2, -2):
            assert isinstance(raised(lambda: array.__dlpack__(stream=stream)), ValueError)
        class Producer:
            def __dlpack_device__(self): return array.__dlpack_device__()
            def __dlpack__(self, stream=None, **keywords):
                streams.append(stream)
                return array.__dlpack__(stream=stream, **keywords)
        streams = []
        PyGPU.from_dlpack(Producer())
        with own: PyGPU.from_dlpack(Producer())
        assert streams == [0, own.handle], streams
        assert numpy.from_dlpack(array, device="cpu").tolist() == [0, 1, 2, 3, 4]
    """)


def test_array_interface_on_hip_waits_for_work_and_has_no_stream() -> None:
    run("""
        array, stream = PyGPU.zeros(1000), PyGPU.Stream(non_blocking=True)
        sim.delay(50000, stream.handle)
        with stream: array.fill(7)
        said = array.__cuda_array_interface__
        assert said.get("stream") is None
        assert stream.query()
        class Exporter: pass
        exporter = Exporter()
        exporter.__cuda_array_interface__ = said
        shared = PyGPU.asarray(exporter)
        assert shared.ptr == array.ptr and (shared.get() == 7).all()
    """)


def test_memory_returned_by_dlpack_consumer_is_freed_without_wait_of_host() -> None:
    """Check that memory returned by a DLPack consumer is freed after the work on the consumer's stream, and that the
    host does not wait for this work.

    A former defect: the host waited for the device when PyGPU freed a block that had been exported.
    """
    run("""
        consumer = PyGPU.Stream(non_blocking=True)
        array = PyGPU.zeros(1000)
        capsule = array.__dlpack__(stream=consumer.handle)
        sim.delay(50000, consumer.handle)
        handle = ctypes.c_void_p(consumer.handle)
        assert runtime.hipMemsetAsync(ctypes.c_void_p(array.ptr), 1, ctypes.c_size_t(8000), handle) == 0
        del capsule, array
        gc.collect()
        assert not consumer.query()
        again = PyGPU.zeros(1000)
        consumer.synchronize()
        assert (again.get() == 0).all()
    """)


def test_memory_used_by_foreign_stream_is_freed_after_wait_for_device() -> None:
    run("""
        theirs = ctypes.c_void_p()
        assert runtime.hipStreamCreateWithFlags(ctypes.byref(theirs), 1) == 0
        array = PyGPU.zeros(1000)
        capsule = array.__dlpack__(stream=theirs.value)
        sim.delay(50000, theirs.value)
        assert runtime.hipMemsetAsync(ctypes.c_void_p(array.ptr), 1, ctypes.c_size_t(8000), theirs) == 0
        assert runtime.hipStreamQuery(theirs) != 0
        del array, capsule
        gc.collect()
        assert runtime.hipStreamQuery(theirs) == 0
    """)


def test_hip_assignment_to_strided_rows_makes_few_driver_calls() -> None:
    run("""
        names = "hipMemsetD8Async", "hipMemsetD16Async", "hipMemsetD32Async", "hipMemset2DAsync", "hipMemcpy2DAsync"
        def made(): return sum(map(sim.call_count, names))
        for dtype, value in (("float32", 1.5), ("int16", 258), ("uint8", 3), ("float64", 0), ("float64", 2.5)):
            host = numpy.zeros((3000, 7), dtype)
            array = PyGPU.to_gpu(host)
            before = made()
            host[:, 2], host[::3, 4:6] = value, value
            array[:, 2], array[::3, 4:6] = value, value
            assert made() - before < 60, (dtype, made() - before)
            assert (array.get() == host).all(), dtype
    """)


def test_config_reason_without_hip_device_contains_error_code() -> None:
    output = run("print(PyGPU.config()['backends'][1]['reason'])", PYGPU_SIM_DEVICES="0")
    assert output.startswith(
        "there is no AMD GPU, or it is not visible here: hipInit failed: hipErrorInvalidDevice (101)"
    )


def test_device_reset_invalidates_old_arrays_and_allows_new_arrays() -> None:
    run("""
        array = PyGPU.zeros(5)
        assert PyGPU.cudaDeviceReset() == 0
        assert "reset" in str(raised(array.get))
        assert PyGPU.arange(3).tolist() == [0, 1, 2]
    """)
