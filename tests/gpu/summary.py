"""Summarize a JUnit file that pytest wrote: counts, failures, reasons for skips, slowest tests, and versions.


    python tests/gpu/summary.py FOLDER/gpu-tests.xml

The command writes FOLDER/gpu-tests.json and prints the main numbers.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).parents[2] / "benches" / "python"))

import machine


def outcome(case: ElementTree.Element) -> tuple[str, str]:
    """Return the outcome of a test case ("passed", "failed", "error", "skipped", "xfailed") and the reason."""
    for kind in ("failure", "error", "skipped"):
        found = case.find(kind)
        if found is not None:
            lines = (found.get("message") or found.text or "").strip().splitlines() or [""]
            if kind == "skipped" and found.get("type") == "pytest.xfail":
                return "xfailed", lines[0]
            return {"failure": "failed"}.get(kind, kind), lines[0]
    return "passed", ""


def summarise(report: Path) -> dict[str, Any]:
    """Return the summary of a JUnit file, with counts for each test file and in total."""
    files: dict[str, Counter[str]] = {}
    failures, reasons, seconds = [], Counter[str](), []
    for case in ElementTree.parse(report).iter("testcase"):
        kind, why = outcome(case)
        file, name = case.get("classname", ""), f"{case.get('classname', '')}::{case.get('name', '')}"
        files.setdefault(file, Counter())[kind] += 1
        seconds.append((float(case.get("time", 0)), name))
        if kind in ("failed", "error"):
            failures.append({"test": name, "why": why[:500]})
        elif kind in ("skipped", "xfailed"):
            reasons[why] += 1
    return {
        "total": dict(sum(files.values(), Counter())),
        "files": {file: dict(counts) for file, counts in sorted(files.items())},
        "failures": failures,
        "skips": dict(reasons.most_common()),
        "slowest": [{"test": name, "seconds": round(time, 2)} for time, name in sorted(seconds, reverse=True)[:15]],
        "seconds": round(sum(time for time, _ in seconds), 1),
    }


def main() -> None:
    """Write the summary as a JSON file next to the JUnit file, and print the main numbers."""
    report = Path(sys.argv[1])
    summary = summarise(report)
    machine.write(report.with_suffix(".json"), summary)
    print(json.dumps(summary["total"]), f"in {summary['seconds']} s; {report.with_suffix('.json')}")
    for failure in summary["failures"]:
        print(f"FAILED {failure['test']}: {failure['why'][:200]}")


if __name__ == "__main__":
    main()
