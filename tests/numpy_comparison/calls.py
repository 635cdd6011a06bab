"""Generate the calls of a function: first calls that vary one argument, then random combinations of arguments."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import itertools
import warnings
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import argument_generators as generators
from .explicit_calls import EXPLICIT
from .functions import Pair, pairs
from .operands import DTYPES, LAYOUTS, Operand, Out, build

SEED = 35
COMBINATIONS = 40

SINGLE = [(2, 3), (3, 3), (3,), (5,), (), (1,), (0,), (2, 0), (0, 2), (1, 1), (2, 3, 4), (2, 3, 3), (1, 3)]
PAIRS = [
    ((2, 3), (2, 3)), ((3, 3), (3, 3)), ((2, 3), (3,)), ((3,), (3,)), ((2, 1), (1, 3)), ((5,), (2,)), ((3, 3), (3,)),
    ((2, 3), (3, 2)), ((), (3,)), ((2, 3), ()), ((), ()), ((0,), (1,)), ((0,), (0,)), ((1,), (2, 3)), ((3, 3), (3, 2)),
    ((2, 3, 3), (3, 3)), ((2, 0), (2, 1)), ((2, 3), (2,)), ((2,), (2, 3)), ((2, 3, 3), (2, 3, 1)), ((0, 3), (3, 2)),
]  # fmt: skip
MORE = [
    ((2, 3), (2, 3), (2, 3)), ((3,), (3,), (3,)), ((2, 3), (3,), ()), ((2, 1), (1, 3), (2, 3)), ((0,), (0,), (0,)),
    ((), (), ()), ((1,), (3,), (3,)), ((3,), (4,), (4,)), ((2, 3), (2, 3), (2,)), ((2, 3), (2, 1), (1, 3)),
]  # fmt: skip
MIXED = [
    ("float32", "int64"), ("int8", "uint8"), ("float64", "complex64"), ("bool", "int8"), ("float16", "int64"),
    ("int64", "float32"), ("uint8", "bool"), ("complex64", "int64"), ("float16", "float32"), ("int8", "float16"),
]  # fmt: skip
SPECIAL = ["float64", "float32", "float16", "int64", "int8", "uint8", "complex128"]
NUMBERS = [2, 1.5, True, 2j, np.float32(0.5), np.int8(3), -1, 300]
WRONG = [None, "abc", [1, 2]]
MANY_ARRAYS_REQUIRED = {"where": {"x", "y"}}
"""For each function: array parameters that the signature makes optional, but that must be passed together."""


@dataclasses.dataclass(frozen=True)
class Call:
    """Describe a call: the name of the function, and its arguments by parameter, in the order of the signature."""

    function: str
    arguments: tuple[tuple[str, Any], ...]
    keywords: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        parts = []
        for name, value in self.arguments:
            if name.startswith("*"):
                parts += map(repr, value)
            else:
                parts.append(f"{name}={value!r}" if name in self.keywords else repr(value))
        return f"{self.function}({', '.join(parts)})"

    def first(self) -> Operand:
        """Return the first array argument, alone or in a list.

        If the call has no array argument, return a float64 matrix.
        """
        return next(_operands([value for _, value in self.arguments]), Operand((2, 3), "float64"))

    def filled(self) -> Call:
        """Return the call with an explicit shape and dtype for every array.

        An array without shape or dtype gets the shape or dtype of the first array.
        """
        first = self.first()
        first = first.filled(Operand((2, 3), "float64"))
        arguments = tuple((name, _filled(value, first)) for name, value in self.arguments)
        return dataclasses.replace(self, arguments=arguments)

    def build(self, package: Any, without: str | None = None) -> tuple[list[Any], dict[str, Any]]:
        """Build the arguments of a call for NumPy or PyGPU, except the argument of the parameter `without`."""
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for name, value in self.arguments:
            if name == without:
                continue
            built = value if isinstance(value, Out) else build(value, package)
            if name.startswith("*"):
                positional += built
            elif name in self.keywords:
                named[name] = built
            else:
                positional.append(built)
        return positional, named


def _operands(values: Any) -> Iterator[Operand]:
    for value in values:
        if isinstance(value, Operand):
            yield value
        elif type(value) in (list, tuple):
            yield from _operands(value)


def _filled(value: Any, first: Operand) -> Any:
    if isinstance(value, Operand):
        return value.filled(first)
    if type(value) in (list, tuple):
        return type(value)(_filled(element, first) for element in value)
    return value


def _is_unsafe_for_numpy(call: Call) -> bool:
    """Return whether NumPy 2.4 would write outside of an array, as `bincount` does for the greatest integer."""
    return call.function == "bincount" and any(
        one.style == "special" for one in _operands(v for _, v in call.arguments)
    )


class UnknownParameterError(Exception):
    """Report a parameter for which no arguments can be generated."""


class Generator:
    """Generate the calls of one function from its signature."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.rng = np.random.default_rng([SEED, zlib.crc32(pair.name.encode())])
        self.parameters = {self._key(parameter): parameter for parameter in pair.parameters()}
        self.specifications: dict[str, Any] = {}
        self.required: list[str] = []
        also = MANY_ARRAYS_REQUIRED.get(pair.name, set())
        for key, parameter in self.parameters.items():
            if parameter.name in generators.IGNORED and generators.lookup(pair.name, key) is None:
                continue
            specification = generators.lookup(pair.name, key)
            if specification is None:
                raise UnknownParameterError(
                    f"{pair.name}: no generator for the parameter {key}; add it to argument_generators.py"
                )
            self.specifications[key] = specification
            is_optional = parameter.default is not parameter.empty or parameter.kind is parameter.VAR_KEYWORD
            if not is_optional or parameter.name in also:
                self.required.append(key)
        self.specifications |= generators.KEYWORDS.get(pair.name, {})
        self.arrays = [key for key in self.required if isinstance(self.specifications[key], str)]
        self.base: dict[str, Any] = {}
        self.succeeding: list[tuple[Any, ...]] = []

    @staticmethod
    def _key(parameter: inspect.Parameter) -> str:
        return f"*{parameter.name}" if parameter.kind is parameter.VAR_POSITIONAL else parameter.name

    def _shapes(self) -> list[tuple[Any, ...]]:
        count = len(self.arrays)
        if count <= 1:
            return [(shape,) for shape in SINGLE]
        if count == 2:
            return list(PAIRS)
        return [shapes + (shapes[-1],) * (count - 3) for shapes in MORE]

    def _with_arrays(self, shapes: Any, dtypes: Any, layouts: Any = ("C",), style: str | None = None) -> dict[str, Any]:
        """Return the array arguments; the given dtypes, shapes and layouts are repeated if there are more arrays."""
        made = {}
        for position, key in enumerate(self.arrays):
            made[key] = Operand(
                shapes[position % len(shapes)],
                dtypes[position % len(dtypes)],
                style or self.specifications[key],
                layouts[position % len(layouts)],
                position,
            )
        return made

    def call(self, values: dict[str, Any], by_keyword: bool = False, positional: bool = False) -> Call | None:
        """Return the call with the given argument values, or None if the function's signature does not permit them."""
        if (
            (isinstance(self.pair.numpys, np.ufunc) or self.pair.name == "clip")
            and "where" in values
            and not isinstance(values.get("out"), Out)
        ):
            # Without `out`, the elements that the mask excludes are unspecified, so pass `out`.
            values = values | {"out": Out()}
        arguments, keywords, is_contiguous = [], set(), True
        order = [*self.parameters, *(key for key in values if key not in self.parameters)]
        for key in order:
            parameter = self.parameters.get(key)
            if key not in values:
                is_contiguous = is_contiguous and parameter is not None and parameter.kind is parameter.VAR_POSITIONAL
                continue
            arguments.append((key, values[key]))
            if parameter is None or parameter.kind is parameter.KEYWORD_ONLY:
                keywords.add(key)
            elif parameter.kind is parameter.POSITIONAL_ONLY:
                if not is_contiguous:
                    return None
            elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                is_required = key in self.required
                if by_keyword or not is_contiguous or not (is_required or positional):
                    keywords.add(key)
                    is_contiguous = False
        return Call(self.pair.name, tuple(arguments), frozenset(keywords)).filled()

    def succeeds(self, values: dict[str, Any]) -> bool:
        """Return whether NumPy's function accepts the arguments."""
        call = self.call(values)
        if call is None:
            return False
        positional, named = call.build(np)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                self.pair.numpys(*positional, **named)
            except Exception:
                return False
        return True

    def find_base(self) -> bool:
        """Find values of the required arguments that NumPy accepts. Matrices of float64 are tried first."""
        others = {key: self.specifications[key].accepted for key in self.required if key not in self.arrays}
        first = {key: accepted[0] for key, accepted in others.items()}
        choices = [first] + [first | {key: value} for key, accepted in others.items() for value in accepted[1:]]
        dtypes = ("float64", "int64", "uint8", "bool", "complex128")
        mixed = [(dtype,) for dtype in dtypes] + [("float64", "int64"), ("bool", "float64"), ("float64", "bool")]
        for chosen, kinds, shapes in itertools.product(choices, mixed, self._shapes()):
            values = self._with_arrays(shapes, kinds) | chosen
            if self.succeeds(values):
                self.base, self.kinds, self.chosen, self.shapes = values, kinds, chosen, shapes
                break
        else:
            return False
        self.succeeding = [
            shapes for shapes in self._shapes() if self.succeeds(self._with_arrays(shapes, self.kinds) | self.chosen)
        ]
        return True

    def single_variations(self) -> Iterator[dict[str, Any]]:
        """Yield sets of arguments, in each of which one argument is varied."""
        yield self.base
        for shapes in self._shapes() if self.arrays else []:
            yield self._with_arrays(shapes, self.kinds) | self.chosen
        if self.arrays:
            for dtypes in [*((dtype,) for dtype in DTYPES), *(MIXED if len(self.arrays) > 1 else [])]:
                yield self._with_arrays(self.shapes, dtypes) | self.chosen
            for layout in list(LAYOUTS)[1:]:
                yield self._with_arrays(self.shapes, self.kinds, (layout,)) | self.chosen
                if len(self.arrays) > 1:
                    yield self._with_arrays(self.shapes, self.kinds, (layout, "C")) | self.chosen
            for dtype in SPECIAL:
                yield self._with_arrays(self.shapes, (dtype,), style="special") | self.chosen
        for key in self.arrays:
            for value in NUMBERS + WRONG:
                yield self.base | {key: value}
        for key, specification in self.specifications.items():
            if not isinstance(specification, str):
                for value in specification.accepted + specification.rejected:
                    yield self.base | {key: value}

    def combination(self) -> dict[str, Any]:
        """Return random arguments. Seven of eight values come from the lists of accepted values."""
        rng = self.rng
        all_shapes = self._shapes()
        shapes = self.succeeding if rng.random() < 0.85 else all_shapes
        count = max(1, len(self.arrays))
        kinds = self.kinds if rng.random() < 0.3 else tuple(rng.choice(DTYPES, 1 if rng.random() < 0.5 else count))
        layouts = tuple(rng.choice(list(LAYOUTS), count))
        style = "special" if rng.random() < 0.1 else None
        chosen = shapes[rng.integers(len(shapes))] if shapes else self.shapes
        values = self._with_arrays(chosen, [str(kind) for kind in kinds], [str(layout) for layout in layouts], style)
        for key, specification in self.specifications.items():
            if isinstance(specification, str):
                continue
            if key in self.required or rng.random() < 0.35:
                options = specification.accepted
                if not options or (specification.rejected and rng.random() < 0.04):
                    options = specification.rejected
                values[key] = options[rng.integers(len(options))]
        return values

    def calls(self) -> list[Call]:
        """Return all calls, or none if NumPy accepts none of the tried required arguments."""
        if not self.parameters or not self.find_base():
            return []
        variations = [self.call(values) for values in self.single_variations()]
        variations.insert(1, self.call(self.base, by_keyword=True))
        for number in range(COMBINATIONS):
            variations.append(self.call(self.combination(), positional=number % 2 == 0))
        return [call for call in variations if call is not None]


@functools.cache
def calls_of(name: str) -> tuple[Call, ...]:
    """Return the distinct calls of a function: the explicit calls, then the generated calls in random order."""
    pair = pairs()[name]
    explicit = [call.filled() for call in explicit_calls(name)]
    generated = [] if name in EXPLICIT and EXPLICIT[name].is_all else Generator(pair).calls()
    unique = list({repr(call): call for call in explicit + generated}.values())
    rest = [call for call in unique[1:] if not _is_unsafe_for_numpy(call)]
    np.random.default_rng([SEED, zlib.crc32(name.encode()), 1]).shuffle(rest)
    return tuple(unique[:1] + rest)


def explicit_calls(name: str) -> list[Call]:
    """Return the calls of a function that the table `EXPLICIT` lists."""
    made = []
    for arguments, named in EXPLICIT[name].calls if name in EXPLICIT else []:
        listed = [("*arguments", tuple(arguments)), *named.items()]
        made.append(Call(name, tuple(listed), frozenset(named)))
    return made
