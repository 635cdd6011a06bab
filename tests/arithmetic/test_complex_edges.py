"""Test complex functions of infinities and NaNs: results match NumPy, C99 and the array API standard."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy
from support import on_cpu

PARTS = [0.0, -0.0, 1.25, -1.25, np.inf, -np.inf, np.nan]
EDGES = np.array([complex(x, y) for x, y in itertools.product(PARTS, PARTS) if not np.isfinite(x + y)])
FUNCTIONS = ["exp", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "arcsin", "arccos", "arctan"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_complex_functions_of_infinities_and_nans_match_numpy(name: str) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = getattr(np, name)(EDGES)
        got = getattr(PyGPU, name)(PyGPU.to_gpu(EDGES)).get()
    if name == "arccosh" and not is_numpy("2.3") and not on_cpu():
        # Older versions of NumPy return NaN for the imaginary part, where C17 and newer versions have pi/2.
        expected[(EDGES.real == 0) & np.isnan(EDGES.imag)] = complex(np.nan, np.pi / 2)
    for place, one, other in zip(EDGES, got, expected, strict=True):
        message = f"{name}({place}) is {one}, and NumPy's {other}"
        assert np.isnan(one.real) == np.isnan(other.real), message
        assert np.isnan(one.imag) == np.isnan(other.imag), message
        # If one part of a complex result is NaN, the sign of the other part is unspecified.
        numbers = [(one.real, other.real), (one.imag, other.imag)]
        for ours, numpys in numbers:
            if np.isnan(one):
                assert np.isnan(ours) or abs(ours) == pytest.approx(abs(numpys)), message
            else:
                assert ours == pytest.approx(numpys), message
                # If the computation of a zero result involves a NaN, C99 does not specify the sign of the zero.
                assert np.signbit(ours) == np.signbit(numpys) or (np.isnan(place) and ours == 0), message
