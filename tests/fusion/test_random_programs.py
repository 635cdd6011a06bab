"""Test that random programs give the same bits in every fusion mode; helpers/fusion_soak.py runs longer programs."""

from __future__ import annotations

from random import SystemRandom

import pytest

import fusion_soak
from fusion_support import state_machine
from fusion_support.operation_counts import CAUSES

OPERATIONS = 5000
# Number of operations in each random program of a new seed. The kernels of such a program must be compiled first.
SHORT = 2000
FRAGMENTS = 150


@pytest.mark.enough_on("cuda")
@pytest.mark.long_under_racecheck
@pytest.mark.timeout(600)
def test_random_programs_of_fixed_seed_cover_every_flush_reason() -> None:
    print(f"python tests/helpers/fusion_soak.py --operations {OPERATIONS} --seed 1 --fragments {FRAGMENTS}")
    report = fusion_soak.soak(OPERATIONS, 1, FRAGMENTS)
    assert report["failure"] is None, report["failure"]
    # The helper thread is off, so that it launches no operations in these tests.
    assert set(report["closed"]) == set(CAUSES) - {"age"}
    assert set(report["at_once"]) >= {"off", "exposed", "form"}
    assert report["figures"]["fused"] > 100
    assert report["figures"]["dropped"] > 100
    assert report["counts"].keys() >= {
        "fragment",
        "threads",
        "captured",
        "others",
        "lend",
        "starved",
        "pressed",
        "kernel",
    }


@pytest.mark.enough_on("hip")
@pytest.mark.timeout(600)
def test_short_random_program_of_fixed_seed_matches_eager_mode() -> None:
    report = fusion_soak.soak(800, 1, FRAGMENTS)
    assert report["failure"] is None, report["failure"]
    assert report["figures"]["fused"] > 10


# Programs of a new seed need new kernels, which a simulated GPU compiles slowly. The kernels of the programs of seed 1
# are in the cache.
@pytest.mark.sampled(on="cuda", elsewhere=0)
@pytest.mark.timeout(600)
def test_random_program_of_new_seed_matches_eager_mode() -> None:
    seed = SystemRandom().randrange(2**32)
    print(f"python tests/helpers/fusion_soak.py --operations {SHORT} --seed {seed} --fragments {FRAGMENTS}")
    report = fusion_soak.soak(SHORT, seed, FRAGMENTS)
    assert report["failure"] is None, report["failure"]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.sampled(on="cuda", elsewhere=1)
@pytest.mark.timeout(600)
def test_random_programs_with_finalizers_and_threads_match_eager_mode(threads: int) -> None:
    options = {"threads": threads, "has_finalisers": True, "is_refusing": True}
    report = fusion_soak.soak(800, 1, FRAGMENTS, **options)
    assert report["failure"] is None, report["failure"]
    assert report["finalisers"] > 10
    assert report["refusals"] > 0 or not report["simulated"]


def test_random_programs_of_same_seed_are_equal() -> None:
    def description(seed: int) -> str:
        program = state_machine.Program(seed, FRAGMENTS)
        return state_machine.describe_step(program, len(program.steps) - 1)

    assert description(3) == description(3)
    assert description(3) != description(4)


def test_comparison_of_random_program_detects_wrong_element(monkeypatch: pytest.MonkeyPatch) -> None:
    replay = state_machine.replay

    def spoiled(program: state_machine.Program, mode: str, *rest: object) -> list[object]:
        seen = replay(program, mode, *rest)
        if mode == "auto" and seen[-1].size:
            seen[-1] = seen[-1] + (seen[-1] == seen[-1])
        return seen

    monkeypatch.setattr(state_machine, "replay", spoiled)
    with pytest.raises(state_machine.Difference, match="off has"):
        state_machine.check(state_machine.Program(1, FRAGMENTS))
