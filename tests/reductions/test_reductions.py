"""Test reductions over any axes of arrays of any layout: results match NumPy."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver

pytestmark = pytest.mark.usefixtures("compiled_together")

BACKEND = PyGPU.backend_name()
PyGPU.device_count()
# On a simulated GPU, only a few dtypes of each kind are tested, because each kernel is compiled as a host program.
IS_SIMULATED = simulated_driver.driver() is not None
KINDS = [
    "bool",
    "int8",
    "uint16",
    "int32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
FUNCTIONS = ["sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "count_nonzero"]
RNG = np.random.default_rng(7)


def values(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Return small numbers, with which sums of integers are exact and most products are finite."""
    if dtype == "bool":
        return RNG.integers(0, 2, shape).astype(bool)
    whole = RNG.integers(0 if dtype[0] == "u" else -4, 5, shape)
    if dtype[0] in "iu":
        return whole.astype(dtype)
    result = RNG.uniform(0.5, 1.5, shape).astype("float64")
    return (result + 1j * whole / 8).astype(dtype) if dtype[0] == "c" else result.astype(dtype)


def check(ours: Any, expected: Any, dtype: str) -> None:
    got, expected = ours.get(), np.asarray(expected)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    if expected.dtype.kind in "biu":
        np.testing.assert_array_equal(got, expected)
    else:
        exact = np.finfo("float16" if dtype == "float16" else expected.dtype).eps
        np.testing.assert_allclose(got, expected, rtol=40 * float(exact), atol=40 * float(exact))


def layouts(host: np.ndarray) -> dict[str, tuple[Any, np.ndarray]]:
    array = PyGPU.to_gpu(host)
    made = {
        "C": (array, host),
        "F": (PyGPU.to_gpu(np.asfortranarray(host)), np.asfortranarray(host)),
        "reversed": (array[::-1], host[::-1]),
        "stepped": (array[..., ::2], host[..., ::2]),
        "turned": (array.T, host.T),
    }
    if host.ndim > 1:
        made["broadcast"] = (PyGPU.broadcast_to(array[:1], host.shape), np.broadcast_to(host[:1], host.shape))
    return made


def axes_of(ndim: int) -> list[Any]:
    several = [pair for count in range(ndim + 1) for pair in itertools.combinations(range(ndim), count)]
    return [None, *several, -1]


def kinds_of(name: str) -> list[str]:
    kinds = [kind for kind in KINDS if kind[0] != "c" or name not in ("min", "max")]
    place = FUNCTIONS.index(name)
    return [kinds[(3 * place + step) % len(kinds)] for step in (0, 5)] if IS_SIMULATED else kinds


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_reductions_of_every_kind_match_numpy(name: str) -> None:
    for dtype in kinds_of(name):
        host = values((3, 40), dtype)
        array = PyGPU.to_gpu(host)
        for axis in (1,) if IS_SIMULATED else (None, 0, 1):
            check(getattr(PyGPU, name)(array, axis=axis), getattr(np, name)(host, axis=axis), dtype)


@pytest.mark.parametrize("shape", [(3, 4, 5)] if IS_SIMULATED else [(7,), (5, 6), (3, 4, 5), (2, 3, 1, 4)], ids=str)
def test_reductions_over_any_axes_and_layout_match_numpy(shape: tuple[int, ...]) -> None:
    host = values(shape, "int32")
    for layout, (array, twin) in layouts(host).items():
        if IS_SIMULATED and layout in ("F", "reversed"):
            continue
        for axis in axes_of(len(shape)):
            for keepdims in (False, True):
                ours = array.sum(axis=axis, keepdims=keepdims)
                np.testing.assert_array_equal(
                    ours.get(), twin.sum(axis=axis, keepdims=keepdims), err_msg=f"{layout} {axis}"
                )


@pytest.mark.parametrize("shape", [(100_000,), (3, 50_000), (50_000, 3), (300, 400), (4, 500, 60)], ids=str)
def test_large_reductions_by_several_thread_blocks_match_numpy(shape: tuple[int, ...]) -> None:
    host = values(shape, "int64")
    array = PyGPU.to_gpu(host)
    for axis in (0, len(shape) - 1) if IS_SIMULATED else (None, *range(len(shape))):
        np.testing.assert_array_equal(array.sum(axis=axis).get(), host.sum(axis=axis))


@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_argmin_returns_first_minimum_and_first_nan(name: str) -> None:
    host = RNG.integers(0, 4, (6, 50)).astype("float32")
    with_nan = host.copy()
    with_nan[2, 7] = with_nan[2, 30] = np.nan
    for twin in (with_nan, host.T, np.full((3, 4), np.inf, "float32")):
        array = PyGPU.to_gpu(twin)
        for axis in (None, 1) if IS_SIMULATED else (None, 0, 1, -1):
            for keepdims in (False, True):
                expected = getattr(np, name)(twin, axis=axis, keepdims=keepdims)
                check(getattr(array, name)(axis=axis, keepdims=keepdims), expected, "int64")
    assert getattr(PyGPU.to_gpu(host).T, name)().item() == getattr(np, name)(host.T)


def test_reductions_propagate_nan() -> None:
    host = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]])
    array = PyGPU.to_gpu(host)
    for name in ("min", "max", "sum", "mean"):
        np.testing.assert_array_equal(getattr(array, name)(axis=1).get(), getattr(host, name)(axis=1))


def test_reductions_accept_where_and_initial() -> None:
    host, mask = values((5, 30), "float64"), RNG.integers(0, 2, (5, 30)).astype(bool)
    array, ours = PyGPU.to_gpu(host), PyGPU.to_gpu(mask)
    for name in ("sum", "prod", "min", "max"):
        for axis in (1,) if IS_SIMULATED else (None, 0, 1):
            check(
                getattr(array, name)(axis=axis, initial=2, where=ours),
                getattr(host, name)(axis=axis, initial=2, where=mask),
                "float64",
            )
    row = PyGPU.to_gpu(mask[0])
    for name in ("mean", "var", "any"):
        check(getattr(array, name)(axis=1, where=row), getattr(host, name)(axis=1, where=mask[0]), "float64")
    assert array.sum(initial=5.0).item() == pytest.approx(host.sum() + 5)


def test_reductions_write_to_out_array_of_any_layout() -> None:
    host = values((4, 6), "int32")
    array, out = PyGPU.to_gpu(host), PyGPU.zeros((12,), "int64")
    assert array.sum(axis=0, out=out[::2]) is not None
    np.testing.assert_array_equal(out.get()[::2], host.sum(axis=0))
    assert not out.get()[1::2].any()
    other = PyGPU.zeros((4, 1), "float32")
    assert array.max(axis=1, keepdims=True, out=other) is other
    np.testing.assert_array_equal(other.get(), host.max(axis=1, keepdims=True))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)], ids=str)
def test_empty_reduction_returns_identity(shape: tuple[int, ...]) -> None:
    host, array = np.zeros(shape), PyGPU.zeros(shape)
    for name in ("sum", "prod", "any", "all"):
        for axis in [None, *range(len(shape))]:
            check(getattr(array, name)(axis=axis), getattr(host, name)(axis=axis), "float64")
    for axis in [None, *range(len(shape))]:
        for name in ("min", "max", "argmin"):
            try:
                expected = getattr(host, name)(axis=axis)
            except ValueError:
                with pytest.raises(ValueError, match=r"identity|empty"):
                    getattr(array, name)(axis=axis)
            else:
                check(getattr(array, name)(axis=axis), expected, "float64")


def test_reduction_dtypes_and_ddof_match_numpy() -> None:
    host = values((3, 8), "float32")
    array = PyGPU.to_gpu(host)
    check(array.sum(dtype="float64", axis=0), host.sum(dtype="float64", axis=0), "float64")
    check(array.astype("int8").sum(dtype="int8"), host.astype("int8").sum(dtype="int8"), "int8")
    check(array.var(axis=1, ddof=1), host.var(axis=1, ddof=1), "float32")
    check(array.std(axis=1, correction=1), host.std(axis=1, ddof=1), "float32")
    check(np.sum(array, axis=0), host.sum(axis=0), "float32")
    check(np.max(array), host.max(), "float32")
    check(np.mean(array, axis=1), host.mean(axis=1), "float32")


def test_reduce_method_of_binary_ufuncs_matches_numpy() -> None:
    host = values((3, 5), "int32")
    array = PyGPU.to_gpu(host)
    for name in ("add", "multiply", "minimum", "maximum", "logical_or", "logical_and"):
        numpys, ours = getattr(np, name), getattr(PyGPU, name)
        check(ours.reduce(array), numpys.reduce(host), "int32")
        check(numpys.reduce(array, axis=1, keepdims=True), numpys.reduce(host, axis=1, keepdims=True), "int32")
        check(ours.reduce(array, None), numpys.reduce(host, None), "int32")
    with pytest.raises(TypeError, match=r"subtract.reduce\(\)"):
        PyGPU.subtract.reduce(array)
    with pytest.raises(TypeError, match="unexpected keyword"):
        PyGPU.add.reduce(array, order="C")


def test_invalid_reductions_raise_like_numpy_and_leave_out_unchanged() -> None:
    array, out = PyGPU.to_gpu(values((3, 4), "float32")), PyGPU.zeros(3, "int32")
    for call, error in (
        (lambda: array.sum(axis=2), (IndexError, ValueError)),
        (lambda: array.sum(axis=(0, 0)), ValueError),
        (lambda: array.sum(axis=1, out=out), TypeError),
        (lambda: array.sum(axis=0, out=PyGPU.zeros(3, "float32")), ValueError),
        (lambda: array.min(where=array > 0), ValueError),
        (lambda: array.sum(where=out), TypeError),
        (lambda: array.sum(axis=1.5), TypeError),
        (lambda: PyGPU.bitwise_or.reduce(PyGPU.to_gpu(np.zeros(3, "complex64"))), TypeError),
    ):
        with pytest.raises(error):
            call()
    assert out.tolist() == [0, 0, 0]


def test_sum_is_bitwise_reproducible() -> None:
    host = RNG.standard_normal((200, 333)).astype("float32")
    array = PyGPU.to_gpu(host)
    for axis in (0,) if IS_SIMULATED else (None, 0, 1):
        first = array.sum(axis=axis).get().tobytes()
        assert all(array.sum(axis=axis).get().tobytes() == first for _ in range(3))


@pytest.mark.parametrize("axis", [0, 1])
def test_variance_of_values_far_from_zero_is_as_accurate_as_numpy(axis: int) -> None:
    host = (RNG.standard_normal((96, 128)) + 1e4).astype("float32")
    exact = host.astype("float64").var(axis=axis)
    ours, numpys = (
        np.abs(got / exact - 1).max() for got in (PyGPU.to_gpu(host).var(axis=axis).get(), host.var(axis=axis))
    )
    assert ours <= max(numpys, 2e-6)


def test_reduction_gives_same_result_for_unaligned_array_and_aligned_copy() -> None:
    host = values((4 * 512 + 4,), "float32")
    array = PyGPU.to_gpu(host)
    for start in (0, 1) if IS_SIMULATED else range(4):
        ours, twin = (one[start : start + 2048] for one in (array, host))
        for shape, axis in (((512, 4), 1), ((4, 512), 0)):
            for name in ("sum", "argmax"):
                expected = getattr(twin.reshape(shape), name)(axis=axis)
                check(getattr(ours.reshape(shape), name)(axis=axis), expected, "float32")


def test_traceback_of_failed_reduction_does_not_keep_array_alive() -> None:
    with pytest.raises((TypeError, ValueError), match=r"float|number") as caught:
        PyGPU.to_gpu(np.ones(1000)).sum(initial="x")
    traceback = caught.tb
    while traceback is not None:
        for value in traceback.tb_frame.f_locals.values():
            assert not isinstance(value, np.ndarray) or (value == 1).all() or value.ndim == 0
        traceback = traceback.tb_next


def test_reduction_accepts_out_array_that_overlaps_operand() -> None:
    host = values((600, 600), "int64")
    array = PyGPU.to_gpu(host)
    assert array.sum(axis=1, out=array[599]) is not None
    np.testing.assert_array_equal(array.get()[599], host.sum(axis=1))
    np.testing.assert_array_equal(array.get()[:599], host[:599])


def test_variance_with_nonpositive_divisor_matches_numpy() -> None:
    host = np.array([[1.0, 3.0], [2.0, 2.0]])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = host.var(axis=1, ddof=2)
        ours = PyGPU.to_gpu(host).var(axis=1, ddof=2).get()
    np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
def test_variance_in_complex_dtype_is_complex(name: str) -> None:
    host = np.arange(6.0).reshape(2, 3)
    for values in (host, host + 1j * host[::-1]):
        # NumPy's functions that ignore NaN discard imaginary parts, and NumPy gives a warning.
        with warnings.catch_warnings(action="ignore"):
            expected = getattr(np, name)(values, axis=1, dtype="c16")
            ours = getattr(PyGPU, name)(PyGPU.to_gpu(values), axis=1, dtype="c16")
        assert ours.dtype == expected.dtype
        np.testing.assert_allclose(ours.get(), expected)
    with warnings.catch_warnings(action="ignore"):
        ours = getattr(PyGPU, name)(PyGPU.to_gpu(host) + 1, dtype="c16")
        np.testing.assert_allclose(ours.get(), getattr(np, name)(host, dtype="c16"))


def test_reductions_accept_numbers_as_mask() -> None:
    host = np.arange(6.0).reshape(2, 3)
    array = PyGPU.to_gpu(host)
    for where in (False, True, np.bool_(False), 0, 1):
        np.testing.assert_array_equal(array.sum(0, where=where).get(), np.sum(host, 0, where=where))
        np.testing.assert_array_equal(
            array.max(1, initial=2, where=where).get(), np.max(host, 1, initial=2, where=where)
        )
    with pytest.raises(ValueError, match="identity"):
        array.max(where=False)


def test_reduction_of_0d_array_accepts_axis_0_like_numpy() -> None:
    host = np.array(3.0)
    array = PyGPU.to_gpu(host)
    for name in ("sum", "max", "any", "argmin", "nanmean", "ptp", "count_nonzero"):
        for axis in (0, -1):
            np.testing.assert_array_equal(
                getattr(PyGPU, name)(array, axis=axis).get(), getattr(np, name)(host, axis=axis)
            )
    for name, axis in (("sum", 1), ("sum", (0,)), ("mean", 0), ("var", -1)):
        with pytest.raises(np.exceptions.AxisError):
            getattr(PyGPU, name)(array, axis=axis)


def test_variance_rejects_ddof_together_with_correction() -> None:
    array = PyGPU.arange(4.0)
    assert array.var(ddof=0, correction=1).item() == np.arange(4.0).var(ddof=1)
    with pytest.raises(ValueError, match="ddof and correction"):
        array.var(ddof=1, correction=1)
