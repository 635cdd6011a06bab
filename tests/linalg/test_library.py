"""Test cuSOLVER and hipSOLVER: errors if one of these libraries is missing or fails, and iterations that do not
converge."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver
from linear_algebra import adjoint, close, hermitian, sample_matrix
from PyGPU import _core, linalg
from PyGPU._linalg import small_matrices, solver_library
from support import on_cpu

pytestmark = [
    pytest.mark.skipif(
        on_cpu() or simulated_driver.driver() is None, reason="of a library that fails when it is told to"
    ),
    pytest.mark.enough_on("cuda", "hip"),
]
NAME = {"cuda": "cuSOLVER", "hip": "hipSOLVER"}.get(PyGPU.backend_name(), "")


INFO = 2**32 - 1  # Error code by which the replacement library simulates an iteration that does not converge.


@pytest.fixture(autouse=True)
def no_own_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute small matrices by the library, too."""
    monkeypatch.setattr(small_matrices, "fits", lambda *_: False)


def replacement(library: str) -> ctypes.CDLL:
    """Open the replacement of a vendor's library."""
    files = {"blas": "libhipblas.so.3", "solver": "libhipsolver.so.1"}
    if PyGPU.backend_name() == "cuda":
        files = {"blas": "libcublas.so.12", "solver": "libcusolver.so.11"}
    opened = ctypes.CDLL(files[library])
    opened.sim_library_fault.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32]
    opened.sim_library_calls.argtypes = [ctypes.c_char_p]
    opened.sim_library_calls.restype = ctypes.c_uint64
    return opened


def fails(library: str, name: str, code: int) -> None:
    """Make the next call of the function `name` in a replacement library return the error `code`."""
    replacement(library).sim_library_fault(name.encode(), 1, code)


def solver_calls(name: str) -> int:
    """Return the number of calls of a function in the replacement solver library."""
    return int(replacement("solver").sim_library_calls(name.encode()))


def test_error_of_solver_library_contains_status_name() -> None:
    a = PyGPU.to_gpu(np.eye(3, dtype="float32"))
    linalg.inv(a)
    fails("solver", "getrf", 2)
    with pytest.raises(PyGPU.CudaError, match=f"getrf failed: {NAME.upper()}_STATUS_ALLOC_FAILED"):
        linalg.inv(a)
    close(linalg.inv(a), np.eye(3, dtype="float32"))


def test_error_of_batched_blas_function_contains_status_name() -> None:
    a = PyGPU.to_gpu(np.stack([np.eye(3, dtype="float32")] * 2))
    linalg.inv(a)
    fails("blas", "getrfBatched", 3)
    with pytest.raises(PyGPU.CudaError, match=f"getrfBatched failed: {NAME.upper().replace('SOLVER', 'BLAS')}_STATUS_"):
        linalg.inv(a)


def test_capture_rejects_svd_and_eigvalsh_but_accepts_cholesky() -> None:
    a = PyGPU.to_gpu(np.eye(3, dtype="float32"))
    linalg.svd(a)
    with PyGPU.Stream() as stream:
        stream.begin_capture()
        for name in ("svd", "eigvalsh"):
            with pytest.raises(PyGPU.NotSupportedError, match="cannot be captured"):
                getattr(linalg, name)(a)
        root = linalg.cholesky(a)
        graph = stream.end_capture()
        graph.launch(stream)
        close(root, np.eye(3, dtype="float32"))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 1, 1), (2, 31, 31), (33, 33), (2, 2, 70, 70)], ids=str)
def test_lower_triangle_is_copied_to_c_order_with_zeros_above(shape: tuple[int, ...], dtype: str) -> None:
    a = sample_matrix(dtype, *shape)
    columns = np.ascontiguousarray(np.where(np.tri(shape[-1], dtype=bool), a, np.nan).swapaxes(-1, -2))
    result = PyGPU.ones(shape, dtype)
    _core._copy_lower_triangle(PyGPU.to_gpu(columns), result)
    np.testing.assert_array_equal(result.get(), np.tril(a))
    for other in (PyGPU.ones(shape, "int64"), PyGPU.ones((*shape, 1), dtype), PyGPU.ones(shape[1:], dtype)):
        with pytest.raises(ValueError, match="another shape or type"):
            _core._copy_lower_triangle(PyGPU.to_gpu(columns), other)


@pytest.mark.enough_on("cuda")
def test_cholesky_launches_one_kernel_before_and_after_library() -> None:
    a = PyGPU.to_gpu(hermitian("float32", 4, 4))
    driver = simulated_driver.driver()
    assert driver is not None
    name = "hipModuleLaunchKernel" if driver.is_hip else "cuLaunchKernel"
    linalg.cholesky(a)
    before = driver.call_count(name)
    factor = linalg.cholesky(a)
    assert driver.call_count(name) - before == 2
    assert factor.flags.c_contiguous


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)], ids=str)
@pytest.mark.enough_on("cuda")
def test_svd_uses_second_algorithm_if_jacobi_does_not_converge(
    shape: tuple[int, ...],
) -> None:
    a = sample_matrix("float32", *shape)
    for full in (True, False):
        fails("solver", "gesvdj", INFO)
        u, s, vh = (part.get() for part in linalg.svd(PyGPU.to_gpu(a), full))
        close((u[:, :3] * s) @ vh[:3], a)
        assert (u.shape, vh.shape) == tuple(np.linalg.svd(a, full)[place].shape for place in (0, 2))
    fails("solver", "gesvdj", INFO)
    close(linalg.svdvals(PyGPU.to_gpu(a)), s)


@pytest.mark.enough_on("cuda")
@pytest.mark.parametrize("shape", [(2, 6, 4), (2, 4, 6)], ids=str)
def test_svd_is_accurate_if_library_returns_inaccurate_vectors(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = solver_library.svd

    def inaccurate(a: PyGPU.GPUArray, vectors: bool, full: bool) -> tuple[Any, ...]:
        u, s, v, info = computed(a, vectors, full)
        noise = PyGPU.to_gpu(np.random.default_rng(5).uniform(-1e-6, 1e-6, u.shape))
        return u * (1 + 1e-6) + noise, s * (1 + 1e-6), v * (1 - 1e-6), info

    monkeypatch.setattr(solver_library, "svd", inaccurate)
    a = sample_matrix("float64", *shape)
    u, s, vh = (part.get() for part in linalg.svd(PyGPU.to_gpu(a), False))
    np.testing.assert_allclose(s, np.linalg.svd(a, compute_uv=False), rtol=1e-10)
    np.testing.assert_allclose(adjoint(u) @ u, np.broadcast_to(np.eye(4), (2, 4, 4)), atol=1e-10)
    np.testing.assert_allclose(vh @ adjoint(vh), np.broadcast_to(np.eye(4), (2, 4, 4)), atol=1e-10)


@pytest.mark.parametrize(("side", "triangle"), [(5, "L"), (40, "U")])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_stack_of_symmetric_matrices_is_one_call_of_cusolver(side: int, triangle: str, dtype: str) -> None:
    a = hermitian(dtype, 3, side, side)
    is_cuda = PyGPU.backend_name() == "cuda"
    name, expected = ("syevjBatched", 1) if side <= 32 else ("XsyevBatched", 1) if is_cuda else ("syevd", 3)
    before = solver_calls(name)
    w, v = (result.get() for result in linalg.eigh(PyGPU.to_gpu(a), triangle))
    assert solver_calls(name) - before == expected
    close(w, np.linalg.eigvalsh(a))
    close(a @ v, v * w[:, None, :].astype(dtype))
    close(linalg.eigvalsh(PyGPU.to_gpu(a), triangle), w)


@pytest.mark.enough_on("cuda")
@pytest.mark.skipif(PyGPU.backend_name() != "cuda", reason="hipSOLVER has no such function")
def test_stack_that_cusolver_refuses_is_computed_in_parts() -> None:
    a = hermitian("float64", 5, 33, 33)
    before = solver_calls("XsyevBatched")
    fails("solver", "XsyevBatched_bufferSize", 3)
    w, v = (result.get() for result in linalg.eigh(PyGPU.to_gpu(a)))
    assert solver_calls("XsyevBatched") - before == 2
    close(w, np.linalg.eigvalsh(a))
    close(a @ v, v * w[:, None, :])


@pytest.mark.enough_on("cuda")
def test_eigenvalues_without_convergence_raise_linalg_error() -> None:
    fails("solver", "syevd", INFO)
    with pytest.raises(np.linalg.LinAlgError, match="Eigenvalues did not converge"):
        linalg.eigvalsh(PyGPU.to_gpu(np.eye(3, dtype="float32")))


@pytest.mark.starts_processes
def test_error_for_missing_solver_library_contains_package_name() -> None:
    program = """
import PyGPU
try:
    PyGPU.linalg.det(PyGPU.to_gpu([[1.0]]))
except PyGPU.BackendUnavailableError as error:
    print(error)
print(PyGPU.linalg.norm(PyGPU.to_gpu([[3.0, 4.0]])).item())
"""
    environment = os.environ | {"PYGPU_CUSOLVER": "/no/such/file.so"}
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    package = "hipsolver" if NAME == "hipSOLVER" else "PyGPU[cuda12-math]"
    for part in (f"{NAME} was not found", package, "/no/such/file.so: "):
        assert part in said.stdout
    # These functions compute no factorization, so they need no solver library.
    assert said.stdout.splitlines()[-1] == "5.0"
