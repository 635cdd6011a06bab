"""Compare a call of PyGPU with the same call of NumPy."""

from __future__ import annotations

import dataclasses
import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import PyGPU

from .calls import Call
from .functions import Pair
from .operands import Out

ULPS = 4
"""How far an element of a ufunc may differ, in units in the last place."""

ULPS_OF_GREATEST = {"fft": 64, "linalg": 512}
"""How far an element of another function may differ, by module, in units in the last place of the greatest finite
element of result and arguments: NumPy adds in another order, and factorizations differ in pivots and sweeps.
"""


def _sorted(array: np.ndarray) -> np.ndarray:
    return np.sort(array, axis=None).reshape(array.shape)


SPECIFIED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "argpartition": _sorted,
    "empty": np.zeros_like,
    "empty_like": np.zeros_like,
    "linalg.eig": np.abs,
    "linalg.eigh": np.abs,
    "linalg.qr": np.abs,
    "linalg.svd": np.abs,
    "partition": _sorted,
    "unique_values": _sorted,
}
"""Functions whose result NumPy specifies only in part, each with a function that returns the specified part.

Unspecified are the order inside partitions and in `unique_values`, the signs of vectors, and the values of empty
arrays.
"""


def _mapped(specified: Callable[[np.ndarray], np.ndarray], result: Any) -> Any:
    """Apply a function to each array of a result."""
    if isinstance(result, tuple) and type(result) is not tuple:
        return type(result)(*(_mapped(specified, part) for part in result))
    if isinstance(result, (list, tuple)):
        return type(result)(_mapped(specified, part) for part in result)
    return specified(result) if isinstance(result, np.ndarray) else result


@dataclasses.dataclass
class Outcome:
    """Hold the outcome of a call: a result or an error, and the arrays among its arguments after the call."""

    result: Any = None
    error: Exception | None = None
    arrays: list[np.ndarray] = dataclasses.field(default_factory=list)
    is_out: bool = False

    @property
    def kind(self) -> str:
        """Return the name of the error, "objects" for an array of Python objects or texts, or else "value"."""
        if self.error is not None:
            return public_class(type(self.error)).__name__
        return "objects" if any(_is_of_objects(part) for part in _parts(self.result)) else "value"


@dataclasses.dataclass(frozen=True)
class Difference:
    """Describe how PyGPU and NumPy differ in one call: the kind of difference, and both outcomes."""

    call: Call
    kind: str
    numpy: str
    ours: str
    text: str

    def __str__(self) -> str:
        return f"{self.call!r}: {self.kind}: {self.text}"


def public_class(error: type[BaseException]) -> type[BaseException]:
    """Return the error class, or its nearest public base if NumPy's class is private, such as `_UFuncNoLoopError`."""
    return next(
        base for base in error.__mro__ if not base.__name__.startswith("_") and base.__name__ != "UFuncTypeError"
    )


def _parts(result: Any) -> Iterator[Any]:
    if isinstance(result, (list, tuple)):
        for part in result:
            yield from _parts(part)
    else:
        yield result


def _is_of_objects(part: Any) -> bool:
    return isinstance(part, (np.ndarray, np.generic)) and part.dtype.kind in "OUSmM"


def on_host(value: Any) -> Any:
    """Return a result with its arrays copied to host memory."""
    if isinstance(value, PyGPU.GPUArray):
        return value.get()
    if isinstance(value, io.BytesIO):
        return value.getvalue()
    if type(value) in (list, tuple):
        return type(value)(on_host(part) for part in value)
    if isinstance(value, tuple):
        return type(value)(*(on_host(part) for part in value))
    if isinstance(value, dict):
        return {key: on_host(part) for key, part in value.items()}
    return value


def _arrays(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (np.ndarray, PyGPU.GPUArray, io.BytesIO)):
            yield value
        elif type(value) in (list, tuple):
            yield from _arrays(value)


def run(function: Callable[..., Any], positional: list[Any], named: dict[str, Any]) -> Outcome:
    """Call a function and return its outcome; warnings are ignored."""
    outcome = Outcome()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = function(*positional, **named)
            outcome.result = on_host(result)
            out = named.get("out")
            outcome.is_out = out is not None and result is out
        except Exception as error:
            outcome.error = error
    outcome.arrays = [np.copy(on_host(array)) for array in _arrays([*positional, *named.values()])]
    return outcome


def _build(call: Call, package: Any, result: Any) -> tuple[list[Any], dict[str, Any]]:
    positional, named = call.build(package)

    def replace(value: Any) -> Any:
        return value.build(package, result) if isinstance(value, Out) else value

    return [replace(value) for value in positional], {key: replace(value) for key, value in named.items()}


def _result_for_out(pair: Pair, call: Call) -> Any:
    """Return NumPy's result of the call without `out`; `out` gets its shape and dtype.

    Return None if the call has no result.
    """
    if not any(isinstance(value, Out) for _, value in call.arguments):
        return None
    alone = run(pair.numpys, *call.build(np, without="out"))
    return np.zeros(3) if alone.error is not None else alone.result


def outcomes(pair: Pair, call: Call) -> tuple[Outcome, Outcome, list[np.ndarray]]:
    """Return the outcomes of PyGPU and NumPy, and the values of the argument arrays before the calls."""
    result = _result_for_out(pair, call)
    positional, named = _build(call, PyGPU, result)
    before = [np.copy(on_host(array)) for array in _arrays([*positional, *named.values()])]
    ours = run(pair.ours, positional, named)
    return ours, run(pair.numpys, *_build(call, np, result)), before


def run_ours(pair: Pair, call: Call) -> Outcome:
    """Run only PyGPU's call. Its argument `out` has the dtype and the shape of the given result."""
    return run(pair.ours, *_build(call, PyGPU, _result_for_out(pair, call)))


def are_same_bits(pair: Pair, first: Outcome, second: Outcome) -> bool:
    """Return whether two runs of PyGPU have equal results or error classes, and equal arguments afterwards."""
    if type(first.error) is not type(second.error):
        return False
    specified = SPECIFIED.get(pair.name, lambda array: array)
    some, others = (list(_parts(_mapped(specified, one.result))) for one in (first, second))
    return _are_identical_parts(some, others) and _are_identical(first.arrays, second.arrays)


def _are_identical_parts(some: list[Any], others: list[Any]) -> bool:
    def bits(part: Any) -> Any:
        if not isinstance(part, (np.ndarray, np.generic)):
            return repr(part)
        real = np.stack([part.real, part.imag]) if part.dtype.kind == "c" else np.asarray(part)
        # All NaNs count as equal, because the sign and the payload of NaN are unspecified.
        is_nan = real != real
        return str(part.dtype), part.shape, is_nan.tobytes(), np.where(is_nan, 0, real).tobytes()

    return list(map(bits, some)) == list(map(bits, others))


def is_accepted(pair: Pair, call: Call) -> bool:
    """Return whether NumPy accepts a call without an error."""
    return run(pair.numpys, *_build(call, np, np.zeros(3))).error is None


def compare(pair: Pair, call: Call) -> Difference | None:
    """Return the first difference between PyGPU and NumPy in a call, or None."""
    ours, numpys, before = outcomes(pair, call)

    def difference(kind: str, text: str) -> Difference:
        return Difference(call, kind, numpys.kind, ours.kind, text)

    if (
        ours.error is not None
        and not _are_identical(ours.arrays, before)
        and not _are_identical(ours.arrays, numpys.arrays)
    ):
        return difference("written", f"{ours.error!r}, and an argument has changed")
    if numpys.error is not None and ours.error is not None:
        if isinstance(ours.error, public_class(type(numpys.error))):
            return None
        return difference("error", f"NumPy raises {_line(numpys.error)}, PyGPU {_line(ours.error)}")
    if numpys.error is not None:
        return difference("accepted", f"NumPy raises {_line(numpys.error)}, PyGPU gives {_line(ours.result)}")
    if ours.error is not None:
        return difference("refused", f"NumPy gives {_line(numpys.result)}, PyGPU raises {_line(ours.error)}")
    specified = SPECIFIED.get(pair.name, lambda array: array)
    found = different(_mapped(specified, ours.result), _mapped(specified, numpys.result), Tolerance(pair, before))
    if found is not None:
        return difference(*found)
    for mine, other in zip(ours.arrays, numpys.arrays, strict=True):
        found = different(mine, other, Tolerance(pair, before))
        if found is not None:
            return difference("argument", f"an argument afterwards: {found[1]}")
    if ours.is_out != numpys.is_out:
        return difference("out", f"the result is out: NumPy {numpys.is_out}, PyGPU {ours.is_out}")
    return None


def _line(value: Any) -> str:
    if isinstance(value, (np.ndarray, np.generic)):
        text = f"{value.dtype} of shape {value.shape}: {' '.join(str(value).split())}"
    else:
        text = " ".join(repr(value).split())
    return text if len(text) < 160 else f"{text[:157]}..."


def _are_identical(some: list[np.ndarray], others: list[np.ndarray]) -> bool:
    return [array.tobytes() for array in some] == [array.tobytes() for array in others]


class Tolerance:
    """Hold the greatest permitted difference between PyGPU's and NumPy's values of one function."""

    def __init__(self, pair: Pair, arguments: list[np.ndarray]) -> None:
        self.is_elementwise = isinstance(pair.numpys, np.ufunc) and pair.numpys.signature is None
        self.ulps = ULPS if self.is_elementwise else ULPS_OF_GREATEST.get(pair.name.rpartition(".")[0], 16)
        self.arguments = arguments

    def of(self, expected: np.ndarray) -> Any:
        precision = np.finfo(expected.dtype)
        if self.is_elementwise:
            return self.ulps * np.maximum(precision.eps * np.abs(expected), precision.smallest_subnormal)
        greatest = max([_greatest(expected), *map(_greatest, self.arguments)], default=0)
        return self.ulps * precision.eps * greatest


def _greatest(array: np.ndarray) -> float:
    if array.dtype.kind not in "biufc" or array.size == 0:
        return 0.0
    magnitudes = np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
    return float(np.max(magnitudes, where=np.isfinite(magnitudes), initial=0.0))


def different(ours: Any, numpys: Any, tolerance: Tolerance) -> tuple[str, str] | None:
    """Return the kind of difference between two results with a description, or None if they agree."""
    if isinstance(numpys, (list, tuple)):
        if type(ours).__name__ != type(numpys).__name__ or len(ours) != len(numpys):
            return "structure", f"NumPy gives {_line(numpys)}, PyGPU {_line(ours)}"
        found = (different(mine, other, tolerance) for mine, other in zip(ours, numpys, strict=True))
        return next((one for one in found if one is not None), None)
    is_number = isinstance(numpys, (bool, int, float, complex))
    if isinstance(ours, np.ndarray) and (is_number or isinstance(numpys, (np.ndarray, np.generic))):
        return _different_arrays(ours, np.asarray(numpys), tolerance)
    if type(ours) is not type(numpys) and not isinstance(numpys, np.generic):
        return "structure", f"NumPy gives {_line(numpys)}, PyGPU {_line(ours)}"
    if ours is numpys or ours == numpys:
        return None
    return "values", f"NumPy gives {_line(numpys)}, PyGPU {_line(ours)}"


def _different_arrays(ours: np.ndarray, numpys: np.ndarray, tolerance: Tolerance) -> tuple[str, str] | None:
    kind = _kind_of_difference(ours, numpys, tolerance)
    return None if kind is None else (kind, f"NumPy gives {_line(numpys)}, PyGPU {_line(ours)}")


def _kind_of_difference(ours: np.ndarray, numpys: np.ndarray, tolerance: Tolerance) -> str | None:
    if ours.dtype != numpys.dtype:
        return "dtype"
    if ours.shape != numpys.shape:
        return "shape"
    if numpys.dtype.kind not in "fc":
        return None if np.array_equal(ours, numpys) else "values"
    with np.errstate(all="ignore"):
        is_same = (
            (ours == numpys) | (np.isnan(ours) & np.isnan(numpys)) | (np.abs(ours - numpys) <= tolerance.of(numpys))
        )
    return None if np.all(is_same) else "values"
