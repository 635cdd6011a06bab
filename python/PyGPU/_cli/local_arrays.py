"""Compare the contents of a program's arrays at the end of its functions between two runs."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Values = tuple[np.dtype[Any], tuple[int, ...], bytes]
    Held = dict[tuple[str, str], Values]

__all__ = ["difference", "read"]

# Relative to the largest value of an array: sums of floats may differ by this many units in the last place.
ROUNDING = 1000


def read(file: Path) -> Held:
    """Read the record of a run; return nothing if the run ended early."""
    try:
        with file.open("rb") as opened:
            held: Held = pickle.load(opened)
            return held
    except (OSError, EOFError, pickle.UnpicklingError):
        return {}


def arrays(one: Values, other: Values) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the values of a variable in two runs, if both are complete and of equal shape."""
    import numpy as np

    (dtype, shape, values), (other_dtype, other_shape, other_values) = one, other
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if (dtype, shape) != (other_dtype, other_shape) or not size == len(values) == len(other_values):
        return None
    return np.frombuffer(values, dtype).reshape(shape), np.frombuffer(other_values, dtype).reshape(shape)


def differing(one: np.ndarray, other: np.ndarray) -> Any:
    """Test which elements differ by more than the rounding of sums."""
    import numpy as np

    if one.dtype.kind not in "fc":
        return one != other
    with np.errstate(all="ignore"):
        is_finite = np.isfinite(one) & np.isfinite(other)
        greatest = np.max(np.abs(one), where=np.isfinite(one), initial=0)
        near = np.abs(one - other) <= ROUNDING * np.finfo(one.dtype).eps * greatest
        same = (one == other) | ((one != one) & (other != other))
    return ~(same | (is_finite & near))


def difference(first: Held, second: Held, other: Held) -> str | None:
    """Find the first array that differs in another order although two equal runs agree on it."""
    import numpy as np

    for (function, name), one in first.items():
        now = other.get((function, name))
        if now is None or second.get((function, name)) != one or now == one:
            continue
        where = f"the array {name}" if function == "<module>" else f"the array {name} of {function}()"
        both = arrays(one, now)
        if both is None:
            return f"{where} holds\n      other values, or has another shape, than as it is"
        found = np.argwhere(differing(*both))
        if len(found):
            at = tuple(int(index) for index in found[0])
            place = f" at [{', '.join(map(str, at))}]" if at else ""
            return f"{where} holds{place}\n      {both[1][at]}\n    and as it is\n      {both[0][at]}"
    return None
