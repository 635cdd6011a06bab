"""Define arithmetic operations: operators and functions on any layout, scalars, overlapping outputs, masks.

Each operation has exactly one correct result, so the results of PyGPU and NumPy must be equal in all bits, except for
the bits of NaN.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import PyGPU
from soak_operations.operation_registry import Operation, device_of, of_moderate_size, operation, writeable

if TYPE_CHECKING:
    from soak import Held, Soak

# Pairs of operand dtypes. If the compilation of a kernel takes long, only the first pairs are used.
PAIRS = [
    ("int32", "int32"), ("float32", "float32"), ("uint8", "int16"), ("float64", "float64"),
    ("int64", "int32"), ("float32", "float64"), ("int8", "uint32"), ("bool", "int32"), ("uint8", "uint8"),
    ("float16", "float16"), ("float16", "float32"), ("int32", "float32"), ("bool", "bool"), ("complex64", "complex64"),
    ("float32", "complex64"), ("int16", "complex128"),
]  # fmt: skip
FEW = 1
FEW_NAMES = 2
# For each kind of dtype, the functions with exact or correctly rounded results, which are equal on all devices.
OF_ANY = ["add", "subtract", "equal", "not_equal"]
OF_ORDERED = ["add", "multiply", "less", "subtract", "equal", "maximum", "minimum", "not_equal", "greater_equal"]
FUNCTIONS = {
    "b": ["logical_and", "logical_xor", "bitwise_or", "equal"],
    "u": [*OF_ORDERED, "bitwise_and", "bitwise_xor", "floor_divide", "remainder"],
    "i": [*OF_ORDERED, "bitwise_and", "bitwise_or", "floor_divide", "remainder"],
    "f": [*OF_ORDERED, "divide"],
    "c": OF_ANY,
}
OF_ONE = {
    "b": ["logical_not", "invert"],
    "u": ["square", "invert"],
    "i": ["negative", "absolute", "square", "sign"],
    "f": ["negative", "absolute", "floor", "sqrt", "isnan"],
    "c": ["negative", "conjugate"],
}
OPERATORS = {
    "add": operator.iadd, "subtract": operator.isub, "multiply": operator.imul, "bitwise_or": operator.ior,
    "bitwise_xor": operator.ixor, "bitwise_and": operator.iand,
}  # fmt: skip


def computation(weight: int) -> Callable[[Operation], Operation]:
    """Register an arithmetic operation, with a low weight if few kernels should be compiled."""

    def enter(function: Operation) -> Operation:
        @functools.wraps(function)
        def rare(soak: Soak) -> Any:
            return function(soak) if soak.pairs > FEW or soak.choices.chance(8) else None

        return operation(weight)(rare)

    return enter


def names_of(soak: Soak, table: dict[str, list[str]], dtype: np.dtype) -> list[str]:
    """Return the functions that support a dtype, or only some of them if few kernels should be compiled."""
    names = table[dtype.kind]
    return names if soak.pairs > FEW else names[:FEW_NAMES]


def agreed(held: Held) -> Held:
    """Compare an array with its counterpart, and copy the array's NaNs into the counterpart.

    The payload of a NaN is unspecified, so the payloads in both arrays may differ before this call.
    """
    got, twin = held.array.get(), held.twin
    if twin.dtype.kind in "fc":
        same = (got == twin) | ((got != got) & (twin != twin))
        if not same.all():
            place = tuple(int(one[0]) for one in np.nonzero(~same))
            raise AssertionError(f"{held} at {place}: PyGPU has {got[place]!r}, NumPy {twin[place]!r}")
        twin[...] = got
    return held


def drawn(soak: Soak, dtype: str, device: PyGPU.Device, shape: tuple[int, ...] | None = None) -> Held:
    """Return a live array or a new array of a dtype. If `shape` is given, the array broadcasts to that shape."""

    def fits(other: Held) -> bool:
        if other.twin.dtype != dtype or other.array.device != device or not of_moderate_size(other):
            return False
        if shape is None:
            return True
        lengths = zip(other.twin.shape[::-1], shape[::-1], strict=False)
        return other.twin.ndim <= len(shape) and all(a in (b, 1) for a, b in lengths)

    if (held := soak.pick(fits)) is not None:
        return held
    own = soak.choices.shape() if shape is None else soak.choices.broadcasting(shape)
    while np.prod(own) > 4096:
        own = soak.choices.shape()
    source = soak.choices.strided_values(own, np.dtype(dtype))
    return soak.hold(PyGPU.to_gpu(source, device=device), source.copy("K"))


def operands(soak: Soak) -> tuple[Held, Held, list[str]]:
    """Return two arrays, of which the second may be broadcast, and the functions that accept the two arrays."""
    first, second = soak.choices.choice(PAIRS[: soak.pairs])
    device = device_of(soak)
    a = drawn(soak, first, device)
    b = drawn(soak, second, device, a.twin.shape)
    if soak.choices.chance(2) and first == second:
        a, b = b, a
    return a, b, names_of(soak, FUNCTIONS, np.result_type(first, second))


@computation(8)
def of_two_arrays(soak: Soak) -> Held:
    a, b, names = operands(soak)
    name = soak.choices.choice(names)
    soak.note(name)
    ours, twin = getattr(PyGPU, name)(a.array, b.array), getattr(np, name)(a.twin, b.twin)
    return agreed(soak.hold(ours, np.asarray(twin)))


@computation(3)
def of_one_array(soak: Soak) -> Held:
    dtype = soak.choices.choice(PAIRS[: soak.pairs])[0]
    a = drawn(soak, dtype, device_of(soak))
    name = soak.choices.choice(names_of(soak, OF_ONE, a.twin.dtype))
    soak.note(name)
    return agreed(soak.hold(getattr(PyGPU, name)(a.array), np.asarray(getattr(np, name)(a.twin))))


@computation(4)
def with_a_number(soak: Soak) -> Held:
    """Compute with an array and a number; either may be the first operand."""
    dtype = soak.choices.choice(PAIRS[: soak.pairs])[0]
    a = drawn(soak, dtype, device_of(soak))
    kind = a.twin.dtype.kind
    number = soak.choices.choice([0, 1, 3, True] if kind in "bui" else [0, 2, -3, 0.5, np.float32(1.5), 1e30])
    name = soak.choices.choice(["add", "multiply", "subtract"] if kind in "uif" else ["add", "equal"])
    soak.note(name, repr(number))
    if soak.choices.chance(2):
        ours, twin = getattr(PyGPU, name)(a.array, number), getattr(np, name)(a.twin, number)
    else:
        ours, twin = getattr(PyGPU, name)(number, a.array), getattr(np, name)(number, a.twin)
    return agreed(soak.hold(ours, np.asarray(twin)))


@computation(5)
def in_place(soak: Soak) -> Held | None:
    a, b, names = operands(soak)
    names = [name for name in names if name in OPERATORS]
    if not writeable(a) or not names or np.broadcast_shapes(a.twin.shape, b.twin.shape) != a.twin.shape:
        return None
    if not np.can_cast(np.result_type(a.twin, b.twin), a.twin.dtype, "same_kind"):
        return None
    name = soak.choices.choice(names)
    soak.note(name)
    array, twin = a.array, a.twin
    array = OPERATORS[name](array, b.array)
    OPERATORS[name](twin, b.twin)
    assert array is a.array
    return agreed(a)


@computation(4)
def within(soak: Soak) -> Held | None:
    """Compute in place with an output that overlaps an operand, such as `a[1:] += a[:-1]`."""
    a = drawn(soak, soak.choices.choice(PAIRS[: soak.pairs])[0], device_of(soak))
    if not writeable(a) or a.twin.ndim == 0 or a.twin.dtype.kind == "b":
        return None
    shift, reverse = soak.choices.randint(0, 2), slice(None, None, soak.choices.choice([1, -1]))
    length = a.twin.shape[0]
    target, source = slice(shift, None), slice(0, max(length - shift, 0))
    soak.note(target, source, reverse)
    a.array[target] += a.array[source][reverse]
    into = a.twin[target]
    np.add(into, a.twin[source][reverse], out=into)
    return agreed(a)


@computation(2)
def under_a_mask(soak: Soak) -> Held | None:
    a, b, names = operands(soak)
    if np.broadcast_shapes(a.twin.shape, b.twin.shape) != a.twin.shape or not writeable(a):
        return None
    if not np.can_cast(np.result_type(a.twin, b.twin), a.twin.dtype, "same_kind") or "add" not in names:
        return None
    mask = soak.choices.mask(a.twin.shape)
    ours = PyGPU.to_gpu(mask, device=a.array.device)
    PyGPU.add(a.array, b.array, out=a.array, where=ours)
    np.add(a.twin, b.twin, out=a.twin, where=mask)
    return agreed(a)


@computation(2)
def an_expression(soak: Soak) -> Held | None:
    a, b, names = operands(soak)
    if "multiply" not in names:
        return None
    ours = (a.array + b.array) * 2 - a.array
    twin = (a.twin + b.twin) * 2 - a.twin
    return agreed(soak.hold(ours, np.asarray(twin)))
