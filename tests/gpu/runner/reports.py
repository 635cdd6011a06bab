"""Read the JUnit files of pytest: counts and seconds of each test file, failures, and reasons of skipped tests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

# Columns of a file's entry in the result.
COLUMNS = ["passed", "failed", "skipped", "seconds"]
# Error texts of PyGPU, of the drivers and of other libraries if the device has no free memory.
NO_MEMORY = re.compile(
    r"out of memory|OUT_OF_MEMORY|OutOfMemory|MemoryAllocation|ALLOC_FAILED|RESOURCE_EXHAUSTED|failed to allocate",
    re.IGNORECASE,
)


class Outcome(Enum):
    """Name the possible outcomes of a test."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    XFAILED = "xfailed"


@dataclass(frozen=True)
class Case:
    """Hold one test of a JUnit report."""

    file: str
    name: str
    outcome: Outcome
    why: str
    text: str
    seconds: float


def read(report: Path, files: Sequence[str]) -> list[Case]:
    """Return the tests of a JUnit file, each assigned to one of the test files of the run."""
    if not report.exists():
        return []
    try:
        tree = ElementTree.parse(report)
    except ElementTree.ParseError:
        return []  # The file is incomplete, because the process ended while it wrote the file.
    # Longer names come first, because the name of one module may be the beginning of another name.
    modules = sorted(((module_of(file), file) for file in files), key=lambda pair: -len(pair[0]))
    return [_case(element, modules) for element in tree.iter("testcase")]


def module_of(file: str) -> str:
    """Return the name of a test file's module in a JUnit file."""
    return file.removesuffix(".py").replace("/", ".")


def _case(element: ElementTree.Element, modules: Sequence[tuple[str, str]]) -> Case:
    owner, name = element.get("classname", ""), element.get("name", "")
    # If a module was skipped or could not be imported, the report contains it as a test without a class.
    full = owner or name
    file = next((file for module, file in modules if full == module or full.startswith(module + ".")), full)
    outcome, why, text = _outcome(element)
    return Case(file, f"{owner}::{name}" if owner else name, outcome, why, text, float(element.get("time", 0)))


def _outcome(element: ElementTree.Element) -> tuple[Outcome, str, str]:
    """Return the outcome of a test, and the first line and the whole text of the reason for this outcome."""
    for kind in ("failure", "error", "skipped"):
        found = element.find(kind)
        if found is not None:
            message = (found.get("message") or found.text or "").strip()
            first = (message.splitlines() or [""])[0]
            # If a whole module was skipped, the report contains a printed tuple, at whose end the reason stands.
            if first == "collection skipped":
                first = re.sub(r"^.*['\"]Skipped: (.*)['\"]\)$", r"\1", (found.text or "").strip(), flags=re.DOTALL)
            if kind == "skipped":
                is_expected = found.get("type") == "pytest.xfail"
                return (Outcome.XFAILED if is_expected else Outcome.SKIPPED), first, message
            return Outcome.FAILED, first, f"{message}\n{found.text or ''}"
    return Outcome.PASSED, "", ""


def failures(cases: Iterable[Case]) -> list[Case]:
    """Return the failed tests."""
    return [case for case in cases if case.outcome is Outcome.FAILED]


def lacks_memory(cases: Iterable[Case]) -> bool:
    """Return whether a test failed because the device had no free memory."""
    return any(NO_MEMORY.search(case.text) for case in failures(cases))


def summarise(cases: Sequence[Case]) -> dict[str, Any]:
    """Return a summary: counts in total and for each file, failures, reasons of skipped tests, and slowest tests."""
    folders: dict[str, dict[str, list[float]]] = {}
    for case in sorted(cases, key=lambda case: case.file):
        folder, _, name = case.file.rpartition("/")
        counts = folders.setdefault(folder, {}).setdefault(name, [0, 0, 0, 0.0])
        counted = Outcome.SKIPPED if case.outcome is Outcome.XFAILED else case.outcome
        counts[COLUMNS.index(counted.value)] += 1
        counts[-1] = round(counts[-1] + case.seconds, 2)
    reasons = Counter(case.why for case in cases if case.outcome in (Outcome.SKIPPED, Outcome.XFAILED))
    slowest = sorted(cases, key=lambda case: (-case.seconds, case.name))[:15]
    return {
        "total": dict(Counter(case.outcome.value for case in cases)),
        "failures": [{"test": case.name, "why": case.why[:500]} for case in failures(cases)],
        "columns": COLUMNS,
        "files": folders,
        "skips": dict(reasons.most_common()),
        "slowest": [{"test": case.name, "seconds": round(case.seconds, 2)} for case in slowest],
        "seconds_of_tests": round(sum(case.seconds for case in cases), 1),
    }


def seconds_of_files(summary: dict[str, Any]) -> dict[str, float]:
    """Return the run time in seconds of each test file in an earlier result; none if the result has another format."""
    if summary.get("columns", [])[-1:] != COLUMNS[-1:]:
        return {}
    return {
        f"{folder}/{name}": counts[-1] for folder, files in summary["files"].items() for name, counts in files.items()
    }
