"""Test short random sequences of operations (a soak) against NumPy; tests/helpers/soak.py runs longer sequences."""

from __future__ import annotations

from random import SystemRandom

import pytest

import PyGPU
import soak
from soak_operations import arithmetic

OPERATIONS = 4000
# Number of pairs of a function and a dtype from which the random test draws. A simulated GPU compiles each pair's
# kernel as a host program, so only `FEW` pairs are tested there. On the CPU backend, which calls NumPy's compiled
# loops, all pairs are tested.
PAIRS = len(arithmetic.PAIRS) if PyGPU.backend_name() == "cpu" else arithmetic.FEW
pytestmark = pytest.mark.reads_in_place


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("seed", [1, SystemRandom().randrange(2**32)], ids=["fixed", "random"])
def test_random_operations_match_numpy_without_leaks(seed: int) -> None:
    print(f"python tests/helpers/soak.py --operations {OPERATIONS} --seed {seed} --pairs {PAIRS}")
    report = soak.soak(OPERATIONS, seed, pairs=PAIRS)
    assert report["failure"] is None, report["failure"]
    assert report["operations"] == OPERATIONS
    assert not report["findings"]
    # With the seed 1, the sequence contains every operation, except perhaps copies between devices ("peer").
    assert seed != 1 or report["counts"].keys() | {"peer"} == soak.OPERATIONS.keys() | {"peer"}


@pytest.mark.sampled(on="cuda", elsewhere=0)
def test_random_operations_in_threads_with_separate_arrays_match_numpy() -> None:
    seed = SystemRandom().randrange(2**32)
    count = OPERATIONS // 4
    print(f"python tests/helpers/soak.py --operations {count} --threads 4 --seed {seed} --pairs {PAIRS}")
    report = soak.soak(count, seed, threads=4, pairs=PAIRS)
    assert report["failure"] is None, report["failure"]


def test_random_operations_with_equal_seeds_create_equal_arrays() -> None:
    def live(seed: int) -> list[tuple[str, bytes]]:
        run = soak.Soak(seed)
        run.run(500)
        result = [(repr(held), held.twin.tobytes()) for held in run.live]
        run.close()
        return result

    assert live(5) == live(5)
    assert live(5) != live(6)


def test_wrong_element_is_reported_with_last_random_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(run: soak.Soak) -> soak.Held | None:
        held = run.pick(lambda held: held.writeable and held.twin.dtype == "int32" and held.twin.size > 0)
        if held is not None:
            held.twin.flat[0] ^= 1
        return held

    monkeypatch.setitem(soak.OPERATIONS, "spoil", (20, spoil))
    failure = soak.soak(OPERATIONS, 1)["failure"]
    assert failure is not None
    assert failure.startswith("seed 1: Mismatch: ")
    assert "spoil #" in failure
