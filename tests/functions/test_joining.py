"""Test joining and splitting of arrays: results match NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import since_numpy
from support import assert_same, assert_same_refusal, of_few, outcome

JOINING = ["concatenate", "stack", "vstack", "hstack", "dstack", "column_stack"]
SPLITTING = ["split", "array_split", "hsplit", "vsplit", "dsplit"]


def views(shape: tuple[int, ...], dtype: str = "float32") -> list[np.ndarray]:
    """Return arrays with the same shape and different layouts."""
    count = int(np.prod(shape))
    dense = (np.arange(count) % 50).astype(dtype).reshape(shape)
    sliced = np.zeros((*(2 * length for length in shape[:-1]), 3 * shape[-1] + 1), dtype)
    part = sliced[(*(slice(None, None, 2) for _ in shape[:-1]), slice(1, None, 3))]
    part[...] = dense + 1
    once = np.full((1,) * len(shape), 7, dtype)
    return [dense, np.asfortranarray(dense), part, dense[::-1], np.broadcast_to(once, shape)]


def upload(host: np.ndarray) -> PyGPU.GPUArray:
    """Return a device array with values and layout of `host`, which is one of the arrays that `views` returns."""
    if host.base is None or not host.size or not all(host.strides):
        return (
            PyGPU.broadcast_to(PyGPU.to_gpu(host[:1, :1, :1]), host.shape) if 0 in host.strides else PyGPU.to_gpu(host)
        )
    base = host.base if isinstance(host.base, np.ndarray) else host
    if base.size == host.size:
        return PyGPU.to_gpu(host[::-1])[::-1] if host.strides[0] < 0 else PyGPU.to_gpu(host)
    made = PyGPU.to_gpu(base)
    return made[(*(slice(None, None, 2) for _ in host.shape[:-1]), slice(1, None, 3))]


@pytest.mark.parametrize("name", JOINING)
def test_joining_function_accepts_any_layout(name: str) -> None:
    for first, second in itertools.combinations(views((2, 3, 4)), 2):
        expected = getattr(np, name)([first, second, first])
        assert_same(getattr(PyGPU, name)([upload(first), upload(second), upload(first)]), expected)
        assert_same(getattr(np, name)([upload(first), upload(second)]), getattr(np, name)([first, second]))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3, None])
def test_concatenate_accepts_any_axis(axis: int | None) -> None:
    shapes = [(2, 3, 4)] * 3
    if axis is not None:
        shapes = [
            tuple(length if place != axis % 3 else extra for place, length in enumerate((2, 3, 4)))
            for extra in (1, 0, 5)
        ]
    hosts = [np.arange(int(np.prod(shape)), dtype="float32").reshape(shape) for shape in shapes]
    arrays = [PyGPU.to_gpu(host) for host in hosts]
    assert_same(PyGPU.concatenate(arrays, axis), np.concatenate(hosts, axis))
    out = PyGPU.zeros(np.concatenate(hosts, axis).shape, "float32")
    assert PyGPU.concatenate(arrays, axis, out) is out
    assert_same(out, np.concatenate(hosts, axis))


def test_stack_accepts_any_axis() -> None:
    host = np.arange(6, dtype="float32").reshape(2, 3)
    for axis in range(-3, 3):
        assert_same(PyGPU.stack([PyGPU.to_gpu(host)] * 2, axis), np.stack([host] * 2, axis))
    scalars = [PyGPU.to_gpu(np.float32(3)), PyGPU.to_gpu(np.float32(4))]
    assert_same(PyGPU.stack(scalars), np.stack([np.float32(3), np.float32(4)]))
    assert_same(PyGPU.hstack(scalars), np.hstack([np.float32(3), np.float32(4)]))


def test_concatenate_promotes_dtypes_like_numpy() -> None:
    kinds = of_few(
        ["bool", "int8", "uint16", "int64", "float16", "float32", "complex64"], ["bool", "uint16", "float32"]
    )
    for first, second in itertools.combinations(kinds, 2):
        hosts = [np.ones(3, first), np.full(2, 1, second)]
        arrays = [PyGPU.to_gpu(host) for host in hosts]
        assert_same(PyGPU.concatenate(arrays), np.concatenate(hosts))
        for dtype, casting in (("float32", "same_kind"), ("float64", "safe"), ("int16", "unsafe")):
            ours = outcome(lambda: PyGPU.concatenate(arrays, dtype=dtype, casting=casting))  # noqa: B023
            numpys = outcome(lambda: np.concatenate(hosts, dtype=dtype, casting=casting))  # type: ignore[call-overload]  # noqa: B023
            if numpys[0] == "value":
                assert_same(ours[1], numpys[1])
            else:
                assert_same_refusal(ours, numpys)


def test_memory_order_of_concatenated_arrays_matches_numpy() -> None:
    host = np.zeros((2, 3, 4), "float32")
    for hosts in ([host] * 2, [host.T] * 2, [host.T, host.T.copy("C")], [host.swapaxes(0, 1)] * 2):
        arrays = [PyGPU.to_gpu(one) if one.flags.forc else PyGPU.to_gpu(host).swapaxes(0, 1) for one in hosts]
        assert PyGPU.concatenate(arrays).strides == np.concatenate(hosts).strides


@pytest.mark.parametrize(
    ("arguments", "keywords"),
    [
        (([],), {}),
        (([np.zeros(()), np.zeros(())],), {}),
        (([np.zeros(2), np.zeros((2, 2))],), {}),
        (([np.zeros((2, 3)), np.zeros((3, 3))], 1), {}),
        (([np.zeros((2, 3)), np.zeros((2, 3))], 2), {}),
        (([np.zeros(2), np.zeros(2)],), {"out": np.zeros(3)}),
        (([np.zeros(2), np.zeros(2)],), {"out": np.zeros((4, 1))}),
        (([np.zeros(2), np.zeros(2)],), {"out": np.zeros(4), "dtype": "float32"}),
        (([np.zeros(2), np.zeros(2)],), {"out": np.zeros(4, "int32")}),
    ],
)
def test_concatenate_rejects_same_arguments_as_numpy(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    def on_device(value: Any) -> Any:
        if isinstance(value, list):
            return [on_device(one) for one in value]
        return PyGPU.to_gpu(value) if isinstance(value, np.ndarray) else value

    own = {name: on_device(value) for name, value in keywords.items()}
    ours = outcome(lambda: PyGPU.concatenate(*map(on_device, arguments), **own))
    numpys = outcome(lambda: np.concatenate(*arguments, **keywords))
    assert_same_refusal(ours, numpys)
    assert str(ours[1]) == str(numpys[1])


@pytest.mark.parametrize("name", JOINING)
def test_joining_function_rejects_mix_of_host_and_device_values(name: str) -> None:
    device = PyGPU.zeros((2, 3, 4))
    for module in (PyGPU, np):
        with pytest.raises(TypeError, match="to_gpu"):
            getattr(module, name)([device, np.zeros((2, 3, 4))])


class Foreign:
    """Imitate an array of another library that exports its memory by DLPack."""

    def __init__(self, array: PyGPU.GPUArray) -> None:
        self.__array = array

    def __dlpack_device__(self) -> Any:
        return self.__array.__dlpack_device__()

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.__array.__dlpack__(**keywords)


def test_joining_function_accepts_arrays_of_other_libraries() -> None:
    a = PyGPU.arange(3)
    for name in JOINING:
        assert_same(getattr(PyGPU, name)([Foreign(a), a]), getattr(np, name)([a.get(), a.get()]))


def test_concatenate_rejects_arrays_of_several_devices() -> None:
    if PyGPU.backend_name() == "cpu":
        pytest.skip("there is one device")
    with pytest.raises(ValueError, match="copy them to one device first"):
        PyGPU.concatenate([PyGPU.zeros(2), PyGPU.zeros(2, device="cpu")])


def test_captured_concatenate_joins_values_present_at_launch() -> None:
    a, b, out = PyGPU.zeros(2), PyGPU.ones(3), PyGPU.zeros(5)
    graph = PyGPU.Graph()
    with graph:
        PyGPU.concatenate([a, b], out=out)
    a.fill(7)
    graph.launch()
    assert out.tolist() == [7, 7, 1, 1, 1]


def test_concatenate_is_correct_if_out_array_overlaps_operand() -> None:
    a = PyGPU.arange(6)
    assert PyGPU.concatenate([a[3:], a[:3]], out=a).tolist() == [3, 4, 5, 0, 1, 2]


def test_append_matches_numpy_with_and_without_axis() -> None:
    host = np.arange(6, dtype="int64").reshape(2, 3)
    a = PyGPU.to_gpu(host)
    assert_same(PyGPU.append(a, a), np.append(host, host))
    assert_same(PyGPU.append(a, 7), np.append(host, 7))
    assert_same(PyGPU.append(a, a[:, :1], 1), np.append(host, host[:, :1], 1))


def test_block_joins_nested_lists_like_numpy() -> None:
    a, b = np.ones((2, 2), "float32"), np.zeros((2, 1), "float32")
    c, d = PyGPU.to_gpu(a), PyGPU.to_gpu(b)
    assert_same(PyGPU.block([[c, d], [d, c]]), np.block([[a, b], [b, a]]))
    assert_same(PyGPU.block([c[0], d[0]]), np.block([a[0], b[0]]))
    assert_same(np.block([[[c]], [[c]]]), np.block([[[a]], [[a]]]))
    alone = PyGPU.block(c)
    assert_same(alone, a)
    assert alone.base is None
    for wrong, own in (([[a], a], [[c], c]), ([[], [a]], [[], [c]]), ((a, a), (c, c)), ([(a, a)], [(c, c)])):
        assert_same_refusal(outcome(lambda: PyGPU.block(own)), outcome(lambda: np.block(wrong)))  # type: ignore[arg-type]  # noqa: B023


@pytest.mark.parametrize("name", SPLITTING)
@pytest.mark.parametrize("sections", [1, 2, 3, 7, 0, -1, [1, 2], [2, 1], [], [9], np.array([1])])
def test_split_matches_numpy(name: str, sections: Any) -> None:
    host = np.arange(48, dtype="float32").reshape(2, 4, 6)
    a = PyGPU.to_gpu(host)
    for axis in (0, 2, -2) if name in ("split", "array_split") else (None,):
        rest = () if axis is None else (axis,)
        ours = outcome(lambda: getattr(PyGPU, name)(a, sections, *rest))  # noqa: B023
        numpys = outcome(lambda: getattr(np, name)(host, sections, *rest))  # noqa: B023
        if numpys[0] == "error":
            assert_same_refusal(ours, numpys)
            continue
        assert len(ours[1]) == len(numpys[1])
        for part, expected in zip(ours[1], numpys[1], strict=True):
            assert_same(part, expected)
            assert part.base is a


@since_numpy("2.1", "unstack")
def test_unstack_returns_views_like_numpy() -> None:
    host = np.arange(24, dtype="float32").reshape(2, 3, 4)
    a = PyGPU.to_gpu(host)
    for axis in range(-3, 3):
        for part, expected in zip(PyGPU.unstack(a, axis=axis), np.unstack(host, axis=axis), strict=True):
            assert_same(part, expected)
            assert part.base is a
    assert_same_refusal(outcome(lambda: PyGPU.unstack(a[0, 0, 0])), outcome(lambda: np.unstack(host[0, 0, 0])))


def test_concatenate_of_random_layouts_matches_numpy() -> None:
    seed = int(np.random.default_rng().integers(2**32))
    print("seed", seed)
    random = np.random.default_rng(seed)
    for _ in range(60):
        ndim = int(random.integers(1, 5))
        axis = int(random.integers(-ndim, ndim))
        lengths = random.integers(0, 5, ndim)
        hosts, arrays = [], []
        order = random.permutation(ndim)
        for _ in range(int(random.integers(1, 5))):
            lengths[axis] = random.integers(0, 5)
            host = random.random(tuple(lengths[order])).astype("float32")
            back = np.argsort(order)
            hosts.append(host.transpose(back))
            arrays.append(PyGPU.to_gpu(host).transpose(back))
        assert_same(PyGPU.concatenate(arrays, axis), np.concatenate(hosts, axis))


@pytest.mark.parametrize(("dtype", "axis"), [("int8", 0), ("float32", 0), ("complex128", 1), ("int16", 1)])
def test_concatenation_of_70_arrays_matches_numpy(dtype: str, axis: int) -> None:
    hosts = [np.arange(3 * count).reshape((count, 3) if axis == 0 else (3, count)).astype(dtype) for count in range(70)]
    joined = PyGPU.concatenate([PyGPU.to_gpu(host) for host in hosts], axis=axis)
    np.testing.assert_array_equal(joined.get(), np.concatenate(hosts, axis=axis))


def test_concatenation_of_unaligned_views_matches_numpy() -> None:
    bytes_ = PyGPU.to_gpu(np.arange(200, dtype="uint8"))
    parts = [bytes_[start : start + 7] for start in (0, 1, 9, 50)]
    np.testing.assert_array_equal(PyGPU.concatenate(parts).get(), np.concatenate([part.get() for part in parts]))
