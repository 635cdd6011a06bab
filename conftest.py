"""Settings of all tests: random tests name their seed, and the examples of the documentation run."""

import random
from pathlib import Path

import pytest

try:
    import hypothesis
except ImportError:
    hypothesis = None
try:
    from sybil import Sybil
    from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser
except ImportError:  # a machine with a device but without the test tools still runs the other tests
    Sybil = None

if hypothesis is not None:
    # A device or a busy machine makes the first example slow; that is no defect of what is tested.
    hypothesis.settings.register_profile("pygpu", deadline=None, print_blob=True)
    hypothesis.settings.load_profile("pygpu")


def allow_reading_in_place(namespace: dict) -> None:
    """The pages say what holds without PYGPU_STRICT, also in a run of the tests with it."""
    from PyGPU import _core

    namespace["_strict"] = _core._set_strict(False)


def restore(namespace: dict) -> None:
    """Put back what held before the page."""
    from PyGPU import _core

    _core._set_strict(namespace["_strict"])


if Sybil is not None:
    pytest_collect_file = Sybil(
        parsers=[PythonCodeBlockParser(), SkipParser()],
        path=str(Path(__file__).parent),
        patterns=["README.md", "docs/*.md", "docs/**/*.md"],
        setup=allow_reading_in_place,
        teardown=restore,
    ).pytest()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed here: left to itself, hypothesis tells it only for some failures."""
    if getattr(config.option, "hypothesis_seed", "") is None:
        config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))


def pytest_report_header(config: pytest.Config) -> str:
    """Print the seed, as the option that repeats the run."""
    return f"random tests: --hypothesis-seed={getattr(config.option, 'hypothesis_seed', 'hypothesis is not installed')}"
