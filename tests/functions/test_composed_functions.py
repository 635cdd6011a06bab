"""Test functions that PyGPU implements by calls of other functions: each expression matches NumPy."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy
from support import of_few, outcome

pytestmark = pytest.mark.usefixtures("compiled_together")

RNG = np.random.default_rng(5)
HOST: dict[str, Any] = {
    "a": RNG.standard_normal((4, 5)),
    "b": RNG.standard_normal((4, 5)).astype("f4"),
    "c": RNG.standard_normal(6) + 1j * RNG.standard_normal(6),
    "i": np.array([3, 0, 5, 0, 2, 7], "i4"),
    "j": np.array([[0, 0, 0], [0, 4, 0], [0, 2, 0]]),
    "s": np.array([0.0, 1.0, 2.5, 4.0, 4.5]),
    "t": RNG.standard_normal((3, 3, 3)),
    "u": RNG.integers(0, 256, (3, 4)).astype("u1"),
    "v": RNG.standard_normal(7),
    "w": RNG.standard_normal(3),
    "m": np.array([True, False, True, True, False]),
    "x": np.array([-1.0, 0.0, 0.25, 1.0, 3.0, 4.5, 9.0, np.nan]),
    "angles": np.array([0.0, 2.0, 5.0, 0.5, 3.0, 6.2, 1.0]),
    "turns": np.array([[0, 90, 350, 10], [5, 185, 5, 180]]),
    "one": np.array(3.0),
}

# Expressions, separated by `;`, with the arrays in `HOST`; `xp` is NumPy or PyGPU. The expressions on one line use
# nearly the same kernels.
CALCULUS = """
xp.gradient(a); xp.gradient(a[0], 2.0); xp.gradient(a[::-1, ::2], 0.5, 2, edge_order=2); xp.gradient(u, axis=1)
xp.gradient(a, s, axis=1); xp.gradient(a, [0, 1, 2, 3], s, edge_order=2); xp.gradient(c); xp.gradient(b, axis=(1, 0))
xp.gradient(a, axis=1, edge_order=3); xp.gradient(a[:1], axis=0); xp.gradient(a, 1, 2, 3); xp.gradient(a, w, axis=0)
xp.trapezoid(a); xp.trapezoid(a, dx=2, axis=0); xp.trapezoid(a, s); xp.trapezoid(a, a + 1, axis=0); xp.trapezoid(i)
xp.interp(x, s, v[:5]); xp.interp(x, s, v[:5], left=-7, right=8.5); xp.interp(x, s, c[:5]); xp.interp(one, s, v[:5])
xp.interp(x[:7], s, v[:5], period=3); xp.interp(x, s[:1], v[:1]); xp.interp(x, s, v); xp.interp(x, s, v[:5], period=0)
xp.unwrap(angles); xp.unwrap(angles, 1.0); xp.unwrap(angles, period=6.0); xp.unwrap(turns, period=360, axis=1)
xp.unwrap(turns, period=361, axis=0); xp.unwrap(b); xp.convolve(v, w); xp.convolve(w, v, 'same')
xp.convolve(v, w, 'valid'); xp.convolve(v, i[:2], 'same'); xp.convolve(c, v); xp.correlate(v, w)
xp.correlate(w, v, 'same'); xp.correlate(v, w, 'full'); xp.correlate(w, v, 'full'); xp.correlate(v, c)
xp.correlate(v, v[:4], 'same'); xp.correlate(v[:4], v, 'same'); xp.correlate(w, v); xp.correlate(i, i[:2])
xp.convolve(m, m); xp.convolve(v[:0], v); xp.convolve(a, v); xp.convolve(v, v, 'some'); xp.convolve(v[::-2], w[::-1])
xp.polyval(v, a); xp.polyval([3, 0, 1], i); xp.polyval(w, 2.0); xp.polyadd(v, w); xp.polysub(w, i); xp.polymul(v, c)
xp.polyder(v); xp.polyder(i, 2); xp.polyder(v, -1); xp.polyint(v); xp.polyint(w, 2, [1, 2]); xp.polyint(w, 2, 3)
xp.vander(v); xp.vander(i, 4); xp.vander(c, 3, increasing=True); xp.vander(v, 1); xp.vander(a); xp.cross(t, w)
xp.cross(t, t[::-1], axis=0); xp.cross(t, t[0], axisa=1, axisc=0); xp.cross(a, a); xp.cov(a); xp.cov(a, rowvar=False)
xp.cov(a, b, bias=True); xp.cov(v); xp.cov(a, ddof=2); xp.cov(c, c[::-1]); xp.cov(a, fweights=xp.abs(i[:5]))
xp.cov(a, aweights=s); xp.cov(a, fweights=i[1:], aweights=s + 1); xp.cov(b, dtype='f4'); xp.cov(a, fweights=s)
xp.cov(a, aweights=s[1:]); xp.cov(t); xp.corrcoef(a); xp.corrcoef(b, a); xp.corrcoef(v); xp.corrcoef(c, c[::-1])
"""
EDITING = """
xp.delete(a, 1); xp.delete(a, 1, 0); xp.delete(a, [0, -1], axis=1); xp.delete(a, slice(None, None, 2), 1)
xp.delete(a, m, 1); xp.delete(i, 9); xp.delete(t[::-1], -1, 2); xp.insert(i, 1, 9); xp.insert(i, -1, [8, 9])
xp.insert(a, 1, 7, axis=1); xp.insert(a, 2, s, axis=0); xp.insert(i, [4, 1], [8, 9])
xp.insert(a, [1, 1, 4], 5, axis=1); xp.insert(a, [1], [[1], [2], [3], [4]], axis=1); xp.insert(i, slice(0, 2), 4)
xp.insert(a, 0, 2.5); xp.insert(i, 3, 4.7); xp.insert(i, 9, 1); xp.insert(i, [], 3); xp.insert(i, 6, [1, 2])
xp.trim_zeros(i); xp.trim_zeros(j); xp.trim_zeros(j, 'f'); xp.trim_zeros(j, axis=0); xp.trim_zeros(j * 0)
xp.trim_zeros(i, 'x'); xp.packbits(u); xp.packbits(u, axis=0); xp.packbits(m, bitorder='little'); xp.packbits(i, -1)
xp.packbits(a); xp.packbits(u, bitorder='no'); xp.unpackbits(u); xp.unpackbits(u, axis=1); xp.unpackbits(u, 0, -3)
xp.unpackbits(u[0], count=3, bitorder='little'); xp.unpackbits(u, count=200); xp.unpackbits(i)
xp.unpackbits(u, count=-200); xp.fix(v); xp.real_if_close(c); xp.real_if_close(c.real + 0j)
xp.real_if_close(c + 1e-15j, 1e-2); xp.real_if_close(v); xp.sort_complex(c); xp.sort_complex(i); xp.sort_complex(u[0])
"""
PLACES = """
xp.apply_along_axis(xp.sum, 0, t); xp.apply_along_axis(xp.cumsum, 1, t)
xp.apply_along_axis(lambda r: r[:, None] * r, 0, a); xp.apply_along_axis(xp.sum, 0, a[:, :0])
xp.apply_over_axes(xp.sum, t, [0, 2]); xp.apply_over_axes(xp.max, t, -1)
xp.piecewise(v, [v < 0, v > 1], [xp.negative, 3])
xp.piecewise(v, [v < 0, v >= 0], [lambda r, k: r * k, lambda r, k: r + k], 2); xp.piecewise(v, v < 0, [-1, xp.sqrt])
xp.piecewise(a, [a < 0, a > 1], [1, 2, 3]); xp.piecewise(v, [v < 0], [1, 2, 3]); a[xp.diag_indices(4)]
xp.diag_indices_from(j); xp.diag_indices_from(a); xp.tril_indices(3, 1, 4); xp.triu_indices(4, -1, 3)
xp.tril_indices_from(a, -1); xp.triu_indices_from(a); xp.triu_indices_from(t); xp.mask_indices(3, xp.triu, 1)
xp.ix_(i, m, i[:0]); a[xp.ix_(i[:2], m)]; xp.ix_(a); xp.r_[1:4, 0, v]; xp.r_[i, 2]; xp.r_[a, b]; xp.c_[v, v]
xp.c_[a, a[:, 0]]; xp.r_[0:1:5j, w]; xp.c_[w, 1:4]
"""
MAKING = """
xp.array([[1, 2], [3, 4]], 'f4', ndmin=3); xp.array(a, order='F'); xp.array(a[::2].T); xp.array(3); xp.array([1, 2j])
xp.array(u, 'f2'); xp.ascontiguousarray(a.T); xp.ascontiguousarray(3); xp.asfortranarray(a)
xp.require(a, 'f4', ['F']); xp.require(a, None, 'FC'); xp.asarray_chkfinite(a); xp.asarray_chkfinite(x)
xp.asanyarray(a); xp.require(a[::2], requirements='O'); xp.logspace(0, 2, 5); xp.geomspace(1, 1000, 4, dtype='i4')
xp.bartlett(5); xp.blackman(5); xp.hamming(4); xp.hanning(6); xp.kaiser(5, 14); xp.mgrid[0:3, 1:2:3j]; xp.mgrid[2:5]
xp.ogrid[0:3, 1:4]; xp.ogrid[0:1:3j]; xp.fromfunction(lambda p, q: p + 2 * q, (2, 3), dtype=int)
xp.frombuffer(b'abcd', 'i2'); xp.fromiter([1, 2], 'i4'); xp.fromstring('1 2', sep=' '); xp.loadtxt(['1 2', '3 4'])
xp.isfortran(a.T); xp.isfortran(a); xp.common_type(b, i); xp.min_scalar_type(10); xp.min_scalar_type(one)
xp.min_scalar_type(u); xp.shares_memory(a[::2], a[1::2]); xp.may_share_memory(a[::2], a[1::2])
xp.issubdtype(a.dtype, xp.floating); xp.s_[1:2]; xp.array_str(i); xp.array_repr(i); xp.array2string(i); xp.isscalar(3)
xp.promote_types('f4', 'i4'); isinstance(a, xp.ndarray)
"""
FEW = (  # A simulated GPU must compile kernels for each of these expressions.
    "xp.gradient(u, axis=1)", "xp.interp(x, s, v[:5])", "xp.interp(x, s[:1], v[:1])", "xp.trapezoid(a)",
    "xp.unwrap(angles)", "xp.convolve(v, w)", "xp.correlate(w, v, 'same')", "xp.cov(a)", "xp.cross(t, w)",
    "xp.delete(a, m, 1)", "xp.insert(a, [1, 1, 4], 5, axis=1)", "xp.trim_zeros(j)", "xp.packbits(u)",
    "xp.unpackbits(u)", "xp.apply_along_axis(xp.sum, 0, t)", "xp.tril_indices_from(a, -1)", "a[xp.ix_(i[:2], m)]",
    "xp.c_[a, a[:, 0]]", "xp.mgrid[0:3, 1:2:3j]", "xp.array(a, order='F')",
)  # fmt: skip
ALL = [
    one.strip()
    for text in (CALCULUS, EDITING, PLACES, MAKING)
    for one in text.replace("\n", ";").split(";")
    if one.strip()
]
NEWER = {
    **dict.fromkeys([one for one in ALL if one.startswith("xp.trim_zeros(j")], "2.2"),
    "xp.trim_zeros(i, 'x')": "2.2",
    "xp.convolve(v, v, 'some')": "2.3",
}
"""Expressions whose result changed in a version of NumPy, each with this version."""


def scope(xp: Any) -> dict[str, Any]:
    made = {name: value.copy() for name, value in HOST.items()}
    return {"xp": xp, **(made if xp is np else {name: PyGPU.to_gpu(value) for name, value in made.items()})}


def check(ours: Any, numpys: Any) -> None:
    if isinstance(numpys, (list, tuple)) and not isinstance(ours, PyGPU.GPUArray):
        assert len(ours) == len(numpys)
        for one, other in zip(ours, numpys, strict=True):
            check(one, other)
    elif isinstance(numpys, (np.ndarray, np.generic)) and not isinstance(ours, bool):
        assert isinstance(ours, PyGPU.GPUArray), type(ours)
        got, expected = ours.get(), np.asarray(numpys)
        assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
        near = 64 * float(np.finfo(expected.dtype).eps) if expected.dtype.kind in "fc" else 0
        np.testing.assert_allclose(got, expected, rtol=near, atol=near)
    else:
        assert ours == numpys


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("expression", [one for one in of_few(ALL, FEW) if is_numpy(NEWER.get(one, "2.0"))])
def test_composed_function_expression_matches_numpy(expression: str) -> None:
    def compute(xp: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            warnings.filterwarnings("ignore", "numpy.fix is deprecated")  # NumPy 2.5 deprecates `fix`.
            return eval(expression, scope(xp))

    (kind, numpys), (ours_kind, ours) = outcome(lambda: compute(np)), outcome(lambda: compute(PyGPU))
    if kind == "error":
        assert ours_kind == "error", f"NumPy raises {numpys!r}, PyGPU gives {ours!r}"
        assert isinstance(ours, (ValueError, TypeError, IndexError, RuntimeError))
        assert isinstance(ours, type(numpys)) or isinstance(numpys, type(ours)), f"{numpys!r}, {ours!r}"
        return
    if ours_kind == "error":
        raise ours
    check(ours, numpys)


def test_fill_diagonal_matches_numpy() -> None:
    for shape, value, wrap in (((3, 3), 5, False), ((7, 3), [1, 2], True), ((7, 3), 4, False), ((2, 2, 2), 9, False)):
        host, array = np.zeros(shape), PyGPU.zeros(shape)
        np.fill_diagonal(host, value, wrap)
        PyGPU.fill_diagonal(array, value, wrap)
        np.testing.assert_array_equal(array.get(), host)
    for wrong in (PyGPU.zeros(3), PyGPU.zeros((2, 2, 3))):
        with pytest.raises(ValueError, match=r"at least 2-d|equal length"):
            PyGPU.fill_diagonal(wrong, 1)


def test_in_operator_is_true_if_value_equals_array_element() -> None:
    array = PyGPU.to_gpu(np.array([[1, 2], [3, 4]]))
    assert 3 in array
    assert np.int8(2) in array
    assert 7 not in array
    assert "text" not in array
    assert 1 not in array[:0]


def test_signature_of_mean_has_numpy_parameters() -> None:
    parameters = inspect.signature(PyGPU.mean).parameters
    assert next(iter(parameters)) == "a"
    assert {"axis", "keepdims", "dtype"} <= set(parameters)
