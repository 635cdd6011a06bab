"""Generate program fragments of a few arithmetic lines from one seed.

Programs share fragments, so few kernels are compiled.

A fragment runs with arrays of NumPy and of PyGPU. It returns the values that a program would keep in variables. All
other arrays are dropped after their last use, like temporaries, or at the end, like local variables.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

MATRIX, ROW = (4, 6), (6,)
DTYPES = ("float32", "float64", "int32")
ALLOWED = {np.dtype(name) for name in (*DTYPES, "bool")}
# Functions that are exact or correctly rounded, so that their results are equal on all devices.
OF_TWO = ("add", "subtract", "multiply", "maximum", "minimum", "less")
OF_FLOATS = ("divide",)
OF_ONE = ("negative", "absolute", "square")
OF_ONE_FLOAT = ("sqrt", "floor")
REDUCED = ("max", "min", "sum", "any")
NUMBERS = (2, -3, 0.5, 1.5)
KEYS: tuple[Any, ...] = (
    slice(1, None),
    slice(None, -1),
    slice(None, None, -1),
    slice(None, None, 2),
    (Ellipsis, slice(1, 3)),
    Ellipsis,
)

Line = tuple[Any, ...]


@dataclass(frozen=True)
class Fragment:
    """Hold lines of code that compute values.

    Each value has a number: first the operands are numbered, then the results of the lines.
    """

    number: int
    operands: tuple[tuple[str, tuple[int, ...]], ...]
    lines: tuple[Line, ...]
    kept: tuple[int, ...]

    def run(self, xp: Any, operands: Sequence[Any]) -> list[Any]:
        """Run the lines with NumPy, or with a module that has NumPy's names, and return the values that the program
        keeps."""
        values = [*operands]
        for line in self.lines:
            play(xp, values, line)
        return [values[place] for place in self.kept]

    @property
    def length(self) -> int:
        """Return the number of operations in the fragment's lines."""
        return sum(line[0] != "drop" for line in self.lines)


def play(xp: Any, values: list[Any], line: Line) -> None:
    """Run one line of a fragment, and append its result to the values."""
    what, *rest = line

    def value(ref: Any) -> Any:
        return values[ref] if type(ref) is int else ref[0]

    def array(result: Any) -> Any:
        # NumPy's functions return scalars where PyGPU's functions return 0-d arrays.
        return np.asarray(result) if xp is np else result

    match what:
        case "call":
            name, refs = rest
            values.append(array(getattr(xp, name)(*map(value, refs))))
        case "into":
            name, target, ref = rest
            getattr(xp, name)(values[target], value(ref), out=values[target])
        case "operator":
            name, target, ref = rest
            values[target] = getattr(operator, name)(values[target], value(ref))
        case "masked":
            name, target, ref, mask = rest
            getattr(xp, name)(values[target], value(ref), out=values[target], where=values[mask])
        case "assign":
            target, key, ref = rest
            values[target][KEYS[key]] = value(ref)
        case "view":
            source, key = rest
            values.append(values[source].T if key is None else values[source][KEYS[key]])
        case "cast":
            source, dtype = rest
            values.append(values[source].astype(dtype))
        case "reduce":
            name, source, axis = rest
            values.append(array(getattr(values[source], name)(axis)))
        case "drop":
            for place in rest:
                values[place] = None


def is_good(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype in ALLOWED and value.size > 0


def drawn_line(random: Random, values: list[np.ndarray], operands: int) -> Line:
    """Draw a random line of code; the line may be invalid for the shapes or dtypes of the values."""
    count = len(values)

    def ref() -> Any:
        # Prefer the latest results as operands, because real programs continue with what they have just computed.
        if random.random() < 0.2:
            return (random.choice(NUMBERS),)
        return max(random.randrange(count), random.randrange(count))

    place = max(random.randrange(count), random.randrange(count))
    written = place if place >= operands or random.random() < 0.15 else count - 1
    is_float = values[place].dtype.kind == "f"
    match random.choices(
        ["two", "one", "into", "operator", "masked", "assign", "view", "cast", "where", "reduce"],
        [40, 10, 4, 8, 1, 5, 5, 3, 2, 3],
    )[0]:
        case "two":
            return ("call", random.choice(OF_TWO + OF_FLOATS * is_float), (place, ref()))
        case "one":
            return ("call", random.choice(OF_ONE + OF_ONE_FLOAT * is_float), (place,))
        case "into":
            return ("into", random.choice(OF_TWO[:5]), written, ref())
        case "operator":
            return ("operator", random.choice(["iadd", "isub", "imul"]), written, ref())
        case "masked":
            return ("masked", "add", written, ref(), random.randrange(count))
        case "assign":
            return ("assign", written, random.randrange(len(KEYS)), ref())
        case "view":
            return ("view", place, random.choice([None, *range(len(KEYS) - 1)]))
        case "cast":
            return ("cast", place, random.choice(DTYPES[:2]))
        case "where":
            return ("call", "where", (random.randrange(count), place, ref()))
    name = random.choice(REDUCED)
    return ("reduce", name, place, random.choice([None, 0]))


def is_exact(line: Line, values: list[np.ndarray]) -> bool:
    """Return whether a correct implementation of a line has exactly one possible result.

    The sum of floats depends on the order of additions, and the maximum of zeros with different signs may be either
    zero.
    """
    if line[0] == "reduce":
        return (line[1] == "any") == (values[line[2]].dtype.kind == "b") and values[line[2]].dtype.kind in "ib"
    if line[0] in ("call", "into") and line[1] in ("maximum", "minimum"):
        target, ref = line[2] if line[0] == "call" else line[2:]
        of_two = [values[one].dtype.kind for one in (target, ref) if type(one) is int]
        return len(of_two) == 1 or "f" not in of_two
    if line[0] == "call" and line[1] == "where":
        return values[line[2][0]].dtype.kind == "b"
    if line[0] == "masked":
        return values[line[4]].dtype.kind == "b"
    return True


def names_of(line: Line) -> list[int]:
    """Return the numbers of the values that one line of a program fragment reads."""
    found: list[int] = []
    for part in line[1:]:
        parts = part if isinstance(part, tuple) else (part,)
        found += [one for one in parts if type(one) is int]
    if line[0] in ("assign", "view"):
        found = [line[1]] + ([line[3]] if line[0] == "assign" and type(line[3]) is int else [])
    if line[0] == "reduce":
        found = [line[2]]
    return found


def fragment(seed: int, number: int) -> Fragment:
    """Return the program fragment with a given number."""
    random = Random(f"{seed} {number}")
    dtype = random.choice(DTYPES)
    operands = [
        (dtype, MATRIX if place == 0 or random.random() < 0.8 else ROW) for place in range(random.randint(1, 3))
    ]
    values: list[Any] = [np.ones(shape, kind) for kind, shape in operands]
    lines: list[Line] = []
    for _ in range(random.choice([1, 2, 3, 4, 5, 6, 8, 12])):
        for _ in range(20):
            line = drawn_line(random, values, len(operands))
            if not is_exact(line, values):
                continue
            after = [value.copy() if value.base is None else value for value in values]
            with contextlib.suppress(TypeError, ValueError, IndexError), np.errstate(all="ignore"):
                play(np, after, line)
                if all(map(is_good, after)):
                    play(np, values, line)
                    values = [np.asarray(value) for value in values]
                    lines.append(line)
                    break
    results = range(len(operands), len(values))
    kept = [place for place in results if random.random() < 0.4 or place == len(values) - 1]
    return Fragment(number, tuple(operands), tuple(with_drops(random, lines, results, kept)), tuple(kept))


def with_drops(random: Random, lines: list[Line], results: Sequence[int], kept: list[int]) -> list[Line]:
    """Return the lines of a program fragment, each with the numbers of the arrays that are dropped after the line."""
    made = [place for place, line in enumerate(lines) if line[0] in ("call", "view", "cast", "reduce")]
    last = dict(zip(results, made, strict=True))
    for place, line in enumerate(lines):
        last.update((name, place) for name in names_of(line) if name in last)
    early = {name for name in results if name not in kept and random.random() < 0.7}
    with_all: list[Line] = []
    for place, line in enumerate(lines):
        with_all.append(line)
        if gone := [name for name in sorted(early) if last[name] == place]:
            with_all.append(("drop", *gone))
    if late := [name for name in results if name not in kept and name not in early]:
        with_all.append(("drop", *late))
    return with_all


def catalogue(seed: int, count: int) -> list[Fragment]:
    """Return the first `count` program fragments that a seed generates."""
    return [fragment(seed, number) for number in range(count)]
