"""Test `str` of arrays, which gives the same text as NumPy, and `repr`, which adds dtype and device.

Only printed elements are downloaded.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import PyGPU
from support import ALL_DTYPES, NUMPYS_OWN, RECORD, dtypes, examples, host_views, pair, print_each, shapes, values


def words(text: str) -> str:
    """Return the text without white space, because the line breaks in `repr` depend on the length of the prefix
    `array(`."""
    return "".join(text.split())


def assert_repr(device: PyGPU.GPUArray, host: np.ndarray) -> None:
    """Check the elements in `repr` against `numpy.array2string`, and that `repr` states dtype and device."""
    text = repr(device)
    assert text.startswith("GPUArray(")
    assert text.endswith(f"device='{device.device}')")
    if host.dtype.names is None:
        assert f"dtype={host.dtype.name}, device=" in text
    else:
        assert words(f"dtype={host.dtype},device=") in words(text)
    content = np.array2string(host, separator=", ", prefix="GPUArray(", threshold=np.get_printoptions()["threshold"])
    assert words(text).startswith(words(f"GPUArray({content},"))
    assert all(len(line) <= np.get_printoptions()["linewidth"] for line in text.splitlines()) or host.dtype.names


@examples(100)
@given(host_views())
def test_str_matches_numpy_and_repr_contains_dtype_and_device(host: np.ndarray) -> None:
    device = PyGPU.to_gpu(host)
    assert str(device) == str(host)
    assert f"{device}" == str(host)
    if host.size:
        assert_repr(device, host)


@examples(100)
@given(shapes, dtypes)
def test_views_print_like_numpy(shape: tuple[int, ...], dtype: Any) -> None:
    host, device = pair(shape, dtype)
    assert str(device.T) == str(host.T)
    assert str(device[..., None]) == str(host[..., None])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (1, 0, 2)])
def test_repr_of_empty_array_contains_its_shape(shape: tuple[int, ...]) -> None:
    host, device = pair(shape, "int16")
    assert str(device) == str(host) == "[]"
    assert repr(device).startswith("GPUArray([], ")
    if shape != (0,):
        assert f"shape={shape}" in repr(device)
    assert "dtype=int16" in repr(device)


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_0d_array_prints_like_numpy(dtype: Any) -> None:
    host = values((), dtype)
    assert str(PyGPU.to_gpu(host)) == str(host)
    assert_repr(PyGPU.to_gpu(host), host)


LARGE = [(1001,), (5000,), (7, 143), (6, 6, 6, 6), (7, 7, 7, 7), (1, 2000), (2000, 1), (40, 30, 2), (3, 2, 500)]


def test_large_array_is_summarized_like_numpy() -> None:
    # Every fourth pair of dtype and shape suffices: the shape decides which elements are omitted,
    # and the dtype decides how each element is printed.
    for dtype, shape in print_each(list(itertools.product(ALL_DTYPES, LARGE))[::4]):
        host, device = pair(shape, dtype)
        assert str(device) == str(host)
        assert str(device.T) == str(host.T)
        assert_repr(device, host)


OPTIONS: list[dict[str, Any]] = [
    {"precision": 2},
    {"precision": 0, "suppress": True},
    {"threshold": 5},
    {"threshold": 0},
    {"threshold": 5, "edgeitems": 1},
    {"threshold": 5, "edgeitems": 2},
    {"threshold": 12, "edgeitems": 7},
    {"threshold": 10**9},
    {"linewidth": 30},
    {"linewidth": 200},
    {"floatmode": "fixed"},
    {"floatmode": "unique"},
    {"sign": "+"},
    {"nanstr": "none", "infstr": "endless"},
    {"formatter": {"float_kind": lambda x: f"<{x:.1f}>", "int_kind": lambda x: f"<{x}>"}},
    {"threshold": 5, "formatter": {"all": str}},
]


@pytest.mark.sampled(on="cpu")
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: ",".join(options))
def test_str_follows_print_options_of_numpy(options: dict[str, Any]) -> None:
    with np.printoptions(**options):
        for dtype, shape in print_each(
            itertools.product([*NUMPYS_OWN, RECORD], [(), (3,), (4, 5), (3, 3, 3), (20, 2)])
        ):
            host, device = pair(shape, dtype)
            assert str(device) == str(host)
            assert words(repr(device)).startswith(words(f"GPUArray({np.array2string(host, separator=', ')}"))


@examples(100)
@given(st.lists(st.floats(), max_size=8), st.sampled_from(["float16", "float32", "float64"]))
def test_random_floats_print_like_numpy(numbers: list[float], dtype: str) -> None:
    with np.errstate(over="ignore"):
        host = np.array(numbers).astype(dtype)
    assert str(PyGPU.to_gpu(host)) == str(host)


class Counting(PyGPU.GPUArray):
    """Record the sizes, in bytes, of all downloads by an array and its views."""

    fetched: list[int]

    def __array_finalize__(self, other: Any) -> None:
        self.fetched = other.fetched

    def get(self, *args: Any, **kwargs: Any) -> np.ndarray:
        self.fetched.append(self.nbytes)
        return super().get(*args, **kwargs)


@pytest.mark.parametrize(
    "shape", [(1_000_000,), (1000, 1000), (100, 100, 100), (2, 1_000_000), (1_000_000, 2)], ids=str
)
def test_str_of_large_array_downloads_only_printed_edges(shape: tuple[int, ...]) -> None:
    device = Counting(shape, "float64")
    device.fill(1.0)
    device.fetched = []
    assert str(device) == str(np.ones(shape))
    assert 0 < sum(device.fetched) <= 8 * 7 ** len(shape)


def test_repr_of_small_array_downloads_array_once() -> None:
    device = Counting((30, 30), "float64")
    device.fill(1.0)
    device.fetched = []
    repr(device)
    assert device.fetched == [7200]


def test_long_repr_of_record_array_breaks_line_before_dtype() -> None:
    host, device = pair((2,), RECORD)
    assert str(device) == str(host)
    assert "\n" in repr(device)
    assert repr(device).splitlines()[-1].strip().startswith("dtype=")
    small = PyGPU.zeros(3, "int32")
    assert repr(small) == f"GPUArray([0, 0, 0], dtype=int32, device='{small.device}')"


def test_repr_of_subclass_contains_its_name() -> None:
    class Temperature(PyGPU.GPUArray):
        pass

    made = Temperature((2,), "int32")
    made.fill(3)
    assert repr(made).startswith("Temperature([3, 3], dtype=int32, ")
    assert str(made) == "[3 3]"


def test_printing_does_not_replace_cached_host_copy_of_array() -> None:
    host, device = pair((3,))
    got = device.get()
    got[0] = 99
    str(device), repr(device)
    device.tolist()
    assert device.host_array is got
    assert got[0] == 99
    untouched = PyGPU.to_gpu(host)
    str(untouched), repr(untouched)
    assert untouched.host_array is None
