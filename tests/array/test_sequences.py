"""Test that `arange` and `linspace` equal NumPy's bit for bit for every dtype, and are computed on the device."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import PyGPU
from support import assert_same, assert_same_refusal, of_few, print_each

KINDS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
KINDS += ["complex64", "complex128"]
RANGES: list[tuple[Any, ...]] = [
    (5,),
    (0,),
    (-3,),
    (3, 10),
    (10, 3, -2),
    (0, 1, 0.1),
    (1, 2, 0.3),
    (0.1, 120.7, 1.7),
    (-3.5, 40),
    (True,),
    (np.float32(0), np.float32(3), np.float32(0.3)),
    (np.int8(3), 9),
    (2**40, 2**40 + 3),
    (5e-324, 4e-323, 5e-324),
    (0, 1e-320, 1),
]
LINES: list[tuple[Any, ...]] = [
    (0, 1),
    (0, 1, 0),
    (0, 1, 1),
    (3, 7, 1, False),
    (0, 1, 5),
    (3, 7, 7, False),
    (10, -10, 33),
    (1, 1, 4),
    (0, 5e-324, 5),
    (-5, 3, 9),
    (1j, 4, 9),
    (np.float32(0), 1, 11),
    (np.float16(0), 1, 101),
    (np.int8(-100), np.int8(100), 5),
    (0.1, float("inf"), 3),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("kind", [*KINDS, "bool", None])
def test_arange_matches_numpy_for_every_dtype(kind: str | None) -> None:
    for bounds in print_each(RANGES):
        numpys = outcome_without_warnings(lambda b=bounds: np.arange(*b, dtype=kind))
        ours = outcome_without_warnings(lambda b=bounds: PyGPU.arange(*b, dtype=kind))
        if numpys[0] == "error":
            assert_same_refusal(ours, numpys)
        elif np.dtype(kind or "float64").kind != "u" or min(numpys[1].tolist(), default=0) >= 0:
            assert_same(ours[1], numpys[1])


def outcome_without_warnings(call: Any) -> Any:
    try:
        return "value", call()
    except Exception as error:
        return "error", error


def test_arange_of_bfloat16_matches_ml_dtypes() -> None:
    expected = np.arange(0, 300, 1.5).astype(ml_dtypes.bfloat16)
    assert_same(PyGPU.arange(0, 300, 1.5, dtype=ml_dtypes.bfloat16), expected)


def test_arange_with_random_bounds_matches_numpy() -> None:
    seed = int(np.random.default_rng().integers(2**32))
    print("seed", seed)
    random = np.random.default_rng(seed)
    for _ in range(300):
        start, length, step = random.normal(0, 100), random.normal(0, 1000), random.normal(0, 10)
        bounds = (start, start + length, step)
        kind = random.choice(of_few(["float16", "float32", "float64", "complex64"], ["float32", "float64"]))
        print(bounds, kind)
        assert_same(PyGPU.arange(*bounds, dtype=kind), np.arange(*bounds, dtype=kind))
        whole = [int(bound) or 1 for bound in bounds]
        assert_same(PyGPU.arange(*whole), np.arange(*whole))


@pytest.mark.parametrize("line", LINES, ids=repr)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
def test_linspace_matches_numpy(line: tuple[Any, ...]) -> None:
    kinds = [None, "int16", "float16", "float32", "complex128", "bool"]
    for kind in print_each(of_few(kinds, [None, kinds[1 + LINES.index(line) % 5]])):
        numpys = outcome_without_warnings(lambda k=kind: np.linspace(*line, dtype=k, retstep=True))
        ours = outcome_without_warnings(lambda k=kind: PyGPU.linspace(*line, dtype=k, retstep=True))
        if numpys[0] == "error":
            assert_same_refusal(ours, numpys)
            continue
        if not (kind == "int16" and not np.isfinite(line[1])):
            assert_same(ours[1][0], numpys[1][0])
        assert repr(ours[1][1]) == repr(numpys[1][1])


BAD = {
    "a number of elements below zero": (lambda: PyGPU.linspace(0, 1, -1), ValueError, "non-negative"),
    "a number of elements that is none": (lambda: PyGPU.linspace(0, 1, 2.5), TypeError, "int"),
    "axis of numbers": (lambda: PyGPU.linspace(0, 1, 5, axis=1), np.exceptions.AxisError, "axis 1"),
    "a step of zero": (lambda: PyGPU.arange(0, 1, 0), (ValueError, ZeroDivisionError), "."),
    "a step that is no number": (lambda: PyGPU.arange(0, 3, float("nan")), ValueError, "."),
    "too many elements": (lambda: PyGPU.arange(0, 1e300), (ValueError, OverflowError), "."),
    "no bounds": (lambda: PyGPU.arange(), TypeError, "."),
    "bools without end": (lambda: PyGPU.arange(3, dtype=bool), TypeError, "bool"),
    "a value that does not fit": (lambda: PyGPU.arange(300, 302, dtype="uint8"), OverflowError, "300"),
}


@pytest.mark.parametrize("name", BAD)
def test_arange_and_linspace_reject_invalid_bounds(name: str) -> None:
    call, error, text = BAD[name]
    with pytest.raises(error, match=text):
        call()


def test_arange_and_linspace_transfer_nothing_from_host() -> None:
    # Load the kernels before the capture begins, because kernels cannot be loaded during a capture.
    PyGPU.arange(9, dtype="float32").astype("float64")
    PyGPU.linspace(0, 1, 5)
    stream = PyGPU.Stream(non_blocking=True)
    # A capture rejects copies from pageable host memory, so `arange` and `linspace` would raise an error if they made
    # such a copy.
    stream.begin_capture()
    with stream:
        made = [PyGPU.arange(7, dtype="float32"), PyGPU.linspace(0, 1, 5), PyGPU.full(3, 2.5), PyGPU.ones(2, "int8")]
        made.append(made[0].astype("float64"))
    graph = stream.end_capture()
    assert graph.num_nodes >= len(made)
    graph.launch(stream)
    assert [array.tolist()[-1] for array in made] == [6, 1, 2.5, 1, 6]
