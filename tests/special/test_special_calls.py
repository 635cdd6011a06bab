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

pytestmark = pytest.mark.usefixtures("compiled_together")

SPECIAL = Path(__file__).parents[2] / "src/ops/ufunc/special"
X = np.linspace(0.05, 0.95, 12)


@pytest.mark.enough_on("cpu")
def test_special_module_exports_every_function_of_table() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in SPECIAL.glob("*.rs"))
    declared = {name for name in re.findall(r'special!\(\s*"(\w+)"', text) if not name.startswith("_")}
    composed = {"ellipj", "lambertw", "log_softmax", "logsumexp", "multigammaln", "polygamma", "softmax", "sph_harm_y"}
    composed |= {"spherical_yn", "zeta"}
    assert set(PyGPU.special.__all__) == declared | composed
    assert all(callable(getattr(PyGPU.special, name)) for name in PyGPU.special.__all__)


@pytest.mark.parametrize("kind", ["bool", "int8", "uint16", "float16", "int32", "int64", "float32", "float64"])
def test_special_function_has_float32_or_float64_result(kind: str) -> None:
    result = PyGPU.special.ndtri(PyGPU.zeros(3, kind))
    assert result.dtype == ("float32" if np.can_cast(kind, "float32") else "float64")
    assert result.tolist() == [-math.inf] * 3


def test_special_function_promotes_operands_of_different_types() -> None:
    single, whole = PyGPU.ones(2, "float32"), PyGPU.ones(2, "int32")
    assert PyGPU.special.beta(single, 2.0).dtype == np.float32
    assert PyGPU.special.beta(single, whole).dtype == np.float64
    assert PyGPU.special.beta(single, PyGPU.ones(2)).dtype == np.float64


def test_special_function_with_where_writes_only_selected_elements() -> None:
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


def test_special_function_rejects_complex_operand_and_wrong_operand_count() -> None:
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


def test_logsumexp_of_complex_numbers_matches_magnitude_and_angle() -> None:
    a = np.array([[3 + 3j, 2 - 3j, 1 + 8j], [700 + 3j, 900 - 2j, 1 + 1j]], "complex128")
    sums = np.exp(a - np.array([[0], [850]])).sum(axis=1)
    value = PyGPU.special.logsumexp(PyGPU.to_gpu(a), axis=1).get()
    np.testing.assert_allclose(value, np.log(sums) + np.array([0, 850]), rtol=1e-14)
    magnitude, sign = PyGPU.special.logsumexp(PyGPU.to_gpu(a), axis=1, return_sign=True)
    assert (magnitude.dtype, sign.dtype) == (np.float64, np.complex128)
    np.testing.assert_allclose(magnitude.get(), np.log(np.abs(sums)) + np.array([0, 850]), rtol=1e-14)
    np.testing.assert_allclose(sign.get(), sums / np.abs(sums), rtol=1e-13)


def test_logsumexp_of_infinities_nan_and_no_elements_has_limit_value() -> None:
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


def test_spherical_harmonic_is_accurate_and_rejects_float_orders() -> None:
    theta, phi = np.linspace(0.1, 3, 5), np.linspace(-2, 6, 5)
    n, m = np.array([0, 1, 2, 3, 1]), np.array([0, -1, 2, -2, 2])
    value = PyGPU.special.sph_harm_y(*map(PyGPU.to_gpu, (n, m, theta, phi))).get()
    sine, cosine = np.sin(theta), np.cos(theta)
    factors = [
        1,
        sine[1] * np.sqrt(1.5),
        sine[2] ** 2 * np.sqrt(15 / 8),
        sine[3] ** 2 * cosine[3] * np.sqrt(105 / 8),
        0,
    ]
    expected = np.array(factors) * np.exp(1j * m * phi) / np.sqrt(4 * np.pi)
    np.testing.assert_allclose(value, expected, rtol=1e-14, atol=1e-300)
    single = PyGPU.special.sph_harm_y(2, 1, PyGPU.to_gpu(theta.astype("f4")), 0.5)
    assert (single.dtype, PyGPU.special.sph_harm_y(2, 1, 0.5, 0.5).dtype) == (np.complex64, np.complex128)
    with pytest.raises(TypeError, match="sph_harm_y: n is of the type float; pass an integer"):
        PyGPU.special.sph_harm_y(2.0, 1, 0.5, 0.5)
    with pytest.raises(NotImplementedError, match="diff_n=1 requests derivatives"):
        PyGPU.special.sph_harm_y(2, 1, 0.5, 0.5, diff_n=1)


def test_spherical_bessel_function_has_correct_limits_and_parity() -> None:
    z = PyGPU.to_gpu(np.array([math.nan, math.inf, -math.inf, 0.0], "f4"))
    for derivative in (False, True):
        value = PyGPU.special.spherical_yn(2, z, derivative)
        assert value.dtype == np.float64
        np.testing.assert_array_equal(value.get(), [math.nan, 0, 0, math.inf if derivative else -math.inf])
    orders, x = PyGPU.arange(4), PyGPU.to_gpu([0.7])
    signs = (-1.0) ** (np.arange(4) + 1)
    ahead, behind = (PyGPU.special.spherical_yn(orders, one).get() for one in (x, -x))
    np.testing.assert_array_equal(behind, signs * ahead)
    assert math.isnan(PyGPU.special.spherical_yn(-1, x).item())


def test_multivariate_gamma_is_sum_over_dimensions() -> None:
    a = PyGPU.to_gpu(np.array([2, 5], "int32"))
    expected = [1.5 * math.log(math.pi) + sum(math.lgamma(one - j / 2) for j in range(3)) for one in (2, 5)]
    value = PyGPU.special.multigammaln(a, 3)
    assert value.dtype == np.float64
    np.testing.assert_allclose(value.get(), expected, rtol=1e-14)
    with pytest.raises(ValueError, match=r"above \(d - 1\) / 2, which is 2.0; the least is 2"):
        PyGPU.special.multigammaln(a, 5)
    for d in (0, 1.5, "2"):
        with pytest.raises(ValueError, match="pass the dimension as an integer"):
            PyGPU.special.multigammaln(a, d)


def test_jacobi_elliptic_functions_satisfy_their_identities() -> None:
    u = PyGPU.to_gpu(np.linspace(-9, 9, 13))
    sn, cn, dn, ph = (one.get() for one in PyGPU.special.ellipj(u, 0.7))
    np.testing.assert_allclose(sn * sn + cn * cn, 1, rtol=1e-14)
    np.testing.assert_allclose(dn * dn + 0.7 * sn * sn, 1, rtol=1e-14)
    np.testing.assert_allclose(PyGPU.special.ellipkinc(PyGPU.to_gpu(ph), 0.7).get(), u.get(), rtol=1e-13, atol=1e-14)
    assert [math.isnan(one.item()) for one in PyGPU.special.ellipj(u[:1], 1.5)] == [True] * 4


def test_hyp1f1_satisfies_kummers_transformation_where_series_cancel() -> None:
    a, b, x = (PyGPU.to_gpu(np.array(one)) for one in ([-20.5, 0.3, 35.0], [1.5, 4.2, 2.5], [30.0, 400.0, -25.0]))
    left, right = PyGPU.special.hyp1f1(a, b, x), PyGPU.exp(x) * PyGPU.special.hyp1f1(b - a, b, -x)
    np.testing.assert_allclose(left.get(), right.get(), rtol=1e-12)
    # For these operands no series computes a single correct digit, so the result is NaN rather than a wrong value.
    hopeless = PyGPU.special.hyp1f1(PyGPU.to_gpu([-49.88991315751503]), 795.9205641960981, 532.2028053704885)
    assert math.isnan(hopeless.item())


# Operands for which the algorithms of Cephes fail (large orders, heavy tails), and the values that mpmath computes.
EXTREMES: tuple[tuple[str, tuple[float, ...], float], ...] = (
    ("stdtrit", (0.01, 0.265625), -1.4820017408364219e26),
    ("stdtrit", (0.0625, 0.734375), 3182.755442649455),
    ("stdtrit", (0.25, 0.46875), -0.14804334631000712),
    ("stdtrit", (0.015625, 0.0078125), -2.478320366491761e114),
    ("stdtrit", (0.03125, 9.5367431640625e-07), -9.507998936787561e181),
    ("jv", (477.5, 124.5), 3.8129228461578756e-221),
    ("jv", (490.25, 236.0), 1.725278607202096e-105),
    ("yv", (652.5, 540.75), -1.6371092032293333e19),
    ("yv", (895.25, 200.0), -math.inf),
    ("ive", (656.25, 817.0), 7.00729158426627e-112),
    ("ive", (-42.5, 792.5), 0.004532811390012147),
    ("kve", (71.25, 814.75), 0.9858269431897744),
    ("kve", (547.5, 868.0), 2.2350665905978693e71),
    ("fdtr", (131.25, 0.0009765625, 0.9375), 0.0034079596889997725),
    ("fdtrc", (0.001953125, 441.0, 5.25), 0.004583422250696387),
)


@pytest.mark.parametrize("name", sorted({name for name, _, _ in EXTREMES}))
def test_special_function_is_accurate_at_extreme_parameters(name: str) -> None:
    operands, exact = zip(*(row[1:] for row in EXTREMES if row[0] == name), strict=True)
    columns = [PyGPU.to_gpu(np.array(column)) for column in zip(*operands, strict=True)]
    # On the CPU backend, the argument `where` selects PyGPU's kernel instead of SciPy, whose quantiles never exceed
    # 1e153.
    mask, out = PyGPU.ones(len(exact), bool), PyGPU.zeros(len(exact))
    value = getattr(PyGPU.special, name)(*columns, where=mask, out=out)
    np.testing.assert_allclose(value.get(), exact, rtol=1e-11)
