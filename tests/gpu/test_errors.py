"""Test a process after a fault in a kernel: each call raises an error, no call hangs, and the process exits cleanly."""

from __future__ import annotations

import textwrap

import pytest

import PyGPU
from gpu import support
from gpu.kernel_library import Kernels

support.require_gpu()

FAULT = """
    import ctypes, sys
    import numpy, PyGPU
    library = ctypes.CDLL(sys.argv[1])
    library.guest_fault.argtypes = [ctypes.c_void_p]
    array = PyGPU.zeros(1000)
    stream, event = PyGPU.Stream(), PyGPU.Event()
    pinned = PyGPU.empty_pinned(10)
    capsule = array.__dlpack__()
    assert library.guest_fault(0) == 0
    try:
        PyGPU.synchronize()
    except PyGPU.CudaError as error:
        assert error.code in (700, 716, 717, 719), (error.code, error)
        assert error.name.startswith(("CUDA_ERROR_", "hipError")), error.name
        assert error.operation and error.text and error.device in ("cuda:0", "hip:0"), vars(error)
        print(str(error))
    else:
        raise AssertionError("the fault went unnoticed")
"""


def run(kernels: Kernels, body: str) -> str:
    script = textwrap.dedent(FAULT) + textwrap.dedent(body) + "\nprint('ended')\n"
    output = support.ended_well(support.run_script(script, str(kernels.path)))
    assert output.splitlines()[-1] == "ended"
    return output


@pytest.mark.starts_processes
def test_first_error_after_kernel_fault_contains_kind_of_fault(kernels: Kernels) -> None:
    output = run(kernels, "")
    assert any(name in output for name in ("ILLEGAL_ADDRESS", "LAUNCH_FAILED", "IllegalAddress", "LaunchFailure")), (
        output
    )


@pytest.mark.starts_processes
def test_every_driver_call_after_kernel_fault_reports_unusable_context(kernels: Kernels) -> None:
    output = run(
        kernels,
        """
for call in (
    PyGPU.synchronize,
    lambda: PyGPU.zeros(3),
    lambda: PyGPU.to_gpu(numpy.ones(3)),
    array.get,
    array.copy,
    lambda: array.fill(3),
    lambda: array[::2].copy(),
    lambda: array.__setitem__(0, 1),
    stream.synchronize,
    event.record,
    PyGPU.Stream,
):
    try:
        call()
    except PyGPU.CudaError as error:
        print("later:", str(error).replace(chr(10), " "))
    else:
        raise AssertionError(f"{call} gave no error")
""",
    )
    later = [line.lower() for line in output.splitlines() if line.startswith("later:")]
    assert len(later) == 11
    assert all("context" in line or "process" in line for line in later), later


@pytest.mark.starts_processes
def test_functions_that_need_no_driver_work_after_kernel_fault(kernels: Kernels) -> None:
    run(
        kernels,
        """
assert array.shape == (1000,) and array[::2].strides == (16,) and array.ptr
assert PyGPU.arange(3, device="cpu").tolist() == [0, 1, 2]
del array, stream, event, pinned, capsule
import gc
gc.collect()
""",
    )


@pytest.mark.starts_processes
def test_functions_that_return_status_report_kernel_fault(kernels: Kernels) -> None:
    run(
        kernels,
        """
status = PyGPU.cudaDeviceSynchronize()
assert status != 0, status
value, status = PyGPU.cudaMalloc(100)
assert status != 0, status
""",
    )


@pytest.mark.provokes_errors
def test_context_stays_usable_after_out_of_memory_and_invalid_event() -> None:
    array = PyGPU.arange(5)
    with pytest.raises(MemoryError):
        PyGPU.empty(1 << 50, "uint8")
    start, end = PyGPU.Event(), PyGPU.Event()
    with pytest.raises(PyGPU.CudaError) as caught:
        start.elapsed_time(end)
    assert caught.value.code != 0
    assert str(caught.value.code) in str(caught.value)
    assert array.tolist() == [0, 1, 2, 3, 4]
    PyGPU.synchronize()


@pytest.mark.provokes_errors
def test_invalid_arguments_raise_python_errors_before_driver_call() -> None:
    array = PyGPU.arange(5)
    for call, error in [
        (lambda: PyGPU.zeros(3, device=99), ValueError),
        (lambda: PyGPU.zeros(3, device=support.device_name(99)), ValueError),
        (lambda: PyGPU.zeros(3, device="tpu"), ValueError),
        (lambda: PyGPU.set_device(-1), ValueError),
        (lambda: array[7], IndexError),
        (lambda: array.set(numpy_like_but_wrong()), (ValueError, TypeError)),
        (lambda: array.record_stream("main"), TypeError),
        (lambda: array.record_stream(-1), ValueError),
        (lambda: PyGPU.Stream.from_handle(-5), ValueError),
    ]:
        with pytest.raises(error):
            call()
    assert array.tolist() == [0, 1, 2, 3, 4]


def numpy_like_but_wrong() -> object:
    return [["a", "b"], ["c", "d"]]
