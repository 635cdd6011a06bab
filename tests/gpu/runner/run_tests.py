"""Run all tests on a GPU in parallel by test files, and write the result as JSON.

    PYGPU_BACKEND=cuda PYTHONPATH=build/gpu-package python tests/gpu/runner/run_tests.py [PATH ...] [-- OF PYTEST ...]

The script needs Python, pytest and an installed PyGPU; `make gpu-test` calls it. Several processes share the device.
Each process runs one test file, a part of a long file, or several short files; the times of an earlier result determine
which. The longest files run first.

- Tests with the marker `whole_device` fill the device's memory. They run after all others, one file at a time.
- A file or part is run again, alone, if its process crashed, reached a limit, or had a failing test. The result lists
  both outcomes of such files. After a crash, a reached limit, or a failure for lack of device memory, the second
  outcome counts, because other processes may be the cause. Any other failure stays a failure, even if the test passes
  alone.
- A command that reaches `--limit` writes the stacks of its threads into its log. It is then killed with its children.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benches" / "python"))

import jobs
import machine
import reports
from file_batches import Piece, batches, estimates, pieces
from rerun_reasons import Cause, Reason, reason_of

ROOT = Path(__file__).resolve().parents[3]
MARK = "whole_device"
GIB = 1 << 30
PROCESS = Path(__file__).with_name("one_process.py")
# Result files with the run times of earlier runs. If both list a test file, the second result file has priority.
EARLIER = [Path(__file__).with_name("durations.json"), ROOT / "docs/results/gpu-tests.json"]


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line. All arguments after `--` are passed to pytest."""
    words = list(sys.argv[1:] if words is None else words)
    end = words.index("--") if "--" in words else len(words)
    cores = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", default=["tests"], help="test files and folders (default: tests)")
    parser.add_argument("--json", type=Path, default=Path("build/results/gpu-tests.json"), help="the result")
    parser.add_argument("--processes", type=int, default=min(cores, 16), help="processes that share the device")
    parser.add_argument("--limit", type=float, default=150, help="seconds of one process")
    parser.add_argument("--total", type=float, default=360, help="seconds of the whole run")
    parser.add_argument("--host-gib", type=float, help="host memory of one process (default: a share of the machine's)")
    parser.add_argument("--device-gib", type=float, default=4, help="free device memory before a process starts")
    parser.add_argument("--batch", type=float, default=6, help="seconds of the short files that one process runs")
    parser.add_argument("--part", type=float, default=30, help="seconds of a part of a long file")
    parser.add_argument("--seconds-of", type=Path, nargs="*", default=EARLIER, help="earlier results")
    parser.add_argument("--list", action="store_true", help="print the files of each process in their order, and stop")
    made = parser.parse_args(words[:end])
    made.pytests = words[end + 1 :]
    made.host_gib = made.host_gib or 0.9 * os.sysconf("SC_PHYS_PAGES") * jobs.PAGE / GIB / made.processes
    return made


def files_with_tests(paths: Sequence[str]) -> list[str]:
    """Return the test files in the given paths, sorted and relative to the current folder."""
    found: set[str] = set()
    for path in map(Path, paths):
        if not path.exists():
            raise SystemExit(f"{path}: no such test file or folder")
        found.update(str(file) for file in (path.rglob("test_*.py") if path.is_dir() else [path]))
    return sorted(found)


def divided(files: Sequence[str], options: argparse.Namespace) -> list[tuple[Piece, ...]]:
    """Divide test files among processes."""
    seconds = estimates(files, options.seconds_of)
    return batches(pieces(files, seconds, options.part), seconds, options.batch)


def read(job: jobs.Job) -> dict[Piece, list[reports.Case]]:
    """Return the tests of a job's report, grouped by the job's test files."""
    found: dict[str, Piece] = {piece.file: piece for piece in job.pieces}
    cases: dict[Piece, list[reports.Case]] = {piece: [] for piece in job.pieces}
    for case in reports.read(job.report, list(found)):
        cases[found.get(case.file, job.pieces[0])].append(case)
    return cases


class Run:
    """Run all tests: first in parallel processes, then those that fill the device, then the failed tests again."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.began = time.monotonic()
        self.folder = options.json.parent / (options.json.stem + "-logs")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.cases: dict[tuple[str, Piece], list[reports.Case]] = {}
        self.again: dict[Piece, Reason] = {}
        self.repeated: list[dict[str, Any]] = []
        self.incomplete: list[dict[str, str]] = []
        self.not_run: list[Piece] = []
        self.number = 0

    def environment(self) -> dict[str, str]:
        """Return the environment of the tests, which limits the memory and the threads of other libraries."""
        threads = str(max(1, len(os.sched_getaffinity(0)) // self.options.processes))
        bounds = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), threads)
        peers = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0"}
        return {**peers, **bounds, **os.environ}

    def job(self, batch: tuple[Piece, ...], selection: str) -> jobs.Job:
        """Return the job that runs a batch."""
        self.number += 1
        stem = self.folder / f"{self.number:03}-{Path(batch[0].file).stem}"
        command = [sys.executable, str(PROCESS), str(batch[0].part), str(batch[0].parts)]
        command += [*(piece.file for piece in batch), "-q", "-p", "no:cacheprovider", f"--junitxml={stem}.xml"]
        # Without pytest-timeout, pytest warns that it does not know the option `timeout`; the warning must not be an
        # error.
        command += ["-W", "default::pytest.PytestConfigWarning", *self.options.pytests, "-m", self.marks(selection)]
        return jobs.Job(batch, command, stem.with_suffix(".log"), stem.with_suffix(".xml"))

    def marks(self, selection: str) -> str:
        """Return pytest's marker expression: `selection`, combined with the option `-m` of the command line."""
        words = [
            after
            for before, after in zip(self.options.pytests, self.options.pytests[1:], strict=False)
            if before == "-m"
        ]
        return f"({words[-1]}) and ({selection})" if words else selection

    def limits(self) -> jobs.Limits:
        """Return the limits of the commands that start now."""
        options = self.options
        end = self.began + options.total
        return jobs.Limits(options.limit, int(options.host_gib * GIB), int(options.device_gib * GIB), end)

    def run(self, chosen: Sequence[tuple[Piece, ...]], selection: str, processes: int, is_second: bool = False) -> None:
        """Run batches of test files in parallel, and record the files that had not started when the time ended."""
        made = [self.job(batch, selection) for batch in chosen]
        end = self.second if is_second else self.first
        left = jobs.run(made, processes, self.limits(), self.environment(), lambda job: end(job, selection))
        self.not_run += [
            piece for job in left for piece in job.pieces if not is_second or self.again[piece].may_be_of_others
        ]

    def first(self, job: jobs.Job, selection: str) -> None:
        """Record the first outcome of a job's tests, and the test files that must run again."""
        cases = read(job)
        why = reason_of(job, [case for found in cases.values() for case in found])
        for piece, found in cases.items():
            self.cases[(selection, piece)] = found
            if why is not None and why.has_lost_tests:
                self.again[piece] = why
            elif selection != MARK and reports.failures(found):
                self.again[piece] = Reason(Cause.NO_MEMORY if reports.lacks_memory(found) else Cause.FAILURE)
        self.show(job, why)

    def second(self, job: jobs.Job, selection: str) -> None:
        """Record the outcome of a second run.

        It replaces the first outcome unless that was an ordinary failure of a test.
        """
        [(piece, cases)] = read(job).items()
        why, before = reason_of(job, cases), self.again[piece]
        failed = reports.failures(cases)
        is_incomplete = why is not None and why.has_lost_tests
        outcome = str(why) if is_incomplete else f"{len(failed)} failed" if failed else "passed"
        self.repeated.append({"file": str(piece), "why": str(before), "alone": outcome})
        if before.may_be_of_others:
            self.cases[(selection, piece)] = cases
            if is_incomplete:
                self.incomplete.append({"file": str(piece), "why": str(why), "log": str(job.log)})
        self.show(job, why)

    def show(self, job: jobs.Job, why: Reason | None) -> None:
        """Print one line for a job that has ended."""
        cases = [case for found in read(job).values() for case in found]
        is_failure = why is not None and why.cause is Cause.FAILURE
        state = f"{len(reports.failures(cases))} FAILED" if is_failure else str(why or "ok")
        names = f"{job.pieces[0]}" + (f" and {len(job.pieces) - 1} more" if len(job.pieces) > 1 else "")
        print(
            f"{time.monotonic() - self.began:6.1f} s  {job.seconds:6.1f} s  {len(cases):5}  {state:<16} {names}",
            flush=True,
        )

    def all(self, files: Sequence[str]) -> None:
        """Run all test files: first in parallel, then those that fill the device, then those that must run again."""
        options = self.options
        self.run(divided(files, options), f"not {MARK}", options.processes)
        alone = [(Piece(file),) for file in files if MARK in Path(file).read_text(encoding="utf-8")]
        # A second run after an ordinary test failure changes no outcome, so such runs come last.
        repeats = sorted(self.again, key=lambda piece: (not self.again[piece].may_be_of_others, piece))
        self.run(alone, MARK, 1)
        self.run([(piece,) for piece in repeats], f"not {MARK}", 1, is_second=True)

    def result(self) -> dict[str, Any]:
        """Return the outcomes of all test files, as the content of the JSON file."""
        # A test file that crashed or was stopped, and was not run again, has no complete outcome.
        repeated = {entry["file"] for entry in self.repeated}
        lost = {str(piece): str(why) for piece, why in sorted(self.again.items()) if why.may_be_of_others}
        lost = {name: why for name, why in lost.items() if name not in repeated}
        summary = reports.summarise([case for cases in self.cases.values() for case in cases])
        return {
            "seconds": round(time.monotonic() - self.began, 1),
            "processes": self.options.processes,
            "pytest": self.options.pytests,
            **{key: summary.pop(key) for key in ("total", "failures")},
            "run_again_alone": self.repeated,
            "incomplete": self.incomplete + [{"file": name, "why": why} for name, why in lost.items()],
            "not_run": [str(piece) for piece in sorted(set(self.not_run))],
            **summary,
        }


def device_of_tests(environment: Mapping[str, str]) -> dict[str, Any]:
    """Describe the machine in a separate process, so that this process has no context on the device."""
    command = [sys.executable, str(ROOT / "benches" / "python" / "machine.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(
            f"PyGPU cannot be imported: set PYTHONPATH to its folder, such as build/gpu-package\n{done.stderr}"
        )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Run the tests, write the result, and print failures and incomplete files."""
    options = arguments()
    files = files_with_tests(options.paths)
    if options.list:
        for batch in divided(files, options):
            print(*batch, sep=", ")
        return
    run = Run(options)
    described = device_of_tests(run.environment())
    print(f"{described['PyGPU']}; {len(files)} files, {options.processes} processes, logs in {run.folder}", flush=True)
    run.all(files)
    result = run.result()
    machine.write(options.json, {**result, "machine": described})
    for failure in result["failures"]:
        print(f"FAILED {failure['test']}: {failure['why'][:200]}")
    for entry in result["run_again_alone"] + result["incomplete"]:
        print(*(f"{key}: {value}" for key, value in entry.items()), sep=", ")
    if result["not_run"]:
        print(f"no time was left for {len(result['not_run'])} files: {' '.join(result['not_run'])}")
    print(f"{json.dumps(result['total'])} in {result['seconds']} s; {options.json}")
    sys.exit(bool(result["failures"] or result["incomplete"] or result["not_run"]))


if __name__ == "__main__":
    main()
