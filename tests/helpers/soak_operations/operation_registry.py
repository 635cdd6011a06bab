"""Register the operations of the random test soak.py, and the arrays that they accept.

An operation has the same effect on an array and on its NumPy counterpart. It returns the array that it changed, True if
it changed no array, and None if no live array is a suitable operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import PyGPU
from soak_operations.random_choices import NUMPYS_OWN, SMALL

if TYPE_CHECKING:
    from soak import Held, Soak

Operation = Callable[["Soak"], Any]
OPERATIONS: dict[str, tuple[int, Operation]] = {}


def operation(weight: int) -> Callable[[Operation], Operation]:
    def enter(function: Operation) -> Operation:
        OPERATIONS[function.__name__] = (weight, function)
        return function

    return enter


def writeable(held: Held) -> bool:
    return held.writeable


def in_numbers(held: Held) -> bool:
    return held.twin.dtype in NUMPYS_OWN


def with_axes(held: Held) -> bool:
    return held.twin.ndim > 0


def of_moderate_size(held: Held) -> bool:
    return held.twin.nbytes <= SMALL


def device_of(soak: Soak) -> PyGPU.Device:
    return soak.choices.choice(soak.devices)
