"""Define array layouts in which the tests store values, and groups of layouts that one kernel supports."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import PyGPU

SHAPE = (6, 8)
# A layout is a pair of functions. The first converts given values to the array that is stored in memory.
# The second returns the view of the stored array whose elements are the given values.
Lying = tuple[Callable[[np.ndarray], np.ndarray], Callable[[Any, Any], Any]]
LAYOUTS: dict[str, Lying] = {
    "C": (lambda values: values.copy("C"), lambda _, a: a),
    "F": (lambda values: values.copy("F"), lambda _, a: a),
    "sliced": (lambda values: np.repeat(values, 3, 1)[:, :-1].copy(), lambda _, a: a[:, ::3]),
    "reversed": (lambda values: values[::-1].copy(), lambda _, a: a[::-1]),
    "transposed": (lambda values: np.repeat(values.T, 3, 1)[:, :-1].copy(), lambda _, a: a[:, ::3].T),
    "broadcast": (lambda values: values[:1].copy(), lambda package, a: package.broadcast_to(a, SHAPE)),
    "0-d": (lambda values: values[2, 3].copy(), lambda _, a: a),
    "empty": (lambda values: values[:0].copy(), lambda _, a: a),
    "odd offset": (lambda values: np.pad(values, ((0, 0), (1, 0))), lambda _, a: a[:, 1:]),
}
APART = ["sliced", "reversed", "transposed", "broadcast", "odd offset"]

# One kernel serves all layouts of a group, so a simulated GPU compiles a kernel per group instead of per layout.
SINGLES = [[(one,) for one in group] for group in (["C", "F"], APART, ["0-d", "empty"])]
PAIRS = [
    [("C", "C"), ("F", "F")],
    [*itertools.product(APART, APART), *itertools.product(["F"], ["sliced", "reversed", "odd offset"])],
    [*itertools.product(["F", *APART], ["C"]), ("broadcast", "F"), ("transposed", "F")],
    [*itertools.product(["C"], ["F", *APART]), ("F", "broadcast"), ("F", "transposed")],
    list(itertools.product(APART, ["0-d"])),
    list(itertools.product(["0-d"], APART)),
    [("C", "0-d"), ("F", "0-d")],
    [("0-d", "C"), ("0-d", "F")],
    list(itertools.product(["0-d", "empty"], repeat=2)),
]
GROUPS = {1: SINGLES, 2: PAIRS}


def lie(layout: str, values: np.ndarray) -> tuple[np.ndarray, PyGPU.GPUArray]:
    """Store values in a layout on the host and on the device, and return the host array and the device array."""
    put, view = LAYOUTS[layout]
    base = put(values)
    return np.asarray(view(np, base)), view(PyGPU, PyGPU.to_gpu(base))
