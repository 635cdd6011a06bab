"""Describe the arguments of a call, and build each argument for NumPy or for PyGPU (the parameter `package`)."""

from __future__ import annotations

import dataclasses
import io
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

import PyGPU

DTYPES = ["float64", "float32", "float16", "int64", "int8", "uint8", "bool", "complex64", "complex128"]


def _reversed(array: Any) -> Any:
    return array[(slice(None, None, -1),) * array.ndim]


def _pad(values: np.ndarray) -> np.ndarray:
    return np.concatenate([values[:1], values]) if values.shape[0] else np.zeros((1, *values.shape[1:]), values.dtype)


# A layout is a pair of functions: the first returns the array to store, the second the view of the stored array.
LAYOUTS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], Callable[[Any], Any]]] = {
    "C": (lambda values: values.copy("C"), lambda array: array),
    "F": (lambda values: values.copy("F"), lambda array: array),
    "transposed": (lambda values: values.swapaxes(0, -1).copy("C"), lambda array: array.swapaxes(0, -1)),
    "reversed": (lambda values: _reversed(values).copy("C"), _reversed),
    "stepped": (lambda values: np.repeat(values, 2, -1), lambda array: array[..., ::2]),
    "offset": (_pad, lambda array: array[1:]),
}


@dataclasses.dataclass(frozen=True)
class Operand:
    """Describe an array argument.

    A dtype of `None`, or a shape of "same", is replaced by the dtype or shape of the call's first array.
    """

    shape: tuple[int, ...] | str = "same"
    dtype: str | None = None
    style: str = "general"
    layout: str = "C"
    salt: int = 0

    def __repr__(self) -> str:
        parts = [str(self.dtype), str(self.shape).replace(" ", "")]
        parts += [self.style] if self.style != "general" else []
        return f"<{' '.join(parts + ([self.layout] if self.layout != 'C' else []))}>"

    def filled(self, first: Operand) -> Operand:
        """Return the operand with explicit shape and dtype; the call's first array provides missing values."""
        shape = first.shape if self.shape == "same" else self.shape
        layout = self.layout if shape else "C"
        return dataclasses.replace(self, shape=shape, dtype=self.dtype or first.dtype, layout=layout)

    def values(self) -> np.ndarray:
        return values_of(self.shape, np.dtype(self.dtype), self.style, self.salt)

    def build(self, package: Any) -> Any:
        put, view = LAYOUTS[self.layout]
        base = put(self.values())
        return view(base if package is np else PyGPU.to_gpu(base))


@dataclasses.dataclass(frozen=True)
class Out:
    """Describe an output array. `kind` states how the array differs from the result of a call without `out`."""

    kind: str = "exact"

    def build(self, package: Any, result: Any) -> Any:
        """Build the output array, or one array for each result of a tuple."""
        if isinstance(result, tuple):
            return tuple(self.build(package, part) for part in result)
        host = np.asarray(result)
        shape, dtype = host.shape, host.dtype
        if self.kind == "other shape":
            shape = (*shape, 2)
        elif self.kind == "broadcast":
            shape = (2, *shape)
        elif self.kind == "narrow":
            dtype = np.dtype("int8" if dtype.kind != "b" else "bool")
        elif self.kind == "wide":
            dtype = np.dtype("complex128")
        base = np.zeros(shape, dtype, order="F" if self.kind == "F" else "C")
        return base if package is np else PyGPU.to_gpu(base)


@dataclasses.dataclass(frozen=True)
class Callback:
    """Describe a function argument: `make(package)` returns the function for NumPy or PyGPU."""

    name: str
    make: Callable[[Any], Any]

    def __repr__(self) -> str:
        return self.name

    def build(self, package: Any) -> Any:
        return self.make(package)


@dataclasses.dataclass(frozen=True)
class File:
    """Describe a binary file with the given content."""

    content: bytes = b""

    def build(self, package: Any) -> Any:
        del package
        return io.BytesIO(self.content)


def build(description: Any, package: Any) -> Any:
    """Build an argument for a package; lists and tuples are built element by element."""
    if hasattr(description, "build"):
        return description.build(package)
    if type(description) in (list, tuple):
        return type(description)(build(element, package) for element in description)
    if isinstance(description, dict):
        return {key: build(element, package) for key, element in description.items()}
    return description


def _general(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return numbers that every dtype of the same kind represents exactly."""
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "u":
        return rng.integers(0, 16, shape).astype(dtype)
    if dtype.kind == "i":
        return rng.integers(-9, 10, shape).astype(dtype)
    if dtype.kind == "c":
        return (_general(rng, shape, np.dtype("f8")) + 1j * _general(rng, shape, np.dtype("f8"))).astype(dtype)
    return (rng.integers(-40, 41, shape) / 8).astype(dtype)


def _special(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return numbers that include the greatest and least number of a dtype, infinities, NaN and negative zeros."""
    values = _general(rng, shape, dtype)
    if dtype.kind == "b":
        return values
    if dtype.kind in "iu":
        edges = [np.iinfo(dtype).max, np.iinfo(dtype).min, 0]
    else:
        edges = [np.nan, np.inf, -np.inf, -0.0, 0.0]
    chosen = rng.integers(0, 2 * len(edges), shape)
    for position, edge in enumerate(edges):
        values = np.where(chosen == position, np.array(edge, dtype), values)
    return values.astype(dtype)


def _definite(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return values that make square matrices positive definite with distinct eigenvalues."""
    values = _general(rng, shape, dtype)
    if len(shape) < 2 or shape[-1] != shape[-2] or dtype.kind not in "fc" or dtype.itemsize == 2:
        return values
    product = values @ values.conj().swapaxes(-1, -2) / 8
    return (product + np.diag(np.arange(1, shape[-1] + 1))).astype(dtype)


def values_of(shape: Any, dtype: np.dtype, style: str, salt: int) -> np.ndarray:
    """Return the values of an operand; equal arguments give equal values."""
    return np.asarray(
        _values_of(
            np.random.default_rng(zlib.crc32(repr((shape, dtype.kind, style, salt)).encode())), shape, dtype, style
        )
    )


def _values_of(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype, style: str) -> Any:
    if style == "special":
        return _special(rng, shape, dtype)
    if style == "definite":
        return _definite(rng, shape, dtype)
    if style == "index":
        return rng.integers(0, 2, shape).astype(dtype)
    if style == "counts":
        return rng.integers(0, 6, shape).astype(dtype)
    if style == "distinct" and dtype.kind != "b":
        return (
            rng.permutation(np.arange(-40 if dtype.kind != "u" else 0, 80, 2))[: int(np.prod(shape))]
            .reshape(shape)
            .astype(dtype)
        )
    values = _general(rng, shape, dtype)
    if style == "sorted" and values.ndim:
        values = np.sort(values, axis=-1)
    return values
