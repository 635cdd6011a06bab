"""Compare two runs of a program by the arrays that local variables contain when a function returns."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Values = tuple[np.dtype[Any], tuple[int, ...], bytes]
    Held = dict[tuple[str, str], Values]

__all__ = ["difference", "read"]

# Floats that differ by at most this number of units in the last place of the array's largest value count as equal.
ROUNDING = 1000


def read(file: Path) -> Held:
    """Read the arrays that a run of the program recorded; return an empty record if the run ended early."""
    try:
        with file.open("rb") as stream:
            contents: Held = pickle.load(stream)
            return contents
    except (OSError, EOFError, pickle.UnpicklingError):
        return {}


def arrays(first: Values, second: Values) -> tuple[np.ndarray, np.ndarray] | None:
    """Return a variable's arrays from two runs, or None if a run lacks the values or the dtypes or shapes differ."""
    import numpy as np

    (dtype, shape, values), (second_dtype, second_shape, second_values) = first, second
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if (dtype, shape) != (second_dtype, second_shape) or not size == len(values) == len(second_values):
        return None
    return np.frombuffer(values, dtype).reshape(shape), np.frombuffer(second_values, dtype).reshape(shape)


def differing(first: np.ndarray, second: np.ndarray) -> Any:
    """Return a mask of the elements that differ by more than the rounding error of a reordered sum."""
    import numpy as np

    if first.dtype.kind not in "fc":
        return first != second
    with np.errstate(all="ignore"):
        is_finite = np.isfinite(first) & np.isfinite(second)
        maximum = np.max(np.abs(first), where=np.isfinite(first), initial=0)
        is_close = np.abs(first - second) <= ROUNDING * np.finfo(first.dtype).eps * maximum
        is_same = (first == second) | ((first != first) & (second != second))
    return ~(is_same | (is_finite & is_close))


def difference(first: Held, second: Held, reordered: Held) -> str | None:
    """Find the first array that is equal in two unchanged runs, but differs in a run with another start order."""
    import numpy as np

    for (function, name), expected in first.items():
        actual = reordered.get((function, name))
        if actual is None or second.get((function, name)) != expected or actual == expected:
            continue
        description = f"the array {name}" if function == "<module>" else f"the array {name} of {function}()"
        values = arrays(expected, actual)
        if values is None:
            return f"{description} holds\n      other values, or has another shape, than as it is"
        differing_indices = np.argwhere(differing(*values))
        if len(differing_indices):
            element_index = tuple(int(axis_index) for axis_index in differing_indices[0])
            position = f" at [{', '.join(map(str, element_index))}]" if element_index else ""
            before, after = (array[element_index] for array in values)
            return f"{description} holds{position}\n      {after}\n    and as it is\n      {before}"
    return None
