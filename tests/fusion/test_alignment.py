"""Test fused kernels that read views of pending results at any offset that the element type allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from fusion_support.operation_counts import limits, waiting
from PyGPU import _core

pytestmark = pytest.mark.usefixtures("compiled_together")
DTYPES = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "float16",
    "int32",
    "uint32",
    "float32",
    "int64",
    "uint64",
    "float64",
    "complex64",
    "complex128",
)
# Size of a vector load in bytes. Views with offsets of up to one vector are tested.
PACK = 16
COUNT = 64


def twice(x: Any) -> Any:
    """Return a pending result that combines the operand with itself: by `|` for bool and by `+` for other dtypes."""
    return x | x if x.dtype == bool else x + x


def squared(part: Any) -> Any:
    return part & part if part.dtype == bool else part * part


FORMS: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda part: squared(squared(part)),
    "reduction": lambda part: squared(part).max() if part.dtype.kind != "c" else squared(part).sum(),
    "count": lambda part: (squared(part) != 0).sum(),
    "cast": lambda part: squared(part).astype(bool),
    "two operands": lambda part: (
        squared(part[:-1]) | squared(part[1:]) if part.dtype == bool else squared(part[:-1]) - squared(part[1:])
    ),
}


def in_place(part: Any) -> Any:
    """Assign a pending expression to an existing array, and return that array."""
    target = PyGPU.zeros(part.shape, part.dtype) if isinstance(part, PyGPU.GPUArray) else np.zeros_like(part)
    target[...] = squared(part)
    return target


FORMS["in place"] = in_place


def several(part: Any) -> Any:
    """Compute three results in one kernel. The caller keeps both intermediate results alive, so the kernel must store
    them."""
    first = squared(part)
    second = squared(first)
    return [first, second, first | part if part.dtype == bool else first - part]


def chosen(part: Any) -> Any:
    """Select elements of two views by a condition. The condition and the two views begin at different offsets."""
    xp = PyGPU if isinstance(part, PyGPU.GPUArray) else np
    return xp.where(squared(part)[:-2] != 0, part[1:-1], squared(part[2:]))


def rows(part: Any) -> Any:
    """Combine each row of a matrix with the matrix's second row, by broadcasting."""
    matrix = part[: part.size // 4 * 4].reshape(4, -1)
    return squared(matrix) | matrix[1] if part.dtype == bool else squared(matrix) - matrix[1]


def reduced_rows(part: Any) -> Any:
    matrix = part[: part.size // 4 * 4].reshape(4, -1)
    return [(squared(matrix[:, 1:]) != 0).sum(axis=0), (squared(matrix[1:]) != 0).sum(axis=1)]


# Expressions that the tests apply to views, which begin at any byte offset.
ANYWHERE: dict[str, Callable[[Any], Any]] = FORMS | {
    "several results": several,
    "choice": chosen,
    "broadcast row": rows,
    "reductions of rows": reduced_rows,
}
CUT = {"compile_threshold": 1, "arrays": 3, "outputs": 1}


def host_of(dtype: str) -> np.ndarray:
    source = np.random.default_rng(7)
    return source.integers(0, 5, COUNT).astype(dtype)


def offsets(dtype: str) -> list[int]:
    """Return the element offsets that correspond to 1 to 16 bytes. For elements of more than 16 bytes, return offset 1
    only."""
    itemsize = np.dtype(dtype).itemsize
    return [byte // itemsize for byte in range(1, PACK + 1) if byte % itemsize == 0] or [1]


def values(result: Any) -> np.ndarray:
    return result.get() if isinstance(result, PyGPU.GPUArray) else np.asarray(result)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_shifted_views_of_pending_results_match_numpy(dtype: str, form: str) -> None:
    host, compute = host_of(dtype), FORMS[form]
    x = PyGPU.to_gpu(host)
    with limits(compile_threshold=1):
        for offset in offsets(dtype):
            y = twice(x)
            made = compute(y[offset:])
            _core.flush()
            np.testing.assert_array_equal(values(made), compute(twice(host)[offset:]), f"{offset=}")
            np.testing.assert_array_equal(y.get(), twice(host))


def parts(made: Any) -> list[Any]:
    return made if isinstance(made, list) else [made]


def computed(compute: Callable[[Any], Any], part: Any) -> list[Any]:
    """Compute an expression, flush while all its results are alive, and return the results as a list."""
    made = parts(compute(part))
    PyGPU.flush()
    return made


@pytest.mark.parametrize("settings", [{"compile_threshold": 1}, CUT], ids=["fused", "cut"])
@pytest.mark.parametrize("form", ANYWHERE)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.sampled(on="cuda")
def test_views_of_pending_results_at_each_byte_match_numpy(dtype: str, form: str, settings: dict[str, int]) -> None:
    compute = ANYWHERE[form]
    # The pending result `y` has dtype uint8. A view of `y` with another dtype can begin at any byte.
    itemsize = np.dtype(dtype).itemsize
    plain = host_of(dtype)
    with limits(**settings):
        for offset in range(PACK):
            raw = np.zeros(plain.nbytes + PACK, "uint8")
            raw[offset : offset + plain.nbytes] = plain.view("uint8")
            halves = raw // 2
            x, odd = PyGPU.to_gpu(halves), PyGPU.to_gpu(raw - 2 * halves)
            y = x + x + odd
            assert waiting() > 0
            part = y[offset : offset + plain.nbytes].view(dtype)
            if offset % itemsize == 0:
                for got, host in zip(computed(compute, part), parts(compute(plain)), strict=True):
                    np.testing.assert_array_equal(values(got), host, f"{offset=}")
                # `pending` is a view of a pending result with the dtype `dtype`, and begins `offset` bytes into it.
                shifted = PyGPU.to_gpu(np.concatenate([plain[: offset // itemsize], plain]))
                pending = twice(shifted)[offset // itemsize :]
                for got, host in zip(computed(compute, pending), parts(compute(twice(plain))), strict=True):
                    np.testing.assert_array_equal(values(got), host, f"{offset=}")
            else:
                # A device cannot read unaligned elements, so the operation first copies its unaligned operand.
                for got, host in zip(computed(compute, part), parts(compute(plain)), strict=True):
                    np.testing.assert_array_equal(values(got), host, f"{offset=}")
            np.testing.assert_array_equal(y.get(), raw)


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "float64"])
def test_stepped_and_reversed_views_of_pending_results_match_numpy(dtype: str) -> None:
    host = host_of(dtype)
    x = PyGPU.to_gpu(host)
    keys = (slice(1, -3), slice(None, None, -1), slice(3, None, 2), slice(2, 2 + 17), slice(1, 2))
    with limits(compile_threshold=1):
        for key in keys:
            for form in ("elementwise", "reduction", "in place"):
                y = twice(x)
                made = FORMS[form](y[key])
                _core.flush()
                np.testing.assert_array_equal(values(made), FORMS[form](twice(host)[key]), f"{key} {form}")


def test_compiled_reduction_of_shifted_pending_view_matches_numpy() -> None:
    host = np.arange(100, dtype=np.float32)
    x = PyGPU.to_gpu(host)
    for _ in range(3):
        y = x + x
        total = (y[1:] * y[1:]).sum()
        np.testing.assert_array_equal(total.get(), (4 * host[1:] ** 2).sum())
        assert y.shape == x.shape


@pytest.mark.parametrize("axis", [0, 1])
def test_reductions_of_shifted_pending_rows_match_numpy(axis: int) -> None:
    host = (np.arange(12 * 33) % 7).astype(np.int16).reshape(12, 33)
    x = PyGPU.to_gpu(host)
    with limits(compile_threshold=1):
        for first in range(1, 9):
            y = x + x
            made = (y[:, first:] * y[:, first:]).sum(axis=axis)
            whole = (y[first:] * y[first:]).sum(axis=axis)
            _core.flush()
            twin = (host + host)[:, first:]
            np.testing.assert_array_equal(made.get(), (twin * twin).sum(axis=axis))
            twin = (host + host)[first:]
            np.testing.assert_array_equal(whole.get(), (twin * twin).sum(axis=axis))
