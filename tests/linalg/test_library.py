"""cuSOLVER and hipSOLVER: what is said where one is absent or refuses, and what is done where one does not converge."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import PyGPU
import simulated
from linear_algebra import close, given
from PyGPU import linalg
from support import on_cpu

pytestmark = [
    pytest.mark.skipif(on_cpu() or simulated.driver() is None, reason="of a library that fails when it is told to"),
    pytest.mark.enough_on("cuda", "hip"),
]
NAME = {"cuda": "cuSOLVER", "hip": "hipSOLVER"}.get(PyGPU.backend_name(), "")


def test_a_refusal_is_told_in_the_librarys_words(monkeypatch: pytest.MonkeyPatch) -> None:
    a = PyGPU.to_gpu(np.eye(3, dtype="float32"))
    linalg.inv(a)
    monkeypatch.setenv("PYGPU_SIM_SOLVER_FAULT", "getrf:2")
    with pytest.raises(PyGPU.CudaError, match=f"getrf failed: {NAME.upper()}_STATUS_ALLOC_FAILED"):
        linalg.inv(a)
    monkeypatch.delenv("PYGPU_SIM_SOLVER_FAULT")
    close(linalg.inv(a), np.eye(3, dtype="float32"))


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)], ids=str)
@pytest.mark.enough_on("cuda")
def test_singular_values_that_do_not_converge_are_found_by_another_way(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    a = given("float32", *shape)
    monkeypatch.setenv("PYGPU_SIM_SOLVER_FAULT", "gesvdj:info")
    for full in (True, False):
        u, s, vh = (part.get() for part in linalg.svd(PyGPU.to_gpu(a), full))
        close((u[:, :3] * s) @ vh[:3], a)
        assert (u.shape, vh.shape) == tuple(np.linalg.svd(a, full)[place].shape for place in (0, 2))
    close(linalg.svdvals(PyGPU.to_gpu(a)), s)


@pytest.mark.enough_on("cuda")
def test_what_converges_in_no_way_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYGPU_SIM_SOLVER_FAULT", "syevd:info")
    with pytest.raises(np.linalg.LinAlgError, match="Eigenvalues did not converge"):
        linalg.eigvalsh(PyGPU.to_gpu(np.eye(3, dtype="float32")))


@pytest.mark.starts_processes
def test_without_the_library_it_is_said_what_to_install() -> None:
    program = """
import PyGPU
try:
    PyGPU.linalg.inv(PyGPU.to_gpu([[1.0]]))
except PyGPU.BackendUnavailableError as error:
    print(error)
print(PyGPU.linalg.norm(PyGPU.to_gpu([[3.0, 4.0]])).item())
"""
    environment = os.environ | {"PYGPU_CUSOLVER": "/no/such/file.so"}
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    package = "hipsolver" if NAME == "hipSOLVER" else "PyGPU[cuda12-math]"
    for part in (f"{NAME} was not found", package, "/no/such/file.so: "):
        assert part in said.stdout
    # What needs no factorisation needs no library.
    assert said.stdout.splitlines()[-1] == "5.0"
