"""Run random programs of deferred operations in NumPy, and in PyGPU without and with deferral.

A program is a list of steps with their random choices, drawn while NumPy runs the program. PyGPU then runs the program
twice, in the fusion modes `"off"` and `"auto"`. The values that both runs read must be equal in all bits, and equal to
NumPy's.

Bits of NaN are excluded: IEEE 754 leaves the sign and the payload of a computed NaN to the compiler. A compiler may
compute `-b + b` as `b - b` if both are in one kernel, which gives another NaN if `b` is NaN.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from fusion_support.disturbances import Finalisers, Refusals
from fusion_support.executors import Device, World
from fusion_support.operation_counts import OperationCounts
from fusion_support.program_fragments import DTYPES, KEYS, MATRIX, NUMBERS, ROW, Fragment, catalogue
from PyGPU import _core

SEED_OF_CATALOGUE = 19
MOST_FRAGMENTS = 300
MOST_LIVE = 16
STEPS_OF_A_PROGRAM = 60
# Number of float32 elements of a large operand: 1 MiB. Smaller operands do not count for the queue's memory limit.
LARGE = 1 << 18
# Sets of limits of deferral. Each program runs with one of these sets; programs with different sets use different
# fragments.
LIMITS: tuple[dict[str, int], ...] = (
    {},
    {"compile_threshold": 1},
    {"nodes": 1},
    {"nodes": 2, "compile_threshold": 1},
    {"nodes": 3},
    {"outputs": 1, "compile_threshold": 1},
    {"outputs": 2, "arrays": 3, "compile_threshold": 1},
    {"arrays": 3},
    {"results": 200},
    {"held": 1 << 19},
)

Step = tuple[Any, ...]


class Difference(AssertionError):
    """Report that two runs of the same program read different values."""


class Program:
    """Draw the steps of a random program from a seed."""

    def __init__(self, seed: int, fragments: int = MOST_FRAGMENTS) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.number = seed % len(LIMITS)
        self.limits = LIMITS[self.number]
        whole = catalogue_of(fragments)
        self.fragments = whole[self.number :: len(LIMITS)]
        self.steps: list[Step] = []
        self.model = World()
        self.counts: Counter[str] = Counter()
        self._next = 0
        with np.errstate(all="ignore"):
            for _ in range(STEPS_OF_A_PROGRAM):
                self._draw()
            for number in list(self.model.arrays):
                self._add("see", number)

    @property
    def operations(self) -> int:
        return self.counts.total()

    def _new(self) -> int:
        self._next += 1
        return self._next

    def _add(self, *step: Any) -> None:
        self.steps.append(step)
        self.counts[step[0]] += 1
        do(self.model, step)

    def _host(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        source = np.random.default_rng(self.random.randrange(2**32))
        if dtype == "int32":
            return source.integers(-50, 50, shape, np.int32)
        host = source.normal(size=shape).astype(dtype)
        special = source.choice([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e-40, 3e38], shape)
        return np.where(source.random(shape) < 0.1, special, host).astype(dtype)

    def _put(self, dtype: str, shape: tuple[int, ...]) -> int:
        number = self._new()
        self._add("put", number, self._host(dtype, shape))
        return number

    def _one(self, predicate: Callable[[np.ndarray], bool]) -> int | None:
        found = [number for number, array in self.model.arrays.items() if predicate(array)]
        return self.random.choice(found) if found else None

    def _operand(self, dtype: str, shape: tuple[int, ...], taken: list[int]) -> int:
        def fits(array: np.ndarray) -> bool:
            return array.dtype == dtype and array.shape == shape

        found = [number for number, array in self.model.arrays.items() if fits(array) and number not in taken]
        if not found or self.random.random() < 0.2:
            return self._put(dtype, shape)
        return self.random.choice(found)

    def _operands(self, fragment: Fragment, results: list[int], taken: list[int]) -> list[int]:
        """Return arrays as operands of a fragment, preferably the results of the previous fragment."""
        operands: list[int] = []
        for dtype, shape in fragment.operands:
            arrays = self.model.arrays
            own = [n for n in results if arrays[n].dtype == dtype and arrays[n].shape == shape and n not in operands]
            operands.append(own[0] if own else self._operand(dtype, shape, operands + taken))
        return operands

    def _episode(self) -> None:
        """Add one or two fragments to the program, and often a step that launches their operations."""
        place = self.random.randrange(len(self.fragments))
        results: list[int] = []
        for fragment in self.fragments[place : place + 1 + (self.random.random() < 0.2)]:
            operands = self._operands(fragment, results, [])
            stream = self.random.choice([None, None, None, 0, 1])
            results = [self._new() for _ in fragment.kept]
            self._add("fragment", fragment, operands, results, stream, self.random.random() < 0.1)
            self.counts["operation"] += max(fragment.length - 1, 0)
        if self.random.random() < 0.2 and results:
            self._add("drop", self.random.choice(results))
        if self.random.random() < 0.85:
            self._closer(operands + [number for number in results if number in self.model.arrays])

    def _threads(self) -> None:
        works = []
        taken: list[int] = []
        for _ in range(2):
            fragment = self.random.choice([one for one in self.fragments if not writes(one)])
            operands = self._operands(fragment, [], [])
            taken += operands
            works.append((fragment, operands, [self._new() for _ in fragment.kept]))
        self._add("threads", works)
        self.counts["operation"] += sum(fragment.length for fragment, *_ in works)

    def _closer(self, touched: list[int]) -> None:
        random = self.random
        number = random.choice(touched)
        array = self.model.arrays[number]
        is_float = array.dtype == np.float32
        can_write = array.dtype.kind in "if"
        ways: list[tuple[Any, ...]] = [("see", number), ("see", number), ("order", random.randrange(10)), ("flush",)]
        if can_write:
            ways.append(("write", number, random.randrange(4), random.randrange(len(KEYS))))
            ways.append(("write", number, random.randrange(4), random.randrange(len(KEYS))))
            ways.append(("upload", number, self._host(str(array.dtype), array.shape)))
        if is_float and array.flags.c_contiguous:
            ways.append(("kernel", number, random.randrange(2)))
        if is_float and random.random() < 0.2:
            ways.append(("captured", number, random.randrange(3)))
        if can_write and array.flags.c_contiguous and random.random() < 0.3:
            host = self._host(str(array.dtype), array.shape)
            ways.append(("others", number, host, random.randrange(3)))
        self._add(*random.choice(ways))

    def _draw(self) -> None:
        while len(self.model.arrays) > MOST_LIVE:
            self._add("drop", self.random.choice(list(self.model.arrays)))
        random = self.random
        what = random.choices(
            ["episode", "put", "drop", "view", "threads", "lend", "back", "starved", "pressed", "large", "see"],
            [60, 4, 6, 6, 4, 2, 4, 1, 1, 8 if "held" in self.limits else 1, 3],
        )[0]
        if not self.model.arrays:
            what = "put"
        match what:
            case "episode":
                self._episode()
            case "put":
                self._put(random.choice(DTYPES), random.choice([MATRIX, MATRIX, ROW]))
            case "drop" | "see":
                self._add(what, random.choice(list(self.model.arrays)))
            case "view":
                number = random.choice(list(self.model.arrays))
                if self.model.arrays[number].ndim:
                    key = random.choice([None, *range(len(KEYS) - 2)])
                    if key is None or self.model.arrays[number].shape[0] > 1:
                        self._add("view", number, key, self._new())
            case "threads":
                self._threads()
            case "lend":
                self._add("lend", random.choice(list(self.model.arrays)))
            case "back":
                self._add("back")
            case "starved":
                fragment = random.choice([one for one in self.fragments if not writes(one)])
                self._add("starved", fragment, self._operands(fragment, [], []))
            case "pressed" | "large":
                host = np.random.default_rng(random.randrange(2**32)).random(LARGE, np.float32) - np.float32(0.5)
                self._add(what, host)


def writes(fragment: Fragment) -> bool:
    """Return whether a fragment writes into its operands."""
    count = len(fragment.operands)
    views = {count + place for place, line in enumerate(makers(fragment)) if line[0] == "view"}
    known = set(range(count)) | views
    for line in fragment.lines:
        target = {"into": 2, "operator": 2, "masked": 2, "assign": 1}.get(line[0])
        if target is not None and line[target] in known:
            return True
    return False


def makers(fragment: Fragment) -> list[tuple[Any, ...]]:
    return [line for line in fragment.lines if line[0] in ("call", "view", "cast", "reduce")]


_CATALOGUES: dict[int, list[Fragment]] = {}


def catalogue_of(count: int) -> list[Fragment]:
    if count not in _CATALOGUES:
        _CATALOGUES[count] = catalogue(SEED_OF_CATALOGUE, count)
    return _CATALOGUES[count]


def do(world: World, step: Step) -> None:
    """Perform one step of a program on the arrays of one world, which is one run of the program by PyGPU or NumPy."""
    what, *rest = step
    arrays = world.arrays
    match what:
        case "put":
            world.put(*rest)
        case "fragment":
            fragment, operands, results, stream, threaded = rest

            def run() -> None:
                with world.within(stream):
                    made = fragment.run(world.xp, [arrays[number] for number in operands])
                arrays.update(zip(results, made, strict=True))

            if threaded:
                world.in_threads(run)
            else:
                run()
        case "threads":

            def work(fragment: Fragment, operands: list[int], results: list[int]) -> None:
                for _ in range(3):
                    made = fragment.run(world.xp, [arrays[number] for number in operands])
                arrays.update(zip(results, made, strict=True))

            (works,) = rest
            world.in_threads(*[lambda one=one: work(*one) for one in works])
        case "drop":
            del arrays[rest[0]]
        case "see":
            world.see(arrays[rest[0]])
        case "view":
            number, key, result = rest
            arrays[result] = arrays[number].T if key is None else arrays[number][KEYS[key]]
        case "order":
            world.order(*rest)
        case "flush":
            world.flush()
        case "write":
            number, how, key = rest
            array = arrays[number]
            match how:
                case 0:
                    array[KEYS[key] if array.ndim else ...] = NUMBERS[0]
                case 1:
                    array += 1
                case 2:
                    world.xp.maximum(array, 1, out=array)
                case 3:
                    array[...] = array * 2 - 1
        case "upload":
            world.upload(arrays[rest[0]], rest[1])
        case "kernel":
            world.kernel(arrays[rest[0]], rest[1])
        case "captured":
            world.captured(arrays[rest[0]], rest[1])
        case "others":
            world.write_as_others(arrays[rest[0]], *rest[1:])
        case "lend":
            world.lend(rest[0])
        case "back":
            world.take_back()
        case "starved":
            fragment, operands = rest
            world.starved(lambda: fragment.run(world.xp, [arrays[number] for number in operands]) and None)
        case "pressed":
            world.pressed(rest[0])
        case "large":
            world.large(rest[0])


@dataclass
class Disturbances:
    """Select the disturbances with which a program runs; by default there are none."""

    finalisers: Finalisers | None = None
    refusals: Refusals | None = None


@contextmanager
def limited(program: Program) -> Iterator[None]:
    """Set the limits of a program for a `with` block.

    Programs have equal limits if their seeds have the same remainder modulo the number of sets.
    """
    _core._limit_fusion(**program.limits)
    try:
        yield
    finally:
        _core._limit_fusion()


def replay(
    program: Program, mode: str, disturbances: Disturbances | None = None, *, is_alone: bool = True
) -> list[np.ndarray]:
    """Run a program in PyGPU under a fusion mode, and return the values that it reads."""
    disturbances = disturbances or Disturbances()
    finalisers, refusals = disturbances.finalisers, disturbances.refusals
    world = Device(mode, refusals, is_alone=is_alone)
    place = 0
    try:
        with np.errstate(all="ignore"), finalisers.of(world) if finalisers is not None else nullcontext():
            for place, step in enumerate(program.steps):  # noqa: B007 (used below)
                with refusals.during(step[0]) if refusals is not None and is_alone else nullcontext():
                    do(world, step)
        return world.seen
    except Exception as error:
        raise Difference(f"{type(error).__name__} under {mode}: {error}\n{describe_step(program, place)}") from error
    finally:
        world.close()


def numbers_in(step: Step) -> set[int]:
    """Return the numbers by which the program identifies the arrays that a step uses."""
    found = {part for part in step[1:] if type(part) is int}
    return found | {one for part in step[1:] if isinstance(part, list) for one in part if type(one) is int}


def describe_step(program: Program, place: int) -> str:
    """Describe the step at a position of a program, and the last earlier steps that computed the step's operands."""
    shown: list[str] = []
    positions: list[int] = []
    related: set[int] = set()
    for number in range(place, -1, -1):
        step = program.steps[number]
        touched = numbers_in(step)
        if number == place or (touched & related and step[0] not in ("see", "drop")):
            positions.append(number)
            related |= touched
        if len(positions) == 12:
            break
    for number in reversed(positions):
        words = [
            f"array {part.shape} {part.dtype}" if isinstance(part, np.ndarray) else repr(part)
            for part in program.steps[number]
        ]
        shown.append(f"{number}: {' '.join(words)}")
    return f"seed {program.seed}, limits {program.limits}\n" + "\n".join(shown)


def see_steps(program: Program) -> list[int]:
    return [place for place, step in enumerate(program.steps) if step[0] in ("see", "pressed", "large")]


def check(program: Program, disturbances: Disturbances | None = None) -> None:
    """Run a program in NumPy, and with PyGPU in both fusion modes.

    Raises ------ Difference If two runs read different values. The message contains the steps up to the different
    values.
    """
    with limited(program):
        off, auto = (replay(program, mode, disturbances) for mode in ("off", "auto"))
    compare(program, off, auto)


def check_together(programs: Sequence[Program], disturbances: Disturbances | None = None) -> None:
    """Run programs whose limits are equal twice: one after the other without deferral, then in threads with deferral.

    Raises
    ------
    Difference
        If two runs of one program read different values.
    """
    with limited(programs[0]):
        off = [replay(program, "off", disturbances, is_alone=False) for program in programs]
        with ThreadPoolExecutor(len(programs)) as pool:
            # Only the first program runs with finalisers, because finalisers modify the arrays of one run only.
            # The other programs run without finalisers, but with injected rejections of memory requests.
            plain = Disturbances(refusals=disturbances.refusals if disturbances else None)
            extra = [disturbances, *[plain] * (len(programs) - 1)]
            running = [
                pool.submit(replay, program, "auto", one, is_alone=False)
                for program, one in zip(programs, extra, strict=True)
            ]
            auto = [one.result() for one in running]
    for program, plain_seen, fused_seen in zip(programs, off, auto, strict=True):
        compare(program, plain_seen, fused_seen)


def compare(program: Program, off: list[np.ndarray], auto: list[np.ndarray]) -> None:
    """Compare the values that a program read in both fusion modes with each other and with the values in NumPy."""
    positions = see_steps(program)
    for place, expected, plain, fused in zip(positions, program.model.seen, off, auto, strict=True):
        if not agree(fused, plain):
            raise Difference(f"off has\n{plain!r}\nand auto\n{fused!r}\n{describe_step(program, place)}")
        if not agree(plain, expected):
            raise Difference(f"NumPy has\n{expected!r}\nand PyGPU\n{plain!r}\n{describe_step(program, place)}")


def agree(got: np.ndarray, expected: np.ndarray) -> bool:
    """Return whether two values have equal bits, except for the bits of NaN."""
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        return False
    if got.dtype.kind == "f":
        both = np.isnan(got) & np.isnan(expected)
        got, expected = np.where(both, 0, got), np.where(both, 0, expected)
    return got.tobytes() == expected.tobytes()


def run(
    seed: int,
    operations: int,
    fragments: int = MOST_FRAGMENTS,
    tell: Callable[[int], None] | None = None,
    *,
    threads: int = 1,
    has_finalisers: bool = False,
    is_refusing: bool = False,
) -> dict[str, Any]:
    """Run programs of consecutive seeds until the given number of operations was drawn, and return a report.

    With several threads, each turn runs one program per thread, all with equal limits. `next_seed` is the first seed of
    the next turn.
    """
    counted, counts = OperationCounts(), Counter[str]()
    disturbances = Disturbances(Finalisers(seed) if has_finalisers else None, Refusals(seed) if is_refusing else None)
    failure, number, programs = None, seed, 0
    while counts.total() < operations and failure is None:
        try:
            if threads == 1:
                turn = [Program(number, fragments)]
                check(turn[0], disturbances)
                number += 1
            else:
                turn = [Program(number + len(LIMITS) * place, fragments) for place in range(threads)]
                check_together(turn, disturbances)
                number += 1 if (number + 1) % len(LIMITS) else 1 + len(LIMITS) * (threads - 1)
            programs += len(turn)
            for program in turn:
                counts += program.counts
            if disturbances.finalisers is not None and disturbances.finalisers.wrong:
                failure = f"seed {number - 1}: {disturbances.finalisers.wrong[0]}"
        except Difference as difference:
            failure = str(difference)
        if tell is not None:
            tell(counts.total())
    finalisers, refusals = disturbances.finalisers, disturbances.refusals
    return {
        "seed": seed,
        "next_seed": number,
        "programs": programs,
        "operations": counts.total(),
        "threads": threads,
        "finalisers": finalisers.runs if finalisers is not None else 0,
        "refusals": refusals.planted if refusals is not None else 0,
        "counts": dict(sorted(counts.items())),
        "figures": {
            name: counted[name] for name in ("operations", "dropped", "kernels", "fused", "outputs", "failures")
        },
        "closed": counted["closed"],
        "at_once": counted["at_once"],
        "failure": failure,
    }
