"""Run all tests on a GPU in parallel by test files, and write the result as JSON.

    PYGPU_BACKEND=cuda PYTHONPATH=build/gpu-package python tests/gpu/runner/run_tests.py [PATH ...] [-- OF PYTEST ...]

The script needs Python, pytest and an installed PyGPU; `make gpu-test` calls it. Several processes share the device.
Each runs one test file, or several that an earlier result lists as short. The longest files come first.

- Tests with the marker `whole_device` fill the device's memory. They run after all others, one file at a time.
- A file is run again, alone, if its process crashed, reached a limit, or had a failing test. The result lists these
  files with both outcomes. After a crash, a stop, or a failure for lack of device memory, the second outcome counts,
  because other processes may be the cause. Any other failure stays a failure, even if the test passes alone.
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

ROOT = Path(__file__).resolve().parents[3]
MARK = "whole_device"
GIB = 1 << 30
# pytest's exit statuses of a run to the end: all passed, some failed, all deselected.
COMPLETE = (0, 1, 5)
NO_MEMORY = "no device memory"
# Seconds per byte of a file that no earlier result lists; only the order of the files depends on the number.
SECONDS_PER_BYTE = 1e-3


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line; all arguments after `--` are pytest's."""
    given = list(sys.argv[1:] if given is None else given)
    end = given.index("--") if "--" in given else len(given)
    cores = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", default=["tests"], help="test files and folders (default: tests)")
    parser.add_argument("--json", type=Path, default=Path("build/results/gpu-tests.json"), help="the result")
    parser.add_argument("--processes", type=int, default=min(cores, 16), help="processes that share the device")
    parser.add_argument("--limit", type=float, default=150, help="seconds of one process")
    parser.add_argument("--total", type=float, default=360, help="seconds of the whole run")
    parser.add_argument("--host-gib", type=float, help="host memory of one process (default: a share of the machine's)")
    parser.add_argument("--device-gib", type=float, default=4, help="free device memory before a process starts")
    parser.add_argument("--batch", type=float, default=6, help="seconds of the files that one process runs")
    parser.add_argument("--seconds-of", type=Path, default=ROOT / "docs/results/gpu-tests.json", help="earlier result")
    parser.add_argument("--list", action="store_true", help="print the files of each process in their order, and stop")
    made = parser.parse_args(given[:end])
    made.pytests = given[end + 1 :]
    made.host_gib = made.host_gib or 0.9 * os.sysconf("SC_PHYS_PAGES") * jobs.PAGE / GIB / made.processes
    return made


def test_files(paths: Sequence[str]) -> list[str]:
    """Return the test files of paths, sorted and relative to the current folder."""
    found: set[str] = set()
    for path in map(Path, paths):
        if not path.exists():
            raise SystemExit(f"{path}: no such test file or folder")
        found.update(str(file) for file in (path.rglob("test_*.py") if path.is_dir() else [path]))
    return sorted(found)


def weights(files: Sequence[str], earlier: Path) -> dict[str, tuple[bool, float]]:
    """Return for each file whether an earlier result lists it, and its seconds there, or an estimate by its size."""
    known: dict[str, float] = {}
    if earlier.exists():
        known = reports.seconds_of_files(json.loads(earlier.read_text()))
    return {file: (file in known, known.get(file, Path(file).stat().st_size * SECONDS_PER_BYTE)) for file in files}


def batches(files: Sequence[str], weight: Mapping[str, tuple[bool, float]], most: float) -> list[tuple[str, ...]]:
    """Return the files of each process, the longest first; files that are known as short share a process."""
    ordered = sorted(files, key=lambda file: (-weight[file][1], file))
    result = [(file,) for file in ordered if not weight[file][0] or weight[file][1] >= most]
    batch: list[str] = []
    total = 0.0
    for file in ordered:
        if (file,) in result:
            continue
        if batch and total + weight[file][1] > most:
            result.append(tuple(batch))
            batch, total = [], 0.0
        batch.append(file)
        total += weight[file][1]
    return [*result, tuple(batch)] if batch else result


class Run:
    """One run of all tests: the parallel processes, the tests that fill the device, and the second runs."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.began = time.monotonic()
        self.folder = options.json.parent / (options.json.stem + "-logs")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.cases: dict[tuple[str, ...], list[reports.Case]] = {}
        self.again: dict[str, str] = {}
        self.repeated: list[dict[str, Any]] = []
        self.incomplete: list[dict[str, str]] = []
        self.not_run: list[str] = []
        self.number = 0

    def environment(self) -> dict[str, str]:
        """Return the environment of the tests, in which other libraries take memory and threads sparingly."""
        threads = str(max(1, len(os.sched_getaffinity(0)) // self.options.processes))
        bounds = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), threads)
        return {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", **bounds, **os.environ}

    def job(self, files: tuple[str, ...], selection: str) -> jobs.Job:
        """Return the job that runs test files."""
        self.number += 1
        stem = self.folder / f"{self.number:03}-{Path(files[0]).stem}"
        command = [sys.executable, "-m", "pytest", *files, "-q", "-p", "no:cacheprovider", f"--junitxml={stem}.xml"]
        # The option `timeout` is unknown without pytest-timeout.
        command += ["-W", "default::pytest.PytestConfigWarning", *self.options.pytests, "-m", self.marks(selection)]
        return jobs.Job(files, command, stem.with_suffix(".log"), stem.with_suffix(".xml"))

    def marks(self, selection: str) -> str:
        """Return the expression of marks: the selection, and what the caller gave pytest with `-m`."""
        given = [
            after
            for before, after in zip(self.options.pytests, self.options.pytests[1:], strict=False)
            if before == "-m"
        ]
        return f"({given[-1]}) and ({selection})" if given else selection

    def limits(self) -> jobs.Limits:
        """Return the limits of the commands that start now."""
        options = self.options
        end = self.began + options.total
        return jobs.Limits(options.limit, int(options.host_gib * GIB), int(options.device_gib * GIB), end)

    def run(self, groups: Sequence[tuple[str, ...]], selection: str, processes: int, is_second: bool = False) -> None:
        """Run groups of files."""
        made = [self.job(files, selection) for files in groups]
        end = self.second if is_second else self.first
        left = jobs.run(made, processes, self.limits(), self.environment(), lambda job: end(job, selection))
        self.not_run += [file for job in left for file in job.files]

    def first(self, job: jobs.Job, selection: str) -> None:
        """Record the end of a job, and the files to run again."""
        cases = reports.read(job.report, job.files)
        why = self.reason(job, cases)
        failed = {case.file for case in cases if case.outcome == "failed"}
        self.cases[(selection, *job.files)] = cases
        if why and why != NO_MEMORY:
            self.again.update(dict.fromkeys(job.files, why))
        elif selection != MARK:
            self.again.update({file: why or "a test failed" for file in job.files if file in failed})
        self.show(job, cases, why)

    def second(self, job: jobs.Job, selection: str) -> None:
        """Record the end of a file's second run, which replaces the first one unless a test had simply failed."""
        cases = reports.read(job.report, job.files)
        [file] = job.files
        why, before = self.reason(job, cases), self.again[file]
        failed = [case.name for case in cases if case.outcome == "failed"]
        outcome = why if why and why != NO_MEMORY else f"{len(failed)} failed" if failed else "passed"
        self.repeated.append({"file": file, "why": before, "alone": outcome})
        if before != "a test failed":
            for key in [key for key in self.cases if key[0] == selection and file in key]:
                self.cases[key] = [case for case in self.cases[key] if case.file != file]
            self.cases[(selection, file)] = cases
            if why and why != NO_MEMORY:
                self.incomplete.append({"file": file, "why": why, "log": str(job.log)})
        self.show(job, cases, why)

    @staticmethod
    def reason(job: jobs.Job, cases: Sequence[reports.Case]) -> str:
        """Return why the job's files must run again alone, whatever their tests' outcomes; or an empty text."""
        if job.stopped:
            return f"stopped: {job.stopped}"
        if job.status not in COMPLETE and not any(case.outcome == "failed" for case in cases):
            return f"crashed: signal {-(job.status or 0)}" if (job.status or 0) < 0 else f"exit status {job.status}"
        return NO_MEMORY if reports.lacks_memory(cases) else ""

    def show(self, job: jobs.Job, cases: Sequence[reports.Case], why: str) -> None:
        """Print one line for a job that has ended."""
        failed = sum(case.outcome == "failed" for case in cases)
        state = why or (f"{failed} FAILED" if failed else "ok")
        names = job.files[0] + (f" and {len(job.files) - 1} more" if len(job.files) > 1 else "")
        print(
            f"{time.monotonic() - self.began:6.1f} s  {job.seconds:6.1f} s  {len(cases):5}  {state:<16} {names}",
            flush=True,
        )

    def all(self, files: Sequence[str]) -> None:
        """Run all files: first in parallel, then those that fill the device, then those to run again."""
        options = self.options
        self.run(batches(files, weights(files, options.seconds_of), options.batch), f"not {MARK}", options.processes)
        alone = [(file,) for file in files if MARK in Path(file).read_text(encoding="utf-8")]
        repeats = [(file,) for file in sorted(self.again)]
        self.run(alone, MARK, 1)
        self.run(repeats, f"not {MARK}", 1, is_second=True)

    def result(self) -> dict[str, Any]:
        """Return the result of the run."""
        # A file that crashed or was stopped, and was not run again, has no complete outcome.
        repeated = {entry["file"] for entry in self.repeated}
        lost = {file: why for file, why in self.again.items() if file not in repeated and why != "a test failed"}
        summary = reports.summarise([case for cases in self.cases.values() for case in cases])
        return {
            "seconds": round(time.monotonic() - self.began, 1),
            "processes": self.options.processes,
            "pytest": self.options.pytests,
            **{key: summary.pop(key) for key in ("total", "failures")},
            "run_again_alone": self.repeated,
            "incomplete": self.incomplete + [{"file": file, "why": why} for file, why in sorted(lost.items())],
            "not_run": sorted(set(self.not_run)),
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
    """Run the tests, write the result and print what is not right."""
    options = arguments()
    files = test_files(options.paths)
    if options.list:
        for batch in batches(files, weights(files, options.seconds_of), options.batch):
            print(*batch)
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
