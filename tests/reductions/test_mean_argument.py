"""Test variances and standard deviations with means that the caller passes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import PyGPU
from support import assert_same_refusal, of_few, outcome

pytestmark = pytest.mark.usefixtures("compiled_together")

PyGPU.device_count()
NAMES = ["var", "std", "nanvar", "nanstd"]
KINDS = of_few(
    ["bool", "int8", "int64", "float16", "float32", "float64", "complex64", "complex128"], ["int8", "float32"]
)
TOLERANCES = {2: 2e-2, 4: 1e-5, 8: 1e-12}


def values(kind: str, has_nan: bool) -> np.ndarray:
    rng = np.random.default_rng(8)
    host = rng.normal(size=(3, 4)) * 5
    host = (host + 1j * host[::-1] if np.dtype(kind).kind == "c" else host).astype(kind)
    if has_nan and host.dtype.kind in "fc":
        host[1, 2] = host[:, 0] = np.nan
    return host


def assert_close(ours: Any, numpys: Any) -> None:
    assert isinstance(ours, PyGPU.GPUArray)
    assert (ours.shape, ours.dtype) == (np.shape(numpys), np.asarray(numpys).dtype)
    tolerance = TOLERANCES[ours.dtype.itemsize]
    np.testing.assert_allclose(ours.get(), numpys, rtol=tolerance, atol=tolerance)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_variance_with_mean_argument_matches_numpy(name: str, kind: str, axis: Any) -> None:
    host = values(kind, has_nan=name.startswith("nan"))
    mean = np.nanmean(host, axis=axis, keepdims=True)
    mask = np.array([[True, True, False, True], [True, False, True, True], [False, False, False, False]])
    array, means, included = PyGPU.to_gpu(host), PyGPU.to_gpu(mean), PyGPU.to_gpu(mask)
    for keywords in ({}, {"ddof": 1, "keepdims": True}, {"correction": 0.5}, {"ddof": 99}):
        assert_close(
            getattr(PyGPU, name)(array, axis=axis, mean=means, **keywords),
            getattr(np, name)(host, axis=axis, mean=mean, **keywords),
        )
    assert_close(
        getattr(PyGPU, name)(array, axis=axis, mean=means, where=included),
        getattr(np, name)(host, axis=axis, mean=mean, where=mask),
    )


@pytest.mark.parametrize("name", NAMES)
def test_mean_argument_of_variance_may_be_number_list_or_none(name: str) -> None:
    host = np.arange(6, dtype="float32").reshape(2, 3)
    array, out, expected = PyGPU.to_gpu(host), PyGPU.zeros(3), np.zeros(3)
    function, counterpart = getattr(PyGPU, name), getattr(np, name)
    assert_close(function(array, mean=2), counterpart(host, mean=2))
    assert_close(function(array, dtype="float64", mean=2.5), counterpart(host, dtype="float64", mean=2.5))
    assert function(array, axis=0, out=out, mean=[1, 2, 3]) is out
    counterpart(host, axis=0, out=expected, mean=[1, 2, 3])
    assert_close(out, expected)
    assert_close(function(array, mean=None), counterpart(host))
    assert_close(function(array, mean=2, where=True), counterpart(host, mean=2, where=True))
    assert isinstance(counterpart(array, mean=2), PyGPU.GPUArray)


@pytest.mark.parametrize(
    "keywords",
    [{"axis": 2}, {"axis": (0, 0)}, {"mean": np.ones(5)}, {"axis": 0, "out": np.zeros(5)}, {"dtype": "bad"}],
    ids=lambda keywords: next(reversed(keywords)),
)
@pytest.mark.parametrize("name", NAMES)
def test_variance_with_mean_argument_rejects_what_numpy_rejects(name: str, keywords: dict[str, Any]) -> None:
    def on_device(value: Any) -> Any:
        return PyGPU.to_gpu(value) if isinstance(value, np.ndarray) else value

    host = np.arange(6.0).reshape(2, 3)
    options = {"mean": 2.0} | keywords
    ours = {name: on_device(value) for name, value in options.items()}
    assert_same_refusal(
        outcome(lambda: getattr(PyGPU, name)(PyGPU.to_gpu(host), **ours)),
        outcome(lambda: getattr(np, name)(host, **options)),
    )


@pytest.mark.parametrize("name", NAMES)
def test_variance_with_mean_argument_accepts_numbers_as_mask(name: str) -> None:
    host = np.arange(6.0).reshape(2, 3)
    array = PyGPU.to_gpu(host)
    with warnings.catch_warnings(action="ignore"):
        for where in (False, True):
            expected = getattr(np, name)(host, axis=0, mean=2, where=where)
            assert_close(getattr(PyGPU, name)(array, axis=0, mean=2, where=where), expected)
    if not name.startswith("nan"):
        with pytest.raises(np.exceptions.AxisError):
            getattr(PyGPU, name)(PyGPU.to_gpu(np.array(3.0)), axis=0, mean=2)
