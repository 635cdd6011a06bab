"""Whatever is public leaves nothing waiting, or stands in a list of what need not; its answer is that of the mode off.

A name that is new fails until it can be called here, or is put into one of the lists of `fusing/calls.py`.
"""

from __future__ import annotations

import contextlib
import functools
import io
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from fusing import calls
from fusing.figures import mode, waiting
from support import told

pytestmark = [pytest.mark.enough_on("cuda"), pytest.mark.filterwarnings("ignore")]
HOST = np.arange(1.0, 10.0).reshape(3, 3)
# Of `object`, those that an array has of its own.
OWN = {"__repr__", "__str__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__reduce__", "__reduce_ex__"}
OWN |= {"__format__", "__sizeof__"}
# What gives other values each time: memory as it is found, and addresses.
UNINITIALISED = {"empty", "empty_like", "empty_pinned", "empty_like_pinned", "allocate", "pointers"}
# What nobody has waited for.
UNINITIALISED |= {"get_async"}


def hosts(result: Any) -> Any:
    """What a call gave, in NumPy's arrays; what cannot be compared is left out."""
    if isinstance(result, PyGPU.GPUArray):
        return result.get()
    if isinstance(result, (tuple, list)):
        return [hosts(one) for one in result]
    return result if isinstance(result, (bool, int, float, complex, str, np.ndarray, np.generic)) else None


def same(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, (np.ndarray, np.generic)):
        return np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind in "fc")
    return type(one) is type(other)


def first_that_works(tried: list[Callable[[Any], Any]], base: PyGPU.GPUArray) -> tuple[Callable[[Any], Any], Any]:
    """A call and its result without waiting."""
    error: BaseException | None = None
    with mode("off"):
        for call in tried:
            try:
                return call, hosts(call(base + 1))
            except Exception as found:
                error = found
    raise AssertionError("no call of it is known here: name one in tests/helpers/fusing/calls.py") from error


def left_by(name: str, call: Callable[[Any], Any], wanted: Any) -> int:
    """How many of two operations wait behind a call with the result of one of them, or more: those of the call."""
    base, other = PyGPU.to_gpu(HOST - 1), PyGPU.to_gpu(HOST)
    x, beside = base + 1, other * 2
    assert waiting() == 2
    result = call(x)
    left = waiting()
    assert name in UNINITIALISED or same(hosts(result), wanted), (hosts(result), wanted)
    np.testing.assert_array_equal(beside.get(), HOST * 2)
    np.testing.assert_array_equal(base.get(), HOST - 1)
    return left


def public_functions() -> list[str]:
    names = {*PyGPU.__all__, *(name for name in dir(PyGPU) if not name.startswith("_"))}
    found = []
    for name in sorted(names):
        value = getattr(PyGPU, name)
        if callable(value) and not isinstance(value, (type, types.ModuleType)):
            found.append(name)
    return [name for name in found if not name.startswith(("cuda", "nvml"))]


def test_every_function() -> None:
    base = PyGPU.to_gpu(HOST - 1)
    for name in told(public_functions()):
        if name in calls.NOT_CALLED:
            continue
        function = getattr(PyGPU, name)
        guesses = [calls.FUNCTIONS[name]] if name in calls.FUNCTIONS else calls.GUESSES
        with contextlib.redirect_stdout(io.StringIO()):
            call, wanted = first_that_works([functools.partial(one, function) for one in guesses], base)
            left = left_by(name, call, wanted)
        if name in calls.QUIET:
            assert left == 2, name
        elif not isinstance(function, (PyGPU.Ufunc, PyGPU.Reduction)) and name not in calls.COMPOSED:
            assert left == 0, name


def ways_of(name: str) -> list[Callable[[Any], Any]]:
    if name in calls.METHODS:
        return [calls.METHODS[name]]

    def way(*arguments: Any) -> Callable[[Any], Any]:
        def call(x: Any) -> Any:
            value = getattr(x, name)
            return value(*arguments) if callable(value) and not isinstance(value, type) else value

        return call

    return [way(), way(1), way(0), lambda x: getattr(x, name)(x)]


def test_every_attribute_of_an_array() -> None:
    base = PyGPU.to_gpu(HOST - 1)
    for name in told(dir(PyGPU.GPUArray)):
        if (name in dir(object) and name not in OWN) or name in calls.REFUSED_ATTRIBUTES:
            continue
        call, wanted = first_that_works(ways_of(name), base)
        left = left_by(name, call, wanted)
        if name in calls.QUIET_ATTRIBUTES:
            assert left == 2, name
        elif name not in calls.WAITING_ATTRIBUTES:
            assert left == 0, name


def test_the_lists_name_nothing_that_is_gone() -> None:
    functions = set(public_functions())
    assert (calls.QUIET | calls.COMPOSED | set(calls.FUNCTIONS) | set(calls.NOT_CALLED)) - functions == set()
    attributes = calls.QUIET_ATTRIBUTES | calls.WAITING_ATTRIBUTES | set(calls.REFUSED_ATTRIBUTES) | set(calls.METHODS)
    assert attributes - set(dir(PyGPU.GPUArray)) == set()
