"""Run tests under a tool of compute-sanitizer in parallel, and write its findings as JSON.

    PYGPU_BACKEND=cuda PYTHONPATH=build/gpu-package \\
        python tests/gpu/sanitize.py --tool memcheck --seconds 570 --json build/results/sanitizer-memcheck.json

- `memcheck` runs the suite's tests that use a GPU and no other GPU library; `racecheck`, `initcheck` and `synccheck`
  run tests of kernels. `sanitizer/tool_lists.py` lists the files, the tools' options and the environment, with reasons.
  PATH arguments replace the list. Deferred arithmetic is on.
- Each process runs a few short files, or a share of the tests of a long one. The longest come first. What `--seconds`
  cuts off is listed; `--unfinished-of FILE` runs what an earlier result lists.
- A finding is listed with its kernel, its first lines, and the tests during which the tool printed it. The tool prints
  with a delay, so an earlier test of the file may be the cause.
- `memcheck` also reports memory that was not freed when the context is destroyed. For that the plugin
  `gpu.leave_nothing` frees the remaining objects at the end of each process.
- The exit status is 1 if there are findings, and 2 if there are none but files were not finished. A failed test is
  listed and is no finding: many tests depend on times, and the tools slow them down.

To find the caller of a kernel, run the test alone, with `--processes 1 --option=--show-backtrace=host`. By default
there are no host backtraces, because the tool would keep the frames of Python, and all arrays in them, alive.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "sanitizer"))
sys.path.insert(0, str(Path(__file__).resolve().parent / "runner"))

import findings
import jobs
import reports
import run_tests
import tool_lists

ROOT = Path(__file__).resolve().parents[2]
FOUND = 99
# Options of every tool. One error leaves the context usable, so that the tests after it are checked too.
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
# Each process of the tool looks for a free port in its own range of ports.
FIRST_PORT, PORTS, RANGES = 49152, 100, 160


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line; all arguments after `--` are pytest's."""
    given = list(sys.argv[1:] if given is None else given)
    end = given.index("--") if "--" in given else len(given)
    cores = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", help="test files and folders (default: the tool's list)")
    parser.add_argument("--tool", choices=tool_lists.TOOLS, default="memcheck")
    parser.add_argument("--json", type=Path, help="the result (default: build/results/sanitizer-TOOL.json)")
    parser.add_argument("--processes", type=int, default=min(cores, 15), help="processes that share the device")
    parser.add_argument("--seconds", dest="total", type=float, default=570, help="seconds of the whole run")
    parser.add_argument("--limit", type=float, help="seconds of one process (default: those of the whole run)")
    parser.add_argument("--host-gib", type=float, help="host memory of one process (default: a share of the machine's)")
    parser.add_argument("--device-gib", type=float, default=4, help="free device memory before a process starts")
    parser.add_argument("--batch", type=float, default=10, help="seconds of the short files that one process runs")
    parser.add_argument("--share", type=float, default=15, help="seconds of a share of a long file")
    parser.add_argument("--seconds-of", type=Path, default=ROOT / "docs/results/gpu-tests.json", help="earlier result")
    parser.add_argument("--unfinished-of", type=Path, help="earlier result of the tool, whose unfinished files to run")
    parser.add_argument("--no-leaks", action="store_true", help="do not report memory that was not freed")
    parser.add_argument("--option", action="append", default=[], help="option of the tool, as --option=--NAME=VALUE")
    parser.add_argument("--sanitizer", default=os.environ.get("SANITIZER"), help="path of compute-sanitizer")
    parser.add_argument("--list", action="store_true", help="print the files of each process in their order, and stop")
    made = parser.parse_args(given[:end])
    made.pytests = given[end + 1 :]
    made.json = made.json or Path(f"build/results/sanitizer-{made.tool}.json")
    made.limit = made.limit or made.total
    made.host_gib = made.host_gib or 0.9 * os.sysconf("SC_PHYS_PAGES") * jobs.PAGE / (1 << 30) / made.processes
    return made


@dataclass
class Part(jobs.Job):
    """The tests that one process runs: files, or a share of the tests of one file."""

    share: str = "1/1"

    @property
    def tool_log(self) -> Path:
        return self.log.with_suffix(".tool")

    @property
    def record(self) -> Path:
        return self.log.with_suffix(".record")

    @property
    def name(self) -> str:
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        return self.files[0] + (f" {self.share}" if self.share != "1/1" else more)

    def ended_tests(self) -> list[tuple[reports.Case, int]]:
        """Return the tests that have ended, each with the size of the tool's log at its end."""
        if not self.record.exists():
            return []
        result = []
        for line in self.record.read_text(encoding="utf-8").splitlines():
            outcome, size, test = line.split("\t", 2)
            file, _, name = test.partition("::")
            case = reports.Case(file, f"{reports.module_of(file)}::{name}", outcome, "", "", 0.0)
            result.append((case, int(size)))
        return result


def is_strict(files: Sequence[str]) -> bool:
    """Return whether memcheck reports each failed call of the driver in files."""
    return set(files) <= set(tool_lists.NO_FAILED_CALL)


class Run(run_tests.Run):
    """One run of a tool."""

    def __init__(self, options: argparse.Namespace, sanitizer: str) -> None:
        super().__init__(options)
        self.sanitizer = sanitizer
        self.tool = tool_lists.TOOLS[options.tool]
        self.is_memcheck = options.tool == "memcheck"
        self.found: list[findings.Finding] = []
        # Errors that the tool counted but did not print, because of its limit.
        self.unprinted = 0
        self.tests: list[reports.Case] = []
        self.unfinished: list[dict[str, Any]] = []
        self.without_call: list[str] = []
        self.messages: Counter[str] = Counter()
        self.files: set[str] = set()

    def environment(self) -> dict[str, str]:
        """Return the environment of the tests: deferred arithmetic on, and what the tool needs."""
        helpers = [str(ROOT / "tests/helpers"), os.environ.get("PYTHONPATH", "")]
        settings = {**tool_lists.DEFERRED, **self.tool.environment}
        return {
            "PYGPU_BACKEND": "cuda",
            **super().environment(),
            **settings,
            "PYTHONPATH": os.pathsep.join(filter(None, helpers)),
        }

    def part(self, files: tuple[str, ...], share: str) -> Part:
        """Return the job that runs files, or a share of one, under the tool."""
        self.number += 1
        stem = self.folder / f"{self.number:03}-{Path(files[0]).stem}"
        part = Part(files, [], stem.with_suffix(".log"), stem.with_suffix(".xml"), share=share)
        part.command = [self.sanitizer, *self.tool_words(part), sys.executable, *self.pytest_words(part)]
        return part

    def tool_words(self, part: Part) -> list[str]:
        """Return the options of the tool."""
        port = FIRST_PORT + PORTS * (self.number % RANGES)
        options = {**OPTIONS, "--port": str(port), "--max-connections": str(PORTS), "--log-file": str(part.tool_log)}
        if self.is_memcheck:
            options["--report-api-errors"] = "explicit" if is_strict(part.files) else "no"
            options["--leak-check"] = "no" if self.options.no_leaks else "full"
        given = [*self.tool.options, *self.options.option]
        return ["--tool", self.options.tool, *(word for pair in options.items() for word in pair), *given]

    def pytest_words(self, part: Part) -> list[str]:
        """Return the arguments of Python, which runs pytest."""
        never = [tool_lists.NEVER]
        never += ["provokes_errors"] if self.is_memcheck and is_strict(part.files) else []
        never += [] if tool_lists.WHOLE_DEVICE in part.files else [run_tests.MARK]
        words = ["-m", "pytest", *part.files, "-q", "-p", "no:cacheprovider", "-p", "gpu.under_sanitizer"]
        words += ["-p", "gpu.leave_nothing"] if self.is_memcheck and not self.options.no_leaks else []
        words += ["--share", part.share, "--record", str(part.record), "--tool-log", str(part.tool_log)]
        words += ["-W", "default", "-o", f"timeout={self.options.limit:.0f}", f"--junitxml={part.report}"]
        return [*words, *self.options.pytests, "-m", self.marks(f"not ({' or '.join(never)})")]

    def groups(self, files: Sequence[str]) -> list[tuple[tuple[str, ...], int]]:
        """Return the files of each process and the number of shares, the longest first."""
        weight = run_tests.weights(files, self.options.seconds_of)
        weight.update({file: (True, tool_lists.SECONDS[file]) for file in files if file in tool_lists.SECONDS})
        result: list[tuple[tuple[str, ...], int]] = []
        for strict in (True, False):
            kept = [file for file in files if is_strict([file]) == strict]
            for group in run_tests.batches(kept, weight, self.options.batch):
                shares = -(-weight[group[0]][1] // self.options.share) if len(group) == 1 else 1
                result.append((group, max(1, int(shares))))
        longest = {group: sum(weight[file][1] for file in group) / shares for group, shares in result}
        return sorted(result, key=lambda one: -longest[one[0]])

    def all(self, files: Sequence[str]) -> None:
        """Run all files."""
        alone = [self.part((file,), "1/1") for file in files if file == tool_lists.WHOLE_DEVICE]
        parts = [
            self.part(group, f"{number}/{shares}")
            for group, shares in self.groups([file for file in files if file != tool_lists.WHOLE_DEVICE])
            for number in range(1, shares + 1)
        ]
        self.files = {file for part in alone + parts for file in part.files}
        for together, processes in ((alone, 1), (parts, self.options.processes)):
            left = jobs.run(together, processes, self.limits(), self.environment(), self.ended)
            self.unfinished += [{"file": file, "why": "no time was left"} for part in left for file in part.files]

    def ended(self, part: jobs.Job) -> None:
        """Record the end of a part: its findings, its tests, and why it is not finished."""
        assert isinstance(part, Part)
        log = part.tool_log.read_bytes() if part.tool_log.exists() else b""
        report = findings.parse(log)
        cases, ended = reports.read(part.report, part.files), part.ended_tests()
        why = self.why(part, cases, report)
        self.tests += cases or [case for case, _ in ended]
        for position, finding in zip(report.positions, report.findings, strict=True):
            if finding.kind == "api error" and finding.kernel in tool_lists.EXPECTED_CALLS:
                report.total = report.total and report.total - 1
                continue
            test = next((case for case, size in ended if size > position), None)
            finding.tests = (
                [test.name] if test else ["at the end of the process" if cases else "before the end of a test"]
            )
            finding.files = [test.file] if test else list(part.files)
            self.found.append(finding)
        printed = [one for one in report.findings if one.files]
        self.unprinted += max(0, (report.total or 0) - len(printed))
        if report.has_no_call:
            self.without_call += part.files
        self.messages.update([*report.not_checked, *report.warnings])
        if why:
            done = Counter(case.file for case, _ in ended)
            entries = [{"file": file, "share": part.share, "why": why, "tests": done[file]} for file in part.files]
            self.unfinished += entries
        self.print_line(part, cases or [case for case, _ in ended], why or f"{report.count} findings")

    @staticmethod
    def why(part: Part, cases: Sequence[reports.Case], report: findings.Report) -> str:
        """Return why a part is not finished, or an empty text."""
        if part.stopped:
            return f"stopped: {part.stopped}"
        if not cases and part.status not in run_tests.COMPLETE:
            status = part.status or 0
            return f"crashed: signal {-status}" if status < 0 else f"exit status {status}"
        if not cases and part.status != 5 and not part.report.exists():
            return "the tests did not run"
        failures = [line for line in report.not_checked if not line.startswith(findings.NO_CALL)]
        if failures and report.total is None:
            return failures[0]
        return "" if report.total is not None or report.has_no_call else "the tool printed no summary"

    def print_line(self, part: Part, cases: Sequence[reports.Case], state: str) -> None:
        """Print one line for a part that has ended."""
        now, failed = time.monotonic() - self.began, sum(case.outcome == "failed" for case in cases)
        state += f", {failed} tests failed" if failed else ""
        print(f"{now:6.1f} s  {part.seconds:6.1f} s  {len(cases):5}  {state:<24} {part.name}", flush=True)

    def result(self) -> dict[str, Any]:
        """Return the result of the run."""
        summary = reports.summarise(self.tests)
        merged = findings.merge(self.found)
        unfinished = {entry["file"] for entry in self.unfinished}
        if self.files and set(self.without_call) == self.files:
            self.unfinished.append({"file": "all", "why": "the tool saw no call of CUDA: it checked nothing"})
        return {
            "tool": self.options.tool,
            "command": "tests/gpu/sanitize.py " + " ".join(sys.argv[1:]),
            "seconds": round(time.monotonic() - self.began, 1),
            "processes": self.options.processes,
            "environment": {**tool_lists.DEFERRED, **self.tool.environment},
            "errors": sum(one.count for one in merged) + self.unprinted,
            "findings": [one.result() for one in merged],
            "unprinted": self.unprinted,
            "files_finished": len(self.files - unfinished),
            "unfinished": self.unfinished,
            "without_call_of_cuda": sorted(set(self.without_call)),
            "messages": dict(self.messages.most_common()),
            **{key: summary[key] for key in ("total", "failures", "columns", "files", "slowest")},
        }


def version_of(sanitizer: str) -> str:
    """Return the version that the tool prints, or end the script if it cannot be run."""
    try:
        done = subprocess.run([sanitizer, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            f"compute-sanitizer cannot be run: {error}; name it: --sanitizer PATH, or SANITIZER=PATH"
        ) from error
    return next((line for line in done.stdout.splitlines() if line.startswith("Version")), done.stdout.strip())


def selected(options: argparse.Namespace) -> list[str]:
    """Return the test files of the run."""
    if options.unfinished_of is not None:
        earlier = json.loads(options.unfinished_of.read_text(encoding="utf-8"))
        return sorted({entry["file"] for entry in earlier["unfinished"]})
    paths = options.paths or tool_lists.TOOLS[options.tool].paths
    return run_tests.test_files(paths) if paths else tool_lists.of_suite(run_tests.test_files(["tests"]))


def print_result(result: dict[str, Any], path: Path) -> None:
    """Print the result, findings first."""
    for one in result["findings"]:
        print(f"FOUND {one['count']} times: {one['text']}: {one['kernel'] or 'no kernel'}: {', '.join(one['tests'])}")
        print(*(f"    {line}" for line in one["lines"]), sep="\n")
    for failure in result["failures"]:
        print(f"failed: {failure['test']}: {failure['why'][:200]}")
    for entry in result["unfinished"]:
        print("not finished:", ", ".join(f"{key}: {value}" for key, value in entry.items()))
    print(
        f"{result['tool']}: {result['errors']} errors, {len(result['findings'])} distinct findings, "
        f"{json.dumps(result['total'])}, {result['files_finished']} files finished, "
        f"{len(result['unfinished'])} parts not finished, in {result['seconds']} s; {path}"
    )


def main() -> int:
    """Run the tool, write the result and print it."""
    options = arguments()
    sanitizer = options.sanitizer or shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    files = selected(options)
    run = Run(options, sanitizer)
    if options.list:
        for group, shares in run.groups(files):
            print(*group, f"in {shares} shares" if shares > 1 else "")
        return 0
    version = version_of(sanitizer)
    described = run_tests.device_of_tests(run.environment())
    if "error" in described["PyGPU"]:
        raise SystemExit(f"the tests need a GPU: {described['PyGPU']['error']}")
    print(f"{described['PyGPU']}; {version}; {options.tool} over {len(files)} files, logs in {run.folder}", flush=True)
    run.all(files)
    result = run.result()
    run_tests.machine.write(options.json, {**result, "sanitizer": version, "machine": described})
    print_result(result, options.json)
    return 1 if result["errors"] else 2 if result["unfinished"] else 0


if __name__ == "__main__":
    sys.exit(main())
