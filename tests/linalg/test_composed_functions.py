"""Test functions of `PyGPU.linalg` that call other functions: results match NumPy, also if called through the array
API."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from linear_algebra import close, hermitian, sample_matrix
from PyGPU import linalg
from support import assert_same, on_cpu

pytestmark = pytest.mark.enough_on("cpu", "cuda")

A, B, V = sample_matrix("float64", 3, 3), sample_matrix("float64", 2, 3, 3), sample_matrix("float64", 3)
Z = sample_matrix("complex128", 3, 3)

CALLS = """
np.linalg.cond(a)                  np.linalg.cond(b, -2)               np.linalg.cond(a, 1)
np.linalg.cond(a, 'fro')           np.linalg.cross(a, b)               np.linalg.diagonal(b, offset=1)
np.linalg.lstsq(a, v)[0]           np.linalg.lstsq(a[:, :2], a)[0]     np.linalg.lstsq(a[:, :2], a)[1]
np.linalg.lstsq(a[:2], v[:2])[0]   np.linalg.lstsq(a, v)[3]            np.linalg.matmul(a, b)
np.linalg.matrix_norm(b, ord=2)    np.linalg.matrix_norm(b)          np.linalg.matrix_norm(b, keepdims=True, ord='nuc')
np.linalg.matrix_power(a, 5)       np.linalg.matrix_power(b, -2)       np.linalg.matrix_power(a, 0)
np.linalg.matrix_rank(b)           np.linalg.matrix_rank(v)            np.linalg.matrix_rank(a, tol=1.0)
np.linalg.matrix_transpose(b)      np.linalg.multi_dot([a, a, v])      np.linalg.multi_dot([v, a, a, v])
np.linalg.norm(b, -2, (1, 2))      np.linalg.norm(a, 'nuc')            np.linalg.norm(v, 3)
np.linalg.outer(v, v)              np.linalg.pinv(b)                   np.linalg.pinv(a[:, :2], rtol=0.5)
np.linalg.pinv(h, hermitian=True)  np.linalg.svd(h, hermitian=True)[1] np.linalg.tensordot(b, a, axes=1)
np.linalg.tensorinv(a, 1)          np.linalg.tensorsolve(a, v)         np.linalg.trace(b, offset=-1)
np.linalg.vecdot(a, b, axis=1)     np.linalg.vector_norm(b, axis=(0, 2)) np.linalg.vector_norm(b, ord=1, keepdims=True)
np.linalg.matrix_rank(h, hermitian=True) np.linalg.cond(z, np.inf)     np.linalg.pinv(z)
"""
PROGRAMS = [f"np.linalg.{one.strip()}" for one in CALLS.replace("\n", " ").split("np.linalg.") if one.strip()]
# On a GPU only a few programs run, because the simulated driver must compile each new kernel.
FEW = [one for one in PROGRAMS if any(name in one for name in ("lstsq(a[:, :2], a)[1]", "cond(a, 1)", "pinv(z", "nuc"))]


def values(is_host: bool) -> dict[str, Any]:
    hosts = {"a": A, "b": B, "v": V, "z": Z, "h": hermitian("float64", 3, 3)}
    return {"np": np} | {name: value if is_host else PyGPU.to_gpu(value) for name, value in hosts.items()}


@pytest.mark.parametrize("program", PROGRAMS if on_cpu() else FEW)
def test_composed_function_matches_numpy_on_device(program: str) -> None:
    ours, numpys = (eval(program, values(is_host)) for is_host in (False, True))
    assert isinstance(ours, PyGPU.GPUArray)
    close(ours, numpys)


def test_linalg_has_all_names_of_numpy_linalg() -> None:
    assert set(np.linalg.__all__) - {"LinAlgError", "linalg"} <= set(linalg.__all__)
    assert linalg.LinAlgError is np.linalg.LinAlgError
    assert linalg.norm is PyGPU.norm
    assert PyGPU.zeros(1).__array_namespace__().linalg is linalg


def test_result_tuples_of_linalg_have_field_names_of_numpy() -> None:
    a = PyGPU.eye(2)
    for name in ("eigh", "qr", "slogdet", "svd"):
        ours, numpys = getattr(linalg, name)(a), getattr(np.linalg, name)(np.eye(2))
        assert type(ours).__name__ == type(numpys).__name__
        assert ours._fields == numpys._fields


@pytest.mark.skipif(not on_cpu(), reason="the same everywhere")
def test_integers_are_factorized_as_float64() -> None:
    a = np.array([[2, 1], [1, 3]])
    for name in ("inv", "cholesky", "det", "svdvals", "eigvalsh"):
        close(getattr(linalg, name)(PyGPU.to_gpu(a)), getattr(np.linalg, name)(a))
    assert_same(linalg.matrix_power(PyGPU.to_gpu(a), 3), np.linalg.matrix_power(a, 3))


def test_lstsq_of_ill_conditioned_graded_matrix_is_accurate() -> None:
    x = np.arange(6.0, -1, -1)
    # The condition number is 1.6e6. Without iterative refinement, the error of the solution is 3.5e-10.
    a = x ** np.arange(7.0)[:, None]
    b = np.eye(7)[0]
    found = linalg.lstsq(PyGPU.to_gpu(a), PyGPU.to_gpu(b))[0].get()
    expected = np.eye(7)[-1]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
