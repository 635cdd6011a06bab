"""Test polynomials, such as roots, fits and quotients: results and errors match NumPy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.exceptions import RankWarning

import PyGPU
from support import assert_same, assert_same_refusal, outcome

pytestmark = pytest.mark.usefixtures("compiled_together")

needs_eigenvalues = pytest.mark.skipif(PyGPU.backend_name() == "hip", reason="hipSOLVER has no general eigenvalues")
TOLERANCE = {"float32": 1e-4, "complex64": 1e-4}


def assert_near(got: PyGPU.GPUArray, expected: Any, tolerance: float = 1e-9) -> None:
    expected = np.asarray(expected)
    assert isinstance(got, PyGPU.GPUArray)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(got.get(), expected, rtol=tolerance, atol=tolerance)


def with_dtype(coefficients: Any, dtype: str | None) -> np.ndarray:
    """Return an array converted to a dtype, unless the array has complex numbers."""
    host = np.array(coefficients)
    return host.astype(dtype) if dtype and (host.dtype.kind != "c" or dtype == "complex64") else host


@pytest.mark.parametrize("dtype", [None, "int8", "bool", "float16", "float32", "complex64"])
def test_poly_of_roots_matches_numpy(dtype: str | None) -> None:
    for coefficients in ([1, 2, 3], [0.5], [], [1j, -1j, 2], [1j, 2]):
        host = with_dtype(coefficients, dtype)
        assert_near(PyGPU.poly(PyGPU.to_gpu(host)), np.poly(host), 1e-5)


@needs_eigenvalues
@pytest.mark.parametrize("dtype", [None, "int8", "bool", "float32", "complex64"])
def test_poly_of_matrix_matches_numpy(dtype: str | None) -> None:
    for coefficients in ([[1.0, 2.0], [3.0, 4.0]], [[0, 1], [-1, 0]], [[1j, 0], [0, 1]]):
        host = with_dtype(coefficients, dtype)
        assert_near(PyGPU.poly(PyGPU.to_gpu(host)), np.poly(host), 1e-5)


COEFFICIENTS = [
    [1, -6, 11, -6], [0, 0, 1.0, 2.0, 3.0], [2, 1, 0, 0], [0, 3, 0], [5], [0, 0], [], [1, 0, 1], [1j, 2, 3],
    [1, 0, 0, 0, -1, 0], [0, 1, 1],
]  # fmt: skip


@needs_eigenvalues
@pytest.mark.parametrize("dtype", [None, "float32", "complex64", "int16"])
def test_roots_match_numpy(dtype: str | None) -> None:
    for coefficients in COEFFICIENTS:
        host = with_dtype(coefficients, dtype)
        got, expected = PyGPU.roots(PyGPU.to_gpu(host)), np.roots(host)
        assert got.shape == expected.shape
        # Unlike in NumPy, the dtype of the roots does not depend on their values.
        assert got.dtype in (expected.dtype, np.result_type(expected.dtype, np.complex64))
        tolerance = TOLERANCE.get(str(dtype), 1e-9)
        ours, numpys = (np.sort_complex(one.round(3)) for one in (got.get(), expected))
        np.testing.assert_allclose(ours, numpys, atol=max(tolerance, 2e-3))


@needs_eigenvalues
def test_roots_of_polynomial_from_poly_equal_arguments_of_poly() -> None:
    host = np.array([-2.0, 0.5, 1.0, 3.0])
    found = PyGPU.roots(PyGPU.poly(PyGPU.to_gpu(host)))
    np.testing.assert_allclose(np.sort(found.get().real), host, atol=1e-10)


DIVISIONS = [
    ([3.0, 5.0, 2.0], [2.0, 1.0]), ([1, 2], [1, 2, 3]), ([1, -6, 11, -6], [1, -1]), ([1, 0, 0, 2], [2, 0]), ([4], [2]),
    ([1j, 2], [1, 1]), ([0.0, 0.0], [1.0]), (3, [2]),
]  # fmt: skip


@pytest.mark.parametrize(("u", "v"), DIVISIONS)
def test_polydiv_matches_numpy(u: Any, v: Any) -> None:
    for ours, expected in (
        (PyGPU.polydiv(PyGPU.to_gpu(np.array(u)), v), np.polydiv(u, v)),
        (PyGPU.polydiv(u, PyGPU.to_gpu(np.array(v, "float32"))), np.polydiv(np.array(u), np.array(v, "float32"))),
    ):
        for one, other in zip(ours, expected, strict=True):
            assert_near(one, other, 1e-6)


X = np.linspace(-1, 2, 20)
Y = np.polyval([2.0, -1.0, 0.5], X) + np.sin(40 * X) / 10


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex128"])
def test_polyfit_matches_numpy(dtype: str) -> None:
    x, y = (X * 4).astype(dtype), (Y * 4).astype(dtype)
    for values in (y, np.stack([y, 2 * y], 1)):
        got = PyGPU.polyfit(PyGPU.to_gpu(x), PyGPU.to_gpu(values), 2)
        assert_near(got, np.polyfit(x, values, 2), 1e-5 if dtype == "float32" else 1e-9)


@pytest.mark.parametrize("cov", [True, "unscaled"])
def test_polyfit_weights_and_covariances_match_numpy(cov: Any) -> None:
    weights = np.arange(1.0, 21.0)
    x, w = PyGPU.to_gpu(X), PyGPU.to_gpu(weights)
    for values in (Y, np.stack([Y, 2 * Y], 1)):
        expected = np.polyfit(X, values, 2, w=weights, cov=cov)
        got = PyGPU.polyfit(x, PyGPU.to_gpu(values), 2, w=w, cov=cov)
        for one, other in zip(got, expected, strict=True):
            assert_near(one, other)


def test_polyfit_full_returns_residuals_rank_and_singular_values() -> None:
    got, expected = PyGPU.polyfit(PyGPU.to_gpu(X), PyGPU.to_gpu(Y), 3, full=True), np.polyfit(X, Y, 3, full=True)
    for one, other in zip(got[:2], expected[:2], strict=True):
        assert_near(one, other)
    assert got[2].item() == expected[2]
    assert_near(got[3], expected[3])
    assert got[4] == expected[4]


def test_polyfit_of_too_few_points_warns_like_numpy() -> None:
    x = PyGPU.to_gpu(np.ones(4))
    with pytest.warns(RankWarning, match="poorly conditioned"):
        PyGPU.polyfit(x, x, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert PyGPU.polyfit(x, x, 2, full=True)[2].item() == 1


REFUSED = {
    "poly_of_wide_matrix": lambda xp, a: xp.poly(a[None]),
    "poly_of_three_axes": lambda xp, a: xp.poly(a[None, None]),
    "roots_of_matrix": lambda xp, a: xp.roots(a[None]),
    "negative_degree": lambda xp, a: xp.polyfit(a, a, -1),
    "text_as_degree": lambda xp, a: xp.polyfit(a, a, "x"),
    "x_of_two_axes": lambda xp, a: xp.polyfit(a[None], a, 1),
    "no_points": lambda xp, a: xp.polyfit(a[:0], a[:0], 1),
    "y_of_three_axes": lambda xp, a: xp.polyfit(a, a[:, None, None], 1),
    "other_length": lambda xp, a: xp.polyfit(a, a[1:], 1),
    "weights_of_two_axes": lambda xp, a: xp.polyfit(a, a, 1, w=a[None]),
    "weights_of_other_length": lambda xp, a: xp.polyfit(a, a, 1, w=a[1:]),
    "few_points_for_covariance": lambda xp, a: xp.polyfit(a[:2], a[:2], 1, cov=True),
    "complex_weights": lambda xp, a: xp.polyfit(a, a, 1, w=a * 1j),
    "division_by_nothing": lambda xp, a: xp.polydiv(a, a[:0]),
    "division_of_nothing": lambda xp, a: xp.polydiv(a[:0], a),
}


@pytest.mark.parametrize("name", REFUSED)
def test_polynomial_function_rejects_same_arguments_as_numpy(name: str) -> None:
    host, call = np.arange(1.0, 6.0), REFUSED[name]
    device = PyGPU.to_gpu(host)
    assert_same_refusal(outcome(lambda: call(PyGPU, device)), outcome(lambda: call(np, host)))
    assert_same(device, host)


def test_poly_and_roots_accept_0d_array() -> None:
    assert PyGPU.poly(PyGPU.to_gpu(np.array(3.0))).tolist() == [1.0, -3.0]
    assert_same(PyGPU.roots(PyGPU.to_gpu(np.array(4))), np.roots([4]))
