"""Run the Python fuzz target with its corpus and with random bytes; `make fuzz` runs the target with the fuzzer
atheris."""

import random
import sys
from pathlib import Path

import pytest

import PyGPU

FOLDER = Path(__file__).parents[1] / "fuzz"
sys.path.append(str(FOLDER))
import fuzz_interfaces  # noqa: E402

# The fuzz target uses random addresses. The tests run on the CPU backend alone, because the tests can determine which
# addresses are valid only for host memory.
pytestmark = [
    pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="forged memory is the host's"),
    pytest.mark.reads_in_place,
]
INPUTS = sorted((FOLDER / "corpus").iterdir())
SEED = random.SystemRandom().randrange(2**32)


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name)
def test_fuzz_target_accepts_every_corpus_file(path: Path) -> None:
    fuzz_interfaces.run(path.read_bytes())


def test_fuzz_target_accepts_random_bytes() -> None:
    dice = random.Random(SEED)
    for number in range(10_000):
        data = dice.randbytes(dice.randrange(2, 100))
        try:
            fuzz_interfaces.run(data)
        except BaseException as failure:
            pytest.fail(
                f"seed {SEED}, input {number}, bytes.fromhex('{data.hex()}'): {type(failure).__name__}: {failure}"
            )


@pytest.mark.parametrize("error", [RuntimeError("not documented"), ValueError()])
def test_fuzz_target_detects_undocumented_or_empty_error(error: Exception) -> None:
    def call() -> None:
        raise error

    with pytest.raises((RuntimeError, AssertionError)):
        fuzz_interfaces.attempt(call)
