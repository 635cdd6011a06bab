"""Test matrix products by the vendor's library: the products match NumPy, and PyGPU's own kernels compute them if the
library is missing.

PyGPU reads the variable PYGPU_BLAS once per process, so the programs run in separate processes. With PYGPU_BLAS=1 the
library computes even the smallest products. On a simulated GPU, a replacement of the library checks the arguments of
its functions against the manuals.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import PyGPU
from gpu import support

BACKEND = PyGPU.backend_name()
HELPERS = str(Path(__file__).parents[1] / "helpers")
NAME = {"cuda": "cuBLAS", "hip": "hipBLAS"}.get(BACKEND, "")

pytestmark = pytest.mark.starts_processes
on_gpus = pytest.mark.skipif(BACKEND == "cpu", reason="a library of a GPU's vendor")

HEAD = f"""
import ctypes, sys
sys.path.insert(0, {HELPERS!r})
import numpy as np
import PyGPU
from products import check, numbers

IS_HIP = PyGPU.backend_name() == "hip"

FILES = {{
    "blas": ("libcublas.so.12", "libhipblas.so.3"),
    "solver": ("libcusolver.so.11", "libhipsolver.so.1"),
    "fft": ("libcufft.so.11", "libhipfft.so.0"),
}}

def library(name="blas"):
    stand_in = ctypes.CDLL(FILES[name][IS_HIP])
    stand_in.sim_library_calls.restype = ctypes.c_uint64
    stand_in.sim_library_fault.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32]
    return stand_in

def calls():
    return library().sim_library_calls(b"hipblasGemmEx" if IS_HIP else b"cublasGemmEx")

def both(function, *hosts, **keywords):
    check(function(*map(PyGPU.to_gpu, hosts), **keywords), function(*hosts))
"""


def run(program: str, **environment: str) -> str:
    code = HEAD + program
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYGPU_BLAS": "1", **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LAYOUTS = """
from operator import matmul
for dtype in ("float32", "float64", "complex64", "complex128"):
    both(matmul, numbers(dtype, 33, 40), numbers(dtype, 40, 34))
half = numbers("float16", 33, 40)
check(PyGPU.to_gpu(half) @ PyGPU.to_gpu(half.T.copy()), (half.astype("f4") @ half.astype("f4").T).astype("f2"))
mixed = numbers("float32", 70, 80), numbers("int16", 80, 70)
both(matmul, *mixed)

host = numbers("float32", 200, 200)
array = PyGPU.to_gpu(host)
ways = (
    lambda a: a[:90, :80], lambda a: a.T[:90, :80], lambda a: a[::-1, ::-1][:90, :80], lambda a: a[::2, ::2][:90, :80],
    lambda a: a[3:93, 5:85], lambda a: np.broadcast_to(a[:1, :80], (90, 80)) if a is host
    else PyGPU.broadcast_to(a[:1, :80], (90, 80)),
)[: 2 if IS_HIP else None]
for left in ways:
    for right in ways:
        check(left(array) @ right(array).T, left(host) @ right(host).T)
    out = PyGPU.empty((180, 90))[::-2].T
    assert PyGPU.matmul(left(array), left(array).T, out=PyGPU.empty((90, 90), "float32").T) is not None
    check(PyGPU.matmul(left(array), left(array).T, out=out).astype("float32"), left(host) @ left(host).T)

a, b = numbers("float32", 5, 20, 30), numbers("float32", 5, 30, 25)
own = PyGPU.to_gpu(a), PyGPU.to_gpu(b)
for of_a, of_b in (
    (lambda a: a, lambda b: b), (lambda a: a, lambda b: b[0]), (lambda a: a[0], lambda b: b),
    (lambda a: a[:, None], lambda b: b[None]), (lambda a: a[::-1], lambda b: b), (lambda a: a[::2], lambda b: b[1:4]),
    (lambda a: a[:, :1], lambda b: b[0]),
):
    check(of_a(own[0]) @ of_b(own[1]), of_a(a) @ of_b(b))
made = PyGPU.empty((20, 5, 25), "float32")
check(PyGPU.matmul(*own, out=made.transpose(1, 0, 2)), a @ b)
check(PyGPU.matvec(own[0][0], own[1][:, :, 3]), (a[0] @ b[:, :, 3].T).T)
x, m = numbers("complex64", 6, 30), numbers("complex64", 30, 25)
check(PyGPU.vecmat(PyGPU.to_gpu(x), PyGPU.to_gpu(m)), x.conj() @ m)
check(PyGPU.vecmat(PyGPU.to_gpu(x.T.copy()).T, PyGPU.to_gpu(m)), x.conj() @ m)
square = PyGPU.to_gpu(host)
check(PyGPU.matmul(square.T, square, out=square), host.T @ host)
odd = np.zeros(4 * 400 + 1, np.uint8)
odd[1:] = host.ravel()[:400].view(np.uint8)
lying = PyGPU.to_gpu(odd)[1:].view("float32").reshape(20, 20)
check(lying @ lying, host.ravel()[:400].reshape(20, 20) @ host.ravel()[:400].reshape(20, 20))
check(PyGPU.einsum("ij,kj->ki", PyGPU.to_gpu(a[0]), PyGPU.to_gpu(a[1])), a[1] @ a[0].T)
first = (own[0] @ own[1]).get().tobytes()
assert all((own[0] @ own[1]).get().tobytes() == first for _ in range(3))
print(PyGPU.config()["products"])
"""


@on_gpus
def test_vendor_library_products_match_numpy_for_every_dtype_and_layout() -> None:
    text = run(LAYOUTS + ("print(calls())" if support.is_simulated() else ""))
    assert text.startswith(f"{NAME} for large ones of floats, "), text
    assert "refuses" not in text
    if support.is_simulated():
        assert int(text.split()[-1]) > 20


VECTORS = """
def count(function):
    before = calls()
    function()
    return calls() - before

for dtype in ("float32", "float64", "complex64"):
    x, m = numbers(dtype, 30), numbers(dtype, 30, 25)
    vector, matrix, fortran = PyGPU.to_gpu(x), PyGPU.to_gpu(m), PyGPU.to_gpu(m.T.copy()).T
    rows = (vector, matrix), (vector[None], matrix), (vector[::2], matrix[::2]), (vector[None, ::-1], matrix[::-1])
    for left, right in rows:
        check(left @ right, left.get() @ right.get())
    check(fortran.T @ vector, m.T @ x)
    check(PyGPU.vecmat(vector, matrix), x.conj() @ m)
    out = PyGPU.empty((25, 2), dtype)
    check(PyGPU.matmul(vector, matrix, out=out[:, 1]), x @ m)
    across = (vector, matrix), (vector[None], matrix), (matrix.T, vector)
    along = (matrix, vector[:25]), (vector, fortran), (vector, vector)
    print(*(count(lambda: left @ right) for left, right in across + along), count(lambda: PyGPU.vecmat(vector, matrix)))
"""


@pytest.mark.skipif(BACKEND == "cpu" or not support.is_simulated(), reason="calls are counted by a simulated library")
def test_vendor_library_multiplies_matrix_by_vector_only_across_inner_axis() -> None:
    assert run(VECTORS).splitlines() == ["1 1 1 0 0 0 1"] * 3


CHOICES = """
a = numbers("float32", 20, 20)
own = PyGPU.to_gpu(a)
print(PyGPU.config()["products"])
check(own @ own, a @ a)
check(own @ own[0], a @ a[0])
whole = PyGPU.to_gpu(numbers("int32", 20, 20))
check(whole @ whole, numbers("int32", 20, 20) @ numbers("int32", 20, 20))
print(PyGPU.config()["products"])
PyGPU.show_config()
"""


@on_gpus
def test_pygpus_kernels_compute_small_products_or_all_if_configured() -> None:
    lines = run(CHOICES, PYGPU_BLAS="own").splitlines()
    assert lines[:2] == ['own kernels: PYGPU_BLAS is "own"'] * 2
    lines = run(CHOICES, PYGPU_BLAS="").splitlines()
    assert lines[:2] == ["own kernels; the vendor's library is opened by the first large product of floats"] * 2
    assert f"products of matrices: {lines[0]}" in lines


@on_gpus
def test_pygpus_kernels_compute_products_if_library_is_missing(tmp_path: Path) -> None:
    lines = run(CHOICES, PYGPU_CUBLAS=str(tmp_path / "none.so")).splitlines()
    assert lines[1].startswith(f"own kernels: {NAME} was not found; ")
    assert f"    searched {tmp_path / 'none.so'}: " in "\n".join(lines)
    assert f"libc.so.6 is no {NAME}" in run(CHOICES, PYGPU_CUBLAS="libc.so.6").splitlines()[1]


@on_gpus
def test_library_without_required_functions_is_reported_as_too_old(tmp_path: Path) -> None:
    prefix, version = {"cuda": ("cublas", "_v2"), "hip": ("hipblas", "")}[BACKEND]
    source, library = tmp_path / "old.c", tmp_path / "libold.so"
    source.write_text(
        "".join(f"int {prefix}{name}{version}(void) {{ return 1; }}\n" for name in ("Create", "Destroy", "SetStream"))
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    assert f"{library} is too old a {NAME}" in run(CHOICES, PYGPU_CUBLAS=str(library)).splitlines()[1]


REFUSALS = """
a = numbers("float32", 20, 20)
own = PyGPU.to_gpu(a)
names = ("hipblasCreate", "hipblasSetStream", "hipblasGemmEx") if IS_HIP else (
    "cublasCreate_v2", "cublasSetStream_v2", "cublasGemmEx")
for name in names:
    library().sim_library_fault(name.encode(), 1, 14)
    check(own @ own, a @ a)
    print(PyGPU.config()["products"])
before = calls()
check(own @ own, a @ a)
assert calls() == before + 1
"""


@on_gpus
@pytest.mark.skipif(BACKEND != "cpu" and not support.is_simulated(), reason="faults are planted in a simulated library")
def test_pygpus_kernels_compute_products_if_library_fails() -> None:
    lines = run(REFUSALS).splitlines()
    assert "the last time it made no handle: code 14" in lines[0]
    assert "the last time a product of Float32 with code 14" in lines[1]
    assert len(lines) == 3


CAPTURES = """
a = numbers("float32", 20, 20)
own, out = PyGPU.to_gpu(a), PyGPU.empty((20, 20), "float32")
stream = PyGPU.Stream()
for _ in range(2):
    with stream:
        stream.begin_capture()
        PyGPU.matmul(own, own.T, out=out)
        more = own @ own
        graph = stream.end_capture()
    print(PyGPU.config()["products"])
    own.set(a + 1)
    graph.launch()
    check(out, (a + 1) @ (a + 1).T)
    check(more, (a + 1) @ (a + 1))
    own.set(a)
    graph.launch()
    check(out, a @ a.T)
    check(own @ own, a @ a)
"""


@on_gpus
def test_capture_uses_blas_library_only_if_library_is_already_open() -> None:
    lines = run(CAPTURES + ("print(calls())" if support.is_simulated() else "")).splitlines()
    assert lines[0].startswith("own kernels; ")
    assert lines[1].startswith(NAME)
    if support.is_simulated():
        # The library computes four products: two in the capture of the second graph, and `own @ own` after each of the
        # two captures.
        assert lines[2] == "4"


STREAMS = """
import threading
hosts = [numbers("float32", 40, 40) + number for number in range(4)]

def work(host):
    with PyGPU.Stream():
        own = PyGPU.to_gpu(host)
        for _ in range(5):
            check(own @ own, host @ host)

threads = [threading.Thread(target=work, args=(host,)) for host in hosts]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
first = PyGPU.to_gpu(hosts[0])
with PyGPU.Stream():
    made = first @ first
with PyGPU.Stream():
    twice = made @ first
check(twice, hosts[0] @ hosts[0] @ hosts[0])
print("done")
"""


@on_gpus
def test_threads_and_streams_use_separate_blas_handles() -> None:
    assert run(STREAMS) == "done\n"


@pytest.mark.skipif(BACKEND != "cpu", reason="about the CPU")
def test_cpu_products_use_numpy() -> None:
    text = run('print(PyGPU.config()["products"])\na = PyGPU.ones((20, 20))\nassert (a @ a).tolist()[0][0] == 20')
    assert text == "NumPy\n"


RESET = """
host = numbers("float32", 70, 70) + 70 * np.eye(70, dtype="float32")

def use_libraries():
    array = PyGPU.to_gpu(host)
    for ours, expected in (
        (array @ array, host @ host),
        (PyGPU.linalg.inv(array), np.linalg.inv(host)),
        (PyGPU.fft.fft(array), np.fft.fft(host)),
    ):
        np.testing.assert_allclose(ours.get(), expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())
    PyGPU.synchronize()

use_libraries()
{before}
PyGPU.reset_device()
{after}
use_libraries()
print(PyGPU.config()["products"])
"""


@on_gpus
def test_libraries_compute_correct_results_after_device_reset() -> None:
    text = run(RESET.format(before="", after=""))
    assert text.startswith(NAME), text
    assert "the last time" not in text


# The stand-ins of the libraries count the handles and plans that exist.
BEFORE = "assert all(library(name).sim_library_live() > 0 for name in FILES)"
AFTER = "for name in FILES: print(name, library(name).sim_library_live())"


@on_gpus
@pytest.mark.skipif(BACKEND != "cpu" and not support.is_simulated(), reason="simulated libraries count their handles")
def test_device_reset_destroys_idle_handles_and_plans_of_libraries() -> None:
    lines = run(RESET.format(before=BEFORE, after=AFTER)).splitlines()
    assert lines[:3] == ["blas 0", "solver 0", "fft 0"]
