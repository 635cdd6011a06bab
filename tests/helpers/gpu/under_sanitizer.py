"""Plugin of pytest for tests that run under compute-sanitizer: no other GPU libraries, and a record of the tests.

    pytest -p gpu.under_sanitizer --record FILE --tool-log FILE ...

- Other GPU libraries are hidden, and tests that need them are skipped. compute-sanitizer would report memory that these
  libraries release only at the end of the process as leaked, and would check their kernels, too.
- `--record` writes a line after each test: its outcome, the size of the tool's log, its name. The record shows during
  which test the tool reported a finding, also if the process is killed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

import pytest

PEERS = frozenset({"torch", "cupy", "cupyx", "numba", "jax", "jaxlib", "triton", "mpi4py", "rmm"})


class WithoutPeers(PathFinder):
    """Find modules like `PathFinder`, except the other GPU libraries, as if they were not installed.

    Other finders, such as the one of `PyGPU.as_cupy`, can still provide a module with the name of such a library.
    """

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in PEERS:
            return None
        return super().find_spec(fullname, path, target)


def hide_peers() -> None:
    """Replace Python's finder of installed modules by `WithoutPeers`."""
    sys.meta_path[:] = [WithoutPeers if finder is PathFinder else finder for finder in sys.meta_path]


class Record:
    """Write a line for each test that has ended."""

    def __init__(self, record: Path, log: Path | None) -> None:
        self.record = record
        self.log = log
        self.outcome = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # The outcome of a test is "passed" only if its setup and teardown passed too.
        if report.when == "setup" or report.outcome != "passed":
            self.outcome = report.outcome

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        size = self.log.stat().st_size if self.log is not None and self.log.exists() else 0
        with self.record.open("a", encoding="utf-8") as file:
            file.write(f"{self.outcome}\t{size}\t{nodeid}\n")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    hide_peers()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", type=Path, help="file for a line after each test")
    parser.addoption("--tool-log", type=Path, help="log of the tool, whose size the record contains")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.record is not None:
        config.pluginmanager.register(Record(config.option.record, config.option.tool_log))
