"""List the public names of `PyGPU` and `GPUArray`; for each name, define a call and a comparison of its result."""

from __future__ import annotations

import contextlib
import functools
import io
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import PyGPU
import simulated_driver
from fusion_support import calls
from fusion_support.operation_counts import mode

HOST = np.arange(1.0, 10.0).reshape(3, 3)
# Special methods that every Python object has, but that arrays redefine.
OWN = {"__repr__", "__str__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__reduce__", "__reduce_ex__"}
OWN |= {"__format__", "__sizeof__"}
# Functions whose results differ from call to call, because they contain uninitialized memory or addresses.
UNINITIALISED = {"empty", "empty_like", "empty_pinned", "empty_like_pinned", "allocate", "pointers"}
# Function whose result is undefined until the device is synchronized.
UNINITIALISED |= {"get_async"}


def hosts(result: Any) -> Any:
    """Copy the results of a call to NumPy arrays. Results that cannot be compared are left out."""
    if isinstance(result, PyGPU.GPUArray):
        return result.get()
    if isinstance(result, (tuple, list)):
        return [hosts(one) for one in result]
    # A copy, because an array in pinned memory would keep the memory until the end of the process.
    if isinstance(result, np.ndarray):
        return result.copy()
    return result if isinstance(result, (bool, int, float, complex, str, np.generic)) else None


def same(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, (np.ndarray, np.generic)):
        return np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind in "fc")
    return type(one) is type(other)


def first_that_works(tried: list[Callable[[Any], Any]], base: PyGPU.GPUArray) -> tuple[Callable[[Any], Any], Any]:
    """Return the first call of a list that succeeds in the fusion mode "off", and the result of the call.

    A failed compilation does not reject a call, because `simulated_driver.compile_together` makes compilations fail.
    """
    error: BaseException | None = None
    with mode("off"):
        for call in tried:
            try:
                return call, hosts(call(base + 1))
            except PyGPU.CompileError:
                raise
            except Exception as found:
                error = found
    raise AssertionError("no call of it is known here: name one in tests/helpers/fusion_support/calls.py") from error


def public_functions() -> list[str]:
    names = {*PyGPU.__all__, *(name for name in dir(PyGPU) if not name.startswith("_"))}
    found = []
    for name in sorted(names):
        value = getattr(PyGPU, name)
        if callable(value) and not isinstance(value, (type, types.ModuleType)):
            found.append(name)
    return [name for name in found if not name.startswith(("cuda", "nvml"))]


def guesses_of(name: str) -> list[Callable[[Any], Any]]:
    """Return possible calls of a public function, with different guesses of its arguments; at least one call must
    succeed."""
    function = getattr(PyGPU, name)
    guesses = [calls.FUNCTIONS[name]] if name in calls.FUNCTIONS else calls.GUESSES
    return [functools.partial(one, function) for one in guesses]


def ways_of(name: str) -> list[Callable[[Any], Any]]:
    if name in calls.METHODS:
        return [calls.METHODS[name]]

    def way(*arguments: Any) -> Callable[[Any], Any]:
        def call(x: Any) -> Any:
            value = getattr(x, name)
            return value(*arguments) if callable(value) and not isinstance(value, type) else value

        return call

    return [way(), way(1), way(0), lambda x: getattr(x, name)(x)]


def attributes() -> list[str]:
    """Return the names of an array's attributes that can be read or called."""
    return [
        name
        for name in dir(PyGPU.GPUArray)
        if not ((name in dir(object) and name not in OWN) or name in calls.REFUSED_ATTRIBUTES)
    ]


def compile_together(tried: Iterable[list[Callable[[Any], Any]]]) -> None:
    """Compile the kernels of calls on a simulated GPU, a few dozen at a time: first in the fusion mode "off", then with
    a pending operand and an unrelated pending operation."""
    base, other = PyGPU.to_gpu(HOST - 1), PyGPU.to_gpu(HOST)

    def call_in_both_ways(ways: list[Callable[[Any], Any]]) -> None:
        call, _ = first_that_works(ways, base)
        x, beside = base + 1, other * 2
        hosts(call(x))
        beside.get()

    with contextlib.redirect_stdout(io.StringIO()):
        simulated_driver.compile_together([functools.partial(call_in_both_ways, ways) for ways in tried], rounds=6)
