"""Test keywords of ufuncs (`out`, `where`, `dtype`, `casting`, `order`), ufuncs with two results, and `outer`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy
from native_ufuncs import UFUNCS

KINDS = ["bool", "int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64"]
SHARED = {name: one for name, one in UFUNCS.items() if isinstance(getattr(np, name, None), np.ufunc)}


@pytest.fixture(autouse=True)
def without_warnings() -> Iterator[None]:
    """Suppress NumPy's floating-point warnings, because PyGPU gives none."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def outcome(call: Callable[[], Any]) -> str:
    try:
        results = call()
    except TypeError:
        return "TypeError"
    except ValueError:
        return "ValueError"
    return ", ".join(str(one.dtype) for one in (results if isinstance(results, tuple) else (results,)))


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize("name", SHARED)
def test_ufunc_keywords_dtype_and_casting_select_same_loop_as_numpy(name: str) -> None:
    ufunc, judge = SHARED[name], getattr(np, name)
    for kind in KINDS:
        hosts = [np.ones(2, kind)] * ufunc.nin
        arrays = [PyGPU.to_gpu(host, device="cpu") for host in hosts]
        for dtype in KINDS:
            for casting in ("no", "safe", "same_kind", "unsafe"):
                keywords = {"dtype": dtype, "casting": casting}
                ours = outcome(lambda arrays=arrays, keywords=keywords: ufunc(*arrays, **keywords))  # type: ignore[misc]
                theirs = outcome(lambda hosts=hosts, keywords=keywords: judge(*hosts, **keywords))  # type: ignore[misc]
                assert ours == theirs, (kind, keywords)


@pytest.mark.parametrize(
    ("source", "dtype"),
    [("float64", "float32"), ("int32", "float64"), ("float32", "int32"), ("complex64", "float32"), ("float32", "bool")],
)
def test_ufunc_computes_in_requested_dtype(source: str, dtype: str) -> None:
    host = (np.arange(6) * 1.25).astype(source)
    array = PyGPU.to_gpu(host)
    expected = np.add(host, host, dtype=dtype, casting="unsafe")
    actual = PyGPU.add(array, array, dtype=dtype, casting="unsafe")
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual.get(), expected)
    out = PyGPU.zeros(6, "int16")
    PyGPU.multiply(array, 2, out=out, casting="unsafe")
    np.testing.assert_array_equal(out.get(), np.multiply(host, 2, out=np.zeros(6, "int16"), casting="unsafe"))


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_ufunc_keyword_order_determines_memory_order_of_result(order: Any) -> None:
    base = np.ones((2, 3, 4), "float32")
    for host, array in (
        (base, PyGPU.to_gpu(base)),
        (base.T, PyGPU.to_gpu(base).T),
        (base.transpose(1, 0, 2), PyGPU.to_gpu(base).transpose(1, 0, 2)),
    ):
        expected = np.add(host, host, order=order)
        assert PyGPU.add(array, array, order=order, subok=True).strides == expected.strides


def test_ufuncs_with_two_results_write_into_two_out_arrays() -> None:
    host = np.array([7.5, -7.5, 0.25, np.inf], "float32")
    array = PyGPU.to_gpu(host)
    for name in ("modf", "frexp"):
        for ours, theirs in zip(getattr(PyGPU, name)(array), getattr(np, name)(host), strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours.get(), theirs)
    first, second = PyGPU.zeros(4, "float64"), PyGPU.zeros(4, "float32")
    results = PyGPU.divmod(array, 2, out=(first, second))
    assert (results[0] is first, results[1] is second) == (True, True)
    np.testing.assert_array_equal(first.get(), np.divmod(host, np.float32(2))[0].astype("float64"))
    only = PyGPU.zeros(4, "float32")
    quotient, rest = np.divmod(array, 2, out=(None, only))
    assert rest is only
    np.testing.assert_array_equal(quotient.get(), np.divmod(host, np.float32(2))[0])
    PyGPU.modf(array, first, second)
    np.testing.assert_array_equal(second.get(), np.trunc(host))


def test_where_argument_masks_both_results_of_ufunc() -> None:
    host = np.array([7, 8, 9], "int32")
    array, mask = PyGPU.to_gpu(host), PyGPU.to_gpu(np.array([True, False, True]))
    outs = PyGPU.full(3, -1, "int32"), PyGPU.full(3, -1, "int32")
    PyGPU.divmod(array, 4, out=outs, where=mask)
    assert [out.tolist() for out in outs] == [[1, -1, 2], [3, -1, 1]]


def test_ufunc_with_two_results_works_if_out_array_overlaps_operand() -> None:
    host = np.arange(8, dtype="float32")
    array = PyGPU.to_gpu(host)
    rest = PyGPU.zeros(7, "float32")
    PyGPU.divmod(array[:-1], 3, out=(array[1:], rest))
    expected = np.divmod(host[:-1], np.float32(3))
    np.testing.assert_array_equal(array.get()[1:], expected[0])
    np.testing.assert_array_equal(rest.get(), expected[1])


def test_ufunc_outer_applies_function_to_all_pairs_of_elements() -> None:
    first, second = np.arange(3, dtype="float32"), np.arange(4, dtype="int16").reshape(2, 2)
    arrays = PyGPU.to_gpu(first), PyGPU.to_gpu(second)
    for function in (PyGPU.subtract.outer, np.subtract.outer):
        np.testing.assert_array_equal(function(*arrays).get(), np.subtract.outer(first, second))
    np.testing.assert_array_equal(PyGPU.add.outer(2, arrays[0]).get(), np.add.outer(np.float32(2), first))
    np.testing.assert_array_equal(PyGPU.add.outer(arrays[0][::-1], 2).get(), first[::-1] + 2)
    for ours, theirs in zip(
        PyGPU.divmod.outer(arrays[0], arrays[0] + 1), np.divmod.outer(first, first + 1), strict=True
    ):
        np.testing.assert_array_equal(ours.get(), theirs)


BAD: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a type that needs a cast": lambda m, a, i: m.add(a, a, dtype="int32"),
    "a rule that forbids the cast": lambda m, a, i: m.add(a, i, casting="no"),
    "a type without a loop": lambda m, a, i: m.equal(a, a, dtype="float32"),
    "a result that needs a cast": lambda m, a, i: m.add(a, a, out=i),
    "the second result that needs a cast": lambda m, a, i: m.divmod(a, a, out=(None, i)),
    **({"an unknown rule": lambda m, a, i: m.add(a, a, casting="bogus")} if is_numpy("2.4") else {}),
    "an unknown order": lambda m, a, i: m.add(a, a, order="Z"),
    "an unknown keyword": lambda m, a, i: m.add(a, a, bogus=1),
    "too many results": lambda m, a, i: m.add(a, a, out=(a, a)),
    "one array for two results": lambda m, a, i: m.divmod(a, a, out=a),
    "two places for one result": lambda m, a, i: m.add(a, a, a, out=a),
    "too many operands": lambda m, a, i: m.add(a, a, a, a),
    "a class that is no bool": lambda m, a, i: m.add(a, a, subok=3),
    "a mask of numbers": lambda m, a, i: m.add(a, a, where=a),
    "shapes that do not go together": lambda m, a, i: m.add(a, a[:2]),
    "a result of another length": lambda m, a, i: m.add(a, a, out=a[:2]),
    "a result with less axes": lambda m, a, i: m.add(a, a, out=a[0:1]),
    "bools that are subtracted": lambda m, a, i: m.subtract(a > 0, a > 0),
    "bools with a sign": lambda m, a, i: m.negative(a > 0),
    "bits of floats": lambda m, a, i: m.bitwise_count(a),
    "exponents that are not whole": lambda m, a, i: m.ldexp(a, a),
    "negative exponents": lambda m, a, i: m.power(i, -2),
    "integers that are too large": lambda m, a, i: m.add(i, 2**40, out=i),
    "outer of one operand": lambda m, a, i: m.sqrt.outer(a, a),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_ufunc_call_raises_like_numpy_and_leaves_output_unchanged(name: str) -> None:
    hosts = np.ones(3, "float32"), np.ones(3, "int32")
    arrays = [PyGPU.to_gpu(host) for host in hosts]
    with pytest.raises((TypeError, ValueError, OverflowError)) as theirs:
        BAD[name](np, *hosts)
    with pytest.raises((TypeError, ValueError, OverflowError)) as ours:
        BAD[name](PyGPU, *arrays)
    assert isinstance(theirs.value, ours.type)
    # If NumPy has an error text for the call, PyGPU's message begins with it, and adds the operand types.
    said = str(theirs.value).strip()
    if (
        not said.startswith(("ufunc", "Cannot cast array", "Cannot cast ufunc 'divmod'"))
        and "'out' must be" not in said
    ):
        assert said.split(" from ")[0].split("operands")[0].split("operand with")[0] in str(ours.value)
    assert [array.tolist() for array in arrays] == [[1] * 3, [1] * 3]


def test_unsupported_ufunc_method_raises_type_error() -> None:
    array = PyGPU.ones(3)
    for call in (
        lambda: np.subtract.reduce(array),
        lambda: np.subtract.accumulate(array),
    ):
        with pytest.raises(TypeError, match="does not compute this yet"):
            call()
    assert array.tolist() == [1] * 3


def test_where_argument_of_ufunc_accepts_numbers_as_mask() -> None:
    array, out = PyGPU.to_gpu([1.0, 2.0]), PyGPU.to_gpu([7.0, 7.0])
    for where in (False, np.bool_(False), 0):
        assert PyGPU.add(array, 1, out=out, where=where).tolist() == [7, 7]
        assert PyGPU.add(2, 1, out=(out,), where=where).tolist() == [7, 7]
    assert PyGPU.add(array, 1, out=out, where=1).tolist() == [2, 3]
    with pytest.raises(TypeError, match="where="):
        PyGPU.add(array, 1, out=out, where="x")


@pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="a kernel does not read exponents in advance")
def test_integer_power_with_negative_exponent_raises_and_writes_nothing() -> None:
    array = PyGPU.to_gpu([1, 2, 3])
    with pytest.raises(ValueError, match="negative integer powers"):
        PyGPU.power(array, PyGPU.to_gpu([2, 2, -1]), out=array)
    with pytest.raises(ValueError, match="negative integer powers"):
        array **= PyGPU.to_gpu([2, 2, -1])
    assert array.tolist() == [1, 2, 3]


@pytest.mark.parametrize("out_dtype", ["bool", "int64", "float16", "float32", "float64", "complex64", "complex128"])
def test_ufunc_result_is_rounded_to_loop_dtype_before_cast_to_out_dtype(out_dtype: str) -> None:
    for dtype, first, second in (("uint8", [200, 128, 3], [100, 128, 4]), ("int8", [100, -128, 5], [100, -128, 1])):
        hosts = [np.array(numbers, dtype) for numbers in (first, second)]
        arrays = [PyGPU.to_gpu(host) for host in hosts]
        for name in ("add", "multiply", "subtract"):
            expected = getattr(np, name)(*hosts, out=np.zeros(3, out_dtype), casting="unsafe")
            got = getattr(PyGPU, name)(*arrays, out=PyGPU.zeros(3, out_dtype), casting="unsafe")
            np.testing.assert_array_equal(got.get(), expected, f"{name} of {dtype}")
    half = np.array([2.0, 2049.0, 1.0], "float16") / np.float16(3)
    got = PyGPU.add(PyGPU.to_gpu(half), PyGPU.to_gpu(half), out=PyGPU.zeros(3, out_dtype), casting="unsafe")
    np.testing.assert_array_equal(got.get(), np.add(half, half, out=np.zeros(3, out_dtype), casting="unsafe"))
