"""Test values of functions in `PyGPU.special` against mpmath, and their limits against SciPy.

The file reference.json contains the values and limits of mpmath and SciPy.

``tests/special/make_reference.py`` writes the file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU._special import ufuncs

REFERENCE: dict[str, dict[str, list[list[float]]]] = json.loads(
    (Path(__file__).parent / "reference.json").read_text(encoding="utf-8")
)
pytestmark = pytest.mark.usefixtures("compiled_together")
# Permitted relative errors: `TOLERANCES` for functions that lose digits, and `TOLERANCE` for all other functions.
# Digits are lost in iterations, in differences of logarithms, and in Bessel functions near their first zeros.
TOLERANCE = 1e-13
TOLERANCES = {
    "ndtr": 2e-13,
    "betaln": 1e-10,
    "yv": 1e-10,
    "stdtrit": 1e-12,
    "betaincc": 3e-13,
    "jv": 1e-12,
    "iv": 1e-12,
    "kv": 1e-12,
}
# Functions whose limits at infinity differ from SciPy's, or from those of the libraries AMOS and Boost, which SciPy
# uses.
OTHER_AT_INFINITY = ("i0", "i1", "jv", "lpmv", "yn", "yv", "iv", "ive", "kv", "kve", "fdtr", "fdtrc", "fdtri", "nbdtri")
# Conditions on operands under which a function is not compared with SciPy. For example, the CPU backend computes the
# normal quantile of subnormal numbers with a relative error of 2e-9.
OTHER_LIMITS = {
    "erfcinv": lambda y: 0 < y < 2.3e-308,
    "ndtri": lambda y: 0 < y < 2.3e-308,
    "gammaln": lambda x: 0 < abs(x) < 1e-300,
    "loggamma": lambda x: 0 < abs(x) < 1e-300,
    "cotdg": lambda x: x == 0,
    "stdtrit": lambda df, p: p == 0,
}
# Functions with a separate float32 algorithm, which is tested too. All other functions compute in float64, and round
# the result.
FLOATS = (
    *(
        "erf",
        "erfc",
        "erfcx",
        "erfinv",
        "erfcinv",
        "ndtr",
        "ndtri",
        "log_ndtr",
        "gamma",
        "gammaln",
        "rgamma",
        "gammainc",
    ),
    *("i0", "i0e", "i1", "i1e", "k0", "k0e", "k1", "k1e", "j0", "j1", "y0", "y1", "exp1", "expit", "logit", "exprel"),
    *("entr", "rel_entr", "kl_div", "huber", "pseudo_huber", "xlogy"),
)


def columns(rows: list[list[float]], function: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the operands and the results in rows of the reference file as arrays."""
    table = [np.array(column) for column in zip(*rows, strict=True)]
    return table[: function.nin], table[function.nin :]


def call(function: Any, operands: list[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Return the results of a function that is computed on the device."""
    results = function(*map(PyGPU.to_gpu, operands))
    return tuple(one.get() for one in (results if isinstance(results, tuple) else (results,)))


@pytest.mark.parametrize("name", REFERENCE)
def test_special_function_matches_exact_values_in_float64(name: str) -> None:
    function = getattr(ufuncs, name)
    operands, expected = columns(REFERENCE[name]["exact"], function)
    for actual, exact in zip(call(function, operands), expected, strict=True):
        assert actual.dtype == np.float64
        np.testing.assert_allclose(actual, exact, rtol=TOLERANCES.get(name, TOLERANCE), atol=1e-300)


@pytest.mark.parametrize("name", FLOATS)
def test_special_function_matches_exact_values_in_float32(name: str) -> None:
    function = getattr(ufuncs, name)
    rows = REFERENCE[name]["exact"]
    with np.errstate(over="ignore"):
        fitting = [row for row in rows if np.array(row, "float32").all()]
    operands, expected = columns(fitting, function)
    (actual,) = call(function, [one.astype("float32") for one in operands])
    assert actual.dtype == np.float32
    fits = np.abs(expected[0]) < 3e38
    np.testing.assert_allclose(actual[fits], expected[0][fits], rtol=2e-6, atol=2e-38)


@pytest.mark.parametrize("name", [name for name, rows in REFERENCE.items() if rows["limits"]])
def test_special_function_at_limits_matches_scipy(name: str) -> None:
    function = getattr(ufuncs, name)
    rows = REFERENCE[name]["limits"]
    if name in OTHER_AT_INFINITY:
        rows = [row for row in rows if np.isfinite(row[: function.nin]).all()]
    if name in OTHER_LIMITS:
        rows = [row for row in rows if not OTHER_LIMITS[name](*row[: function.nin])]
    operands, expected = columns(rows, function)
    for actual, limit in zip(call(function, operands), expected, strict=True):
        # At 1e300, the phase of an oscillating function has no correct digits.
        np.testing.assert_allclose(
            actual, limit, rtol=1e-12, atol=1e-149 if name in ("j0", "j1", "y0", "y1") else 1e-300
        )
