"""Configure all tests: print the seed of random tests, and run the code blocks of the documentation as tests."""

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
except ImportError:  # Without the package sybil, pytest runs all tests except the documentation's code blocks.
    Sybil = None

if hypothesis is not None:
    # The first example of a random test may be slow, for example because it compiles kernels. It therefore has no
    # deadline.
    hypothesis.settings.register_profile("pygpu", deadline=None, print_blob=True)
    hypothesis.settings.load_profile("pygpu")


def allow_reading_in_place(namespace: dict) -> None:
    """Turn strict mode off before the code blocks of a page run: the pages assume that PYGPU_STRICT is not set."""
    from PyGPU import _core

    namespace["_strict"] = _core._set_strict(False)


def restore(namespace: dict) -> None:
    """Restore the setting of strict mode that was in force before the code blocks of a page ran."""
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
    """Choose the seed of random tests, because hypothesis does not print a seed of its own for every failure."""
    if getattr(config.option, "hypothesis_seed", "") is None:
        config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))


def pytest_report_header(config: pytest.Config) -> str:
    """Return a line for pytest's header with the seed, in the form of the option that repeats the run."""
    return f"random tests: --hypothesis-seed={getattr(config.option, 'hypothesis_seed', 'hypothesis is not installed')}"
