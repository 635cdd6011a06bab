"""Test interop regressions 16 to 18, 20, 21, 24 and 25: current devices, errors and installation.

The regressions 22 and 23, about arguments of kernels, have tests in tests/kernels.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.metadata
import re
import textwrap
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import PyGPU
import regression_support
import simulated_driver
from gpu import support
from gpu.kernel_library import Kernels
from regression_support import run

ROOT = Path(__file__).parents[2]
BACKEND = PyGPU.backend_name()
MIB = 1 << 20
gpu_only = pytest.mark.skipif(BACKEND == "cpu", reason="needs a GPU's driver")
two_devices = pytest.mark.skipif(BACKEND == "cpu" or PyGPU.device_count() < 2, reason="needs two devices")


@pytest.fixture
def driver() -> Iterator[simulated_driver.Driver]:
    """Yield the simulated driver, which counts calls and injects failures, while PyGPU's cache of blocks is off."""
    PyGPU.zeros(1)
    found = simulated_driver.driver()
    if found is None:
        pytest.skip("only a simulated driver counts its calls and fails when told to")
    threshold = PyGPU.memory_release_threshold()
    PyGPU.set_memory_release_threshold(0)
    PyGPU.synchronize()
    yield found
    found.clear_faults()
    PyGPU.set_memory_release_threshold(threshold)


# Regression 16: private contexts.


@pytest.mark.starts_processes
def test_regression_16_import_loads_no_driver_library() -> None:
    """Rule out the defect that importing the library creates a context on device 0, which occupies hundreds of MiB."""
    script = """
        import PyGPU
        assert PyGPU.zeros(3, device="cpu").__dlpack_device__() == (1, 0)
        with open("/proc/self/maps") as maps:
            text = maps.read()
        assert not any(name in text for name in ("libcuda", "libamdhip64", "libnvrtc", "libhiprtc")), text
        print("ended")
    """
    assert run(script) == "ended"


@two_devices
@pytest.mark.starts_processes
@pytest.mark.skipif(BACKEND != "cuda", reason="HIP has no contexts to ask for")
def test_regression_16_array_on_device_1_creates_no_context_on_device_0() -> None:
    """Rule out the defect that every process creates a context on device 0, even if the process uses device 1 only."""
    script = """
        import PyGPU
        from gpu import support
        array = PyGPU.arange(3, device=1)
        assert array[1:].copy().tolist() == [1, 2]
        assert array.__dlpack_device__() == (2, 1)
        PyGPU.synchronize(1)
        print([support.primary_context_is_active(device) for device in (0, 1)])
    """
    assert run(script) == "[False, True]"


@two_devices
def test_regression_16_calls_leave_device_of_other_library_current() -> None:
    """Rule out the defect that a library changes the current device, and a kernel of another library runs on the wrong
    device."""
    foreign = regression_support.Vendor()
    arrays = [PyGPU.full(5, device, device=device) for device in (0, 1)]
    for current in (1, 0, 1):
        foreign.make_current(current)
        try:
            for array in arrays:
                assert array.copy().device == array.device
                array[1:] = array[:-1]
                assert array.get()[0] == array.device.index
                assert PyGPU.from_dlpack(array).device == array.device
                with PyGPU.Stream(device=array.device):
                    array.fill(array.device.index)
            assert foreign.current() == current
            assert PyGPU.current_device() == current
            assert PyGPU.zeros(3).device.index == current
        finally:
            foreign.make_current(0)
    assert [array.tolist() for array in arrays] == [[0] * 5, [1] * 5]


@two_devices
def test_regression_16_thread_uses_device_that_it_made_current() -> None:
    """Rule out the defect that a device is current in all threads after one thread made it current."""
    seen: list[int] = []

    def work() -> None:
        regression_support.Vendor().make_current(1)
        seen.append(PyGPU.zeros(3).device.index)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [1]
    assert PyGPU.zeros(3).device.index == PyGPU.current_device() == 0


# Regression 17: forked processes.

FORK = (
    """
import os, sys, warnings
warnings.simplefilter("ignore")
import numpy, PyGPU
array, host = PyGPU.arange(5), PyGPU.arange(5, device="cpu")
assert array.tolist() == [0, 1, 2, 3, 4]
"""
    + support.in_a_child(
        """
assert host[::-1].tolist() == [4, 3, 2, 1, 0]
assert PyGPU.to_gpu(numpy.ones(3), device="cpu").tolist() == [1, 1, 1]
assert numpy.from_dlpack(host).sum() == 10
if array.device.kind == "cpu":
    assert array.copy().tolist() == [0, 1, 2, 3, 4]
else:
    for call in (array.get, array.copy, lambda: PyGPU.zeros(3), PyGPU.Stream, PyGPU.synchronize):
        try:
            call()
        except PyGPU.ForkError as error:
            assert "fork" in str(error) and "spawn" in str(error), error
            assert chr(10) not in str(error), error
        else:
            raise AssertionError(f"{call} gave no error")
del array
"""
    )
    + """
assert array.tolist() == [0, 1, 2, 3, 4]
print("ended")
"""
)


@pytest.mark.starts_processes
def test_regression_17_gpu_call_in_forked_child_raises_error_with_remedy() -> None:
    """Rule out the defect that a forked child hangs, or raises an initialization error that names no remedy."""
    assert run(FORK) == "ended"


# Regression 18: memory pools.


@contextlib.contextmanager
def little_memory() -> Iterator[int]:
    """Limit the memory of the simulated device, and yield the small number of bytes that are free."""
    PyGPU.synchronize()
    PyGPU.trim_memory()
    driver = simulated_driver.driver()
    if driver is None:
        yield PyGPU.memory_info()[0]
        return
    free, total = PyGPU.memory_info()
    driver.set_memory_limit(0, total - free + 64 * MIB)
    try:
        yield 64 * MIB
    finally:
        driver.set_memory_limit(0, total)


@gpu_only
@pytest.mark.provokes_errors
@pytest.mark.whole_device
def test_regression_18_large_array_fits_after_small_arrays_are_freed() -> None:
    """Rule out the defect that the device has free memory, but fragments in the pool prevent the allocation of a large
    array."""
    with little_memory() as free:
        for turn in range(2):
            arrays = []
            for number in range(8):
                with PyGPU.Stream(non_blocking=True):
                    arrays.append(PyGPU.full(free // 10, number + turn, "uint8"))
            assert [int(array[-1]) for array in arrays] == [number + turn for number in range(8)]
            del arrays
        whole = PyGPU.empty(free // 10 * 8, "uint8")
        whole[-1] = 3
        assert int(whole[-1]) == 3


@gpu_only
@pytest.mark.provokes_errors
@pytest.mark.whole_device  # A driver may reserve all free memory before it rejects the allocation.
def test_regression_18_memory_error_has_requested_used_and_free_bytes() -> None:
    """Rule out the defect that an error for lack of memory contains only "out of memory" and no sizes."""
    held = PyGPU.zeros(MIB, "uint8")
    with little_memory():
        free, total = PyGPU.memory_info()
        used = PyGPU.memory_statistics()["bytes"]
        with pytest.raises(MemoryError) as caught:
            PyGPU.empty(2 * total, "uint8")
    error = caught.value
    assert isinstance(error, PyGPU.OutOfMemoryError)
    numbers = [int(number) for number in re.findall(r"\d{4,}", str(error))]
    assert numbers[:2] == [2 * total, used], str(error)
    assert numbers[-1] == total, str(error)
    assert support.device_name() in str(error)
    assert simulated_driver.driver() is None or numbers[2] == free
    assert held.nbytes <= used
    assert PyGPU.full(5, 3).tolist() == [3] * 5


def test_regression_18_failed_allocation_is_retried_once(driver: simulated_driver.Driver) -> None:
    """Rule out the defect that the allocation fails because free blocks of the pool count as used."""
    name = "hipMallocFromPoolAsync" if driver.is_hip else "cuMemAllocFromPoolAsync"
    before = driver.call_count(name)
    driver.fault(name, 2)
    assert PyGPU.full(5, 3).tolist() == [3] * 5
    assert driver.call_count(name) == before + 2
    driver.fault(name, 2, times=2)
    with pytest.raises(PyGPU.OutOfMemoryError):
        PyGPU.empty(5)
    assert driver.call_count(name) == before + 4


# Regression 20: the cost of small operations.


def call_counts(driver: simulated_driver.Driver) -> dict[str, int]:
    return {name: driver.call_count(name) for name in driver.calls()}


def calls_between(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in after if after[name] != before[name]}


def test_regression_20_creation_and_export_of_view_call_no_driver(driver: simulated_driver.Driver) -> None:
    """Rule out the defect that slicing an array takes several microseconds, mostly because of unnecessary driver
    calls."""
    array = PyGPU.zeros((6, 8), "float32")
    # Collect garbage first, because objects of earlier tests could otherwise be freed during the measurement.
    gc.collect()
    PyGPU.synchronize()
    # Make one export before the measurement, because only the first export of a process queries the driver.
    array.__cuda_array_interface__, array.__dlpack__(stream=-1)
    PyGPU.synchronize()
    before = call_counts(driver)
    views: list[Any] = [
        array[1:-1, ::2],
        array.T,
        array[::-1],
        array[None],
        array.reshape(48),
        array.view("int32"),
        *array,
    ]
    for view in [array, *views]:
        assert view.ptr
        assert view.shape, view.strides
        assert view.dtype.itemsize == 4
        assert view.flags.writeable
        assert view.device.index == 0
        assert view.__dlpack_device__()[1] == 0
        assert len(view) >= 0
    if not driver.is_hip:  # On HIP the interface dictionary cannot name a stream.
        assert all(view.__cuda_array_interface__["stream"] == 1 for view in views)
    capsules = [view.__dlpack__(stream=-1) for view in views]
    assert calls_between(before, call_counts(driver)) == {}
    del capsules


def test_regression_20_new_array_makes_one_allocation(driver: simulated_driver.Driver) -> None:
    """Rule out the defect that each new array queries the device, the stream and the device properties again."""
    for make, work in ((lambda: PyGPU.empty((3, 4)), ""), (lambda: PyGPU.zeros((3, 4)), "Memset|hipMemset")):
        make()
        PyGPU.synchronize()
        before = call_counts(driver)
        array = make()
        done = calls_between(before, call_counts(driver))
        allocations = {name: count for name, count in done.items() if re.search("Alloc|Malloc", name)}
        assert list(allocations.values()) == [1], done
        works = {name: count for name, count in done.items() if work and re.search(work, name)}
        assert sum(works.values()) == bool(work), done
        other_calls = set(done) - set(allocations) - set(works)
        # PyGPU may query only the current device, because another library may have changed it. Calls that exchange and
        # restore the thread's capture mode are permitted too, because they keep captures of other libraries valid.
        modes = {name for name in other_calls if name.endswith("ThreadExchangeStreamCaptureMode")}
        assert other_calls - modes <= {"cuCtxGetDevice", "cuCtxGetCurrent", "hipGetDevice"}, done
        del array


# Regression 21: more than one device.


@two_devices
def test_regression_21_export_names_device_of_array_not_current_device() -> None:
    """Rule out the defect that an export fails or contains the wrong device if the array's device is not current."""
    values = np.arange(6.0)
    array = PyGPU.to_gpu(values, device=1)
    foreign = regression_support.Vendor()
    for current in (0, 1):
        foreign.make_current(current)
        try:
            taken = PyGPU.from_dlpack(array.__dlpack__())
            assert (taken.ptr, taken.device.index) == (array.ptr, 1)
            interface = PyGPU.asarray(support.Interface(array))
            assert (interface.ptr, interface.device.index) == (array.ptr, 1)
            assert (taken.get() == values).all()
            assert foreign.current() == current
        finally:
            foreign.make_current(0)


@two_devices
def test_regression_21_array_is_copied_between_devices_on_request_only() -> None:
    """Rule out the defect that arrays are copied between devices implicitly, or that copies fail if the devices have no
    peer access."""
    array = PyGPU.to_gpu(np.arange(24.0).reshape(4, 6), device=1)[::-1, ::2]
    moved = PyGPU.asarray(array, device=0)
    assert (moved.device.index, array.device.index) == (0, 1)
    assert moved.tolist() == array.tolist()
    with pytest.raises((ValueError, BufferError)):
        PyGPU.asarray(array, device=0, copy=False)
    assert PyGPU.asarray(array).device.index == 1


# Regression 24: errors.


def test_regression_24_driver_error_contains_call_device_and_code(driver: simulated_driver.Driver) -> None:
    """Rule out the defect that a driver error contains only a number or "unknown error", or comes from an earlier
    call."""
    call = "hipMallocFromPoolAsync" if driver.is_hip else "cuMemAllocFromPoolAsync"
    name = "hipErrorInvalidValue" if driver.is_hip else "CUDA_ERROR_INVALID_VALUE"
    driver.fault(call, 1)
    with pytest.raises(PyGPU.CudaError) as caught:
        PyGPU.empty((3, 4), "float32")
    error = caught.value
    assert (error.code, error.name, error.operation, error.device) == (1, name, call, f"{BACKEND}:0")
    assert str(error).startswith(f"{call} failed on {BACKEND}:0: {name} (1): {error.text}")
    assert "48" in str(error), "how much was asked for"


def test_regression_24_destructor_error_is_raised_once_by_next_wait(driver: simulated_driver.Driver) -> None:
    """Rule out the defect that a destructor's error is never reported, ends the process, or makes an unrelated call
    fail."""
    call = "hipFreeAsync" if driver.is_hip else "cuMemFreeAsync"
    array, other = PyGPU.zeros(3), PyGPU.zeros(3)
    driver.fault(call, 1)
    del array
    other.fill(2.0)
    assert PyGPU.zeros(3).tolist() == [0, 0, 0]
    with pytest.raises(PyGPU.CudaError, match=call):
        PyGPU.synchronize()
    PyGPU.synchronize()
    assert other.tolist() == [2, 2, 2]


@pytest.mark.starts_processes
def test_regression_24_unraised_destructor_error_is_reported_at_exit(driver: simulated_driver.Driver) -> None:
    """Rule out the defect that an error in a destructor at the end of the process is never reported."""
    call = "hipFreeAsync" if driver.is_hip else "cuMemFreeAsync"
    script = f"""
        import PyGPU
        import simulated_driver
        PyGPU.set_memory_release_threshold(0)
        array = PyGPU.zeros(3)
        simulated_driver.driver().fault({call!r}, 1)
        del array
    """
    path = f"import sys; sys.path[:0] = [{str(Path(__file__).parents[1] / 'helpers')!r}]\n"
    result = support.run_script(path + textwrap.dedent(script))
    support.ended_well(result)
    assert call in result.stderr


@gpu_only
@pytest.mark.starts_processes
def test_regression_24_unusable_context_is_detected_and_reported(kernels: Kernels) -> None:
    """Rule out the defect that calls after a fault fail with an error that does not name the remedy, a new process."""
    script = """
        import ctypes
        import PyGPU
        library = ctypes.CDLL(sys.argv[1])
        library.guest_fault.argtypes = [ctypes.c_void_p]
        array = PyGPU.zeros(1000)
        assert library.guest_fault(0) == 0
        for call in (PyGPU.synchronize, array.get, lambda: PyGPU.zeros(3)):
            try:
                call()
            except PyGPU.CudaError as error:
                print(error)
            else:
                raise AssertionError("no error")
        assert array[::2].shape == (500,)
        assert PyGPU.arange(3, device="cpu").tolist() == [0, 1, 2]
    """
    lines = run(script, str(kernels.path)).splitlines()
    assert len(lines) == 3
    assert all("process" in line for line in lines[1:]), lines


def test_regression_24_invalid_arguments_raise_python_errors_with_values() -> None:
    """Rule out the defect that a mistake in the program raises a driver error or an assertion."""
    array = PyGPU.zeros((3, 4))
    for call, error, text in (
        (lambda: array[5], IndexError, "5.*3"),
        (lambda: array.reshape(7), ValueError, "12.*7"),
        (lambda: array.__setitem__(0, np.zeros(5)), ValueError, r"5.*4"),
        (lambda: PyGPU.zeros(3, object), TypeError, "dtype.'O'.*supported"),
        (lambda: PyGPU.zeros(3, device=99), ValueError, "99"),
    ):
        with pytest.raises(error, match=text):
            call()
    assert array.tolist() == [[0] * 4] * 3


# Regression 25: packages that an installation requires.


def requirements() -> list[str]:
    """Return the packages that the installed wheel requires, or the packages that the source tree requires if no wheel
    is installed."""
    try:
        return importlib.metadata.requires("PyGPU") or []
    except importlib.metadata.PackageNotFoundError:
        found: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
        return found


def test_regression_25_only_numpy_is_required() -> None:
    """Rule out the defect that the installation requires a toolkit, a compiler, or a separate package for each version
    of each vendor's driver."""
    required = requirements()
    assert [re.split(r"\W", name)[0] for name in required if "extra ==" not in name] == ["numpy"]


@pytest.mark.starts_processes
def test_regression_25_cpu_backend_computes_without_gpu() -> None:
    """Rule out the defect that the import fails on a machine without a GPU, so that programs cannot be tested on such a
    machine."""
    script = """
        import PyGPU
        array = PyGPU.arange(6).reshape(2, 3)
        assert array.device.kind == "cpu"
        assert array[::-1].tolist() == [[3, 4, 5], [0, 1, 2]]
        print("ended")
    """
    assert run(script, PYGPU_BACKEND="cpu") == "ended"


def test_regression_25_config_reports_why_backend_is_unavailable() -> None:
    """Rule out the defect that the error contains only "no CUDA-capable device" and not the reason why no device was
    found."""
    for backend in PyGPU.config()["backends"]:
        assert backend["available"] or backend["reason"]
        if not backend["available"] and backend["searched"]:
            assert all(name and reason for name, reason in backend["searched"])
    missing = [backend["name"] for backend in PyGPU.config()["backends"] if not backend["available"]]
    for name in missing:
        result = support.run_script("import PyGPU; PyGPU.zeros(3)", PYGPU_BACKEND=name)
        assert result.returncode == 1
        assert "BackendUnavailableError" in result.stderr
        assert "PYGPU_BACKEND" in result.stderr
