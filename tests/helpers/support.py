"""Provide shared code of the array tests: pairs of a NumPy array and an equal device array, and their comparison.

No function here reads device memory from the host: values are downloaded by `get()`, and addresses are only subtracted.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import PyGPU
import simulated_driver

RECORD = np.dtype([("id", "i4"), ("position", "f4", (2,)), ("mark", "?")])
PADDED = np.dtype({"names": ["a", "b"], "formats": ["u1", "f8"], "offsets": [1, 8], "itemsize": 24})
VOID = np.dtype("V3")

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
NUMPYS_OWN = ["bool", *INTEGERS, *FLOATS, *COMPLEX]
ML_DTYPES = [
    "bfloat16",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
]
OPAQUE = [RECORD, PADDED, VOID]
ALL_DTYPES = [*map(np.dtype, NUMPYS_OWN), *(np.dtype(getattr(ml_dtypes, name)) for name in ML_DTYPES), *OPAQUE]

Outcome = tuple[str, Any]
Case = TypeVar("Case")


def at_once(threads: int, work: Callable[[int], object]) -> None:
    """Call `work(number)` in several threads at the same time, numbered from 0, and raise the threads' exceptions."""
    begin = threading.Barrier(threads)

    def run(number: int) -> None:
        begin.wait()
        work(number)

    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(run, range(threads)):
            pass


def child_environment(*folders: Path) -> dict[str, str]:
    """Return the environment of a child process that imports from `folders`, then from the folders of this process."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [*map(str, folders), *sys.path]))}


def on_cpu() -> bool:
    """Return whether PyGPU computes on the CPU, so that the host may read at an array's attribute `ptr`."""
    return PyGPU.backend_name() == "cpu"


def examples(count: int) -> settings:
    """Return the number of examples of a random test: fewer on simulated GPUs, because each run has another seed."""
    PyGPU.config()  # The call of `config` opens the driver library.
    return settings(max_examples=count if on_cpu() or simulated_driver.driver() is None else count // 3)


def of_few(cases: Sequence[Case], few: Sequence[Case]) -> Sequence[Case]:
    """Return all cases; on a simulated GPU, where a kernel takes 0.3 s to compile, return only the cases `few`."""
    PyGPU.config()
    return cases if on_cpu() or simulated_driver.driver() is None else few


def print_each(cases: Iterable[Case]) -> Iterator[Case]:
    """Yield each case after printing the case, so that the last printed case is the failed case."""
    for case in cases:
        print(repr(case)[:200])
        yield case


def stable_repr(value: object) -> str:
    """Return the `repr` of a parameter without the addresses of objects, which differ between processes."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def values(shape: int | tuple[int, ...], dtype: Any = "float64", order: str = "C", start: int = 1) -> np.ndarray:
    """Return an ndarray whose elements differ as far as the dtype allows."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    if dtype.kind == "V" and dtype.type is np.void:
        raw = (np.arange(count * dtype.itemsize) * 7 + start) % 251
        flat = np.zeros(count, dtype)
        if dtype.names is None:
            flat = raw.astype(np.uint8).view(dtype)
        else:
            for name in dtype.names:
                field = flat[name]
                field[...] = np.arange(start, start + field.size).reshape(field.shape) % 100
        return np.array(flat.reshape(shape), order=order)
    numbers = np.arange(start, start + count)
    if dtype.kind == "b":
        flat = numbers * numbers % 3 == 1
    elif dtype.kind == "c":
        flat = (numbers + 1j * (numbers % 7)).astype(dtype)
    elif dtype.itemsize == 1:
        flat = (numbers % 120).astype(dtype)
    else:
        flat = numbers.astype(dtype)
    return np.array(flat.reshape(shape), order=order)


def pair(shape: int | tuple[int, ...], dtype: Any = "float64", order: str = "C") -> tuple[np.ndarray, PyGPU.GPUArray]:
    """Return an ndarray and a device array with the same values."""
    host = values(shape, dtype, order)
    return host, PyGPU.to_gpu(host)


def assert_same(device: PyGPU.GPUArray, host: Any) -> None:
    """Assert that shape, dtype and every byte of a device array equal those of an ndarray."""
    assert isinstance(device, PyGPU.GPUArray)
    host = np.asarray(host)
    assert device.shape == host.shape
    assert device.dtype == host.dtype
    assert_same_values(device.get(), host)


def assert_same_values(got: np.ndarray, expected: np.ndarray) -> None:
    """Assert that two ndarrays of one shape and dtype have equal values; NaN equals NaN."""
    assert type(got) is np.ndarray
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    # Compare field by field, because the padding bytes between fields are unspecified.
    if got.dtype.names is not None:
        assert repr(got.tolist()) == repr(expected.tolist())
    elif got.tobytes() != expected.tobytes():
        np.testing.assert_array_equal(got, expected)
        # Compare bits only where no element is NaN, because the bits of NaN are unspecified.
        known = expected == expected
        if got[known].tobytes() == expected[known].tobytes():
            return
        raise AssertionError(f"equal values, other bytes: {got.tobytes()!r} and {expected.tobytes()!r}")


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def assert_same_layout(device: PyGPU.GPUArray, host: np.ndarray, bases: tuple[PyGPU.GPUArray, np.ndarray]) -> None:
    """Assert that strides, contiguity and distance from the base array equal NumPy's.

    Strides of axes of length 1 are ignored, because NumPy does not specify them.
    """
    device_base, host_base = bases
    assert device.shape == host.shape
    assert device.ndim == host.ndim
    assert device.size == host.size
    assert device.nbytes == host.nbytes
    assert device.itemsize == host.itemsize
    assert device.flags.c_contiguous == host.flags.c_contiguous
    assert device.flags.f_contiguous == host.flags.f_contiguous
    if host.size == 0:
        return
    long = [axis for axis, length in enumerate(host.shape) if length != 1]
    assert [device.strides[axis] for axis in long] == [host.strides[axis] for axis in long]
    assert device.ptr - device_base.ptr == address(host) - address(host_base)


def outcome(function: Callable[[], Any]) -> Outcome:
    """Call a function. Return `("value", result)`, or `("error", exception)` if it raised an exception or a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return "value", function()
        except Exception as error:
            return "error", error


def assert_same_refusal(ours: Outcome, numpys: Outcome) -> None:
    """Assert that both calls failed, and that PyGPU's error class equals NumPy's or shares a base class with it."""
    assert numpys[0] == "error", f"NumPy gives {numpys[1]!r}"
    assert ours[0] == "error", f"NumPy raises {numpys[1]!r}, PyGPU gives {ours[1]!r}"
    allowed = [kind for kind in type(numpys[1]).__mro__ if kind not in (Exception, BaseException, object)]
    assert type(ours[1]) in allowed, f"NumPy raises {numpys[1]!r}, PyGPU {ours[1]!r}"
    assert str(ours[1]), "an error without a text"


# Strategies of hypothesis, which draw random arguments.

dtypes = st.sampled_from(ALL_DTYPES)
numeric_dtypes = st.sampled_from(NUMPYS_OWN)
shapes = st.lists(st.integers(0, 5), max_size=5).map(tuple)
orders = st.sampled_from("CF")
_steps = st.integers(-3, 3).filter(bool)
_bounds = st.none() | st.integers(-7, 7)
slices = st.builds(slice, _bounds, _bounds, st.none() | _steps)


@st.composite
def integer_indices(draw: st.DrawFn, length: int) -> Any:
    """Draw an index of an axis, as Python's int or as an integer of NumPy.

    Some of the drawn indices are out of range.
    """
    value = draw(st.integers(-length, length - 1) if length and draw(st.integers(0, 9)) else st.integers(-7, 7))
    narrow = [np.int8] if -128 <= value < 128 else []
    return draw(st.sampled_from([int, np.int64, *narrow]))(value)


@st.composite
def basic_keys(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """Draw a key of integers, slices, `...` and `None` for an array of a shape; some keys have too many items."""
    surplus = draw(st.integers(0, 19)) == 0
    count = draw(st.integers(0, len(shape))) + surplus
    items: list[Any] = []
    for axis in range(count):
        length = shape[axis] if axis < len(shape) else 1
        items.append(draw(slices | integer_indices(length)))
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), Ellipsis)
    for _ in range(draw(st.integers(0, 2))):
        items.insert(draw(st.integers(0, len(items))), None)
    return items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


@st.composite
def host_views(draw: st.DrawFn, dtype: Any = None) -> np.ndarray:
    """Draw a view of an ndarray with any strides: stepped, reversed, transposed, with new axes."""
    host = values(draw(shapes), draw(dtypes) if dtype is None else dtype, draw(orders))
    sliced = host[(*(draw(slices) for _ in range(host.ndim)), ...)]
    return sliced.transpose(draw(st.permutations(range(host.ndim))))
