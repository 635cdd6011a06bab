"""Test that each function that PyGPU and NumPy both have gives the same results, or raises the same errors.

Functions come from PyGPU's declarations of public names, and arguments from the names of parameters. A function that
is added is compared without being listed; the first tests fail until its parameters have generators.
"""

from __future__ import annotations

import os

import pytest

import PyGPU
import simulated
from fusion_support.figures import limits, mode
from installed.numpy_version import since_numpy
from support import on_cpu, told

from .calls import SEED, Call, calls_of
from .comparison import Difference, are_same_bits, compare, is_accepted, run_ours
from .entries import Entry, parse
from .functions import Pair, pairs
from .kept_differences import KEPT
from .open_differences import OPEN

pytestmark = since_numpy("2.4", "behaviour that the lists of differences describe")
PARTS = 4
ON_GPU = 2
"""Number of calls in each test case (one of the `PARTS` of a function) that `make test` runs on a simulated GPU.

Each kernel needs a tenth of a second to compile there. `make test-all` runs all calls.
"""
ON_DEVICE = 12
"""Number of calls in each test case on a real GPU without `TEST_ALL`.

All calls of all functions need 20,000 kernels, each of which takes about 50 ms to compile.
"""
EXCERPT = 20


def most_calls() -> int | None:
    """Return how many calls one test case makes on the backend in use; None means all."""
    if PyGPU.backend_name() == "cpu" or os.environ.get("TEST_ALL"):
        return None
    return ON_DEVICE if simulated.driver() is None else ON_GPU


def part_of(name: str, part: int) -> list[Call]:
    """Return the calls of one test case: every fourth call of the function, or on a GPU only some of these."""
    calls = calls_of(name)
    chosen, most = [*calls[:1], *calls[1 + part :: PARTS]], most_calls()
    if most == ON_DEVICE:
        # The first calls change one argument each, the last calls several.
        return chosen[:: -(-len(chosen) // most)]
    return chosen[:most]


def is_listed(difference: Difference) -> bool:
    return any(entry.matches(difference) for entry in (*KEPT, *OPEN))


@pytest.mark.sampled(on="cpu", elsewhere=8)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", pairs())
def test_function_matches_numpy_unless_difference_is_listed(name: str, part: int) -> None:
    print(f"seed {SEED}")
    pair = pairs()[name]
    differences = [compare(pair, call) for call in part_of(name, part)]
    found = [str(one) for one in differences if one is not None and not is_listed(one)]
    assert not found, f"{len(found)} differences (seed {SEED}):\n" + "\n".join(found[:EXCERPT])


@pytest.mark.skipif(on_cpu(), reason="nothing is deferred on the CPU")
@pytest.mark.sampled(on="cpu", elsewhere=40)
@pytest.mark.parametrize("name", pairs())
def test_function_gives_same_bits_with_and_without_deferred_arithmetic(name: str) -> None:
    print(f"seed {SEED}")
    pair = pairs()[name]
    for call in told(calls_of(name) if most_calls() is None else part_of(name, 0)):
        with mode("off"):
            wanted = run_ours(pair, call)
        with mode("auto"), limits(meetings=1):
            got = run_ours(pair, call)
        assert are_same_bits(pair, got, wanted), f"{call!r}: {got} with deferral, {wanted} without"


@pytest.mark.enough_on("cpu")
def test_numpy_accepts_a_compared_call_of_each_function() -> None:
    names = [name for name in pairs() if not calls_of(name) or not is_accepted(pairs()[name], calls_of(name)[0])]
    assert names == [], "add generators for their parameters, or calls to explicit_calls.py"


@pytest.mark.enough_on("cpu")
@pytest.mark.skipif(not on_cpu(), reason="entries of GPUs depend on their libraries and compilers")
@pytest.mark.parametrize(
    "entry",
    [entry for entry in (*KEPT, *OPEN) if not {"gpu", "numpy25"} & set(entry.condition.split())],
    ids=lambda entry: f"{entry.functions}: {entry.does}"[:80],
)
def test_listed_difference_from_numpy_exists_in_each_named_function(entry: Entry) -> None:
    is_pattern = "*" in entry.functions
    names = [name for name in pairs() if entry.has(name)]
    missing = [] if is_pattern else sorted(set(entry.functions.split()) - set(names))
    assert missing == [], "functions that PyGPU and NumPy do not both have"
    ended = []
    for name in names:
        is_found = any(differs_as_listed(pairs()[name], call, entry) for call in calls_of(name))
        if is_found and is_pattern:
            return
        ended += [] if is_found else [name]
    assert ended == [], "no longer different: remove these names, or the entry"


def differs_as_listed(pair: Pair, call: Call, entry: Entry) -> bool:
    difference = compare(pair, call)
    return difference is not None and entry.matches(difference)


@pytest.mark.enough_on("cpu")
def test_listed_differences_have_all_fields_and_a_reason_if_intended() -> None:
    assert all(entry.functions and entry.condition and entry.does for entry in (*KEPT, *OPEN))
    assert all(entry.reason for entry in KEPT)
    assert parse("sum\n    if kind == 'values'\n      or kind == 'dtype'\n    does a\n    because b") == [
        Entry("sum", "kind == 'values' or kind == 'dtype'", "a", "b")
    ]


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize(
    ("name", "other", "kind"),
    [
        ("sin", "cos", "values"),
        ("sum", "count_nonzero", "dtype"),
        ("sort", "ravel", "shape"),
        ("shape", "ndim", "structure"),
    ],
)
def test_numpy_comparison_reports_function_with_different_results(name: str, other: str, kind: str) -> None:
    wrong = pairs()[name]._replace(ours=pairs()[other].ours)
    difference = compare(wrong, calls_of(name)[0])
    assert difference is not None
    assert difference.kind == kind


@pytest.mark.enough_on("cpu")
def test_numpy_comparison_generates_same_calls_in_each_run() -> None:
    first = [repr(call) for call in calls_of("take")]
    calls_of.cache_clear()
    assert [repr(call) for call in calls_of("take")] == first
