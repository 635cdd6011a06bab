"""Run pytest in one of several processes that share a device: `one_process.py PART PARTS [ARGUMENT OF PYTEST ...]`.

The process runs a part of the selected tests. Before it collects the tests, it waits until the device has memory for a
context.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

# Number of consecutive tests that stay in one part, because neighbouring tests often use the same kernels.
NEIGHBOURS = 8
# Seconds for which a process waits for free device memory, and seconds between two attempts to allocate.
WAIT = 30.0
PAUSE = 0.5


def in_part(count: int, part: int, parts: int) -> list[int]:
    """Return the positions of the tests that belong to a part: every `parts`-th group of neighbouring tests."""
    group = max(1, min(NEIGHBOURS, count // (4 * parts)))
    return [position for position in range(count) if position // group % parts == part]


class PartOfTests:
    """Deselect the tests of all other parts, as a plugin of pytest."""

    def __init__(self, part: int, parts: int) -> None:
        self.part, self.parts = part, parts

    # This hook of pytest runs after the selection by markers and names, so that the parts have equal sizes.
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        chosen = set(in_part(len(items), self.part, self.parts))
        config.hook.pytest_deselected(items=[item for at, item in enumerate(items) if at not in chosen])
        items[:] = [item for at, item in enumerate(items) if at in chosen]


class ContextFirst:
    """Create the context of the device before the tests, as a plugin of pytest.

    While other processes start or end, the device may have no free memory for a moment. Without this wait, the first
    test would fail.
    """

    def __init__(self, no_memory: re.Pattern[str]) -> None:
        self.no_memory = no_memory

    def pytest_sessionstart(self) -> None:
        if os.environ.get("PYGPU_BACKEND") == "cpu":
            return
        import PyGPU

        if PyGPU.backend_name() != "cpu":
            wait_for_memory(PyGPU, self.no_memory)


def wait_for_memory(package: Any, no_memory: re.Pattern[str], wait: float = WAIT, pause: float = PAUSE) -> bool:
    """Repeat the allocation of an array until it succeeds.

    Return False after a timeout, or after an error other than a lack of memory.
    """
    end = time.monotonic() + wait
    while True:
        try:
            package.zeros(1)
            return True
        except Exception as error:
            if not no_memory.search(str(error)) or time.monotonic() > end:
                return False
        time.sleep(pause)


def main(arguments: Sequence[str]) -> int:
    """Run pytest and return its exit status."""
    # A child process of multiprocessing runs this file again, but its `sys.path` lacks the folder of the file.
    from reports import NO_MEMORY

    part, parts, *rest = arguments
    plugins: list[Any] = [ContextFirst(NO_MEMORY)]
    if int(parts) > 1:
        plugins.append(PartOfTests(int(part), int(parts)))
    # The tests import from the same folders as with `python -m pytest`.
    sys.path[:] = [os.getcwd(), *(path for path in sys.path if path != str(Path(__file__).parent))]
    return int(pytest.main(rest, plugins))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
