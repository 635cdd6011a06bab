"""Test random handovers of arrays between libraries on the available device.

The program `tests/helpers/handovers.py` runs thousands of handovers in many processes.
"""

from __future__ import annotations

from random import SystemRandom

import pytest

import handovers
import hostile_consumer
from handover_support.synchronization_rules import CONSUMER, NOBODY, OWNER, PRODUCER, PROGRAM, RULES, rule_of
from installed.numpy_version import is_numpy

OPERATIONS = 1200
pytestmark = [
    pytest.mark.skipif(
        hostile_consumer.compiler() is None, reason="there is no C compiler, or Python's headers are missing"
    ),
    # Strict mode is off, because NumPy is one of the libraries and reads the memory in place.
    pytest.mark.reads_in_place,
    # The other libraries use deprecated names of NumPy and of themselves. For example, the import of JAX uses a name
    # that NumPy 2.5 deprecates.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.mark.parametrize("seed", [10, SystemRandom().randrange(2**24)], ids=["fixed", "random"])
def test_random_handovers_between_libraries_match_numpy(seed: int) -> None:
    # A former defect: PyGPU destroyed Python objects without the GIL. Of 9 runs with 600 operations of PyTorch and CuPy
    # each, 7 crashed.
    print(f"python tests/helpers/handovers.py --operations {OPERATIONS} --seed {seed}")
    report = handovers.hand_over(OPERATIONS, seed)
    assert report["failures"] == []
    assert sum(report["counts"].values()) > OPERATIONS // 2


def test_random_handovers_use_every_protocol_between_pygpu_and_numpy() -> None:
    report = handovers.hand_over(OPERATIONS, 3, threads=1)
    assert report["failures"] == []
    ways = {label for label in report["counts"] if " by " in label}
    expected = {
        f"PyGPU -> PyGPU by {way}" for way in ("from_dlpack", "asarray", "interface", "hostile", "table", "address")
    }
    to_numpy = "PyGPU -> NumPy by hostile" if is_numpy("2.2") else "PyGPU -> NumPy by asarray"
    assert expected | {to_numpy, "NumPy -> PyGPU by interface"} <= ways


def test_wrong_value_after_handover_is_reported_with_seed_and_history(monkeypatch: pytest.MonkeyPatch) -> None:
    write = handovers.Own.write

    def forget(own: handovers.Own, baton: handovers.Baton, part: slice, value: float) -> None:
        if baton.expected.size < 10:
            write(own, baton, part, value)

    monkeypatch.setattr(handovers.Own, "write", forget)
    failures = handovers.hand_over(OPERATIONS, 4)["failures"]
    assert failures
    assert "seed 4: " in failures[0]
    assert "Mismatch" in failures[0]
    assert "made on " in failures[0]


def test_handover_without_passed_stream_clears_flag_is_stream_known() -> None:
    """Check that the flag `is_stream_known` is unset, and stays unset, if one library in a chain of handovers passes no
    stream.

    A former defect of handovers.py: a handover from PyGPU to PyGPU set the flag again. The program then deleted memory
    of another library while PyGPU used this memory, and reported wrong values.
    """
    thread = handovers.Run(5, 1, []).threads[0]
    for is_known in (True, False):
        seen = set()
        for _ in range(60):
            baton = thread.new()
            baton.is_stream_known = is_known
            thread.hand_over(baton)
            label = baton.history[-1]
            way = label.rpartition(" by ")[2]
            seen.add(way)
            assert baton.is_stream_known is (is_known and rule_of("PyGPU", baton.library.name, way).end != PROGRAM), (
                label
            )
            baton.library.finish(baton)
        assert {"from_dlpack", "hostile", "table"} <= seen


def test_handover_rules_name_waiting_side_and_cover_each_producer() -> None:
    for (_, consumer, way), rule in RULES.items():
        assert rule.first_use in (PRODUCER, CONSUMER, PROGRAM, NOBODY)
        assert rule.end in (OWNER, PROGRAM, NOBODY)
        assert ("*", consumer, way) in RULES
    with pytest.raises(KeyError):
        rule_of("PyGPU", "torch", "no such way")


@pytest.mark.starts_processes
def test_handover_process_that_ends_early_is_reported_as_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = handovers.argparse.Namespace(operations=10, processes=1, threads=1, seed=-1, peers=None)
    monkeypatch.setenv("PYGPU_BACKEND", "no such thing")
    [report] = handovers.in_processes(arguments)
    assert "the process ended with" in report["failures"][0]
    assert report["operations"] == 10
