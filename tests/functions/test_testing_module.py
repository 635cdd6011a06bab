"""Test `PyGPU.testing`, which applies NumPy's assertions to device arrays and host arrays in any combination."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU import testing

HOST = np.array([1.0, 2.0, np.nan])
NEAR = HOST * (1 + 1e-14)
OTHER = HOST + 1
PAIRS = {
    "assert_allclose": (HOST, NEAR, OTHER),
    "assert_almost_equal": (HOST, NEAR, OTHER),
    "assert_array_almost_equal": (HOST, NEAR, OTHER),
    "assert_array_equal": (HOST, HOST.copy(), NEAR),
    "assert_array_less": (HOST[:2], OTHER[:2], HOST[:2]),
    "assert_equal": (HOST, HOST.copy(), OTHER),
    "assert_array_almost_equal_nulp": (HOST[:2], HOST[:2], OTHER[:2]),
    "assert_array_max_ulp": (HOST[:2], HOST[:2], OTHER[:2]),
    "assert_approx_equal": (np.array(1.5), np.array(1.5), np.array(2.5)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_assertion_passes_and_fails_like_numpys(name: str) -> None:
    actual, equal, different = PAIRS[name]
    ours, numpys = getattr(testing, name), getattr(np.testing, name)
    with pytest.raises(AssertionError) as expected:
        numpys(actual, different)
    for first in (actual, PyGPU.to_gpu(actual)):
        for second in (PyGPU.to_gpu, np.asarray):
            ours(first, second(equal))
            with pytest.raises(AssertionError) as got:
                ours(first, second(different))
            assert str(got.value) == str(expected.value)


def test_assertion_downloads_arrays_within_containers() -> None:
    def made(upload: Any) -> Any:
        return {"a": [upload(HOST), 1], "b": (upload(OTHER), "text")}

    testing.assert_equal(made(PyGPU.to_gpu), made(np.asarray))
    with pytest.raises(AssertionError):
        testing.assert_equal(made(PyGPU.to_gpu), {**made(np.asarray), "a": [OTHER, 1]})
    testing.assert_allclose(PyGPU.to_gpu(OTHER), desired=PyGPU.to_gpu(HOST), rtol=2)


def test_assert_raises_passes_device_arrays_to_function() -> None:
    a = PyGPU.zeros(3)
    testing.assert_raises(ValueError, PyGPU.reshape, a, (2, 2))
    with testing.assert_raises_regex(ValueError, "reshape"):
        PyGPU.reshape(a, (2, 2))


def test_assertion_has_docstring_of_pygpu() -> None:
    for name in PAIRS:
        assert "device arrays are fetched" in getattr(testing, name).__doc__
        assert set(testing.__all__) <= set(dir(np.testing))
