"""Use functions of each kind (ufuncs, reductions, native and Python functions) in a program that type checkers read."""

from collections.abc import Callable
from typing import assert_type

import PyGPU
from PyGPU import GPUArray


def elements(x: GPUArray, y: GPUArray) -> GPUArray:
    """Call elementwise functions with one result and with two."""
    assert_type(PyGPU.sin(x), GPUArray)
    assert_type(PyGPU.exp(1.0), GPUArray)
    assert_type(PyGPU.add(x, y, out=x), GPUArray)
    assert_type(PyGPU.hypot(x, 1), GPUArray)
    assert_type(PyGPU.logaddexp(x, y), GPUArray)
    assert_type(PyGPU.maximum(x, 0), GPUArray)
    assert_type(PyGPU.isnan(x), GPUArray)
    assert_type(PyGPU.frexp(x), tuple[GPUArray, GPUArray])
    assert_type(PyGPU.modf(x), tuple[GPUArray, GPUArray])
    assert_type(PyGPU.divmod(x, 2), tuple[GPUArray, GPUArray])
    assert_type(PyGPU.add.reduce(x), GPUArray)
    assert_type(PyGPU.multiply.outer(x, y), GPUArray)
    assert_type(PyGPU.maximum.accumulate(x), GPUArray)
    assert_type(PyGPU.where(x > y, x, y), GPUArray)
    assert_type(PyGPU.where(x > y), tuple[GPUArray, ...])
    assert_type(PyGPU.clip(x, 0, 1), GPUArray)
    assert_type(PyGPU.round(x, 2), GPUArray)
    assert_type(PyGPU.nan_to_num(x), GPUArray)
    return PyGPU.sqrt(PyGPU.square(x) + PyGPU.square(y))


def applied(function: Callable[[GPUArray], GPUArray], x: GPUArray) -> GPUArray:
    """Pass a ufunc and a reduction to functions that take functions of arrays."""
    return function(x)


def reduced(x: GPUArray) -> GPUArray:
    """Call reductions and scans."""
    assert_type(PyGPU.sum(x, axis=0), GPUArray)
    assert_type(PyGPU.mean(x), GPUArray)
    assert_type(PyGPU.max(x), GPUArray)
    assert_type(PyGPU.argmin(x), GPUArray)
    assert_type(PyGPU.count_nonzero(x), GPUArray)
    assert_type(PyGPU.ptp(x), GPUArray)
    assert_type(PyGPU.nansum(x), GPUArray)
    assert_type(PyGPU.nanvar(x, axis=0), GPUArray)
    assert_type(PyGPU.cumsum(x), GPUArray)
    assert_type(PyGPU.nancumprod(x), GPUArray)
    assert_type(PyGPU.median(x), GPUArray)
    assert_type(PyGPU.percentile(x, [25, 75]), GPUArray)
    assert_type(PyGPU.average(x, weights=x), GPUArray)
    assert_type(PyGPU.average(x, weights=x, returned=True), tuple[GPUArray, GPUArray])
    return applied(PyGPU.cos, x) + applied(PyGPU.std, x)


def created() -> GPUArray:
    """Call functions that create arrays."""
    assert_type(PyGPU.empty((2, 3), "float32"), GPUArray)
    assert_type(PyGPU.zeros(3), GPUArray)
    assert_type(PyGPU.full_like(PyGPU.ones(3), 2), GPUArray)
    assert_type(PyGPU.linspace(0, 1, 5), GPUArray)
    assert_type(PyGPU.linspace(0, 1, 5, retstep=True)[0], GPUArray)
    assert_type(PyGPU.eye(3), GPUArray)
    assert_type(PyGPU.array([1, 2]), GPUArray)
    assert_type(PyGPU.tri(3), GPUArray)
    assert_type(PyGPU.logspace(0, 2, 3), GPUArray)
    return PyGPU.to_gpu([1.0, 2.0])


def rearranged(x: GPUArray) -> GPUArray:
    """Call functions for shapes, sorting and selection."""
    assert_type(PyGPU.concatenate((x, x)), GPUArray)
    assert_type(PyGPU.stack([x, x], axis=1), GPUArray)
    assert_type(PyGPU.split(x, 2), list[GPUArray])
    assert_type(PyGPU.reshape(x, (2, -1)), GPUArray)
    assert_type(PyGPU.transpose(x), GPUArray)
    assert_type(PyGPU.broadcast_to(x, (2, 4)), GPUArray)
    assert_type(PyGPU.flip(x), GPUArray)
    assert_type(PyGPU.roll(x, 1), GPUArray)
    assert_type(PyGPU.pad(x, 1), GPUArray)
    assert_type(PyGPU.tile(x, 2), GPUArray)
    assert_type(PyGPU.atleast_2d(x), GPUArray)
    assert_type(PyGPU.meshgrid(x, x), tuple[GPUArray, ...])
    assert_type(PyGPU.take(x, [0, 1]), GPUArray)
    assert_type(PyGPU.nonzero(x), tuple[GPUArray, ...])
    assert_type(PyGPU.sort(x), GPUArray)
    assert_type(PyGPU.argsort(x, descending=True), GPUArray)
    assert_type(PyGPU.searchsorted(x, x), GPUArray)
    assert_type(PyGPU.unique(x), GPUArray)
    assert_type(PyGPU.unique(x, return_counts=True), tuple[GPUArray, ...])
    assert_type(PyGPU.diff(x), GPUArray)
    assert_type(PyGPU.interp(x, x, x), GPUArray)
    return PyGPU.repeat(x, 2)


def products(a: GPUArray) -> GPUArray:
    """Call products and linear algebra."""
    assert_type(PyGPU.matmul(a, a), GPUArray)
    assert_type(PyGPU.dot(a, a), GPUArray)
    assert_type(PyGPU.einsum("ij,jk->ik", a, a), GPUArray)
    assert_type(PyGPU.outer(a, a), GPUArray)
    assert_type(PyGPU.trace(a), GPUArray)
    assert_type(PyGPU.linalg.inv(a), GPUArray)
    assert_type(PyGPU.fft.fft(a), GPUArray)
    return PyGPU.tensordot(a, a, axes=1)


def main() -> None:
    """Run the functions above."""
    x = PyGPU.arange(1, 5, dtype="float64")
    elements(x.copy(), x)
    reduced(x)
    created()
    rearranged(x)
    products(PyGPU.eye(2))
