"""Test elementwise functions: dtypes, values, layouts and errors match NumPy."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import layouts
import PyGPU
from gpu import support
from installed.numpy_version import expect_failure_of_rounding, numpy_function
from native_ufuncs import UFUNCS
from reference_functions import REFERENCE_FUNCTIONS

KINDS = [
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
IS_GPU = PyGPU.backend_name() != "cpu"
# Fewer dtypes are tested on a simulated GPU, because compiling a kernel takes half a second there.
IS_SIMULATED = IS_GPU and support.is_simulated()
# Largest relative difference from NumPy, for each dtype in which the function is computed; devices round some functions
# differently.
TOLERANCE = {"float16": 2e-3, "float32": 2e-6, "complex64": 1e-5, "float64": 4e-15, "complex128": 2e-14}


@pytest.fixture(autouse=True)
def without_warnings() -> Iterator[None]:
    """Suppress NumPy's floating-point warnings, because PyGPU gives none."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def kinds_of(ufunc: Any) -> list[str]:
    """Return the NumPy dtypes for which a function has a loop."""
    return [
        kind
        for kind in KINDS
        if any(loop.startswith(f"{kind},") or loop.startswith(f"{kind}->") for loop in ufunc.types)
    ]


def one_dtype_of_each_kind(kinds: list[str], turn: int) -> list[str]:
    """Return one dtype of each kind (bool, integer, float, complex); a different `turn` selects other dtypes."""
    classes = ["b", "iu", "f", "c"]
    found = [[kind for kind in kinds if np.dtype(kind).kind in one] for one in classes]
    return [one[turn % len(one)] for one in found if one]


def cases() -> list[tuple[str, str, int]]:
    """Return test cases: a function, a dtype and the index of a group of memory layouts.

    The layout groups alternate from case to case. On a simulated GPU, a function is tested with one dtype of each kind.
    """
    chosen = [
        (name, kind)
        for turn, (name, one) in enumerate(UFUNCS.items())
        for kind in (one_dtype_of_each_kind(kinds_of(one), turn) if IS_SIMULATED else kinds_of(one))
    ]
    turns = {inputs: itertools.cycle(range(len(groups))) for inputs, groups in layouts.GROUPS.items()}
    return [(name, kind, next(turns[UFUNCS[name].nin])) for name, kind in chosen]


def values(kind: str, count: int = math.prod(layouts.SHAPE)) -> np.ndarray:
    random = np.random.default_rng(len(kind))
    dtype = np.dtype(kind)
    if dtype.kind == "b":
        return random.integers(0, 2, count).astype(bool)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        found = random.integers(max(limits.min, -9), 9, count).astype(dtype)
        found[:4] = [limits.min, limits.max, 0, 1]
        return found
    if dtype.kind == "f":
        found = random.normal(0, 3, count).astype(dtype)
        found[:8] = [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2]
        return found
    return (random.normal(0, 2, count) + 1j * random.normal(0, 2, count)).astype(dtype)


def judge_of(name: str) -> Any:
    if name == "sinc" and not IS_GPU:
        return np.sinc  # The CPU backend calls NumPy's function, also if an old version returns NaN.
    return REFERENCE_FUNCTIONS.get(name) or numpy_function(name)


def operands_of(name: str, kind: str) -> list[np.ndarray]:
    """Return operands, except for those with which a device differs from NumPy by design, such as a divisor of 0."""
    first, second = values(kind), values(kind)[::-1].copy()
    if np.dtype(kind).kind in "iu":
        if name == "power":
            second = (second.astype("int64") % 5).astype(kind)
        if name in ("floor_divide", "remainder", "fmod", "divmod"):
            second[second == 0] = 3
        if name == "reciprocal":
            first[first == 0] = 3
    if name == "ldexp":
        second = np.arange(-24, 24)
    return [first] if UFUNCS[name].nin == 1 else [first, second]


def assert_alike(actual: np.ndarray, expected: np.ndarray) -> None:
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    tolerance = TOLERANCE.get(expected.dtype.name)
    if tolerance is None:
        np.testing.assert_array_equal(actual, expected)
    else:
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance / 4, equal_nan=True)


def overwriting_cases() -> list[tuple[str, str]]:
    """Return pairs of a ufunc and a dtype for which operands and result have the same dtype, so that the result can
    overwrite an operand."""
    found = {}
    for name, kind in itertools.product(UFUNCS, ("bool", "int32", "complex64", "float32")):
        loop = ",".join([kind] * UFUNCS[name].nin)
        if f"{loop}->{kind}" in UFUNCS[name].types:
            found[name] = kind
    return list(found.items())


@pytest.mark.sampled(on="cuda")
@pytest.mark.usefixtures("compiled_together")
@pytest.mark.parametrize(("name", "kind"), overwriting_cases())
def test_ufunc_with_operand_as_out_matches_numpy(name: str, kind: str) -> None:
    ways = [slice(None)] if IS_SIMULATED else [slice(None), slice(None, None, 2), slice(None, None, -1), slice(1, None)]
    for way in ways:  # 37 is no multiple of the kernel's vector length, so the last vector is partial.
        operands = [operand[: 4 * 9 + 1] for operand in operands_of(name, kind)]
        arrays = [PyGPU.to_gpu(operand) for operand in operands]
        out = arrays[0][way]
        assert UFUNCS[name](*[array[way] for array in arrays], out=out) is out
        operands[0][way] = judge_of(name)(*[operand[way] for operand in operands])
        assert_alike(arrays[0].get(), operands[0])


@pytest.mark.usefixtures("compiled_together")
@pytest.mark.parametrize(("name", "kind", "group"), cases())
def test_ufuncs_match_numpy_for_any_layout(name: str, kind: str, group: int) -> None:
    expect_failure_of_rounding(name if not IS_GPU and kind[0] in "biu" else "")
    operands = [host.reshape(layouts.SHAPE) for host in operands_of(name, kind)]
    for lying in layouts.GROUPS[UFUNCS[name].nin][group]:
        laid = [layouts.lie(layout, values) for layout, values in zip(lying, operands, strict=True)]
        hosts, arrays = zip(*laid, strict=True)
        actual, expected = UFUNCS[name](*arrays), judge_of(name)(*hosts)
        pairs = zip(actual, expected, strict=True) if UFUNCS[name].nout > 1 else [(actual, expected)]
        for ours, judges in pairs:
            assert_alike(ours.get(), np.asarray(judges))


def result_type(function: Any, *operands: Any) -> str:
    try:
        found = function(*operands)
        return ", ".join(str(one.dtype) for one in (found if isinstance(found, tuple) else (found,)))
    except TypeError:
        return "TypeError"
    except (OverflowError, ValueError) as error:
        return type(error).__name__


@pytest.mark.enough_on("cpu")
def test_example_in_docstring_of_ufunc_calls_the_ufunc() -> None:
    for name, ufunc in UFUNCS.items():
        example = ufunc.__doc__.rpartition("Examples")[2]
        assert f"PyGPU.{name}(" in example, (
            f"src/python/operators/ufunc_examples.txt lacks a line for {name}, or for a function before it"
        )


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize("name", UFUNCS)
def test_type_promotion_of_ufuncs_matches_numpy(name: str) -> None:
    expect_failure_of_rounding(name)
    ufunc, judge = UFUNCS[name], judge_of(name)
    # Arrays in host memory suffice: the result type does not depend on the device, and operations on such arrays
    # compile no kernel.
    to_device = functools.partial(PyGPU.to_gpu, device="cpu")
    others = [
        *(np.ones(2, kind) for kind in KINDS),
        True,
        1,
        -1,
        1.0,
        1j,
        np.float32(1),
        np.int64(1),
        np.array(1, "int8"),
    ]
    for kind in KINDS:
        host = np.ones(2, kind)
        array = to_device(host)
        if ufunc.nin == 1:
            assert result_type(ufunc, array) == result_type(judge, host), kind
            continue
        for other in others:
            operand = to_device(other) if isinstance(other, np.ndarray) and other.ndim else other
            assert result_type(ufunc, array, operand) == result_type(judge, host, other), (kind, other)
            assert result_type(ufunc, operand, array) == result_type(judge, other, host), (other, kind)


@pytest.mark.parametrize("name", UFUNCS)
def test_ufunc_rejects_dtypes_without_numpy_loop(name: str) -> None:
    ufunc, judge = UFUNCS[name], judge_of(name)
    some = ["bool", "int8", "uint64", "float32", "complex64"]
    for kinds in itertools.product(some, repeat=ufunc.nin):
        hosts = [np.ones(2, kind) for kind in kinds]
        if result_type(judge, *hosts) == "TypeError":
            with pytest.raises(TypeError, match=name):
                ufunc(*map(PyGPU.to_gpu, hosts))


BINARY = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow),
    *(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge),
]
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("apply", [*BINARY, *BITS], ids=lambda one: one.__name__)
def test_operators_accept_array_or_scalar_as_either_operand(apply: Any) -> None:
    kind = "int32" if apply in BITS else "float32"
    host, other = np.arange(1, 7, dtype=kind), np.array([3, 1, 2, 2, 5, 1], kind)
    array, second = PyGPU.to_gpu(host), PyGPU.to_gpu(other)
    assert_alike(apply(array, second).get(), apply(host, other))
    if IS_SIMULATED and apply not in (operator.sub, operator.lt, operator.lshift):
        return  # Three operators are enough: every kernel reads a scalar operand in the same way.
    number = 2 if apply in BITS else 2.5
    assert_alike(apply(array, number).get(), apply(host, number))
    assert_alike(apply(number, array).get(), apply(number, host))
    assert_alike(apply(np.dtype(kind).type(2), array).get(), apply(np.dtype(kind).type(2), host))


def test_unary_operators_match_numpy() -> None:
    host = np.array([3, -1, 0], "int16")
    array = PyGPU.to_gpu(host)
    for apply in (operator.neg, operator.pos, operator.abs, operator.invert):
        assert_alike(apply(array).get(), apply(host))
    for ours, numpys in zip(divmod(array, 2), divmod(host, 2), strict=True):
        assert_alike(ours.get(), numpys)


@pytest.mark.parametrize(
    "symbol",
    ["sub", "lshift"]
    if IS_SIMULATED
    else ["add", "sub", "mul", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"],
)
def test_in_place_operator_writes_into_same_memory_and_matches_numpy(symbol: str) -> None:
    apply = getattr(operator, f"i{symbol}")
    host = np.arange(1, 7, dtype="int32")
    array = PyGPU.to_gpu(host)
    before, view = array, array[::2]
    array = apply(array, 2)
    expected = apply(host.copy(), 2)
    assert array is before
    assert_alike(array.get(), expected)
    assert_alike(view.get(), expected[::2])


LAYOUTS = {
    "C": lambda a: a,
    "F": lambda a: a.T,
    "sliced": lambda a: a[:, ::2],
    "reversed": lambda a: a[::-1, ::-1],
    "odd offset": lambda a: a[:, 1:],
    "row": lambda a: a[0],
    "column": lambda a: a[:, :1],
    "0-d": lambda a: a[0, 1],
    "empty": lambda a: a[:0],
}


@pytest.mark.parametrize("first", LAYOUTS)
def test_ufuncs_accept_operands_of_different_layouts(first: str) -> None:
    host = np.arange(36, dtype="float32").reshape(6, 6)
    array = PyGPU.to_gpu(host)
    for second in LAYOUTS:
        hosts = [LAYOUTS[first](host), LAYOUTS[second](host)]
        arrays = [LAYOUTS[first](array), LAYOUTS[second](array)]
        try:
            expected = hosts[0] - hosts[1]
        except ValueError:
            with pytest.raises(ValueError, match="broadcast"):
                arrays[0] - arrays[1]
            continue
        assert_alike((arrays[0] - arrays[1]).get(), np.asarray(expected))


@pytest.mark.parametrize("turn", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_memory_order_of_result_matches_numpy(turn: tuple[int, ...]) -> None:
    host = np.ones((2, 3, 4), "float32").transpose(turn)
    array = PyGPU.to_gpu(np.ones((2, 3, 4), "float32")).transpose(turn)
    assert (array + array).strides == (host + host).strides
    assert (array > 0).strides == (host > 0).strides
    assert (array[::-1] * 2.0).strides == (host[::-1] * 2.0).strides


@pytest.mark.parametrize(
    ("target", "source"),
    [
        (np.s_[1:], np.s_[:-1]),
        (np.s_[:-1], np.s_[1:]),
        (np.s_[::-1], np.s_[:]),
        (np.s_[:], np.s_[:]),
        (np.s_[2:6], np.s_[0:8:2]),
    ],
)
def test_ufunc_matches_numpy_if_out_array_overlaps_operand(target: Any, source: Any) -> None:
    host = np.arange(8, dtype="float64")
    array = PyGPU.to_gpu(host)
    host[target] += host[source].copy()
    array[target] += array[source]
    assert_alike(array.get(), host)


def test_out_array_receives_result_and_is_returned() -> None:
    host = np.arange(6, dtype="float32")
    array, out = PyGPU.to_gpu(host), PyGPU.zeros(6, "float64")
    assert PyGPU.multiply(array, 2, out=out) is out
    assert_alike(out.get(), (host * 2).astype("float64"))
    mask = array > 2
    assert np.negative(array, out=out, where=mask) is out
    assert_alike(out.get(), np.where(host > 2, -host, host * 2).astype("float64"))


def test_numpy_functions_run_on_device_of_arrays() -> None:
    host = np.linspace(0, 1, 5)
    array = PyGPU.to_gpu(host)
    for name in ("sin", "add", "arctan2", "isfinite"):
        function = getattr(np, name)
        result = function(*[array] * function.nin)
        assert type(result) is PyGPU.GPUArray
        assert_alike(result.get(), function(*[host] * function.nin))


def test_result_of_ufunc_of_0d_arrays_stays_on_device() -> None:
    result = PyGPU.full((), 2.0) + 1
    assert (type(result), result.shape, float(result)) == (PyGPU.GPUArray, (), 3.0)


def test_subclass_operands_give_subclass_results() -> None:
    class Own(PyGPU.GPUArray):
        pass

    array = Own(3, "float32")
    assert type(array + 1) is Own


def test_operators_reject_python_integers_beyond_range_of_dtype() -> None:
    array = PyGPU.to_gpu(np.arange(3, dtype="uint8"))
    for apply in (operator.add, operator.mul, operator.or_):
        with pytest.raises(OverflowError, match="Python integer 256 out of bounds for uint8"):
            apply(array, 256)
        with pytest.raises(OverflowError, match="Python integer -1 out of bounds for uint8"):
            apply(-1, array)
    with pytest.raises(ValueError, match="negative integer powers"):
        PyGPU.to_gpu(np.arange(3)) ** -1


@pytest.mark.parametrize("kind", ["uint64"] if IS_SIMULATED else ["uint8", "int64", "uint64"])
@pytest.mark.parametrize("number", [-(2**70), -1, 2**63, 2**64, 2**70])
def test_comparisons_with_python_integers_of_any_size_match_numpy(kind: str, number: int) -> None:
    host = np.array([0, 1, np.iinfo(kind).max], kind)
    array = PyGPU.to_gpu(host)
    for apply in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        assert_alike(apply(array, number).get(), apply(host, number))


@pytest.mark.skipif(not IS_GPU, reason="host memory is computed by NumPy, which warns")
def test_integer_division_by_zero_gives_zero_on_device() -> None:
    array = PyGPU.to_gpu(np.array([5, -5, -128], "int8"))
    zero = PyGPU.zeros(3, "int8")
    for apply in (operator.floordiv, operator.mod):
        assert apply(array, zero).tolist() == [0, 0, 0]
    assert (array // -1).tolist() == [-5, 5, -128]


BAD = {
    "values on the host": (lambda a: a + np.ones(3), TypeError, "to_gpu"),
    "values on the host, at the left": (lambda a: np.ones(3) + a, TypeError, "to_gpu"),
    "a list of text": (lambda a: operator.add(a, ["1", "2", "3"]), TypeError, "a list of numbers"),
    "shapes": (lambda a: a + PyGPU.zeros(4), ValueError, "broadcast"),
    "no loop": (lambda a: a << 1, TypeError, "left_shift"),
    "a narrower result": (lambda a: PyGPU.add(a, 1, out=PyGPU.zeros(3, "int32")), TypeError, "same_kind"),
    "a result of another shape": (lambda a: PyGPU.add(a, 1, out=PyGPU.zeros(4)), ValueError, "shape|broadcast"),
    "a result without enough axes": (lambda a: PyGPU.add(a, 1, out=PyGPU.zeros(())), ValueError, "shape"),
    "a mask of numbers": (lambda a: PyGPU.add(a, 1, where=a), TypeError, "bool"),
    "an unknown keyword": (lambda a: PyGPU.add(a, 1, bogus=1), TypeError, "bogus"),
    "too few operands": (lambda a: PyGPU.add(a), TypeError, "2 operands"),
    "no array": (lambda a: PyGPU.add(a, object()), TypeError, "operand 2 is an object"),
    "a function that is not computed": (lambda a: np.isnat(a), TypeError, "isnat"),
    "a reduction": (lambda a: np.subtract.reduce(a), TypeError, "subtract.reduce"),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_ufunc_call_raises_and_leaves_output_unchanged(name: str) -> None:
    call, error, text = BAD[name]
    array = PyGPU.ones(3, "float32")
    with pytest.raises(error, match=text):
        call(array)
    assert array.tolist() == [1, 1, 1]


def test_in_place_operator_on_read_only_array_raises() -> None:
    fixed = PyGPU.broadcast_to(PyGPU.ones(1), (3,))
    with pytest.raises(ValueError, match="read-only"):
        fixed += 1


def test_ufunc_on_second_stream_waits_for_work_on_first_stream() -> None:
    first, second = PyGPU.Stream(), PyGPU.Stream()
    host = np.arange(1000, dtype="float32")
    with first:
        array = PyGPU.to_gpu(host)
        doubled = array * 2
    with second:
        result = doubled + array
    assert_alike(result.get(), host * 3)


def test_array_api_name_is_alias_of_numpy_name() -> None:
    for alias, name in {"pow": "power", "acos": "arccos", "bitwise_invert": "invert", "conj": "conjugate"}.items():
        assert getattr(PyGPU, alias) is getattr(PyGPU, name)
    assert PyGPU.add.types[:2] == ["bool,bool->bool", "int8,int8->int8"]
    assert (PyGPU.add.nin, PyGPU.add.nout, PyGPU.add.nargs, repr(PyGPU.add)) == (2, 1, 3, "<PyGPU.Ufunc add>")


def test_bool_element_stored_as_byte_above_1_counts_as_true() -> None:
    host = np.array([[0, 1, 2], [200, 0, 61]], "uint8").view("bool")
    array = PyGPU.to_gpu(host.view("uint8")).view("bool")
    other = np.array([[False, True, True], [False, False, True]])
    ours = PyGPU.to_gpu(other)
    for call in (
        lambda package, a, b: package.add(a, 0),
        lambda package, a, b: package.add(a, b),
        lambda package, a, b: package.logical_xor(a, b),
        lambda package, a, b: package.equal(a, b),
        lambda package, a, b: package.maximum(a, 0.5),
        lambda package, a, b: package.where(a, 3, 4),
        lambda package, a, b: a.sum(axis=0),
        lambda package, a, b: a.all(axis=1),
        lambda package, a, b: a.astype("int16"),
    ):
        # NumPy would sum and compare the bytes. `host != 0` first converts them to True and False.
        np.testing.assert_array_equal(call(PyGPU, array, ours).get(), call(np, host != 0, other))
