"""Run ``python -m PyGPU warm``: compile arithmetic kernels ahead of time, for container images.

The kernel of an operation is normally compiled at its first use and cached on disk. This command fills the cache.
Several threads call each function with each pair of types and with each array layout for which there is a separate
kernel.
"""

import argparse
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy

import PyGPU
from PyGPU._observability import progress as bars

DTYPES = ["bool", "int32", "int64", "float32", "float64", "complex64"]
FUNCTIONS = [
    *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "maximum", "minimum"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("logical_and", "logical_or", "logical_not", "negative", "absolute", "square", "conjugate", "isnan", "isfinite"),
    *("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "floor", "ceil", "sign"),
]

Layout = tuple[Callable[[Any], Any], Callable[[Any], Any]]
# For each access pattern of a kernel: functions that make two operands as views of square arrays.
LAYOUTS: dict[str, Layout] = {
    "side by side": (lambda a: a, lambda b: b),
    "of one element": (lambda a: a[0, 0], lambda b: b[0, 0]),
    "one element, repeated": (lambda a: a, lambda b: b[0, 0]),
    "at an odd place": (lambda a: a.reshape(-1)[1:], lambda b: b.reshape(-1)[:-1]),
    "a row": (lambda a: a, lambda b: b[0]),
    "a column": (lambda a: a, lambda b: b[:, :1]),
    "turned": (lambda a: a.T, lambda b: b),
    "every second": (lambda a: a[:, ::2], lambda b: b[:, ::2]),
}
EDGE = 16


class Call(NamedTuple):
    """One call to execute: a function with its operands, which launches one kernel."""

    function: str
    dtypes: tuple[str, ...]
    make: Callable[[], Any]


def square(dtype: str) -> Any:
    """Create a square array of ones; every function of this command is defined for 1."""
    return PyGPU.ones((EDGE, EDGE), dtype)


def call_unary(function: Any, dtype: str, layout: Layout) -> None:
    """Call a function with one array."""
    function(layout[0](square(dtype)))


def call_binary(function: Any, first_dtype: str, second_dtype: str, layout: Layout) -> None:
    """Call a function with two arrays."""
    function(layout[0](square(first_dtype)), layout[1](square(second_dtype)))


def call_with_scalar(function: Any, dtype: str, is_first: bool) -> None:
    """Call a function with an array and a Python scalar."""
    operands = square(dtype), numpy.dtype(dtype).type(1).item()
    function(*operands[::-1] if is_first else operands)


def call_in_place(function: Any, dtype: str) -> None:
    """Call a function with its first operand as the output, as ``a += b`` does."""
    array = square(dtype)
    function(array, square(dtype), out=array)


def calls_of(name: str, dtypes: list[str]) -> Iterator[Call]:
    """List the calls of a function: operands of one type in each layout, then contiguous operands of two types."""
    function = getattr(PyGPU, name)
    for dtype in dtypes:
        if function.nin == 1:
            yield from (
                Call(name, (dtype,), partial(call_unary, function, dtype, layout)) for layout in LAYOUTS.values()
            )
            continue
        yield Call(name, (dtype,), partial(call_with_scalar, function, dtype, False))
        yield Call(name, (dtype,), partial(call_with_scalar, function, dtype, True))
        yield Call(name, (dtype,), partial(call_in_place, function, dtype))
        for layout in LAYOUTS.values():
            yield Call(name, (dtype, dtype), partial(call_binary, function, dtype, dtype, layout))
        for other_dtype in dtypes:
            if other_dtype != dtype:
                layout = LAYOUTS["side by side"]
                yield Call(name, (dtype, other_dtype), partial(call_binary, function, dtype, other_dtype, layout))


def compile_call(call: Call, device: int) -> str | None:
    """Execute a call; return the compiler's error message, or None if there is no error. Ignore unsupported types."""
    try:
        with PyGPU.Device(device), PyGPU.fusion("off"):  # A deferred operation would not run, as its result is dropped.
            call.make()
    except TypeError:
        return None
    except PyGPU.CompileError as error:
        return f"{call.function} of {', '.join(call.dtypes)}: {error}"
    return None


def cached_kernels() -> tuple[int, int]:
    """Return the number of kernels in the cache and their total size in bytes."""
    folder = PyGPU.config()["kernel_cache"]
    sizes = [path.stat().st_size for path in Path(folder).glob("*.pgk")] if folder else []
    return len(sizes), sum(sizes)


def architectures() -> dict[str, int]:
    """Return one device of each architecture, because devices of one architecture share compiled kernels."""
    devices: dict[str, int] = {}
    for device in range(PyGPU.device_count()):
        devices.setdefault(PyGPU.device_properties(device)["architecture"], device)
    return devices


def dtype_name(text: str) -> str:
    """Return the argument if it is the name of a dtype that supports arithmetic; otherwise raise an error."""
    try:
        name = numpy.dtype(text).name
    except TypeError:
        name = ""
    if name not in {letter for loop in PyGPU.add.types for letter in loop.split("->")}:
        raise argparse.ArgumentTypeError(f"{text!r} is no dtype that PyGPU computes with, such as float32")
    return name


def function_name(text: str) -> str:
    """Return the argument if it is the name of an elementwise function; otherwise raise an error."""
    if not isinstance(getattr(PyGPU, text, None), PyGPU.Ufunc):
        raise argparse.ArgumentTypeError(f"{text!r} is no function of elements, such as add; PyGPU.Ufunc lists none")
    return text


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command-line options of ``warm`` to a parser."""
    parser.description = (
        "Compile the kernels of arithmetic for this machine's devices ahead, into the cache on disk "
        "(PYGPU_CACHE_DIR). What is there already is not compiled again."
    )
    parser.epilog = "example: python -m PyGPU warm --functions add sin --dtypes float32"
    parser.add_argument(
        "--functions", type=function_name, nargs="+", metavar="NAME", default=FUNCTIONS, help="such as add sin less"
    )
    parser.add_argument(
        "--dtypes", type=dtype_name, nargs="+", metavar="DTYPE", default=DTYPES, help="such as float32 int64"
    )
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="how many compile at once")


def run(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Run the command ``warm``: call the selected functions in threads, and print the number of compiled kernels."""
    if PyGPU.backend_name() == "cpu":
        print("nothing to compile: NumPy computes with arrays in host memory")
        return
    if PyGPU.config()["kernel_cache"] is None:
        parser.error("there is no cache of kernels on disk here; `python -m PyGPU` says why")
    if arguments.threads < 1:
        parser.error("--threads is at least 1")
    calls = [call for name in arguments.functions for call in calls_of(name, arguments.dtypes)]
    before, _ = cached_kernels()
    errors: list[str] = []
    for architecture, device in architectures().items():
        progress = bars.bar(len(calls), file=sys.stderr, leave=False)
        with ThreadPoolExecutor(arguments.threads) as threads:
            try:
                for call, message in zip(
                    calls, threads.map(compile_call, calls, itertools.repeat(device)), strict=True
                ):
                    progress.set_description_str(f"{architecture}: {call.function} of {', '.join(call.dtypes)}")
                    progress.update()
                    errors += [message] if message else []
            finally:
                progress.close()
                threads.shutdown(cancel_futures=True)
    count, size = cached_kernels()
    print(f"{count - before} kernels compiled; {count} of {size / 2**20:.1f} MiB in {PyGPU.config()['kernel_cache']}")
    if errors:
        sys.exit("\n".join([f"{len(errors)} could not be compiled:", *errors]))
