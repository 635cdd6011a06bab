"""Test that bad input raises an ordinary exception with a message and leaves arrays unchanged."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import PyGPU
from support import PADDED, pair


class Lying:
    """Define a class whose special methods, such as `__len__`, raise errors or return invalid values."""

    shape = (2**62, 2**62)
    dtype = "float32"

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"shape": (-1,), "typestr": "<f4", "data": (0, False), "version": 3}

    def __len__(self) -> int:
        return -1

    def __index__(self) -> int:
        raise ZeroDivisionError("on purpose")

    def __getitem__(self, key: Any) -> Any:
        raise KeyError(key)


class Huge:
    def __index__(self) -> int:
        return 2**80

    def __len__(self) -> int:
        return 2**62


ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    2**31,
    2**62,
    -(2**63),
    2**64,
    1.5,
    float("nan"),
    1j,
    "",
    "x",
    "C",
    "float32",
    b"\0",
    (),
    (-1,),
    (2**62, 2**62),
    (0, 2**62),
    (1,) * 70,
    [],
    [[]],
    [[1], [1, 2]],
    [None],
    {},
    {1},
    object(),
    str,
    np.float32,
    np.zeros(3),
    np.zeros((2, 3)),
    np.array(None),
    np.zeros(2, ">i4"),
    np.zeros(0),
    np.array("text"),
    np.ma.masked_array([1, 2], [True, False]),
    slice(None),
    slice("a", 0, 0),
    Ellipsis,
    NotImplemented,
    lambda *args: None,
    range(10**9),
    memoryview(b"abc"),
    Lying(),
    Huge(),
    PyGPU,
]
METHODS = ["__getitem__", "get", "get_async", "set", "set_async", "copy", "fill", "view", "reshape", "ravel", "squeeze"]
METHODS += ["transpose", "swapaxes", "diagonal", "item", "record_stream", "__deepcopy__", "__setstate__", "__format__"]
METHODS += [
    "__copy__",
    "__reduce__",
    "to_device",
    "to_host",
    "tolist",
    "__iter__",
    "__delitem__",
    "__init__",
    "set_val",
]
FUNCTIONS = ["empty_like", "zeros_like", "ones_like", "full_like", "arange", "to_gpu", "to_gpu_async", "expand_dims"]
FUNCTIONS += ["broadcast_to", "moveaxis", "flip", "asarray", "from_dlpack"]
MAKERS = ["GPUArray", "empty", "zeros", "ones", "full"]


def call(function: Any, *args: Any) -> None:
    """Call a function, and check that any exception has a message and is no Rust panic."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*args)
        except SystemError as error:
            raise AssertionError(f"{function} broke the interpreter's rules") from error
        except Exception as error:
            if not str(error):
                raise AssertionError(f"{function} refuses {args} without a text: {error!r}") from error


def may_request_gigabytes(args: tuple[Any, ...]) -> bool:
    """Return whether an argument could request gigabytes of memory. The tests omit such arguments, because a machine
    with enough memory would really allocate it."""
    return any(isinstance(arg, range) or (isinstance(arg, int) and 2**28 < abs(arg) < 2**40) for arg in args)


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("name", METHODS)
def test_methods_with_any_argument_cause_no_panic_and_no_change_of_array(name: str) -> None:
    for dtype in ("float32", PADDED):
        host, device = pair((2, 3), dtype)
        for count in (0, 1, 2):
            for args in itertools.product(ODD, repeat=count):
                if not may_request_gigabytes(args):
                    call(getattr(device, name), *args)
        if name not in ("fill", "set", "set_async", "set_val"):
            assert device.tolist() == host.tolist()
        assert device.shape == (2, 3)
        assert device.dtype == dtype


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_pygpu_with_any_argument_cause_no_panic(name: str) -> None:
    host, device = pair((2, 3), "int16")
    for args in itertools.chain(((a,) for a in ODD), itertools.product([device, *ODD], repeat=2)):
        if not may_request_gigabytes(args):
            call(getattr(PyGPU, name), *args)
    assert device.tolist() == host.tolist()


@pytest.mark.parametrize("name", MAKERS)
def test_constructors_with_any_shape_or_dtype_cause_no_panic(name: str) -> None:
    for args in itertools.chain([()], ((a,) for a in ODD), itertools.product(ODD, repeat=2)):
        if not may_request_gigabytes(args):
            call(getattr(PyGPU, name), *args)
    for order in ODD:
        call(getattr(PyGPU, name), (2, 3), *([1] if name == "full" else []), "float32", order)


def test_assignment_of_any_value_causes_no_panic() -> None:
    _, device = pair((2, 3), "int32")
    for key, value in itertools.product(ODD, repeat=2):
        if not may_request_gigabytes((key, value)):
            call(device.__setitem__, key, value)
    assert device.shape == (2, 3)


@pytest.mark.parametrize("name", ["gpudata", "strides", "base", "allocator", "copy", "device", "stream"])
def test_constructors_with_any_keyword_cause_no_panic(name: str) -> None:
    for value in ODD:
        if name == "gpudata" and isinstance(value, (int, np.ndarray)):
            # Omit integers as `gpudata`: any integer counts as an address, and an invalid address would crash.
            continue
        call(lambda value=value: PyGPU.GPUArray((2, 3), "float32", **{name: value}))
        call(lambda value=value: PyGPU.empty((2, 3), **{name: value}))
        call(lambda value=value: PyGPU.to_gpu(np.zeros(3), **{name: value}))
        call(lambda value=value: PyGPU.zeros(3).get(**{name: value}))
