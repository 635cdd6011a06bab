"""A short soak, on whatever backend there is; `python tests/soak.py --operations 1000000` is the long one."""

import random

import numpy as np
import pytest

import PyGPU
import soak
import soak_operations
from soak_operations import Dice, Pair

FIXED = 20_261_121
RANDOM = random.SystemRandom().randrange(2**32)


# A seed in the name of a test would give it another name in each run.
@pytest.mark.parametrize("seed", [FIXED, RANDOM], ids=["fixed", "random"])
def test_random_operations_agree_with_numpy(seed: int) -> None:
    print(f"python tests/soak.py --operations 20000 --seed {seed}")
    report = soak.run(20_000, seed)
    assert report["operations"] == 20_000
    assert report["blocks_after"] == report["blocks_before"]
    missing = set(soak.Soak(seed).names) - set(report["counts"])
    assert not missing, "operations that were never tried"


def test_threads_soak_at_once() -> None:
    print(f"python tests/soak.py --operations 3000 --threads 4 --seed {RANDOM}")
    assert len(soak.run_threads(4, 3000, RANDOM, lambda done: None)) == 4


def test_one_seed_gives_one_run() -> None:
    def trace(seed: int) -> list[tuple[object, ...]]:
        run = soak.Soak(seed)
        for _ in range(300):
            run.step()
        return [(pair.host.shape, pair.host.dtype.str, pair.host.tobytes()) for pair in run.live]

    assert trace(5) == trace(5)
    assert trace(5) != trace(6)


@pytest.mark.parametrize("name", ["fill", "transpose", "copy"])
def test_a_planted_difference_is_found_and_can_be_repeated(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(dice: Dice, pair: Pair, _: object) -> Pair | None:
        if pair.host.size < 2 or not pair.device.flags.writeable:
            return None
        match name:
            case "fill":
                pair.device[...] = np.zeros(pair.host.shape, pair.host.dtype)
                return None
            case "transpose":
                return Pair(pair.device.reshape(-1), pair.host.T)
            case _:
                return Pair(PyGPU.zeros_like(pair.device), pair.host.copy())

    group = {"fill": "WRITES", "transpose": "VIEWS", "copy": "COPIES"}[name]
    monkeypatch.setitem(getattr(soak_operations, group), name, wrong)
    with pytest.raises(soak.Mismatch, match=r"seed 7, operation \d+: AssertionError: .*(?s:.*)the last operations:"):
        soak.run(5000, 7)
