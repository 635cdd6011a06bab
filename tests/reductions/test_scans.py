"""Test scans along an axis of arrays of any layout: results match NumPy and are bitwise reproducible."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver
from installed.numpy_version import is_numpy, since_numpy

PyGPU.device_count()
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
UFUNCS = [
    "add",
    "multiply",
    "minimum",
    "maximum",
    "logical_or",
    "logical_and",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
]


def values(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Return small numbers, with which sums of integers are exact and most products are finite."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    whole = rng.integers(0 if dtype[0] == "u" else -4, 5, shape)
    if dtype[0] in "iu":
        return whole.astype(dtype)
    result = rng.uniform(0.75, 1.25, shape).astype("float64")
    return (result + 1j * whole / 16).astype(dtype) if dtype[0] == "c" else result.astype(dtype)


def check(ours: Any, expected: np.ndarray, said: str = "") -> None:
    got = ours.get()
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype), said
    if expected.dtype.kind in "biu":
        np.testing.assert_array_equal(got, expected, err_msg=said)
    else:
        # NumPy rounds the partial sum to the dtype of the result after each element, also for float16.
        exact = 100 * float(np.finfo(expected.dtype).eps)
        np.testing.assert_allclose(got, expected, rtol=exact, atol=exact, err_msg=said)


def kinds_of(name: str) -> list[str]:
    kinds = [kind for kind in KINDS if kind[0] != "c" or name not in ("minimum", "maximum")]
    if name.startswith("bitwise"):
        kinds = [kind for kind in kinds if kind[0] in "biu"]
    place = UFUNCS.index(name)
    return [kinds[(3 * place + step) % len(kinds)] for step in (0, 4)] if IS_SIMULATED else kinds


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("name", UFUNCS)
def test_scans_of_every_kind_match_numpy(name: str) -> None:
    rng = np.random.default_rng(3)
    for dtype in kinds_of(name):
        host = values(rng, (4, 30), dtype)
        array = PyGPU.to_gpu(host)
        for axis in (1,) if IS_SIMULATED else (0, 1, -1):
            expected = getattr(np, name).accumulate(host, axis=axis)
            check(getattr(PyGPU, name).accumulate(array, axis=axis), expected, f"{name} {dtype} {axis}")
            check(getattr(np, name).accumulate(array, axis=axis), expected, f"np.{name} {dtype} {axis}")


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "nancumsum", "nancumprod"])
def test_cumsum_and_cumprod_match_numpy(name: str) -> None:
    rng = np.random.default_rng(4)
    host = values(rng, (5, 6), "float64")
    if name.startswith("nan"):
        host[rng.integers(0, 2, host.shape) == 1] = np.nan
    array = PyGPU.to_gpu(host)
    for axis in (None, 1) if IS_SIMULATED else (None, 0, 1, -1):
        expected = getattr(np, name)(host, axis=axis)
        check(getattr(PyGPU, name)(array, axis=axis), expected)
        check(getattr(np, name)(array, axis=axis), expected)
        if not name.startswith("nan"):
            check(getattr(array, name)(axis), expected)


@pytest.mark.parametrize("seed", range(3 if IS_SIMULATED else 60))
def test_scans_along_any_axis_of_any_layout_match_numpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(int(length) for length in rng.integers(1, 9, rng.integers(1, 5)))
    host = values(rng, tuple(2 * length for length in shape), "int32")
    steps = tuple(slice(None, None, int(step)) for step in rng.choice([1, 2, -1, -2], len(shape)))
    order = [int(axis) for axis in rng.permutation(len(shape))]
    array, twin = PyGPU.to_gpu(host)[steps].transpose(order), host[steps].transpose(order)
    for axis in range(len(shape)):
        said = f"seed {seed}: {twin.shape} {twin.strides} along {axis}"
        expected = twin.cumsum(axis=axis)
        got = array.cumsum(axis=axis)
        check(got, expected, said)
        assert got.strides == expected.strides, said
    check(array.cumsum(), twin.cumsum(), f"seed {seed}: {twin.shape} {twin.strides}")


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((3,), 0),
        ((1023,), 0),
        ((70_001,), 0),
        ((300_001,), 0),
        ((2, 270_000), 1),
        ((300, 2100), 1),
        ((700, 5), 1),
        ((40, 700, 3), 1),
        ((70_000, 3), 0),
        ((9000, 70), 0),
    ],
    ids=str,
)
def test_large_scans_by_several_thread_blocks_match_numpy(shape: tuple[int, ...], axis: int) -> None:
    host = values(np.random.default_rng(5), shape, "int32")
    check(PyGPU.to_gpu(host).cumsum(axis=axis), host.cumsum(axis=axis))


def test_scan_gives_same_result_for_unaligned_array_and_aligned_copy() -> None:
    host = values(np.random.default_rng(9), (5003,), "float32")
    array = PyGPU.to_gpu(host)
    expected = array[:5000].copy().cumsum().get()
    assert array[:5000].cumsum().get().tobytes() == expected.tobytes()
    for start in (1,) if IS_SIMULATED else (1, 2, 3):
        moved = array[start : start + 5000]
        assert moved.cumsum().get().tobytes() == moved.copy().cumsum().get().tobytes()


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), ()], ids=str)
def test_scans_of_empty_and_0d_arrays_match_numpy(shape: tuple[int, ...]) -> None:
    host = np.ones(shape, "float32")
    array = PyGPU.to_gpu(host)
    for axis in (None, *range(max(1, len(shape)))):
        check(array.cumsum(axis=axis), host.cumsum(axis=axis))
    if is_numpy("2.1"):
        check(PyGPU.cumulative_sum(array, axis=0), np.cumulative_sum(host, axis=0))


def test_scan_writes_to_out_array_of_any_layout_and_dtype() -> None:
    rng = np.random.default_rng(10)
    host = values(rng, (6, 8), "int32")
    array = PyGPU.to_gpu(host)
    out = PyGPU.zeros((12, 8), "int64")
    assert array.cumsum(axis=0, out=out[::2]) is not None
    np.testing.assert_array_equal(out.get()[::2], host.cumsum(axis=0))
    assert not out.get()[1::2].any()
    small = PyGPU.zeros((6, 8), "int8")
    assert array.cumsum(1, None, small) is small
    np.testing.assert_array_equal(small.get(), host.cumsum(axis=1, out=np.zeros((6, 8), "int8")))
    np.testing.assert_array_equal(
        array.cumsum(axis=1, dtype="float32", out=small).get(), host.cumsum(axis=1).astype("int8")
    )


@pytest.mark.parametrize("axis", [0, 1])
def test_scan_accepts_operand_as_out_array(axis: int) -> None:
    host = values(np.random.default_rng(11), (40, 70), "int64")
    array = PyGPU.to_gpu(host)
    array.cumsum(axis=axis, out=array)
    np.testing.assert_array_equal(array.get(), host.cumsum(axis=axis))
    array = PyGPU.to_gpu(host)
    array[1:].cumsum(axis=axis, out=array[:-1])
    np.testing.assert_array_equal(array.get()[:-1], host[1:].cumsum(axis=axis))
    np.testing.assert_array_equal(array.get()[-1], host[-1])
    array = PyGPU.to_gpu(host)
    array.cumsum(axis=axis, out=array[::-1])
    np.testing.assert_array_equal(array.get()[::-1], host.cumsum(axis=axis))


def test_scan_result_dtypes_match_numpy() -> None:
    host = values(np.random.default_rng(12), (3, 8), "float32")
    array = PyGPU.to_gpu(host)
    check(array.cumsum(dtype="float64", axis=1), host.cumsum(dtype="float64", axis=1))
    check(array.cumsum(dtype="int32", axis=1), host.cumsum(dtype="int32", axis=1))
    bools = host > 1
    check(PyGPU.to_gpu(bools).cumsum(axis=1), bools.cumsum(axis=1))
    # The values test elements that follow a NaN, and the sign of zero: a sum that starts from 0 would turn -0.0 into
    # 0.0.
    for values_ in ([1, np.nan, 2], [-0.0, -0.0], [np.inf, -np.inf, 1]):
        row = np.array(values_, "float32")
        with np.errstate(invalid="ignore"):
            expected = row.cumsum(), np.maximum.accumulate(row)
            ours = PyGPU.to_gpu(row)
            got = ours.cumsum().get(), PyGPU.maximum.accumulate(ours).get()
        for one, numpys in zip(got, expected, strict=True):
            np.testing.assert_array_equal(one, numpys)
            np.testing.assert_array_equal(np.signbit(one[one == 0]), np.signbit(numpys[numpys == 0]))


@since_numpy("2.1", "cumulative_sum")
def test_array_api_cumulative_functions_accept_include_initial() -> None:
    host = values(np.random.default_rng(13), (3, 5), "int8")
    array = PyGPU.to_gpu(host)
    for name in ("cumulative_sum", "cumulative_prod"):
        ours, numpys = getattr(PyGPU, name), getattr(np, name)
        for axis in (-1,) if IS_SIMULATED else (0, 1, -1):
            for initial in (False, True):
                expected = numpys(host, axis=axis, include_initial=initial)
                check(ours(array, axis=axis, include_initial=initial), expected)
                check(numpys(array, axis=axis, include_initial=initial), expected)
        with pytest.raises(ValueError, match="axis"):
            ours(array)
    out = PyGPU.zeros((3, 6), "int64")
    assert PyGPU.cumulative_sum(array, axis=1, include_initial=True, out=out) is out
    np.testing.assert_array_equal(out.get(), np.cumulative_sum(host, axis=1, include_initial=True))
    check(PyGPU.cumulative_sum(PyGPU.to_gpu(np.float32(2))), np.cumulative_sum(np.float32(2)))


def test_scans_reject_arguments_that_numpy_rejects() -> None:
    array = PyGPU.zeros((2, 3))
    for call, error in (
        (lambda: array.cumsum(axis=2), (IndexError, ValueError)),
        (lambda: array.cumsum(axis=1.5), TypeError),
        (lambda: array.cumsum(axis=(0,)), TypeError),
        (lambda: array.cumsum(out=PyGPU.zeros((2, 3))), ValueError),
        (lambda: array.cumsum(axis=0, out=PyGPU.zeros((2, 2))), ValueError),
        (lambda: array.cumsum(axis=0, out=np.zeros((2, 3))), TypeError),
        (lambda: PyGPU.add.accumulate(PyGPU.zeros(())), TypeError),
        (lambda: PyGPU.add.accumulate(array, axis=None), ValueError),
        (lambda: PyGPU.add.accumulate(array, order="C"), TypeError),
        (lambda: PyGPU.bitwise_or.accumulate(array), TypeError),
        (lambda: PyGPU.cumulative_sum(array, axis=2, include_initial=True), (IndexError, ValueError)),
    ):
        with pytest.raises(error):
            call()
    with pytest.raises(TypeError, match=r"subtract.accumulate\(\)"):
        PyGPU.subtract.accumulate(array)


def test_captured_scan_uses_values_at_graph_launch() -> None:
    array, out = PyGPU.zeros(5000, "int64"), PyGPU.zeros(5000, "int64")
    stream = PyGPU.Stream()
    stream.begin_capture()
    with stream:
        array.cumsum(out=out)
    graph = stream.end_capture()
    for number in (1, 2):
        array.fill(number)
        graph.launch(stream)
        np.testing.assert_array_equal(out.get(), number * np.arange(1, 5001))


@pytest.mark.parametrize("source", ["f8", "i2", "c8"])
@pytest.mark.parametrize("target", ["i1", "f4", "?"])
def test_scan_into_out_array_computes_in_common_dtype_of_both_arrays(source: str, target: str) -> None:
    host = np.array([1.5, 1.5, -4.75, 0.5]).astype(source)
    with warnings.catch_warnings(action="ignore"):
        expected = np.cumsum(host, out=np.zeros(4, target))
        ours = PyGPU.cumsum(PyGPU.to_gpu(host), out=PyGPU.zeros(4, target))
    np.testing.assert_array_equal(ours.get(), expected)
