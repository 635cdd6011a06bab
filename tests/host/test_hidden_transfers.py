"""Test that functions of device arrays neither copy arrays between host and device nor compute on the host.

Each function is called twice with an array. The second call is measured by the bytes that the simulated driver copies
between host and device, and by the peak of the memory that Python and NumPy allocate. Both numbers must be less than
the size of the array. `TEST_ALL=1` calls all functions with 10^6 elements; otherwise a sample is called with 16384
elements.
"""

from __future__ import annotations

import contextlib
import io
import os
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver
from fusion_support import calls
from fusion_support.public_name_calls import public_functions

PyGPU.device_count()
pytestmark = [
    pytest.mark.enough_on("cuda"),
    pytest.mark.skipif(simulated_driver.driver() is None, reason="the simulated driver counts the bytes of copies"),
    pytest.mark.filterwarnings("ignore"),
]

IS_COMPLETE = bool(os.environ.get("TEST_ALL"))
SIDE = 128
ROWS = 10**6 // SIDE if IS_COMPLETE else SIDE
PYTHON_BYTES = 50_000
"""Bytes that Python may allocate for the call itself, regardless of the size of the array."""
EVERY = 6
"""Without `TEST_ALL`, the test calls every sixth function in the list of names, and the functions of `CALLS`."""

INDICES = [3, 5, 9]
CALLS: dict[str, Callable[[Any], Any]] = {
    "append": lambda x: PyGPU.append(x, x),
    "broadcast_to": lambda x: PyGPU.broadcast_to(x, (2, *x.shape)),
    "choose": lambda x: PyGPU.choose(x.astype("int64") % 2, [x, x]),
    "compress": lambda x: PyGPU.compress(x.ravel() > 20, x),
    "cross": lambda x: PyGPU.cross(x[:, :3], x[:, 3:6]),
    "dsplit": lambda x: PyGPU.dsplit(x.reshape(-1, 4, 2), 2),
    "histogramdd": lambda x: PyGPU.histogramdd(x[:, :2]),
    "put_along_axis": lambda x: PyGPU.put_along_axis(x, PyGPU.zeros((1, SIDE), "int64"), 5.0, 0),
    "take_along_axis": lambda x: PyGPU.take_along_axis(x, PyGPU.zeros((1, SIDE), "int64"), 0),
    "vander": lambda x: PyGPU.vander(x.ravel(), 3),
    "delete": lambda x: (
        PyGPU.delete(x, x.ravel() > 20),
        PyGPU.delete(x, 5),
        PyGPU.delete(x, INDICES),
        PyGPU.delete(x, slice(None, None, 2), 0),
    ),
    "insert": lambda x: (PyGPU.insert(x, 5, 1.0), PyGPU.insert(x, INDICES, 1.0), PyGPU.insert(x, 0, 1.0, 1)),
    "kron": lambda x: PyGPU.kron(x, x[:2, :2]),
    "outer": lambda x: PyGPU.outer(x, x[0, :4]),
    # The number of steps is the number of coefficients.
    "polyval": lambda x: PyGPU.polyval([3, 0, 1], x),
    "percentile": lambda x: PyGPU.percentile(x, [25, 75]),
    "nanpercentile": lambda x: PyGPU.nanpercentile(x, [25, 75], axis=0),
    "quantile": lambda x: PyGPU.quantile(x, 0.5),
    "nanquantile": lambda x: PyGPU.nanquantile(x, 0.5, axis=1),
    "repeat": lambda x: (PyGPU.repeat(x, 7), PyGPU.repeat(x[0], ROWS), PyGPU.repeat(x[:3], [1, ROWS, 0], axis=0)),
    "reshape": lambda x: x.reshape(-1, 2),
    "resize": lambda x: PyGPU.resize(x, (3 * ROWS, SIDE)),
    "roll": lambda x: PyGPU.roll(x, 5),
    "trim_zeros": lambda x: PyGPU.trim_zeros(x.ravel()),
    "unstack": lambda x: PyGPU.unstack(x, axis=1),
    "unravel_index": lambda x: PyGPU.unravel_index(x.astype("int64"), (ROWS, SIDE)),
    "ravel_multi_index": lambda x: PyGPU.ravel_multi_index((x.astype("int64") % 3,) * 2, (3, 3)),
}
"""Calls that `fusion_support.calls` does not define, and calls of functions that formerly transferred arrays."""
JOINING = ("column_stack", "concat", "concatenate", "dstack", "hstack", "lexsort", "stack", "vstack")
"""Functions of a sequence of arrays.

They would treat a matrix as the sequence of its rows.
"""

MAY_TRANSFER = {
    name: reason
    for reason, names in {
        "returns values of the host": """
            array2string array_repr array_str asnumpy array_equal save savetxt savez savez_compressed item tolist
        """,
        "takes values of the host": "asarray_chkfinite fromfunction",
        "calls a function of Python for each row": "apply_along_axis",
        "shows its memory": "info pointers memory_statistics",
    }.items()
    for name in names.split()
}
SQUARE = dict.fromkeys(("corrcoef", "cov", "inner", "matvec"), SIDE) | {"poly": 8, "roots": 8}
"""Functions whose time grows too fast with the number of rows, each with the side of the square matrix that it gets."""


def call_of(name: str) -> list[Callable[[Any], Any]]:
    if name in CALLS:
        return [CALLS[name]]
    function = getattr(PyGPU, name)
    if name in JOINING:
        return [lambda x: function([x, x])]
    guesses = [calls.FUNCTIONS[name]] if name in calls.FUNCTIONS else list(calls.GUESSES)
    return [lambda x, guess=guess: guess(function, x) for guess in guesses]


def measured(name: str, x: PyGPU.GPUArray) -> tuple[int, int, int] | None:
    """Return three numbers for a function's second call: bytes copied to the device, bytes copied to the host, and the
    peak of host memory.

    The result is None if no known call of the function accepts the array.
    """
    driver = simulated_driver.driver()
    assert driver is not None
    for call in call_of(name):
        argument = x.copy()
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                call(argument)
                PyGPU.synchronize()
            except Exception:
                continue
            argument = x.copy()
            PyGPU.synchronize()
            tracemalloc.start()
            before = driver.transferred()
            try:
                result = call(argument)
                PyGPU.synchronize()
                after, (_, peak) = driver.transferred(), tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
        del result
        return after[0] - before[0], after[1] - before[1], peak
    return None


def functions() -> list[str]:
    names = [name for name in public_functions() if name not in calls.NOT_CALLED and name not in MAY_TRANSFER]
    return names if IS_COMPLETE else [name for at, name in enumerate(names) if at % EVERY == 0 or name in CALLS]


def test_functions_do_not_transfer_their_device_array_arguments() -> None:
    """Compare the bytes of copies and the host memory with the size of the array.

    Formerly `repeat(a, n)` allocated n numbers on the host, `delete` and `insert` uploaded one index per element, and
    `trim_zeros` downloaded one index per element.
    """
    large = PyGPU.to_gpu((np.arange(ROWS * SIDE) % 97 + 1.0).reshape(ROWS, SIDE))
    exceeding = {}
    for name in functions():
        side = SQUARE.get(name, SIDE)
        for x in (large[:side, :side].copy(),) if name in SQUARE else (large, large[:SIDE].copy()):
            figures = measured(name, x)
            if figures is not None:
                break
        assert figures is not None, f"no call of {name} with an array is known here: add one to CALLS"
        uploaded, downloaded, peak = figures
        if max(uploaded, downloaded) >= x.size or peak >= x.size + PYTHON_BYTES:
            exceeding[name] = figures
    assert exceeding == {}


def test_counters_detect_transfers_and_use_of_host_memory() -> None:
    """Check the counters of copied bytes and of host memory with functions whose purpose is to transfer an array."""
    x = PyGPU.to_gpu(np.ones((SIDE, SIDE)))
    uploaded, downloaded, peak = measured("asnumpy", x) or (0, 0, 0)
    assert (uploaded, downloaded) == (0, x.nbytes)
    assert peak >= x.nbytes
    driver = simulated_driver.driver()
    assert driver is not None
    before = driver.transferred()
    PyGPU.to_gpu(np.ones(1000))
    assert driver.transferred()[0] - before[0] == 8000
