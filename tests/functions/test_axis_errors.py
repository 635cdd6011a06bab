"""Test that an axis out of range raises NumPy's AxisError, with NumPy's message, in every kind of function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from support import pair

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda xp, a: a.sum(axis=3),
    "mean of axes": lambda xp, a: a.mean(axis=(0, -4)),
    "argmax": lambda xp, a: xp.argmax(a, axis=2),
    "cumsum": lambda xp, a: xp.cumsum(a, axis=2),
    "sort": lambda xp, a: xp.sort(a, axis=-3),
    "argsort": lambda xp, a: xp.argsort(a, axis=2),
    "take": lambda xp, a: xp.take(a, xp.asarray([0]), axis=5),
    "squeeze": lambda xp, a: xp.squeeze(a, axis=3),
    "expand_dims": lambda xp, a: xp.expand_dims(a, 5),
    "flip": lambda xp, a: xp.flip(a, 3),
    "swapaxes": lambda xp, a: xp.swapaxes(a, 0, 2),
    "moveaxis": lambda xp, a: xp.moveaxis(a, 2, 0),
    "transpose": lambda xp, a: a.transpose(0, 2),
    "concatenate": lambda xp, a: xp.concatenate((a, a), axis=2),
    "stack": lambda xp, a: xp.stack((a, a), axis=4),
    "roll": lambda xp, a: xp.roll(a, 1, axis=2),
    "median": lambda xp, a: xp.median(a, axis=2),
}


@pytest.mark.parametrize("name", CALLS)
def test_axis_out_of_range_raises_axis_error_with_numpys_message(name: str) -> None:
    host, device = pair((2, 3), "float32")
    with pytest.raises(np.exceptions.AxisError) as numpys:
        CALLS[name](np, host)
    with pytest.raises(np.exceptions.AxisError) as ours:
        CALLS[name](PyGPU, device)
    assert str(ours.value) == str(numpys.value)
    assert (ours.value.axis, ours.value.ndim) == (numpys.value.axis, numpys.value.ndim)
