"""Test elementwise functions with additional parameters: `where`, `clip`, `round`, `angle`, `nan_to_num`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import PyGPU
from gpu import support
from installed.numpy_version import is_numpy, since_numpy

IS_SIMULATED = PyGPU.backend_name() != "cpu" and support.is_simulated()
# On a simulated GPU, where each kernel takes 0.5 s to compile, test an integer, a float and a complex dtype only.
KINDS = ["int8", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
KINDS = ["int8", "float32", "complex64"] if IS_SIMULATED else ["bool", "int32", *KINDS]


@pytest.fixture(autouse=True)
def without_warnings() -> Iterator[None]:
    """Suppress NumPy's floating-point warnings, because PyGPU gives none."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def values(kind: str) -> np.ndarray:
    made = np.array([3.25, -3.25, 0, -0.0, 1.5, 2.5, -1.5, 100, 0.125, 7, -7, 12])
    if np.dtype(kind).kind in "fc":
        made = np.concatenate([made, [np.inf, -np.inf, np.nan]])
    if np.dtype(kind).kind == "c":
        return (made + 1j * made[::-1]).astype(kind)
    return np.abs(made).astype(kind) if np.dtype(kind).kind == "u" else made.astype(kind)


def assert_alike(ours: Any, theirs: Any) -> None:
    theirs = np.asarray(theirs)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    tolerance = 2e-3 if theirs.dtype == np.float16 else 2e-6 if theirs.dtype in (np.float32, np.complex64) else 1e-14
    np.testing.assert_allclose(ours.get(), theirs, rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.parametrize("kind", KINDS)
def test_where_function_selects_between_arrays_and_scalars(kind: str) -> None:
    host, mask = values(kind), values(kind) != 0
    array, condition = PyGPU.to_gpu(host), PyGPU.to_gpu(mask)
    for function in (PyGPU.where, np.where):
        assert_alike(function(condition, array, array[::-1]), np.where(mask, host, host[::-1]))
    one = True if kind == "bool" else 1
    assert_alike(PyGPU.where(condition, array, one), np.where(mask, host, one))
    assert_alike(PyGPU.where(condition, one, array), np.where(mask, one, host))
    assert_alike(PyGPU.where(array, array, np.float64(2)), np.where(host, host, np.float64(2)))
    assert_alike(PyGPU.where(condition[:, None], array, array[:1]), np.where(mask[:, None], host, host[:1]))
    assert_alike(PyGPU.where(True, array, one), np.where(True, host, one))


def test_where_function_result_types_match_numpy() -> None:
    mask = np.array([True, False])
    condition = PyGPU.to_gpu(mask, device="cpu")
    others: list[Any] = [True, 1, 1.5, 1j, np.float32(1), *(np.ones(2, kind) for kind in ("int8", "uint64", "float16"))]
    for x in others:
        for y in others:
            ours = [PyGPU.to_gpu(one, device="cpu") if isinstance(one, np.ndarray) else one for one in (x, y)]
            assert PyGPU.where(condition, *ours).dtype == np.where(mask, x, y).dtype, (x, y)


@pytest.mark.parametrize("kind", KINDS)
def test_clip_accepts_one_or_both_limits(kind: str) -> None:
    host = values(kind)
    array = PyGPU.to_gpu(host)
    least, most = (False, True) if kind == "bool" else (1, 5)
    for limits in ((least, most), (least, None), (None, most), (None, None), (most, least)):
        if limits == (None, None) and (kind == "bool" or not is_numpy("2.1")):
            continue  # NumPy cannot compute `clip` for this combination of dtype and limits.
        assert_alike(PyGPU.clip(array, *limits), np.clip(host, *limits))
    assert_alike(np.clip(array, array[:1], array[:1]), np.clip(host, host[:1], host[:1]))
    out = PyGPU.zeros(len(host), kind)
    assert PyGPU.clip(array, least, most, out=out) is out
    assert_alike(out, np.clip(host, least, most))


@since_numpy("2.1", "limits of clip beyond the range")
def test_clip_ignores_limits_beyond_range_of_dtype() -> None:
    host = np.arange(5, dtype="uint8")
    array = PyGPU.to_gpu(host)
    assert_alike(PyGPU.clip(array, -1, 300), np.clip(host, -1, 300))
    assert_alike(PyGPU.clip(array, 2, 300), np.clip(host, 2, 300))
    assert_alike(PyGPU.clip(array, -(2**70), 3), np.clip(host, -(2**70), 3))
    with pytest.raises(OverflowError):
        PyGPU.clip(array, 300)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("decimals", [0, 1, -1])
def test_round_accepts_positive_and_negative_decimals(kind: str, decimals: int) -> None:
    host = values(kind)
    array = PyGPU.to_gpu(host)
    for function in (PyGPU.round, PyGPU.around, np.round):
        if kind == "bool" and decimals:
            with pytest.raises(TypeError):
                np.round(host, decimals)
            with pytest.raises(TypeError, match=f"bools cannot be rounded to {decimals} decimal digits"):
                function(array, decimals)
            continue
        assert_alike(function(array, decimals), np.round(host, decimals))


@pytest.mark.parametrize("decimals", [-2, -3, -5, -10, -19, -20])
@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint64"])
def test_round_of_integers_accepts_decimals_beyond_dtype_range(kind: str, decimals: int) -> None:
    host = np.array([0, 49, 50, 51, 99, np.iinfo(kind).max // 2], kind)
    assert_alike(PyGPU.round(PyGPU.to_gpu(host), decimals), np.round(host, decimals))


@pytest.mark.parametrize(
    "operand", [155, [155, 144], (1, 2), np.int8(45), np.uint8(9), True, [True], 2.55, [0.5, 1.5], 2.5 + 3.5j]
)
@pytest.mark.parametrize("decimals", [0, -1])
def test_round_of_numbers_and_sequences_returns_their_dtype(operand: Any, decimals: int) -> None:
    if np.asarray(operand).dtype == bool and decimals:
        with pytest.raises(TypeError, match="bools cannot be rounded"):
            PyGPU.round(operand, decimals)
        return
    assert_alike(PyGPU.round(operand, decimals), np.round(operand, decimals))


@pytest.mark.parametrize("decimals", [0, 1, -1])
@pytest.mark.parametrize("out_kind", ["bool", "int8", "int64", "float32", "float64", "complex64"])
@pytest.mark.parametrize("kind", ["bool", "int32", "float32", "complex128"])
def test_round_accepts_and_rejects_same_out_dtypes_as_numpy(kind: str, out_kind: str, decimals: int) -> None:
    host = np.array([0, 1.55, 2.345, 77, 115]).astype(kind)
    expected = np.ones(5, out_kind)
    out = PyGPU.to_gpu(expected)
    try:
        np.round(host, decimals, out=expected)
    except TypeError:
        with pytest.raises(TypeError):
            PyGPU.round(PyGPU.to_gpu(host), decimals, out=out)
        assert (out.get() == 1).all()
        return
    assert PyGPU.round(PyGPU.to_gpu(host), decimals, out=out) is out
    assert_alike(out, expected)


@pytest.mark.parametrize("kind", ["int32", "float64"])
def test_round_rejects_out_array_of_wrong_shape_and_too_many_decimals(kind: str) -> None:
    array = PyGPU.to_gpu(np.arange(3, dtype=kind))
    for decimals in (0, 1, -1):
        with pytest.raises(ValueError, match=r"out has shape \(2, 3\), and the array has shape \(3,\)"):
            PyGPU.round(array, decimals, out=PyGPU.zeros((2, 3), kind))
    with pytest.raises(OverflowError):
        array.round(2**40)


@pytest.mark.parametrize("kind", KINDS)
def test_angle_returns_radians_or_degrees(kind: str) -> None:
    host = values(kind)
    array = PyGPU.to_gpu(host)
    assert_alike(PyGPU.angle(array), np.angle(host))
    assert_alike(np.angle(array, deg=True), np.angle(host, deg=True))


@pytest.mark.parametrize("kind", KINDS)
def test_nan_to_num_replaces_nan_and_infinities(kind: str) -> None:
    host = values(kind)
    array = PyGPU.to_gpu(host)
    assert_alike(PyGPU.nan_to_num(array), np.nan_to_num(host))
    assert_alike(np.nan_to_num(array, nan=1, posinf=2, neginf=3), np.nan_to_num(host, nan=1, posinf=2, neginf=3))
    assert PyGPU.nan_to_num(array, copy=False) is array
    assert_alike(array, np.nan_to_num(host))


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("replacement", ["float32", "float64", "int64", "bool"])
@pytest.mark.parametrize("kind", KINDS)
def test_nan_to_num_accepts_arrays_as_replacements(kind: str, replacement: str, copy: bool) -> None:
    host = values(kind)[-6:].reshape(2, 3)
    array = PyGPU.to_gpu(host)
    row, column = np.array([3, 2**40 + 1, 5]).astype(replacement), np.array([[7], [8]]).astype(replacement)
    found = PyGPU.nan_to_num(array, copy=copy, nan=PyGPU.to_gpu(row), posinf=PyGPU.to_gpu(column), neginf=[1, 2, 3])
    expected = np.nan_to_num(host, copy=copy, nan=row, posinf=column, neginf=[1, 2, 3])
    assert (found is array) is not copy
    assert_alike(found, expected)
    assert_alike(array, host)


def test_nan_to_num_rejects_replacements_of_wrong_shape_or_dtype() -> None:
    host = np.array([1.0, np.nan], "float32")
    array = PyGPU.to_gpu(host)
    for replacement, error in ((PyGPU.zeros((3, 2)), ValueError), (PyGPU.zeros(2, "complex64"), TypeError)):
        for copy in (True, False):
            with pytest.raises(error):
                np.nan_to_num(host, copy=copy, nan=replacement.get())
            with pytest.raises(error):
                PyGPU.nan_to_num(array, copy=copy, nan=replacement)
    assert_alike(array, host)


def test_nan_to_num_in_place_accepts_replacements_that_overlap_array() -> None:
    host = np.array([np.nan, 1, np.nan, 5])
    array = PyGPU.to_gpu(host)
    PyGPU.nan_to_num(array, copy=False, nan=array[::-1])
    assert array.tolist() == [5, 1, 1, 5]


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint64"])
def test_gcd_and_lcm_of_minimum_integers_match_numpy(kind: str) -> None:
    limits = np.iinfo(kind)
    first = np.array([limits.min, limits.min, limits.max, limits.min, 12, 0], kind)
    second = np.array([6, limits.min, limits.min, 0, limits.min, limits.min], kind)
    for name in ("gcd", "lcm"):
        ours = getattr(PyGPU, name)(PyGPU.to_gpu(first), PyGPU.to_gpu(second))
        np.testing.assert_array_equal(ours.get(), getattr(np, name)(first, second), err_msg=name)


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_elementwise_functions_match_numpy_for_lengths_near_block_size(kind: str) -> None:
    host = (np.arange(2100) % 97 / 64 + 0.25).astype(kind)
    array = PyGPU.to_gpu(host)
    edges = {edge + step for edge in (2, 4, 8, 16, 256, 512, 1024, 2048) for step in (-1, 0, 1)}
    with PyGPU.fusion("off"):
        for length in sorted(edges):
            target = PyGPU.zeros(2100, kind)
            PyGPU.hypot(array[:length], array[:length], out=target[:length])
            expected = np.zeros(2100, kind)
            np.hypot(host[:length], host[:length], out=expected[:length])
            assert_alike(target, expected)
            assert_alike(PyGPU.exp(array[1 : length + 1]), np.exp(host[1 : length + 1]))
