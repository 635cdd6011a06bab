"""Test medians and quantiles along any axes, with and without NaN, for every method: results match NumPy."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy
from support import assert_same_refusal, of_few, on_cpu, outcome

pytestmark = pytest.mark.usefixtures("compiled_together")

PyGPU.device_count()
SEED = random.randrange(1 << 32)
METHODS = [
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
]
WITHOUT_WEIGHTS = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
AXES: list[tuple[Any, bool]] = [(None, False), (0, True), (-1, False), ((0, 2), True), ((2, 1), False)]


def values(shape: Any, dtype: str, nan: float = 0.0) -> np.ndarray:
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0, 100, shape).astype(dtype)
    result = rng.integers(-500, 500, shape).astype(dtype) / 8
    return np.where(rng.random(shape) < nan, np.array(np.nan, dtype), result).astype(dtype)


def check(got: Any, expected: Any, atol: float = 0) -> None:
    expected = np.asarray(expected)
    assert isinstance(got, PyGPU.GPUArray)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    eps = np.finfo(expected.dtype).eps if expected.dtype.kind == "f" else 0
    np.testing.assert_allclose(got.get(), expected, rtol=2 * eps, atol=atol)


def check_quantiles(got: Any, name: str, host: np.ndarray, q: Any, *arguments: Any, **keywords: Any) -> None:
    """Compare quantiles with NumPy's.

    Before version 2.4, NumPy rounded `q` and the weights to float16 or float32 if the array had this dtype. The
    quantiles of a device are then compared with those of the same elements as float64.
    """
    numpys = getattr(np, name)
    if is_numpy("2.4") or on_cpu() or host.dtype not in (np.float16, np.float32):
        check(got, numpys(host, q, *arguments, **keywords))
        return
    is_weak = type(q) in (int, float) or keywords.get("method") in WITHOUT_WEIGHTS
    dtype = host.dtype if is_weak else np.result_type(host.dtype, np.asarray(q).dtype)
    expected = np.asarray(numpys(host.astype("float64"), q, *arguments, **keywords)).astype(dtype)
    check(got, expected, np.finfo(dtype).eps * np.nanmax(np.abs(host)))


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("dtype", of_few(["uint8", "int32", "float16", "float32", "float64"], ["int32", "float32"]))
def test_median_along_any_axes_matches_numpy(dtype: str) -> None:
    for shape in ((4, 5, 6), (3, 7, 5)):
        host = values(shape, dtype)
        array = PyGPU.to_gpu(host)
        for axis, keepdims in AXES:
            check(PyGPU.median(array, axis, keepdims=keepdims), np.median(host, axis, keepdims=keepdims))
    check(np.median(PyGPU.to_gpu(host).T[::2], 1), np.median(host.T[::2], 1))


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("method", METHODS)
def test_every_quantile_method_matches_numpy(method: str) -> None:
    host = values((7, 4, 6), "float64")
    array = PyGPU.to_gpu(host)
    for q in (0.3, 0, 1, [0.0, 0.25, 0.9, 1.0], [[0.5, 0.1]]):
        check(PyGPU.quantile(array, q, (0, 2), method=method), np.quantile(host, q, (0, 2), method=method))
    check(PyGPU.percentile(array, 30, 0, method=method), np.percentile(host, 30, 0, method=method))


@pytest.mark.sampled(on="cuda", elsewhere=0)
@pytest.mark.parametrize("dtype", of_few(["int16", "int64", "float16", "float32"], ["int64", "float32"]))
def test_quantile_dtypes_match_numpy(dtype: str) -> None:
    host = values((6, 9), dtype)
    array = PyGPU.to_gpu(host)
    for q in (0.3, np.float32(0.3), np.float64(0.7), np.array([0.2, 0.6], "float32"), [0.1, 0.8]):
        for method in ("linear", "lower", "midpoint"):
            check_quantiles(PyGPU.quantile(array, q, 1, method=method), "quantile", host, q, 1, method=method)
    got = np.percentile(array, PyGPU.to_gpu([10.0, 60.0]), 0, keepdims=True)
    check_quantiles(got, "percentile", host, [10.0, 60.0], 0, keepdims=True)


def test_median_and_quantile_propagate_nan() -> None:
    host = values((8, 9), "float32", 0.08)
    array = PyGPU.to_gpu(host)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for axis in (None, 0, 1):
            check(PyGPU.median(array, axis), np.median(host, axis))
            check_quantiles(PyGPU.quantile(array, 0.3, axis), "quantile", host, 0.3, axis)
            got = PyGPU.quantile(array, [0.3, 0.4], axis, method="higher")
            check_quantiles(got, "quantile", host, [0.3, 0.4], axis, method="higher")


@pytest.mark.sampled(on="cuda", elsewhere=0)
@pytest.mark.parametrize("dtype", of_few(["float16", "float32", "float64", "int32"], ["float32"]))
def test_nan_quantiles_ignore_nan_like_numpy(dtype: str) -> None:
    host = values((6, 5, 7), dtype, 0.4)
    if host.dtype.kind == "f":
        host[2, 3] = np.nan
    array = PyGPU.to_gpu(host)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for axis, keepdims in AXES:
            check(PyGPU.nanmedian(array, axis, keepdims=keepdims), np.nanmedian(host, axis, keepdims=keepdims))
            for q in (0.3, [0.1, 0.5]):
                got = PyGPU.nanquantile(array, q, axis, keepdims=keepdims)
                check_quantiles(got, "nanquantile", host, q, axis, keepdims=keepdims)
        for method in of_few(METHODS, ["inverted_cdf", "midpoint"]):
            got = PyGPU.nanpercentile(array, 60, 2, method=method)
            check_quantiles(got, "nanpercentile", host, 60, 2, method=method)


def test_quantiles_write_to_out_array() -> None:
    host = values((5, 8), "float64")
    array, out = PyGPU.to_gpu(host), PyGPU.zeros(8, "float64")
    assert PyGPU.median(array, 0, out) is out
    check(out, np.median(host, 0))
    assert PyGPU.quantile(array, 0.25, 0, out=out) is out
    check(out, np.quantile(host, 0.25, 0))
    kept = PyGPU.zeros((5, 1), "float64")
    assert PyGPU.nanmedian(array, 1, kept, keepdims=True) is kept
    check(kept, np.nanmedian(host, 1, keepdims=True))


def test_median_of_no_elements_is_nan_and_median_of_one_element_is_element() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(PyGPU.median(PyGPU.zeros(0)), np.median(np.zeros(0)))
        check(PyGPU.nanmedian(PyGPU.zeros((0, 3)), 0), np.nanmedian(np.zeros((0, 3)), 0))
    check(PyGPU.median(PyGPU.to_gpu(np.float32(2.5))), np.median(np.float32(2.5)))
    check(PyGPU.quantile(PyGPU.to_gpu(np.float32(2.5)), 0.5), np.quantile(np.float32(2.5), 0.5))


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantiles_0_and_1_have_same_dtype_as_numpy(name: str) -> None:
    for dtype in ("int8", "float32"):
        host = np.array([[3, 1, 2], [6, 5, 4]], dtype)
        for q in (0, 1, [[0, 1]], [True, False], np.array([1])):
            check(getattr(PyGPU, name)(PyGPU.to_gpu(host), q), getattr(np, name)(host, q))


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
def test_quantiles_broadcast_to_out_array_and_accept_lists() -> None:
    host = np.array([3.0, 1.0, 2.0])
    for shape in ((), (2,), (2, 3)):
        out = PyGPU.zeros(shape)
        assert PyGPU.quantile(PyGPU.to_gpu(host), 0.5, out=out) is out
        check(out, np.full(shape, 2.0))
    narrow = PyGPU.zeros((), "int8")
    assert PyGPU.nanquantile(PyGPU.to_gpu(host), 0.5, out=narrow).item() == 2
    with pytest.raises(TypeError, match="same_kind"):
        PyGPU.quantile(PyGPU.to_gpu(host), 0.5, out=narrow)
    with pytest.raises(TypeError, match="expected a GPUArray"):
        PyGPU.quantile(PyGPU.to_gpu(host), 0.5, out=host)
    check(PyGPU.quantile([3.0, 1.0, 2.0], 0.5), np.float64(2.0))
    check(PyGPU.nanpercentile(PyGPU.zeros(0, "int64"), 50), np.float64(np.nan))
    with pytest.raises(ValueError, match="supports weights"):
        PyGPU.quantile(PyGPU.to_gpu(host), 0.5, weights=PyGPU.to_gpu(host))


def test_quantiles_reject_arguments_that_numpy_rejects() -> None:
    host = np.arange(6.0)
    a = PyGPU.to_gpu(host)
    for call in (
        lambda x: np.quantile(x, 1.5),
        lambda x: np.percentile(x, [-1, 5]),
        lambda x: np.quantile(x.astype("complex64"), 0.5),
        lambda x: np.quantile(x, 0.5, 1),
        lambda x: np.median(x.reshape(2, 3), (0, 0)),
        lambda x: np.quantile(x, 0.5, method="guess"),
        lambda x: np.quantile(x[:0], 0.5),
    ):
        assert_same_refusal(outcome(lambda call=call: call(a)), outcome(lambda call=call: call(host)))
    if PyGPU.backend_name() != "cpu":
        with pytest.raises(NotImplementedError, match="weights"):
            PyGPU.quantile(a, 0.5, method="inverted_cdf", weights=host)
