"""Test the use of the vendor's FFT library: plans, captures, threads, errors for a missing or too old library."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import PyGPU
import simulated_driver
from support import on_cpu

PyGPU.device_count()
pytestmark = pytest.mark.skipif(on_cpu(), reason="a library of a GPU's vendor")
simulated_only = pytest.mark.skipif(simulated_driver.driver() is None, reason="asks the stand-in of a library")
LIBRARY = {"cuda": "libcufft.so.11", "hip": "libhipfft.so.0"}
VARIABLE = "PYGPU_CUFFT"


@pytest.fixture
def simulated_library() -> ctypes.CDLL:
    PyGPU.fft.fft(PyGPU.ones(2, "complex64"))
    library = ctypes.CDLL(LIBRARY[PyGPU.backend_name()])
    library.simulated_fft_plans.restype = library.sim_library_calls.restype = ctypes.c_uint64
    library.sim_library_fault.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32]
    return library


def vendor_name(function: str) -> bytes:
    return ({"cuda": "cufft", "hip": "hipfft"}[PyGPU.backend_name()] + function).encode()


def check(host: np.ndarray, got: PyGPU.GPUArray) -> None:
    np.testing.assert_allclose(got.get(), np.fft.fft(host), rtol=1e-5, atol=1e-4)


@simulated_only
def test_fft_plan_is_cached_and_old_fft_plans_are_evicted(simulated_library: ctypes.CDLL) -> None:
    array = PyGPU.ones((3, 20), "complex64")
    PyGPU.fft.fft(array)
    ever = simulated_library.sim_library_calls(vendor_name("Create"))
    for _ in range(3):
        check(np.ones((3, 20), "complex64"), PyGPU.fft.fft(array))
        PyGPU.fft.ifft(array)
    assert simulated_library.sim_library_calls(vendor_name("Create")) == ever
    for length in range(2, 80):
        PyGPU.fft.fft(PyGPU.ones(length, "complex64"))
    assert simulated_library.sim_library_calls(vendor_name("Create")) > ever + 64
    assert simulated_library.simulated_fft_plans() <= 64


def test_graph_with_ffts_transforms_values_present_at_launch() -> None:
    rng = np.random.default_rng(3)
    array, out = PyGPU.empty((4, 30), "complex64"), PyGPU.empty((4, 30), "complex64")
    real = PyGPU.empty((4, 30), "float32")
    array.fill(1)
    PyGPU.fft.fft(array, out=out)
    PyGPU.fft.irfft(PyGPU.fft.rfft(real, norm="ortho"), 30, norm="ortho")
    stream = PyGPU.Stream()
    with stream:
        stream.begin_capture()
        PyGPU.fft.fft(array, out=out)
        half = PyGPU.fft.rfft(real, norm="ortho")
        back = PyGPU.fft.irfft(half, 30, norm="ortho")
        graph = stream.end_capture()
    for length in range(2, 70):  # More than 64 other plans displace the graph's plans in the cache.
        PyGPU.fft.fft(PyGPU.ones((length, 2), "complex64"))
    for _ in range(2):
        host = rng.random((4, 30)).astype("complex64")
        array.set(host)
        real.set(host.real.copy())
        graph.launch(stream)
        check(host, out)
        np.testing.assert_allclose(back.get(), host.real, rtol=1e-5, atol=1e-5)
    del graph


def test_fft_without_cached_plan_raises_in_capture_and_capture_continues() -> None:
    array = PyGPU.ones((3, 89), "complex64")
    made = PyGPU.zeros(3)
    stream = PyGPU.Stream()
    with stream:
        stream.begin_capture()
        with pytest.raises(PyGPU.NotSupportedError, match="once before the capture"):
            PyGPU.fft.fft(array)
        made += 1
        graph = stream.end_capture()
    graph.launch(stream)
    assert made.tolist() == [1, 1, 1]
    check(array.get(), PyGPU.fft.fft(array))


def test_ffts_in_four_threads_and_streams_match_numpy() -> None:
    rng = np.random.default_rng(4)
    hosts = [rng.random((5, 40)).astype("complex64") for _ in range(4)]
    results: list[PyGPU.GPUArray | None] = [None] * 4

    def work(number: int) -> None:
        with PyGPU.Stream():
            array = PyGPU.to_gpu(hosts[number])
            for _ in range(5):
                made = PyGPU.fft.fft(array)
            results[number] = made

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for host, got in zip(hosts, results, strict=True):
        assert got is not None
        check(host, got)


@simulated_only
def test_error_of_vendor_fft_library_raises_cuda_error_with_code(simulated_library: ctypes.CDLL) -> None:
    array = PyGPU.ones((2, 23), "complex64")
    before = simulated_library.simulated_fft_plans()
    simulated_library.sim_library_fault(vendor_name("MakePlanMany64"), 1, 8)
    with pytest.raises(PyGPU.CudaError, match=r"MakePlanMany64 failed: INVALID_SIZE.*code 8 of (cu|hip)FFT"):
        PyGPU.fft.fft(array)
    assert simulated_library.simulated_fft_plans() == before
    simulated_library.sim_library_fault(vendor_name("ExecC2C"), 1, 6)
    with pytest.raises(PyGPU.CudaError, match="ExecC2C failed: EXEC_FAILED"):
        PyGPU.fft.fft(array)
    check(np.ones((2, 23), "complex64"), PyGPU.fft.fft(array))


PROGRAM = """
import PyGPU
print(PyGPU._core._fft_library_version())
try:
    print(PyGPU.fft.fft(PyGPU.ones(4, "complex64")).get())
except RuntimeError as error:
    print(error)
PyGPU.show_config()
"""


def output(library: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(VARIABLE, library)
    return subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout


@pytest.mark.starts_processes
def test_missing_fft_library_raises_error_that_names_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = output(str(tmp_path / "none.so"), monkeypatch)
    assert text.startswith("None\n")
    assert {"cuda": "-math]", "hip": "ROCM_PATH"}[PyGPU.backend_name()] in text
    assert text.count(f"searched {tmp_path / 'none.so'}") == 1
    # The file libc.so.6 exists, but contains no FFT functions.
    assert "is no" in output("libc.so.6", monkeypatch)


@pytest.mark.starts_processes
def test_too_old_fft_library_raises_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, library = tmp_path / "old.c", tmp_path / "old.so"
    prefix = {"cuda": "cufft", "hip": "hipfft"}[PyGPU.backend_name()]
    source.write_text(f"int {prefix}GetVersion(int *version) {{ *version = 5000; return 0; }}")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    assert "too old: it lacks" in output(str(library), monkeypatch)
