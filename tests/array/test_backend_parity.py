"""Test that each expression has the same type, or the same error message, on every backend.

Earlier versions behaved differently on the CPU:

- NumPy converted arrays implicitly and returned ndarrays; a GPU raised an error for the same expression.
- Comparisons compared the identities of arrays instead of their values.
- Graphs, memory limits and statistics were missing.

`PROGRAMS` has one expected result for all backends, so that a difference between two backends fails on one of them. The
CPU runs in strict mode (`PYGPU_STRICT=1`); `test_host_access.py` tests the behaviour without strict mode.
"""

from __future__ import annotations

import copy
import gc
import io
import operator as operators
import pickle
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy
from PyGPU import _core

COMPUTE = (
    "PyGPU does not compute this yet; write an ElementwiseKernel, hand the array to a library that computes by "
    "DLPack (its from_dlpack), or take the values to the host by .get()"
)
CAPTURE = (
    "cannot be captured, and the stream is capturing: a graph repeats work of the device, and this needs the host; "
    "do it before or after the capture"
)
HOST = (
    "the array is on DEVICE, and is not moved to the host without being asked: use .get(), or "
    'numpy.from_dlpack(x, device="cpu")'
)
FORBIDDEN = "ValueError: asarray: the values are on the host, not on DEVICE, and copy=False forbids the copy"
INDEX = (
    "IndexError: only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays "
    "are valid indices"
)
TRUTH = (
    "ValueError: The truth value of an array with more or fewer than one element is ambiguous. Use a.any() or a.all()"
)
EMPTY = "ValueError: the graph is empty: capture its work in `with graph:`, and launch it after the block"
UNHASHABLE = "TypeError: unhashable type: 'PyGPU.GPUArray'"
FLOATS = "GPUArray float32 (3,)"
NDARRAY = "TypeError: the ndarray of shape (3,) is in host memory; copy it to a device first, with PyGPU.to_gpu(x)"
LIST = "TypeError: the list of shape (3,) is in host memory; copy it to a device first, with PyGPU.to_gpu(x)"
INTO_NDARRAY = (
    "TypeError: numpy.{}: the result is on a device, and is not moved into an ndarray without being asked: use .get() "
    "of the arrays of the device, as in x += a.get()"
)


def function(name: str) -> str:
    return f"TypeError: numpy.{name}: {COMPUTE}"


def unsupported(symbol: str, other: str) -> str:
    return f"TypeError: unsupported operand type(s) for {symbol}: 'PyGPU.GPUArray' and '{other}'"


def unordered(symbol: str, other: str) -> str:
    return f"TypeError: '{symbol}' not supported between instances of 'PyGPU.GPUArray' and '{other}'"


def unlooped(name: str, kinds: str) -> str:
    return (
        f"TypeError: ufunc '{name}' not supported for the input types, and the inputs could not be safely coerced to "
        f"any supported types according to the casting rule ''safe'': {kinds}"
    )


def uncaptured(what: str) -> str:
    return f"NotSupportedError: {what} {CAPTURE}"


PROGRAMS = {
    # Expressions with operators.
    "a + b": FLOATS,
    "a - 1": FLOATS,
    "a * np.float32(2)": FLOATS,
    "a * np.float64(2)": "GPUArray float64 (3,)",
    "a / 2.0": FLOATS,
    "a // b": FLOATS,
    "a % 2": FLOATS,
    "divmod(a, 2)[1]": FLOATS,
    "a ** 2": FLOATS,
    "pow(a, 2, 3)": "TypeError: unsupported operand type(s) for ** or pow(): 'PyGPU.GPUArray', 'int', 'int'",
    "a @ b": "GPUArray float32 ()",
    "a << 1": unlooped("left_shift", "float32, int"),
    "a & b": unlooped("bitwise_and", "float32, float32"),
    "mask | mask": "GPUArray bool (3,)",
    "2 - a": FLOATS,
    "2.0 ** a": FLOATS,
    "1j * a": "GPUArray complex64 (3,)",
    "True + a": FLOATS,
    "[1, 2, 3] + a": "GPUArray float64 (3,)",
    "divmod(7, b)[0]": FLOATS,
    "np.float32(2) * a": FLOATS,
    "np.ones(3) + a": NDARRAY,
    "np.array(1, 'f4') + a": FLOATS,
    "np.ones(3) @ a": NDARRAY,
    "a.__class__.__mul__(a, np.ones(3))": NDARRAY,
    "operator.iadd(a, np.float32(1)) is a": "True",
    "operator.iadd(a, np.float64(1)) is a": "True",
    "operator.imatmul(a, b)": "ValueError: inplace matrix multiplication requires the first operand to have at least "
    "one and the second at least two dimensions.",
    "-a": FLOATS,
    "+a": FLOATS,
    "abs(a)": FLOATS,
    "~a": unlooped("invert", "float32"),
    "sum(a)": "GPUArray float32 ()",
    "a + None": unsupported("+", "NoneType"),
    "a + 'x'": unsupported("+", "str"),
    "a * object()": unsupported("*", "object"),
    "a + stranger": "str",
    "stranger + a": "str",
    "a + PyGPU.zeros(4)": "ValueError: operands could not be broadcast together with shapes (3,) (4,)",
    # Expressions with comparisons.
    "a == b": "GPUArray bool (3,)",
    "a != b": "GPUArray bool (3,)",
    "a < b": "GPUArray bool (3,)",
    "a <= 1": "GPUArray bool (3,)",
    "a > np.ones(3)": NDARRAY,
    "1.0 >= a": "GPUArray bool (3,)",
    "a == 1": "GPUArray bool (3,)",
    "a == [1, 2, 3]": "GPUArray bool (3,)",
    "np.ones(3) == a": NDARRAY,
    "np.float64(1) < a": "GPUArray bool (3,)",
    "a == None": "GPUArray bool (3,)",
    "a != None": "GPUArray bool (3,)",
    "None == a": "GPUArray bool (3,)",
    "a == 'x'": "GPUArray bool (3,)",
    "a != {}": "GPUArray bool (3,)",
    "a == object()": "GPUArray bool (3,)",
    "a == stranger": "equal to a stranger",
    "a < None": unordered("<", "NoneType"),
    "a >= 'x'": unordered(">=", "str"),
    "1.0 in a": "False",
    "0 in a": "True",
    "None in a": "False",
    "a in [b]": TRUTH,
    "a in [a]": "True",
    "[a].index(b)": TRUTH,
    "[a, b].index(a)": "0",
    "max(a)": "GPUArray float32 ()",
    "sorted(a)[0]": "GPUArray float32 ()",
    "hash(a)": UNHASHABLE,
    # Expressions with functions of NumPy.
    "np.sin(a)": FLOATS,
    "np.add(a, b)": FLOATS,
    "np.add(a, b, out=a) is a": "True",
    "np.add(np.ones(3), 1, out=a)": NDARRAY,
    "np.add(a, b, where=np.array([True, False, True]))": NDARRAY,
    "np.add(a, b, where=[True, False, True])": LIST,
    "np.add(a, b, out=host)": INTO_NDARRAY.format("add"),
    "np.matmul(a, b, out=np.zeros(()))": INTO_NDARRAY.format("matmul"),
    "np.divmod(a, 2, out=(None, host))": INTO_NDARRAY.format("divmod"),
    "operator.iadd(host, a)": INTO_NDARRAY.format("add"),
    "operator.itruediv(host, a[0])": INTO_NDARRAY.format("divide"),
    "np.frexp(a)[1]": "GPUArray int32 (3,)",
    "np.add.reduce(a)": "GPUArray float32 ()",
    "np.subtract.reduce(a)": function("subtract.reduce"),
    "np.multiply.outer(a, b)": "GPUArray float32 (3, 3)",
    "np.sum(a)": "GPUArray float32 ()",
    "np.mean(a)": "GPUArray float32 ()",
    "np.argmax(a)": "GPUArray int64 ()",
    "np.cumsum(a)": FLOATS,
    "np.concatenate([a])": FLOATS,
    "np.stack([a, b])": "GPUArray float32 (2, 3)",
    "np.where(a, a, b)": FLOATS,
    "np.dot(a, b)": "GPUArray float32 ()",
    "np.einsum('i,i', a, b)": "GPUArray float32 ()",
    "np.zeros_like(a)": FLOATS,
    "np.copyto(np.zeros(3), a)": "TypeError: numpy.copyto: the ndarray of shape (3,) is in host memory; "
    "copy it to a device first, with PyGPU.to_gpu(x)",
    "np.array_equal(a, b)": "False",
    "np.save(io.BytesIO(), a)": "None",
    "np.ravel(a)": FLOATS,
    "np.linalg.norm(a)": "GPUArray float32 ()",
    "np.fft.fft(a)": "GPUArray complex64 (3,)",
    "np.transpose(a)": FLOATS,
    "np.reshape(a, (3, 1))": "GPUArray float32 (3, 1)",
    "np.split(a, 3)[1]": "GPUArray float32 (1,)",
    "np.shape(a)": "(3,)",
    "np.result_type(a, np.float64)": "float64",
    # Expressions that read elements on the host: conversions, copies, indices and iteration.
    "memoryview(a)": "TypeError: memoryview: a bytes-like object is required, not 'PyGPU.GPUArray'",
    "bytes(a)": repr(bytes(12)),
    "np.from_dlpack(a, device='cpu', copy=True)": "ndarray float32 (3,)",
    "a.get()": "ndarray float32 (3,)",
    "PyGPU.asarray(host, device='cpu').ptr == host.ctypes.data": "True",
    "PyGPU.from_dlpack(host).ptr == host.ctypes.data": "True",
    "PyGPU.asarray(a) is a": "True",
    "a[np.array([True, False, True])]": "GPUArray float32 (2,)",
    "a[[0, 5]]": "IndexError: index 5 is out of bounds for axis 0 with size 3",
    "a['x']": f"{INDEX}; got 'x' (str)",
    "a[0]": "GPUArray float32 ()",
    "float(a[0])": "0.0",
    "bool(a)": TRUTH,
    "len(a)": "3",
    "str(a)": "[0. 0. 0.]",
    "copy.copy(a)": FLOATS,
    "pickle.loads(pickle.dumps(a))": FLOATS,
    "del_item(a)": "ValueError: cannot delete array elements",
    # Calls of PyGPU's functions with device arrays as arguments. NumPy must convert none of these arrays.
    "a.set(b)": "None",
    "PyGPU.In(b)": f"TypeError: {HOST}",
    "PyGPU.to_gpu([b, b])": f"TypeError: {HOST}",
    "PyGPU.asarray([b, b])": "GPUArray float32 (2, 3)",
    "PyGPU.arange(b[0])": "TypeError: arange(): argument 1 is a GPUArray of shape () and dtype float32 on DEVICE; "
    "expected a number; write x.item() for the value of an array of one element",
    "a[[index]]": f"TypeError: {HOST}",
    "operator.setitem(a, ..., [b, b])": f"TypeError: {HOST}",
    "operator.setitem(a, [0, 1], [b[0], b[1]])": f"TypeError: {HOST}",
    "PyGPU.to_gpu(b)": FLOATS,
    "PyGPU.full(3, b)": FLOATS,
    "PyGPU.full(3, b[0])": FLOATS,
    "operator.setitem(a, ..., PyGPU.zeros(3))": "None",
    "a.fill(b[0])": FLOATS,
    # Expressions about the memory limit and the memory statistics.
    "limited(lambda: PyGPU.empty(1000, 'u1'))": "OutOfMemoryError",
    "grown(lambda: PyGPU.empty(1000, 'u1'))": "(1000, 1)",
    "PyGPU.set_memory_limit(-1)": "ValueError: nbytes is -1, and cannot be negative",
    # Expressions with captures and graphs.
    "captured(lambda: a.fill(1))": "1 operation",
    "captured(lambda: a + b)": "1 operation",
    "captured(lambda: operator.iadd(a, 1))": "1 operation",
    "captured(lambda: operator.setitem(a, ..., b))": "1 operation",
    "captured(lambda: a.copy())": "1 operation",
    "captured(lambda: PyGPU.zeros(3))": "1 operation",
    "captured(lambda: (a.fill(1), operator.setitem(a, ..., b)))": "2 operations",
    "captured(lambda: a.get())": uncaptured("a download that waits, or into ordinary host memory,"),
    "captured(lambda: a.tolist())": uncaptured("a download that waits, or into ordinary host memory,"),
    "captured(lambda: a.set(host))": uncaptured("an upload that waits, or of ordinary host memory,"),
    "captured(lambda: operator.setitem(a, ..., host))": uncaptured("an upload that waits, or of ordinary host memory,"),
    "captured(lambda: PyGPU.to_gpu(host))": uncaptured("an upload that waits, or of ordinary host memory,"),
    "captured(lambda: a.set_async(pinned))": "1 operation",
    "captured(lambda: a.get_async(ary=pinned))": "1 operation",
    "captured(lambda: a[index])": uncaptured("an index that is an array, whose places the host checks,"),
    "captured(lambda: a[mask])": uncaptured("a boolean mask, whose true elements the host counts,"),
    "captured(lambda: operator.setitem(a, mask, 1))": "1 operation",
    "captured(lambda: a[[0, 2]])": uncaptured("an upload that waits, or of ordinary host memory,"),
    "captured(lambda: operator.setitem(a, [0, 2], 1))": uncaptured("an upload that waits, or of ordinary host memory,"),
    "captured(lambda: operator.setitem(a, index, 1))": uncaptured(
        "an index that is an array, whose places the host checks,"
    ),
    "captured(lambda: float(a[0]))": uncaptured("a download that waits, or into ordinary host memory,"),
    "captured(lambda: str(a))": uncaptured("a download that waits, or into ordinary host memory,"),
    "captured(lambda: PyGPU.full(3, 7, 'int32'))": "1 operation",
    "captured(lambda: a.view('int32').fill(1))": "1 operation",
    "captured(lambda: pickle.dumps(a))": uncaptured("a download that waits, or into ordinary host memory,"),
    "captured(lambda: PyGPU.current_stream().synchronize())": uncaptured("waiting for the stream"),
    "captured(lambda: captured(lambda: a.fill(1)))": "0 operations",
    "captured(lambda: graph_of(lambda: a.fill(1)).launch())": uncaptured("the launch of a graph"),
    "captured(lambda: PyGPU.current_stream().begin_capture())": "CudaError 401",
    "captured(lambda: PyGPU.current_stream().query())": "CudaError 900",
    "captured(lambda: PyGPU.current_stream().record().synchronize())": "CudaError 907",
    "captured(lambda: PyGPU.current_stream().wait_event(PyGPU.Stream().record()))": "CudaError 905",
    "captured(lambda: a.fill(1, stream=PyGPU.default_stream()))": "0 operations",
    "captured(lambda: a.fill(1, stream=PyGPU.default_stream()), non_blocking=False)": "CudaError 906",
    "captured(lambda: PyGPU.synchronize())": "CudaError 900",
    "PyGPU.default_stream().begin_capture()": "ValueError: the default stream cannot capture; capture on a Stream()",
    "PyGPU.Stream().end_capture()": "ValueError: no capture of PyGPU began on the stream",
    "PyGPU.Graph().launch()": EMPTY,
    "PyGPU.Graph(mode='loose')": "ValueError: mode \"loose\" is none of 'relaxed', 'thread_local', 'global'",
}

# Expressions whose results differ without strict mode: NumPy may then read arrays of the CPU backend in place.
OF_HOST_MEMORY = {
    "np.asarray(a)": f"TypeError: {HOST}",
    "PyGPU.asarray(memoryview(b'abc')).flags['WRITEABLE']": "True",
    "captured(lambda: a[PyGPU.asarray([0, 2])])": uncaptured("an upload that waits, or of ordinary host memory,"),
    "np.array(a)": f"TypeError: {HOST}",
    "np.array([a, b])": f"TypeError: {HOST}",
    "np.zeros(3).__setitem__(slice(None), a)": f"TypeError: {HOST}",
    "np.testing.assert_array_equal(a, np.zeros(3))": f"TypeError: {HOST}",
    "a.__array__()": f"TypeError: {HOST}",
    "hasattr(a, '__array_interface__')": "False",
    "PyGPU.asarray(host, copy=False)": FORBIDDEN,
    "PyGPU.asarray(host).ptr == host.ctypes.data": "False",
    "PyGPU.asarray(host).base is None": "True",
}


class Stranger:
    """Define an object that is no array but implements addition to arrays and `==` with arrays."""

    def __radd__(self, other: object) -> str:
        return "from the right"

    def __add__(self, other: object) -> str:
        return "from the left"

    def __eq__(self, other: object) -> Any:
        return SimpleNamespace(text="equal to a stranger")

    __hash__ = None  # type: ignore[assignment]


def graph_of(work: Any, non_blocking: bool = True) -> PyGPU.Graph:
    with PyGPU.Graph(PyGPU.Stream(non_blocking=non_blocking)) as graph:
        work()
    return graph


def captured(work: Any, non_blocking: bool = True) -> SimpleNamespace:
    nodes = graph_of(work, non_blocking).num_nodes
    return SimpleNamespace(text=f"{nodes} operation{'s' * (nodes != 1)}")


def release_pending_frees() -> None:
    """Complete all pending frees, so that the memory statistics contain only arrays in use."""
    gc.collect()
    PyGPU.synchronize()
    PyGPU.trim_memory()


def limited(work: Any) -> Any:
    release_pending_frees()
    PyGPU.set_memory_limit(PyGPU.memory_statistics()["bytes"] + 999)
    try:
        return work()
    finally:
        PyGPU.set_memory_limit(None)


def grown(work: Any) -> tuple[int, int]:
    release_pending_frees()
    before = PyGPU.memory_statistics()
    kept = work()
    after = PyGPU.memory_statistics()
    del kept
    return after["bytes"] - before["bytes"], after["count"] - before["count"]


def del_item(array: Any) -> None:
    del array[0]


def text_of(value: Any) -> str:
    """Describe a result by its type and by the properties that are equal on all backends."""
    if isinstance(value, PyGPU.GPUArray | np.ndarray):
        return f"{type(value).__name__} {value.dtype} {value.shape}"
    if isinstance(value, SimpleNamespace):
        return str(value.text)
    if isinstance(value, str):
        return value if value.startswith("[") else "str"
    return str(value)


def outcome(line: str, names: dict[str, Any]) -> str:
    try:
        return text_of(eval(line, names))
    except PyGPU.OutOfMemoryError as error:
        return "OutOfMemoryError" if "set_memory_limit() allows" in str(error) else str(error)
    except PyGPU.CudaError as error:  # Each driver has its own error text, so only the type is compared.
        return f"CudaError {error.code}"
    except Exception as error:
        text = re.sub(r'(?<!")\b(cpu|cuda:0|hip:0)\b', "DEVICE", str(error))
        return f"{type(error).__name__}: {text}"


def check(line: str, expected: str) -> None:
    names = {
        "np": np,
        "PyGPU": PyGPU,
        "a": PyGPU.zeros(3, "float32"),
        "b": PyGPU.ones(3, "float32"),
        "host": np.ones(3, np.float32),
        "pinned": PyGPU.empty_pinned(3, np.float32),
        "index": PyGPU.asarray([0, 2]),
        "mask": PyGPU.asarray([True, False, True]),
        "stranger": Stranger(),
        "operator": operators,
        "io": io,
        "copy": copy,
        "pickle": pickle,
        "captured": captured,
        "graph_of": graph_of,
        "limited": limited,
        "grown": grown,
        "del_item": del_item,
    }
    assert outcome(line, names) == expected


@pytest.fixture(params=[True, False], ids=["strict", "not strict"])
def strict(request: pytest.FixtureRequest) -> Iterator[None]:
    before = _core._set_strict(request.param)
    yield
    _core._set_strict(before)


@pytest.mark.provokes_errors
@pytest.mark.provokes_findings
@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("line", [line for line in PROGRAMS if "np.from_dlpack(" not in line or is_numpy("2.1")])
def test_expression_gives_expected_result_on_every_backend(line: str) -> None:
    check(line, PROGRAMS[line])


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("strict", [True], indirect=True)
@pytest.mark.parametrize("line", OF_HOST_MEMORY)
def test_strict_mode_expression_gives_expected_result_on_every_backend(line: str) -> None:
    check(line, OF_HOST_MEMORY[line])
