"""Parse the output of compute-sanitizer: its findings, its totals, and messages about the tool itself.

A report consists of lines with a prefix. The first line of a finding names the error. The following lines, which are
indented, name the kernel, the threads and the address. Lines without the prefix come from the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

PREFIX = "========="
# For a finding in the result: the maximum number of its lines, and the maximum number of tests and of test files.
LINES = 20
NAMES = 5


class Kind(Enum):
    """Name the kinds of findings."""

    ACCESS = "access"
    API_ERROR = "api error"
    LEAK = "leak"
    UNINITIALIZED = "uninitialized"
    HOST_ACCESS = "host access"
    UNUSED = "unused memory"
    RACE = "race"
    BARRIER = "barrier"
    OTHER = "other"


# For each kind of finding, the pattern of the finding's first line.
FORMS = {
    Kind.ACCESS: re.compile(r"(Potential )?[Ii]nvalid __\w+__ |Malloc/Free error|Out-of-range|Hardware|Tensor Memory"),
    Kind.API_ERROR: re.compile(r"Program hit "),
    Kind.LEAK: re.compile(r"Leaked "),
    Kind.UNINITIALIZED: re.compile(r"Uninitialized __\w+__ |Host API uninitialized memory access"),
    Kind.HOST_ACCESS: re.compile(r"Host API memory access error"),
    Kind.UNUSED: re.compile(r"Unused "),
    Kind.RACE: re.compile(r"(?i:error|warning|info): (Race reported|Potential \w+ hazard)"),
    Kind.BARRIER: re.compile(r"Barrier error|Warpgroup MMA|Deadlock detected"),
}
# Lines about the end of the program. They are no findings, because the tests report their own failures.
NEUTRAL = re.compile(
    r"COMPUTE-SANITIZER$|Target application returned an error|Error: process didn't terminate successfully|"
    r"Tracking kernels launched by child processes|The application may have hit an error"
)
# Patterns of messages about the tool itself: first, messages that the tool checked nothing or not everything; then,
# warnings.
NOT_CHECKED = re.compile(
    r"Target application terminated before first instrumented|Internal Sanitizer|(?i:error|fatal): "
)
WARNING = re.compile(r"(?i:warning|info): ")
NO_CALL = "Target application terminated before first instrumented"
TOTAL = re.compile(r"(?:ERROR SUMMARY: (\d+) errors?|RACECHECK SUMMARY: (\d+) hazards? displayed \(.*\))$")
LEAKED = re.compile(r"LEAK SUMMARY: ([\d,]+) bytes leaked in ([\d,]+) allocations?")
UNPRINTED = re.compile(r"ERROR SUMMARY: (\d+) errors? (?:was|were) not printed")
# Pattern of the line of a finding that contains the kernel's name. In new versions of the tool an offset follows the
# name, and in old versions an address precedes the name. A source line may follow.
PLACE = re.compile(
    r"\bat (?:0x[0-9a-f]+ in )?(?P<name>[^\s].*?)(?:(?:\+|:)0x[0-9a-f]+)?(?: in \S+:\d+)?(?: \[\d+ hazards?\])?$"
)
WITHOUT_KERNEL = ("Leaked", "Address", "Access", "Unused", "Host ", "Saved host backtrace")
CALL = re.compile(r"on CUDA API call to (\w+)|on access by (\w+)")
NUMBER = re.compile(r"0x[0-9a-fA-F]+|\(\d+,\s*\d+,\s*\d+\)|\b\d[\d,]*\b")
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


@dataclass
class Finding:
    """Describe one error, or several errors with the same first line and kernel."""

    kind: Kind
    headline: str
    # Name of the kernel, or of the driver call that failed; an empty text if the tool prints no name.
    kernel: str
    lines: list[str]
    count: int = 1
    files: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str, str]:
        """Return the fields that identify equal findings: kind, first line without its numbers, and kernel.

        For blocks that were not freed, the first line keeps the size, because the causes of different sizes differ.
        """
        pattern = ADDRESS if self.kind is Kind.LEAK else NUMBER
        return self.kind.value, pattern.sub("#", self.headline), self.kernel

    def result(self) -> dict[str, Any]:
        """Return the finding as an entry of the result."""
        return {
            "kind": self.kind.value,
            "text": self.headline,
            "kernel": self.kernel,
            "count": self.count,
            "files": self.files,
            "tests": self.tests,
            "lines": self.lines,
        }


@dataclass
class Report:
    """Hold the parsed output of compute-sanitizer for one process."""

    findings: list[Finding] = field(default_factory=list)
    # Position in the report, in bytes, at which each finding begins.
    positions: list[int] = field(default_factory=list)
    # The tool's own total of errors; None if the tool was stopped before it printed the total.
    total: int | None = None
    leaked: int = 0
    not_checked: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Return the number of errors. The tool may have printed only some of them."""
        return max(self.total or 0, len(self.findings))

    @property
    def has_no_call(self) -> bool:
        """Return whether the process made no call of CUDA, so that the tool checked nothing."""
        return any(line.startswith(NO_CALL) for line in self.not_checked)


def parse(text: bytes) -> Report:
    """Parse a log of compute-sanitizer, and return its report."""
    report = Report()
    position, block = 0, Block()
    for raw in text.splitlines(keepends=True):
        line = raw.decode(errors="replace").rstrip()
        if line.startswith(PREFIX) and not line.startswith(PREFIX + "="):
            content = line.removeprefix(PREFIX)
            if content.startswith("  ") and block.lines:
                block.lines.append(content.strip())
            else:
                block.close(report)
                block = Block(position, [content.strip()] if content.strip() else [])
        position += len(raw)
    block.close(report)
    return report


@dataclass
class Block:
    """Collect the adjacent lines of a log that belong to one finding or message."""

    position: int = 0
    lines: list[str] = field(default_factory=list)

    def close(self, report: Report) -> None:
        """Add the block to the report. Its first line determines the kind; a block of unknown kind is a finding."""
        if not self.lines or NEUTRAL.match(self.lines[0]):
            return
        first = self.lines[0]
        if found := TOTAL.match(first):
            report.total = int(found[1] or found[2])
        elif found := LEAKED.match(first):
            report.leaked = int(found[1].replace(",", ""))
        elif UNPRINTED.match(first):
            return  # The total of errors that the tool prints includes these unprinted errors.
        elif kind_of(first) is None and NOT_CHECKED.match(first):
            report.not_checked.append(first)
        elif kind_of(first) is None and WARNING.match(first):
            report.warnings.append(first)
        else:
            kind = kind_of(first) or Kind.OTHER
            report.findings.append(Finding(kind, first, kernel_of(self.lines), self.lines[:LINES]))
            report.positions.append(self.position)


def kind_of(headline: str) -> Kind | None:
    """Return the kind of a finding by its first line, or None if the line matches no pattern."""
    return next((kind for kind, pattern in FORMS.items() if pattern.match(headline)), None)


def kernel_of(lines: Sequence[str]) -> str:
    """Return the name of the kernel or of the driver call in a finding, or an empty text."""
    for line in lines:
        if found := CALL.search(line):
            return found[1] or found[2]
        if line.startswith(WITHOUT_KERNEL):
            continue
        found = PLACE.search(line)
        if found and not found["name"].startswith(("0x", "__shared__")):
            return found["name"]
    return ""


def merge(findings: Iterable[Finding]) -> list[Finding]:
    """Return the distinct findings with their counts, the most frequent first."""
    merged: dict[tuple[str, str, str], Finding] = {}
    for one in findings:
        known = merged.get(one.key)
        if known is None:
            merged[one.key] = Finding(
                one.kind, one.headline, one.kernel, one.lines, one.count, one.files[:NAMES], one.tests[:NAMES]
            )
            continue
        known.count += one.count
        known.files = list(dict.fromkeys(known.files + one.files))[:NAMES]
        known.tests = list(dict.fromkeys(known.tests + one.tests))[:NAMES]
    return sorted(merged.values(), key=lambda one: (-one.count, one.key))
