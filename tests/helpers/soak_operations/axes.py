"""Define operations along axes: reductions, scans, sorting, selection by indices and masks.

Each operation has exactly one correct result, like the operations in arithmetic.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import PyGPU
from soak_operations.arithmetic import FEW, PAIRS, agreed, computation, drawn
from soak_operations.operation_registry import device_of

if TYPE_CHECKING:
    from soak import Held, Soak

# Dtypes of the operands. Each dtype needs a separate kernel, so few dtypes are used if compiling takes long.
KINDS = list(dict.fromkeys(kind for pair in PAIRS for kind in pair if not kind.startswith("complex")))
OF_WHOLE = ["sum", "max", "any", "prod", "min", "all", "count_nonzero", "argmin", "argmax"]
OF_FLOATS = ["max", "min", "any", "all", "count_nonzero"]


def of_some_kind(soak: Soak) -> Held:
    return drawn(soak, soak.choices.choice(KINDS[:1] if soak.pairs == FEW else KINDS), device_of(soak))


def axis_of(soak: Soak, held: Held) -> int | None:
    """Return one of the array's axes, or None, which means all axes."""
    ndim = held.twin.ndim
    return None if ndim == 0 or soak.choices.chance(3) else soak.choices.randrange(-ndim, ndim)


def result(soak: Soak, ours: PyGPU.GPUArray, twin: Any) -> Held:
    """Compare a result with NumPy's, and add both to the live arrays of the run.

    The layout of NumPy's result depends on NumPy's algorithm; a device mostly writes its result in C order.
    """
    twin = np.asarray(twin)
    return agreed(soak.hold(ours, np.array(twin, order="C") if ours.flags.c_contiguous else twin))


@computation(4)
def reduced(soak: Soak) -> Held | None:
    a = of_some_kind(soak)
    names = OF_FLOATS if a.twin.dtype.kind == "f" else OF_WHOLE
    name, axis = soak.choices.choice(names[:2] if soak.pairs == FEW else names), axis_of(soak, a)
    if a.twin.size == 0 and name not in ("sum", "prod", "any", "all"):
        return None
    soak.note(name, axis)
    return result(soak, getattr(PyGPU, name)(a.array, axis=axis), getattr(np, name)(a.twin, axis=axis))


@computation(2)
def scanned(soak: Soak) -> Held | None:
    a = of_some_kind(soak)
    if a.twin.dtype.kind == "f":
        return None
    axis = axis_of(soak, a)
    soak.note(axis)
    return result(soak, PyGPU.cumsum(a.array, axis=axis), np.cumsum(a.twin, axis=axis))


@computation(2)
def in_order(soak: Soak) -> Held | None:
    a = of_some_kind(soak)
    if a.twin.ndim == 0:
        return None
    axis = axis_of(soak, a)
    soak.note(axis)
    return result(soak, PyGPU.sort(a.array, axis=axis), np.sort(a.twin, axis=axis))


@computation(2)
def taken(soak: Soak) -> Held | None:
    a = of_some_kind(soak)
    axis = axis_of(soak, a)
    length = a.twin.size if axis is None else a.twin.shape[axis]
    if length == 0:
        return None
    positions = np.array(soak.choices.choices(range(-length, length), k=soak.choices.randint(1, 8)))
    soak.note(axis, positions)
    ours = PyGPU.take(a.array, PyGPU.to_gpu(positions, device=a.array.device), axis=axis)
    return result(soak, ours, np.take(a.twin, positions, axis=axis))


@computation(2)
def chosen_by_a_mask(soak: Soak) -> Held:
    a = of_some_kind(soak)
    mask = soak.choices.mask(a.twin.shape)
    ours = PyGPU.to_gpu(mask, device=a.array.device)
    return result(soak, PyGPU.extract(ours, a.array), np.extract(mask, a.twin))
