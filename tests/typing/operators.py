"""Use every operator and attribute of an array in a program that type checkers read and a test runs."""

from typing import Any, assert_type

import numpy as np

import PyGPU
from PyGPU import GPUArray


def normalized(x: GPUArray) -> GPUArray:
    """Return the value of an expression with several operators, whose type is an array."""
    return (x - x.mean()) / (x.std() + 1e-6)


def arithmetic(a: GPUArray, b: GPUArray) -> GPUArray:
    """Use arithmetic operators: array with array, and with a number on each side."""
    assert_type(a + b, GPUArray)
    assert_type(a + 1, GPUArray)
    assert_type(1 + a, GPUArray)
    assert_type(a - b, GPUArray)
    assert_type(2.5 - a, GPUArray)
    assert_type(a * b, GPUArray)
    assert_type(2j * a, GPUArray)
    assert_type(a / b, GPUArray)
    assert_type(1 / a, GPUArray)
    assert_type(a // b, GPUArray)
    assert_type(7 // a, GPUArray)
    assert_type(a % b, GPUArray)
    assert_type(7 % a, GPUArray)
    assert_type(a**2, GPUArray)
    assert_type(2**a, GPUArray)
    assert_type(divmod(a, b), tuple[GPUArray, GPUArray])
    assert_type(divmod(7, a), tuple[GPUArray, GPUArray])
    assert_type(a * np.float32(2), GPUArray)
    assert_type(a * True, GPUArray)
    assert_type(-a, GPUArray)
    assert_type(+a, GPUArray)
    assert_type(abs(a), GPUArray)
    return a + b * 2 - 1 / b


def matrices(a: GPUArray) -> GPUArray:
    """Use the operator for matrix products."""
    assert_type(a @ a.T, GPUArray)
    assert_type(a.T @ a, GPUArray)
    return a @ a.mT


def integers(n: GPUArray) -> GPUArray:
    """Use bitwise operators."""
    assert_type(n & 1, GPUArray)
    assert_type(1 & n, GPUArray)
    assert_type(n | n, GPUArray)
    assert_type(n ^ 3, GPUArray)
    assert_type(n << 1, GPUArray)
    assert_type(1 << n, GPUArray)
    assert_type(n >> 1, GPUArray)
    assert_type(8 >> n, GPUArray)
    assert_type(~n, GPUArray)
    return (n & 3) | (n << 2) ^ ~n


def comparisons(a: GPUArray, b: GPUArray) -> GPUArray:
    """Use comparisons, and their boolean results as indices."""
    assert_type(a < b, GPUArray)
    assert_type(a <= 1, GPUArray)
    assert_type(a > b, GPUArray)
    assert_type(a >= 1, GPUArray)
    assert_type(a == b, GPUArray)
    assert_type(a != 0, GPUArray)
    assert_type(1.0 in a, bool)
    return a[(a > 0) & (b != 0)]


def in_place(a: GPUArray, n: GPUArray) -> tuple[GPUArray, GPUArray]:
    """Use in-place operators."""
    a += 1
    a -= n
    a *= 2
    a /= 2
    a //= 1
    a %= 100
    a **= 2
    n <<= 1
    n >>= 1
    n &= 7
    n |= 1
    n ^= 2
    a[0] = 1
    a[1:] = a[:-1]
    a[a > 3] = 0
    return a, n


def attributes(a: GPUArray) -> tuple[int, ...]:
    """Use attributes and conversions."""
    assert_type(a.shape, tuple[int, ...])
    assert_type(a.dtype, np.dtype[Any])
    assert_type(a.size + a.ndim + a.nbytes + len(a), int)
    assert_type(a[0], GPUArray)
    assert_type(a[..., None], GPUArray)
    assert_type(float(a[0]), float)
    assert_type(int(a[0]), int)
    assert_type(bool(a[0]), bool)
    assert_type(complex(a[0]), complex)
    assert_type(list(a), list[GPUArray])
    assert_type(a.reshape(-1, 1).ravel().astype("float32").copy(), GPUArray)
    assert_type(a.sum(), GPUArray)
    assert_type(a.argmax(), GPUArray)
    assert_type(a.cumsum(), GPUArray)
    assert_type(a.clip(0, 1).round(2), GPUArray)
    assert_type(a.flags.c_contiguous, bool)
    return a.strides


def main() -> None:
    """Run the functions above."""
    a, b = PyGPU.arange(1, 9, dtype="float64"), PyGPU.full(8, 2.0)
    n = PyGPU.arange(8)
    normalized(a)
    arithmetic(a, b)
    matrices(a.reshape(2, 4))
    integers(n)
    comparisons(a, b)
    attributes(a)
    in_place(a, n)
