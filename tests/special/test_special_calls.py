"""Test calls of `PyGPU.special`: types, keywords, broadcasting, fusion, dispatch, and functions along axes."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import PyGPU
from PyGPU._special import ufuncs

SPECIAL = Path(__file__).parents[2] / "src/ops/ufunc/special"
X = np.linspace(0.05, 0.95, 12)


@pytest.mark.enough_on("cpu")
def test_special_exports_every_function_of_table() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in SPECIAL.glob("*.rs"))
    declared = {name for name in re.findall(r'special!\(\s*"(\w+)"', text) if not name.startswith("_")}
    composed = {"lambertw", "log_softmax", "logsumexp", "polygamma", "softmax", "zeta"}
    assert set(PyGPU.special.__all__) == declared | composed
    assert all(callable(getattr(PyGPU.special, name)) for name in PyGPU.special.__all__)


@pytest.mark.parametrize("kind", ["bool", "int8", "uint16", "float16", "int32", "int64", "float32", "float64"])
def test_special_result_is_first_of_float32_and_float64_for_operands(kind: str) -> None:
    result = PyGPU.special.ndtri(PyGPU.zeros(3, kind))
    assert result.dtype == ("float32" if np.can_cast(kind, "float32") else "float64")
    assert result.tolist() == [-math.inf] * 3


def test_special_promotes_operands_of_different_types() -> None:
    single, whole = PyGPU.ones(2, "float32"), PyGPU.ones(2, "int32")
    assert PyGPU.special.beta(single, 2.0).dtype == np.float32
    assert PyGPU.special.beta(single, whole).dtype == np.float64
    assert PyGPU.special.beta(single, PyGPU.ones(2)).dtype == np.float64


def test_special_function_writes_masked_elements_into_out() -> None:
    out = PyGPU.zeros(12, "float32")
    mask = PyGPU.to_gpu(np.arange(12) % 2 == 0)
    assert PyGPU.special.ndtr(PyGPU.to_gpu(X), out=out, where=mask) is out
    expected = np.array([0.5 * math.erfc(-x / math.sqrt(2)) for x in X])
    np.testing.assert_allclose(out.get(), np.where(np.arange(12) % 2 == 0, expected, 0), rtol=1e-6)


def test_special_function_computes_in_requested_dtype() -> None:
    assert PyGPU.special.expit(PyGPU.ones(2, "float32"), dtype="float64").dtype == np.float64


def test_special_function_broadcasts_strided_operands() -> None:
    rows, columns = PyGPU.to_gpu(X)[::2], PyGPU.to_gpu(X)[::-3]
    actual = PyGPU.special.beta(rows[:, None], columns[None, :]).get()
    expected = [[math.gamma(a) * math.gamma(b) / math.gamma(a + b) for b in X[::-3]] for a in X[::2]]
    np.testing.assert_allclose(actual, expected, rtol=1e-14)


def test_special_function_with_two_results_returns_tuple() -> None:
    sine, cosine = PyGPU.special.sici(PyGPU.to_gpu([1.0]))
    assert (sine.item(), cosine.item()) == pytest.approx((0.946083070367183, 0.3374039229009681), rel=1e-15)


def test_special_functions_are_fused_with_other_operations() -> None:
    x = PyGPU.to_gpu(X)
    together = (PyGPU.special.ndtri(x) * 2 + PyGPU.special.log_ndtr(-x)).get()
    apart = PyGPU.special.ndtri(x).get() * 2 + PyGPU.special.log_ndtr(PyGPU.to_gpu(-X)).get()
    np.testing.assert_allclose(together, apart, rtol=1e-15)
    total = PyGPU.special.entr(x).sum().item()
    assert total == pytest.approx(float((-X * np.log(X)).sum()), rel=1e-13)


def test_special_rejects_complex_operands_and_wrong_operand_count() -> None:
    with pytest.raises(TypeError, match="ndtri"):
        PyGPU.special.ndtri(PyGPU.ones(2, "complex128"))
    with pytest.raises(TypeError, match="beta"):
        PyGPU.special.beta(PyGPU.ones(2))


@pytest.mark.parametrize("name", ["expm1", "log1p"])
def test_special_function_accepts_complex_numbers(name: str) -> None:
    z = X + 0.25j
    actual = getattr(PyGPU.special, name)(PyGPU.to_gpu(z)).get()
    np.testing.assert_allclose(actual, {"expm1": np.exp(z) - 1, "log1p": np.log(1 + z)}[name], rtol=1e-13)


def test_gamma_of_complex_numbers_matches_mpmath() -> None:
    z = np.array(
        [0.5 + 1j, 1.05 - 0.05j, 2.1 + 0.1j, -3.4 - 0.3j, 5 - 20j, -8.5 + 9j, 100 + 1e-3j, 0.3 - 0j, -2.5 + 1e-9j]
    )
    logarithms = PyGPU.special.loggamma(PyGPU.to_gpu(z)).get()
    expected = [
        -0.6527906442043729 - 0.9550077243425691j,
        -0.02876711795008648 + 0.024848380552129734j,
        0.04240520033440983 + 0.04859334282511769j,
        -1.5282466337483152 + 11.922131578600057j,
        -16.979233505130374 - 46.483149371847j,
        -34.17867974036871 - 7.3092529235141965j,
        359.1342053645503 + 0.0046001618527549215j,
        1.0957979948180756 + 0.0j,
        -0.056243716497674054 - 9.424777959666223j,
    ]
    np.testing.assert_allclose(logarithms, expected, rtol=1e-12)
    gammas = PyGPU.special.gamma(PyGPU.to_gpu(z)).get()
    np.testing.assert_allclose(gammas, np.exp(expected), rtol=1e-11)
    np.testing.assert_allclose(PyGPU.special.rgamma(PyGPU.to_gpu(z)).get() * gammas, 1, rtol=1e-13)
    assert PyGPU.special.rgamma(PyGPU.to_gpu([-2.0 + 0j])).tolist() == [0]


@pytest.mark.parametrize("k", [0, -1, 2])
def test_lambertw_inverts_product_with_exponential(k: int) -> None:
    z = np.array([-0.3678, -0.2, 1e-9, 0.5, 1.0, 30.0, 1e200, -5 + 2j, 3j, -0.4 - 1e-3j])
    w = PyGPU.special.lambertw(PyGPU.to_gpu(z), k).get()
    fits = np.abs(z) < 1e100
    np.testing.assert_allclose((w * np.exp(w))[fits], z[fits], rtol=1e-12)
    if k == 0:
        assert PyGPU.special.lambertw(PyGPU.to_gpu([0.0, math.inf])).real.tolist() == [0.0, math.inf]
        np.testing.assert_allclose(w[4], 0.5671432904097838, rtol=1e-15)
    assert w.dtype == np.complex128


def test_polygamma_and_zeta_of_two_arguments_match_reference() -> None:
    x = PyGPU.to_gpu([1.0, 2.5])
    assert PyGPU.special.zeta(x + 1, 1.0).tolist() == ufuncs._zeta(x + 1, 1.0).tolist()
    np.testing.assert_allclose(
        PyGPU.special.polygamma(1, x).get(), [1.6449340668482264, 0.4903577561002348], rtol=1e-14
    )
    orders = PyGPU.special.polygamma(PyGPU.to_gpu([0, 1, 2]), 1.0).get()
    np.testing.assert_allclose(orders, [-0.5772156649015329, 1.6449340668482264, -2.4041138063191885], rtol=1e-14)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp_and_softmax_match_numpy(axis: int | tuple[int, ...] | None, keepdims: bool) -> None:
    a = np.array([[1000.0, 1001.0, -np.inf], [3.0, 4.0, 5.0]])
    b = np.array([[1.0, 2.0, 3.0], [1.0, -1.0, 2.0]])
    shifted = np.exp(a - 1001)
    with np.errstate(divide="ignore"):
        expected = np.log(np.exp(a / 1000).sum(axis=axis, keepdims=keepdims))
    actual = PyGPU.special.logsumexp(PyGPU.to_gpu(a / 1000), axis=axis, keepdims=keepdims)
    np.testing.assert_allclose(actual.get(), expected, rtol=1e-13)
    assert np.isfinite(PyGPU.special.logsumexp(PyGPU.to_gpu(a), axis=axis).get()).all()
    value, sign = PyGPU.special.logsumexp(PyGPU.to_gpu(a), axis, PyGPU.to_gpu(b), keepdims, return_sign=True)
    with np.errstate(divide="ignore"):
        sums = (shifted * b).sum(axis=axis, keepdims=keepdims)
    assert value.shape == sign.shape == sums.shape
    assert set(np.unique(sign.get())) <= {-1.0, 0.0, 1.0}
    weights = PyGPU.special.softmax(PyGPU.to_gpu(a), axis=axis)
    np.testing.assert_allclose(weights.sum(axis=axis).get(), 1, rtol=1e-14)
    logarithms = PyGPU.special.log_softmax(PyGPU.to_gpu(a), axis=axis)
    np.testing.assert_allclose(np.exp(logarithms.get()), weights.get(), rtol=1e-12)


def test_logsumexp_of_extreme_numbers_and_empty_array() -> None:
    a = PyGPU.to_gpu([[-np.inf, -np.inf], [np.inf, 1.0], [np.nan, 1.0]])
    np.testing.assert_array_equal(PyGPU.special.logsumexp(a, axis=1).get(), [-np.inf, np.inf, np.nan])
    assert PyGPU.special.logsumexp(PyGPU.zeros((0, 2)), axis=0).tolist() == [-np.inf, -np.inf]
    assert PyGPU.special.logsumexp(PyGPU.to_gpu([1, 1]), b=[1.0, -1.0]).item() == -np.inf
    assert PyGPU.special.logsumexp(PyGPU.ones(2, "float32")).dtype == np.float32


def test_array_namespace_contains_module_special() -> None:
    assert PyGPU.ones(1).__array_namespace__().special is PyGPU.special


@pytest.mark.enough_on("cpu")
def test_import_of_special_module_does_not_import_scipy() -> None:
    code = "import sys, PyGPU.special; print(any(name.startswith('scipy') for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_ufunc_of_scipy_with_device_array_runs_on_device() -> None:
    special = pytest.importorskip("scipy.special")
    x = PyGPU.to_gpu(X)
    assert isinstance(special.ndtri(x), PyGPU.GPUArray)
    np.testing.assert_allclose(special.ndtri(x).get(), special.ndtri(X), rtol=1e-13)
    np.testing.assert_allclose(special.zeta(x + 1, 2.0).get(), special.zeta(X + 1, 2.0), rtol=1e-13)
