"""Test every elementwise function with every dtype and every pair of operand layouts on a real GPU against NumPy."""

from __future__ import annotations

import itertools
import os
import warnings
from typing import Any

import numpy as np
import pytest

import PyGPU
from gpu import support
from installed.numpy_version import numpy_function
from native_ufuncs import UFUNCS
from reference_functions import REFERENCE_FUNCTIONS

support.require_gpu()
if support.is_simulated():
    pytest.skip(
        "thousands of kernels; tests/arithmetic has one of each function for simulated GPUs", allow_module_level=True
    )

KINDS = [
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
# Largest relative difference from NumPy, for each dtype in which the function is computed; devices round some functions
# differently.
TOLERANCE = {"float16": 2e-3, "float32": 2e-6, "complex64": 1e-5, "float64": 4e-15, "complex128": 2e-14}
# Largest error in units in the last place, for functions that NumPy lacks. tests/arithmetic/test_special.py has equal
# limits.
ULPS = {"erf": 2, "erfc": 5, "gamma": 11, "lgamma": 8}
LAYOUTS = {
    "C": lambda a: a,
    "transposed": lambda a: a.T,
    "sliced": lambda a: a[:, ::2],
    "reversed": lambda a: a[::-1, ::-1],
    "odd offset": lambda a: a[:, 1:],
    "row": lambda a: a[0],
    "column": lambda a: a[:, :1],
    "repeated rows": lambda a: package_of(a).broadcast_to(a[1], (6, 6)),
    "repeated columns": lambda a: package_of(a).broadcast_to(a[:, 2:3], (6, 6)),
    "one element repeated": lambda a: package_of(a).broadcast_to(a[3, 2], (6, 6)),
    "0-d": lambda a: a[0, 1],
    "empty": lambda a: a[:0],
}
# Without `TEST_ALL`, a test uses the first layout of the operands and every n-th of the other layouts. The number of
# operands determines n. The function and the dtype determine which of the other layouts is selected first. A kernel
# takes about 50 ms to compile, and all layouts of all functions and dtypes need 12,000 kernels.
STEPS = {1: 3, 2: len(KINDS)}


def package_of(array: Any) -> Any:
    return np if isinstance(array, np.ndarray) else PyGPU


def judge_of(name: str) -> Any:
    """Return a function that computes expected results: NumPy's function, or one of `REFERENCE_FUNCTIONS`."""
    return REFERENCE_FUNCTIONS[name] if name in REFERENCE_FUNCTIONS else numpy_function(name)


def values(kind: str) -> np.ndarray:
    random = np.random.default_rng(12)
    if kind == "bool":
        return random.integers(0, 2, (6, 6)).astype(bool)
    if np.dtype(kind).kind in "iu":
        return random.integers(1, 9, (6, 6)).astype(kind)
    made = random.uniform(0.05, 0.95, (6, 6))
    return (made + 1j * made[::-1] if np.dtype(kind).kind == "c" else made).astype(kind)


def assert_alike(ours: Any, theirs: Any, what: Any) -> None:
    theirs = np.asarray(theirs)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), what
    if what[0] in ULPS:
        is_finite = np.isfinite(theirs)
        np.testing.assert_array_equal(ours.get()[~is_finite], theirs[~is_finite], err_msg=str(what))
        # Near a zero of a function, rounding the expected result can exceed one unit in the last place. Errors of
        # results below 1 are therefore measured in units of the spacing of floats at 1.
        place = np.spacing(np.maximum(np.abs(theirs[is_finite]), theirs.dtype.type(1))).astype("float64")
        apart = np.abs(ours.get()[is_finite].astype("float64") - theirs[is_finite])
        assert (apart <= (ULPS[what[0]] + 1) * place).all(), what
        return
    tolerance = TOLERANCE.get(theirs.dtype.name, 0)
    np.testing.assert_allclose(ours.get(), theirs, rtol=tolerance, atol=tolerance, equal_nan=True, err_msg=str(what))


def results(function: Any, operands: list[Any]) -> tuple[Any, ...]:
    found = function(*operands)
    return found if isinstance(found, tuple) else (found,)


def layouts_of(name: str, kind: str) -> list[tuple[str, ...]]:
    """Return the layouts of the operands for a test."""
    count = UFUNCS[name].nin
    laid = list(itertools.product(LAYOUTS, repeat=count))
    begin = list(UFUNCS).index(name) + KINDS.index(kind)
    return laid if os.environ.get("TEST_ALL") else [laid[0], *laid[1 + begin % STEPS[count] :: STEPS[count]]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", UFUNCS)
def test_ufunc_with_every_pair_of_layouts_matches_numpy(name: str, kind: str) -> None:
    ufunc, judge = UFUNCS[name], judge_of(name)
    host = values(kind)
    array = PyGPU.to_gpu(host)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            judge(*[host] * ufunc.nin)
        except TypeError:
            pytest.skip(f"NumPy has no loop for {kind}")
        for chosen in layouts_of(name, kind):
            hosts = [LAYOUTS[one](host) for one in chosen]
            arrays = [LAYOUTS[one](array) for one in chosen]
            try:
                expected = results(judge, hosts)
            except ValueError:
                continue
            for ours, theirs in zip(results(ufunc, arrays), expected, strict=True):
                assert_alike(ours, theirs, (name, *chosen))
