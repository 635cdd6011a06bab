"""Test casts between all dtypes on the device: values, layouts, warnings and errors match NumPy."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import PyGPU
from gpu import support
from support import assert_same, assert_same_refusal, outcome

REAL = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
KINDS = ["bool", *REAL, "bfloat16", "complex64", "complex128"]
IS_GPU = PyGPU.backend_name() != "cpu"
IS_SIMULATED = IS_GPU and support.is_simulated()


def dtype_of(kind: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, kind) if kind == "bfloat16" else kind)


def pairs() -> list[tuple[str, str]]:
    """Return pairs of different dtypes.

    On a simulated GPU, where each kernel takes 0.5 s to compile, each dtype is the source of one pair only and the
    target of one pair only.
    """
    if IS_SIMULATED:
        return [(kind, KINDS[(place + 4) % len(KINDS)]) for place, kind in enumerate(KINDS)]
    return list(itertools.permutations(KINDS, 2))


def values(kind: str, shape: tuple[int, ...] = (41,), *, signed: bool = True) -> np.ndarray:
    """Return small numbers, with fractions and imaginary parts if the dtype has them, and with signs if `signed`."""
    numbers = (np.arange(np.prod(shape)) % 60).astype("float64") / 4
    if dtype_of(kind).kind == "c":
        return (numbers + 1j * numbers[::-1]).astype(kind).reshape(shape)
    if signed and dtype_of(kind).kind not in "bu":
        numbers[::3] *= -1
    return numbers.astype(dtype_of(kind)).reshape(shape)


def cast_by_numpy(host: np.ndarray, kind: str) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return host.astype(dtype_of(kind))


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(("source", "target"), pairs())
def test_casts_between_all_pairs_of_dtypes_match_numpy(source: str, target: str) -> None:
    host = values(source, signed=dtype_of(target).kind != "u")
    array = PyGPU.to_gpu(host)
    expected = cast_by_numpy(host, target)
    assert_same(array.astype(dtype_of(target)), expected)
    made = PyGPU.zeros(host.shape, dtype_of(target))
    made[...] = array
    assert_same(made, expected)


@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
def test_cast_from_float64_to_float16_rounds_once() -> None:
    seed = int(np.random.default_rng().integers(2**32))
    print("seed", seed)
    random = np.random.default_rng(seed)
    halves = np.arange(0x7C00, dtype="uint16").view("float16").astype("float64")
    between = (halves[:-1] + halves[1:]) / 2
    near = [between, np.nextafter(between, 0), np.nextafter(between, np.inf), between * (1 + random.normal(0, 1e-9))]
    special = [0.0, np.inf, 65519.99, 65520.0, 1e300, 1e-300, 5e-324, 2.0**-25, 2.0**-24]
    host = np.concatenate([*near, special])
    host = np.concatenate([host, -host])
    assert_same(PyGPU.to_gpu(host).astype("float16"), cast_by_numpy(host, "float16"))


def test_every_float16_value_is_unchanged_by_cast_to_wider_float_and_back() -> None:
    host = np.arange(2**16, dtype="uint16").view("float16")
    host = host[~np.isnan(host)]
    array = PyGPU.to_gpu(host)
    for wider in ("float32", "float64"):
        assert_same(array.astype(wider), host.astype(wider))
        assert_same(array.astype(wider).astype("float16"), host)


def test_cast_of_nonzero_number_to_bool_is_true() -> None:
    for host in (np.array([0.0, -0.0, 0.25, np.nan, np.inf]), np.array([0, 1j, 0.25, 0j]), np.array([0, 256, -1])):
        assert_same(PyGPU.to_gpu(host).astype(bool), host.astype(bool))


def test_casts_to_shorter_integer_return_low_bits() -> None:
    host = np.array([0, -1, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63), 300, -129], "int64")
    array = PyGPU.to_gpu(host)
    for kind in ["int8", "uint64"] if IS_SIMULATED else REAL[:8]:
        assert_same(array.astype(kind), host.astype(kind))


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


@pytest.mark.enough_on("cuda")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_astype_result_has_memory_order_of_array_or_argument_order(layout: str) -> None:
    host = values("float32", (6, 6))
    array = PyGPU.to_gpu(host)
    for order in (None, "K", "C", "F", "A"):
        expected = np.asarray(LAYOUTS[layout](host).astype("int16", order=order or "K"))
        result = LAYOUTS[layout](array).astype("int16", order=order)
        assert_same(result, expected)
        assert result.size == 0 or result.strides == expected.strides


@pytest.mark.enough_on("cuda")
@pytest.mark.parametrize("target", LAYOUTS)
def test_assignment_casts_between_arrays_of_any_layout(target: str) -> None:
    for source in LAYOUTS:
        host, new_values = np.zeros((6, 6), "int16"), values("float32", (6, 6))
        array, ours = PyGPU.to_gpu(host), PyGPU.to_gpu(new_values)
        numpys = outcome(lambda h=host, g=new_values, s=source: LAYOUTS[target](h).__setitem__(..., LAYOUTS[s](g)))
        got = outcome(lambda a=array, o=ours, s=source: LAYOUTS[target](a).__setitem__(..., LAYOUTS[s](o)))
        if target == "0-d":
            continue  # NumPy returns a scalar for `a[0, 1]`, not a view into which a value can be assigned.
        assert got[0] == numpys[0], (source, got, numpys)
        if numpys[0] == "error":
            assert_same_refusal(got, numpys)
        assert_same(array, host)


def test_astype_with_copy_false_returns_array_itself_for_same_dtype() -> None:
    host = values("float32", (3, 4))
    array = PyGPU.to_gpu(host)
    for order, same in ((None, True), ("K", True), ("C", True), ("A", True), ("F", False)):
        assert (array.astype("float32", order=order, copy=False) is array) == same
        assert (host.astype("float32", order=order or "K", copy=False) is host) == same
    assert array.astype("float32") is not array
    assert_same(array.astype("float32"), host)
    assert array.astype(None).dtype == np.float64
    assert array.astype(np.int8, copy=False).dtype == np.int8


def test_astype_returns_same_subclass_unless_subok_is_false() -> None:
    class Own(PyGPU.GPUArray):
        pass

    array = Own(3, "float32").fill(1)
    assert type(array.astype("int8")) is Own
    assert type(array.astype("int8", subok=False)) is PyGPU.GPUArray
    assert type(array.astype("float32", subok=False, copy=False)) is PyGPU.GPUArray


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe", "nonsense"])
def test_astype_follows_casting_rules_of_numpy(casting: Any) -> None:
    for source, target in (("int8", "float64"), ("float64", "int8"), ("float64", "float16"), ("int8", "int8")):
        host = np.ones(3, source)
        array = PyGPU.to_gpu(host)
        numpys = outcome(lambda h=host, t=target: h.astype(t, casting=casting))
        ours = outcome(lambda a=array, t=target: a.astype(t, casting=casting))
        if numpys[0] == "error":
            assert_same_refusal(ours, numpys)
        else:
            assert_same(ours[1], numpys[1])


def test_cast_from_complex_to_real_warns_like_numpy() -> None:
    array = PyGPU.to_gpu(np.array([1 + 2j, 3], "complex64"))
    for drop in (lambda: array.astype("float32"), lambda: PyGPU.zeros(2).__setitem__(..., array)):
        with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part"):
            drop()
    target = PyGPU.zeros(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        array.astype(bool)
        array.astype("complex128")
        with pytest.raises(np.exceptions.ComplexWarning):
            target[...] = array
    assert target.tolist() == [0, 0]


def test_astype_with_stream_argument_returns_converted_values() -> None:
    array, stream = PyGPU.arange(3), PyGPU.Stream()
    assert array.astype("float32", stream=stream).tolist() == [0, 1, 2]
    assert array.astype("float32", stream).tolist() == [0, 1, 2]  # type: ignore[arg-type]


def test_astype_function_gives_same_result_as_method() -> None:
    array = PyGPU.arange(3)
    assert PyGPU.astype(array, "float32").tolist() == [0, 1, 2]
    assert PyGPU.astype(array, array.dtype, copy=False) is array
    there = PyGPU.astype(array, "float32", device="cpu")
    assert (str(there.device), there.dtype, there.tolist()) == ("cpu", np.float32, [0, 1, 2])


@pytest.mark.parametrize(("there", "here"), [(np.s_[1:], np.s_[:-1]), (np.s_[:-1], np.s_[1:]), (np.s_[::-1], np.s_[:])])
def test_assignment_from_overlapping_view_of_other_dtype_is_correct(there: Any, here: Any) -> None:
    host = np.arange(64, dtype="int32")
    array = PyGPU.to_gpu(host)
    host[there] = host.view("float32")[here].copy()
    array[there] = array.view("float32")[here]
    assert_same(array, host)
    halves = np.arange(64, dtype="int32")
    array = PyGPU.to_gpu(halves)
    halves[:32] = halves.view("int16")[::4].copy()
    array[:32] = array.view("int16")[::4]
    assert_same(array, halves)


def test_structured_field_without_cast_kernel_is_cast_on_host() -> None:
    odd = np.dtype([("tag", "u1"), ("value", "f4")])
    host = np.zeros(5, odd)
    array, numbers = PyGPU.to_gpu(host), PyGPU.arange(5, dtype="int16")
    host["value"], array["value"] = np.arange(5), numbers
    assert_same(array, host)
    assert_same(array["value"].astype("int16"), np.arange(5, dtype="int16"))


def test_eight_bit_floats_are_cast_without_kernel() -> None:
    host = np.array([0.5, 1, 2], ml_dtypes.float8_e5m2)
    array = PyGPU.to_gpu(host)
    assert_same(array.astype("float32"), host.astype("float32"))
    assert_same(array.astype("float32").astype(ml_dtypes.float8_e5m2), host)


def test_masked_assignment_converts_values_of_other_dtypes() -> None:
    host = np.zeros((4, 5), "float32")
    array, keys = PyGPU.to_gpu(host), np.array([2, 0])
    new_values = np.arange(10, dtype="int16").reshape(2, 5)
    host[keys] = new_values
    array[PyGPU.to_gpu(keys)] = PyGPU.to_gpu(new_values)
    assert_same(array, host)


def test_asarray_converts_dtype_on_the_device() -> None:
    host = values("float64", (4, 3)).T
    assert_same(PyGPU.asarray(PyGPU.to_gpu(host), dtype="float16", order="C"), host.astype("float16"))


COPIES: list[tuple[Any, str]] = [
    (np.arange(4, dtype="float32"), "int16"),
    (np.arange(4, dtype="int16"), "float32"),
    (np.ones((3, 1), "float32"), "float64"),
    (np.ones((5,), "float32"), "float64"),
    (np.ones((1, 3, 4), "int8"), "int8"),
    (2, "float32"),
    (2.5, "float32"),
    (2.5, "int16"),
    (300, "uint8"),
    (-1, "uint8"),
    (1j, "float32"),
    (np.float64(1.5), "float32"),
    (np.int64(3), "int16"),
    ([1, 2, 3, 4], "float64"),
    (True, "bool"),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("source", "target"), COPIES, ids=lambda value: repr(value)[:30])
@pytest.mark.parametrize(
    "where", [None, True, False, np.array([True, False, True, True]), np.array([[True], [False], [True]])]
)
def test_copyto_with_any_mask_and_casting_rule_matches_numpy(source: Any, target: str, where: Any) -> None:
    rules = ["same_kind"] if where is not None else ["safe", "same_kind", "unsafe"]
    for casting in rules:
        host = np.full((3, 4), 1, target)
        array = PyGPU.to_gpu(host)
        is_array = isinstance(source, np.ndarray)
        ours = PyGPU.to_gpu(source) if is_array else source
        mask = PyGPU.to_gpu(where) if isinstance(where, np.ndarray) else where
        keywords = {} if where is None else {"where": where}
        numpys = outcome(lambda h=host, k=keywords, c=casting: np.copyto(h, source, casting=c, **k))  # type: ignore[arg-type]
        got = outcome(lambda a=array, o=ours, m=mask, c=casting: PyGPU.copyto(a, o, casting=c, where=m))  # type: ignore[arg-type]
        if numpys[0] == "error":
            assert_same_refusal(got, numpys)
        else:
            assert got == ("value", None)
        assert_same(array, host)
        if is_array and numpys[0] == "value":  # `copyto` accepts device arrays and also a source in host memory.
            again = PyGPU.to_gpu(np.full((3, 4), 1, target))
            PyGPU.copyto(again, source, casting=casting, where=where)  # type: ignore[arg-type]
            assert_same(again, host)


BAD = {
    "a read-only target": (lambda a: PyGPU.copyto(PyGPU.broadcast_to(a, (2, 3)), 1), ValueError, "read-only"),
    "a mask of numbers": (lambda a: PyGPU.copyto(a, 1, where=a), TypeError, "bool"),
    "a mask of another shape": (lambda a: PyGPU.copyto(a, 1, where=PyGPU.ones(4, "bool")), ValueError, "broadcast"),
    "a rule that is none": (lambda a: PyGPU.copyto(a, a, casting="maybe"), ValueError, "maybe|casting"),
    "a forbidden cast": (lambda a: a.astype("int8", casting="safe"), TypeError, r"float32.*int8.*'safe'"),
    "a type that no device has": (lambda a: a.astype("U3"), TypeError, "device"),
    "an order that is none": (lambda a: a.astype("int8", order="X"), ValueError, "order|X"),
    "shapes": (lambda a: a.__setitem__(..., PyGPU.zeros(4, "int8")), ValueError, r"\(4,\) into shape \(3,\)"),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_cast_or_copyto_raises_and_leaves_array_unchanged(name: str) -> None:
    call, error, text = BAD[name]
    array = PyGPU.ones(3, "float32")
    with pytest.raises(error, match=text):
        call(array)
    assert array.tolist() == [1, 1, 1]


def test_captured_cast_converts_values_present_at_graph_launch() -> None:
    source, mask = PyGPU.arange(6, dtype="float32"), PyGPU.to_gpu(np.arange(6) % 2 == 0)
    target, masked = PyGPU.zeros(6, "int16"), PyGPU.zeros(6, "int16")
    stream = PyGPU.Stream()
    stream.begin_capture()
    with stream:
        target[...] = source
        made = source.astype("int16")
        PyGPU.copyto(masked, made, where=mask)
        count, line = PyGPU.arange(4, dtype="int32"), PyGPU.linspace(0, 1, 3)
    graph = stream.end_capture()
    source.fill(5)
    for _ in range(2):
        graph.launch(stream)
    assert (target.tolist(), made.tolist()) == ([5] * 6, [5] * 6)
    assert (masked.tolist(), count.tolist(), line.tolist()) == ([5, 0] * 3, [0, 1, 2, 3], [0, 0.5, 1])


def test_fill_accepts_one_element_device_array_as_value() -> None:
    one = PyGPU.to_gpu(np.array([[3]], "int64"))
    assert PyGPU.zeros(3, "float32").fill(one).tolist() == [3, 3, 3]
    assert PyGPU.full((2, 2), one[0, 0]).tolist() == [[3, 3], [3, 3]]
    assert PyGPU.full_like(PyGPU.zeros(2, "float16"), one[0, 0]).dtype == np.float16


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32"])
def test_masked_assignment_keeps_bits_of_assigned_nan(kind: str) -> None:
    dtype: Any = ml_dtypes.bfloat16 if kind == "bfloat16" else np.dtype(kind)
    bits = np.dtype("u2" if np.dtype(dtype).itemsize == 2 else "u4")
    odd = np.array([0xFFCF, 0x7FD1] if bits.itemsize == 2 else [0xFFC00051, 0x7FC00007], bits).view(dtype)
    mask = np.array([True, False, True])
    one, each, copied = (PyGPU.zeros(3, dtype) for _ in range(3))
    one[mask] = odd[0]
    each[mask] = odd
    PyGPU.copyto(copied, PyGPU.to_gpu(odd[:1]), where=PyGPU.to_gpu(mask))
    host = odd.view(bits)
    assert one.get().view(bits).tolist() == [host[0], 0, host[0]]
    assert each.get().view(bits).tolist() == [host[0], 0, host[1]]
    assert copied.get().view(bits).tolist() == [host[0], 0, host[0]]
