"""Describe the elements of an array of any size by a small table, so that NumPy can compute expected values.

The element at index (z, y, x) is the table's entry `f % period`, plus `f // period` times `growth`, where `f` is a
linear function of the indices. NumPy computes the table of a result from the tables of the operands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

# Two coprime periods: an elementwise result of operands with these periods has the period P * Q.
P = 251
Q = 241
# The numbers 0 to P - 1, and 0 to Q - 1, in a scrambled order.
BYTES = ((np.arange(P) * 7 + 3) % P).astype(np.uint8)
OTHERS = ((np.arange(Q) * 11 + 5) % Q).astype(np.uint8)

# `_A` is 1 modulo P and 0 modulo Q; `_B` is 0 modulo P and 1 modulo Q.
_A = Q * pow(Q, -1, P)
_B = P * pow(P, -1, Q)


@dataclass(frozen=True)
class Rule:
    """Define the elements of an array: a linear function f of up to three indices selects an entry of a table."""

    table: np.ndarray
    growth: int = 0
    start: int = 0
    # Lengths of the last two axes, and by how much f grows per index along each of three axes. By default f is the
    # index in C order.
    inner: tuple[int, int] = (1, 1)
    steps: tuple[int, int, int] = (1, 0, 0)

    def over(self, shape: tuple[int, ...], *steps: int, start: int = 0) -> Rule:
        """Return the rule for a shape of at most three axes, in which `f` grows by a given step along each axis."""
        lengths = (1,) * (3 - len(shape)) + tuple(shape)
        by_axis = (0,) * (3 - len(steps)) + steps
        return replace(self, start=start, inner=(lengths[1], lengths[2]), steps=(by_axis[0], by_axis[1], by_axis[2]))

    def at(self, indices: np.ndarray) -> np.ndarray:
        """Return the elements at the given indices, counted in C order. Integers wrap around."""
        high, wide = self.inner
        z, rest = np.divmod(indices.astype(np.int64), high * wide)
        y, x = np.divmod(rest, wide)
        f = self.start + z * self.steps[0] + y * self.steps[1] + x * self.steps[2]
        turns, place = np.divmod(f, len(self.table))
        found = self.table[place]
        if self.growth == 0:
            return found
        with np.errstate(over="ignore"):
            return found + (turns.astype(np.uint64) * np.uint64(self.growth)).astype(found.dtype)


def joint(steps_of_p: tuple[int, ...], steps_of_q: tuple[int, ...]) -> tuple[int, ...]:
    """Return steps of f that equal the first given steps modulo P, and the second given steps modulo Q."""
    return tuple(
        (_A * (one % P) + _B * (other % Q)) % (P * Q) for one, other in zip(steps_of_p, steps_of_q, strict=True)
    )


def in_both(period_of_p: np.ndarray, period_of_q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two tables with the periods P and Q, both repeated to the common period P * Q."""
    positions = np.arange(P * Q)
    return period_of_p[positions % P], period_of_q[positions % Q]


def total(table: np.ndarray, count: int) -> int:
    """Return the sum of the first `count` elements of a table that repeats."""
    turns, rest = divmod(count, len(table))
    return turns * int(table.sum(dtype=np.int64)) + int(table[:rest].sum(dtype=np.int64))


REDUCTIONS = ("sum", "max", "argmax", "any", "mean", "count_nonzero")


def reduced(function: str, table: np.ndarray, step: int, length: int) -> np.ndarray:
    """Reduce the elements table[f], table[f + step], ... for each f; return the table of the results."""
    period = len(table)
    distinct = np.arange(min(period, length))
    elements = table[(np.arange(period)[:, None] + distinct * (step % period)) % period]
    counts = length // period + (distinct < length % period)
    results: dict[str, Any] = {
        "sum": lambda: (elements.astype(np.int64) @ counts).astype(np.uint64 if table.dtype.kind == "u" else np.int64),
        "max": lambda: elements.max(axis=1),
        "argmax": lambda: elements.argmax(axis=1),
        "any": lambda: elements.any(axis=1),
        "mean": lambda: (elements.astype(np.int64) @ counts) / length,
        "count_nonzero": lambda: (elements != 0).astype(np.int64) @ counts,
    }
    return np.asarray(results[function]())
