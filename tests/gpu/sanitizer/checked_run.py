"""Run test files in parallel under a tool of compute-sanitizer, and collect the findings."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import findings
import jobs
import reports
import run_tests
import tests_per_tool
from file_batches import Piece, batches, estimates, pieces
from rerun_reasons import reason_of

HELPERS = Path(__file__).resolve().parents[2] / "helpers"
FOUND = 99
# Options of each tool. After an error the context stays usable, so that later tests are checked too.
OPTIONS = {
    "--error-exitcode": str(FOUND),
    "--target-processes": "application-only",
    "--require-cuda-init": "no",
    "--check-exit-code": "no",
    "--destroy-on-device-error": "kernel",
    "--show-backtrace": "device",
    "--print-limit": "500",
    "--launch-timeout": "120",
}
# Each process of compute-sanitizer searches for a free port in a separate range of ports.
FIRST_PORT, PORTS, RANGES = 49152, 100, 160


def divided(files: Sequence[str], options: argparse.Namespace) -> list[tuple[Piece, ...]]:
    """Divide test files among processes, longest first.

    No process mixes files in which failed driver calls count as findings with other files.
    """
    seconds = estimates(files, options.seconds_of)
    made = []
    for strict in (True, False):
        kept = [file for file in files if tests_per_tool.is_strict([file]) == strict]
        made += batches(pieces(kept, seconds, options.part), seconds, options.batch)
    return sorted(made, key=lambda batch: -sum(seconds[piece.file].seconds / piece.parts for piece in batch))


@dataclass
class Checked(jobs.Job):
    """Describe the tests that one process runs under the tool."""

    @property
    def tool_log(self) -> Path:
        return self.log.with_suffix(".tool")

    @property
    def record(self) -> Path:
        return self.log.with_suffix(".record")

    @property
    def files(self) -> list[str]:
        return [piece.file for piece in self.pieces]

    def ended_tests(self) -> list[tuple[reports.Case, int]]:
        """Return the tests that have ended, each with the size of the tool's log at its end."""
        if not self.record.exists():
            return []
        result = []
        for line in self.record.read_text(encoding="utf-8").splitlines():
            outcome, size, test = line.split("\t", 2)
            file, _, name = test.partition("::")
            name = f"{reports.module_of(file)}::{name}"
            result.append((reports.Case(file, name, reports.Outcome(outcome), "", "", 0.0), int(size)))
        return result


class CheckedRun(run_tests.Run):
    """Run all tests under a tool."""

    def __init__(self, options: argparse.Namespace, sanitizer: str) -> None:
        super().__init__(options)
        self.sanitizer = sanitizer
        self.tool = tests_per_tool.TOOLS[options.tool]
        self.is_memcheck = options.tool == "memcheck"
        self.files: set[str] = set()
        self.tests: list[reports.Case] = []
        self.found: list[findings.Finding] = []
        # Number of errors that the tool counted but did not print, because their number exceeded the print limit.
        self.unprinted = 0
        self.unfinished: list[dict[str, Any]] = []
        self.without_call: set[str] = set()
        self.messages: Counter[str] = Counter()

    def environment(self) -> dict[str, str]:
        """Return the environment of the tests, with deferred arithmetic on, and with the settings for the tool."""
        path = os.pathsep.join(filter(None, [str(HELPERS), os.environ.get("PYTHONPATH", "")]))
        settings = {**tests_per_tool.DEFERRED, **self.tool.environment, "PYTHONPATH": path}
        return {"PYGPU_BACKEND": "cuda", **super().environment(), **settings}

    def checked(self, batch: tuple[Piece, ...]) -> Checked:
        """Return the job that runs a batch under the tool."""
        self.number += 1
        stem = self.folder / f"{self.number:03}-{Path(batch[0].file).stem}"
        job = Checked(batch, [], stem.with_suffix(".log"), stem.with_suffix(".xml"))
        job.command = [self.sanitizer, *self.tool_words(job), sys.executable, *self.pytest_words(job)]
        return job

    def tool_words(self, job: Checked) -> list[str]:
        """Return the options of compute-sanitizer for a job."""
        port = FIRST_PORT + PORTS * (self.number % RANGES)
        options = {**OPTIONS, "--port": str(port), "--max-connections": str(PORTS), "--log-file": str(job.tool_log)}
        if self.is_memcheck:
            is_strict = tests_per_tool.is_strict(job.files)
            options["--report-api-errors"] = "explicit" if is_strict else "no"
            # In files whose failed driver calls count as findings, the tool also prints failures that PyGPU expects.
            # These failures must not use up the print limit.
            options["--print-limit"] = "0" if is_strict else options["--print-limit"]
            options["--leak-check"] = "no" if self.options.no_leaks else "full"
        # compute-sanitizer rejects an option that is given twice, so an option of the command line replaces ours.
        given = [word.partition("=")[0] for word in self.options.option]
        words = [word for pair in options.items() if pair[0] not in given for word in pair]
        return ["--tool", self.options.tool, *words, *self.tool.options, *self.options.option]

    def pytest_words(self, job: Checked) -> list[str]:
        """Return the command-line arguments for Python, by which it runs a batch of tests."""
        never = [tests_per_tool.NEVER, *self.tool.never]
        never += ["provokes_errors"] if self.is_memcheck and tests_per_tool.is_strict(job.files) else []
        never += [] if tests_per_tool.WHOLE_DEVICE in job.files else [run_tests.MARK]
        words = [str(run_tests.PROCESS), str(job.pieces[0].part), str(job.pieces[0].parts), *job.files]
        words += ["-q", "-p", "no:cacheprovider", "-p", "gpu.under_sanitizer"]
        words += ["-p", "gpu.exit_cleanup"] if self.is_memcheck and not self.options.no_leaks else []
        words += ["--record", str(job.record), "--tool-log", str(job.tool_log), f"--junitxml={job.report}"]
        words += ["-W", "default", "-o", f"timeout={self.options.limit:.0f}", *self.options.pytests]
        return [*words, "-m", self.marks(f"not ({' or '.join(never)})")]

    def all(self, files: Sequence[str]) -> None:
        """Run all test files. The file whose tests need the whole device runs first and alone."""
        self.files = set(files)
        others = [file for file in files if file != tests_per_tool.WHOLE_DEVICE]
        alone = [(Piece(tests_per_tool.WHOLE_DEVICE),)] if len(others) < len(files) else []
        for chosen, processes in ((alone, 1), (divided(others, self.options), self.options.processes)):
            made = [self.checked(batch) for batch in chosen]
            left = jobs.run(made, processes, self.limits(), self.environment(), self.ended)
            self.unfinished += [unfinished(piece, "no time was left") for job in left for piece in job.pieces]

    def ended(self, job: jobs.Job) -> None:
        """Record the outcome of a job: its findings, its tests, and the reason if it is not finished."""
        assert isinstance(job, Checked)
        report = findings.parse(job.tool_log.read_bytes() if job.tool_log.exists() else b"")
        cases, ended = reports.read(job.report, job.files), job.ended_tests()
        why = why_unfinished(job, cases, report)
        cases = cases or [case for case, _ in ended]
        self.tests += cases
        count = self.add(job, report, ended)
        if report.has_no_call:
            self.without_call.update(job.files)
        self.messages.update([*report.not_checked, *report.warnings])
        if why:
            done = Counter(case.file for case, _ in ended)
            self.unfinished += [unfinished(piece, why, done[piece.file]) for piece in job.pieces]
        self.print_line(job, cases, why or f"{count} errors")

    def add(self, job: Checked, report: findings.Report, ended: Sequence[tuple[reports.Case, int]]) -> int:
        """Add the findings of a report, each with the test during which the tool printed it; return their number."""
        expected = 0
        for position, finding in zip(report.positions, report.findings, strict=True):
            if finding.kind is findings.Kind.API_ERROR and finding.kernel in tests_per_tool.EXPECTED_CALLS:
                expected += 1
                continue
            test = next((case for case, size in ended if size > position), None)
            finding.tests = [test.name] if test else ["after the last test that ended"]
            finding.files = [test.file] if test else job.files
            self.found.append(finding)
        self.unprinted += report.count - len(report.findings)
        return report.count - expected

    def print_line(self, job: Checked, cases: Sequence[reports.Case], state: str) -> None:
        """Print one line for a job that has ended."""
        now, failed = time.monotonic() - self.began, len(reports.failures(cases))
        state += f", {failed} tests failed" if failed else ""
        names = str(job.pieces[0]) + (f" and {len(job.pieces) - 1} more" if len(job.pieces) > 1 else "")
        print(f"{now:6.1f} s  {job.seconds:6.1f} s  {len(cases):5}  {state:<24} {names}", flush=True)

    def result(self) -> dict[str, Any]:
        """Return the findings, tests and unfinished files of the run, as the content of the JSON file."""
        summary = reports.summarise(self.tests)
        merged = findings.merge(self.found)
        if self.files and self.without_call == self.files:
            self.unfinished.append({"file": "all", "why": "the tool saw no call of CUDA: it checked nothing"})
        return {
            "tool": self.options.tool,
            "seconds": round(time.monotonic() - self.began, 1),
            "processes": self.options.processes,
            "environment": {**tests_per_tool.DEFERRED, **self.tool.environment},
            "errors": sum(one.count for one in merged) + self.unprinted,
            "findings": [one.result() for one in merged],
            "unprinted": self.unprinted,
            "files_finished": len(self.files - {entry["file"] for entry in self.unfinished}),
            "unfinished": self.unfinished,
            "without_call_of_cuda": sorted(self.without_call),
            "messages": dict(self.messages.most_common()),
            **{key: summary[key] for key in ("total", "failures", "columns", "files", "slowest")},
        }


def unfinished(piece: Piece, why: str, tests: int = 0) -> dict[str, Any]:
    """Return the entry for an unfinished test file in the result, with the number of completed tests."""
    return {"file": piece.file, "piece": str(piece), "why": why, "tests": tests}


def why_unfinished(job: Checked, cases: Sequence[reports.Case], report: findings.Report) -> str:
    """Return why a job is not finished, or an empty text."""
    reason = reason_of(job, cases)
    # The tool replaces the exit status of the process if it has findings.
    is_replaced = job.status == FOUND and bool(cases)
    if reason is not None and reason.has_lost_tests and not is_replaced:
        return str(reason)
    if report.total is not None or report.has_no_call:
        return ""
    return next(iter(report.not_checked), "the tool printed no summary")
