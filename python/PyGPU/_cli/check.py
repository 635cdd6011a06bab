"""Run ``python -m PyGPU check program.py``: execute a program on the CPU and check its kernels for defects.

The program runs several times, each time in a separate process: twice unchanged, then with other start orders of the
kernels' blocks and threads, then with the address sanitizer in every kernel. The program's output, and the contents of
arrays at the end of its functions, must not depend on the start order. Values that differ between the two unchanged
runs, such as times and addresses, are ignored.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from os import environ
from pathlib import Path
from typing import Any, NamedTuple

from PyGPU._cli import check_streams, record_arrays, run_comparison
from PyGPU._observability import progress as bars

SANITIZER = "detect_leaks=0:halt_on_error=0:alloc_dealloc_mismatch=0:detect_stack_use_after_return=0:log_path="
# Pattern of a line of the sanitizer's report that names a function and source line of a kernel.
FRAME = re.compile(r"^\s*#\d+ 0x[0-9a-f]+ in (?P<function>.+?) (?P<path>\S+?):(?P<line>\d+)(?::\d+)?$", re.MULTILINE)
# Number of guard bytes (red zone) after the end of each host array. The sanitizer reports each access to guard bytes.
RED_ZONE = 32


class Run(NamedTuple):
    """Configuration of one run of the checked program: a label and environment variables."""

    name: str
    settings: dict[str, str]


class RunResult(NamedTuple):
    """Result of one run of the checked program: exit status, output, error output, and recorded arrays."""

    status: int
    output: list[str]
    errors: list[str]
    held: "run_comparison.Held"


class Finding(NamedTuple):
    """Defect of the checked program, with its location and the runs that show it."""

    what: str
    runs: list[str]


def runs(arguments: argparse.Namespace, folder: Path, library: str | None) -> list[Run]:
    """List the configurations in which the checked program runs.

    The first two configurations are equal, so that values that differ between equal runs, such as times, can be
    ignored.
    """
    base_settings = {"PYGPU_BACKEND": "cpu", "TMPDIR": str(folder), "PYGPU_CACHE_DIR": str(folder / "cache")}
    # Line information does not slow kernels down, and lets messages about failures name the source line.
    base_settings["PYGPU_CPU_OPTIONS"] = "-g1"
    orders = ["reversed", *(f"shuffled:{seed}" for seed in range(1, arguments.shuffles + 1))]
    result = [Run("as it is", base_settings), Run("once more", base_settings)]
    result += [Run(order, {**base_settings, "PYGPU_CPU_ORDER": order}) for order in orders]
    if library is not None:
        options = {"PYGPU_CPU_OPTIONS": "-fsanitize=address -fsanitize-recover=address -g"}
        sanitizer_settings = {"LD_PRELOAD": library, "ASAN_OPTIONS": SANITIZER + str(folder / "report")}
        result.append(Run("sanitizer", {**base_settings, **options, **sanitizer_settings}))
    return result


def sanitizer() -> str | None:
    """Query the compiler for the path of its address sanitizer's library; return None if it has no such library."""
    compiler_command = os.environ.get("PYGPU_CXX") or os.environ.get("CXX") or "c++"
    compiler = shutil.which(shlex.split(compiler_command)[0])
    if compiler is None:
        return None
    for name in ("libasan.so", "libclang_rt.asan.so"):
        process = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False)
        if Path(process.stdout.strip()).is_absolute():
            return process.stdout.strip()
    return None


def execute(program: list[str], run: Run, folder: Path, limit: float | None) -> RunResult:
    """Run the checked program in a separate process; a run of more than `limit` seconds counts as ended by a signal."""
    record_file = folder / "held"
    record_file.unlink(missing_ok=True)
    try:
        process = subprocess.run(
            [sys.executable, record_arrays.__file__, str(record_file), *program],
            env={**environ, **run.settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return RunResult(-1, [], [f"it did not end within {limit} seconds"], {})
    return RunResult(
        process.returncode, process.stdout.splitlines(), process.stderr.splitlines(), run_comparison.read(record_file)
    )


def location_with_line(location: str, folder: Path, path: str | None = None) -> str:
    """Format a location in a kernel, with its source line if the source file exists."""
    name, _, number = location.rpartition(":")
    candidates = [Path(path)] if path else []
    candidates += sorted(folder.glob(f"pygpu-*/{Path(name).name}"))
    for file in candidates:
        if file.is_file() and number.isdigit():
            lines = file.read_text(errors="replace").splitlines()
            if 0 < int(number) <= len(lines):
                return f"{location}\n      {lines[int(number) - 1].strip()}"
    return location


def last_message(errors: list[str]) -> str:
    """Return the message of the last exception in the error output, or the last line if there is no exception.

    An exception's message may have several lines.
    """
    starts = [index for index, line in enumerate(errors) if line.startswith("Traceback (most recent call last)")]
    if starts:
        report = errors[starts[-1] + 1 :]
        message_line = next((index for index, line in enumerate(report) if line[:1].strip()), len(report))
        if message_line < len(report):
            # Compilers may print many lines, so only the beginning of the message is shown.
            message = "\n      ".join(line.strip() for line in report[message_line : message_line + 8] if line.strip())
            return message.replace("; python -m PyGPU check shows the line", "")
    return next((line for line in reversed(errors) if line.strip()), "")


def failure(result: RunResult, folder: Path) -> str | None:
    """Describe why a run failed, by the end of its error output and the kernel's source line if it is known."""
    if result.status == 0:
        return None
    message = last_message(result.errors)
    exit_text = f"ended by signal {-result.status}" if result.status < 0 else f"exit status {result.status}"
    location = re.search(r"at (\S+:\d+)\]?$", message)
    if location:
        message = message[: location.start(1)] + location_with_line(location[1], folder)
    return f"{message}\n      ({exit_text})" if message else exit_text


def difference(first: list[str], second: list[str], reordered: list[str]) -> str | None:
    """Find the first line of output that is equal in `first` and `second`, but differs in `reordered`.

    `first` and `second` are the outputs of two equal runs; `reordered` is the output of a run with another start order.
    """
    if len(first) == len(second) != len(reordered):
        return f"it prints {len(reordered)} lines, not {len(first)}"
    for number, (expected, repeated, actual) in enumerate(zip(first, second, reordered, strict=False), 1):
        if expected == repeated != actual:
            return f"line {number} of the output is\n      {actual}\n    and as it is\n      {expected}"
    return None


def reports(folder: Path) -> Iterator[str]:
    """Read the sanitizer's report files, and return the message and source line of each report about a kernel."""
    for file in sorted(folder.glob("report.*")):
        for text in file.read_text(errors="replace").split(
            "================================================================="
        )[1:]:
            error = re.search(r"ERROR: AddressSanitizer: (\S+)", text)
            frame = next(
                (match for match in FRAME.finditer(text) if "pygpu-" in match["path"] or match["path"].endswith(".cu")),
                None,
            )
            if error is None or frame is None or "/include/pygpu_cpu" in frame["path"]:
                continue
            access = re.search(r"^(READ|WRITE) of size \d+", text, re.MULTILINE)
            location = location_with_line(f"{Path(frame['path']).name}:{frame['line']}", folder, frame["path"])
            kind = access[0] if access else "access"
            yield f"{error[1]}: {kind}{block_of(text)}, in {frame['function']} at {location}"


def block_of(report: str) -> str:
    """Describe the array or variable to whose memory the address in a sanitizer's report belongs.

    Return an empty string if the report does not name an array or variable.
    """
    array = re.search(r"is located (\d+) bytes inside of (\d+)-byte region", report)
    if array and 0 <= (beyond := int(array[1]) - (int(array[2]) - RED_ZONE)) < RED_ZONE:
        return f", {beyond} bytes behind the end of an array of {int(array[2]) - RED_ZONE} bytes"
    block = re.search(
        r"is located (\d+ bytes (?:after|before|inside of) [^\n\[(]+?)(?: \[| \(|$)", report, re.MULTILINE
    )
    variable = re.search(r"is located \d+ bytes .*?(global variable '[^']+'|variable '[^']+')", report)
    return f" at {variable[1]}" if variable else f", {block[1]}" if block else ""


def search(
    program: list[str], configurations: list[Run], folder: Path, limit: float | None, progress: Any
) -> list[Finding]:
    """Run the checked program in each configuration, and return the defects without duplicates."""
    findings: dict[str, list[str]] = {}
    results: dict[str, RunResult] = {}
    order_dependent: list[tuple[str, str]] = []
    for run in configurations:
        progress.set_description_str(run.name)
        progress.update()
        results[run.name] = result = execute(program, run, folder, limit)
        is_sanitized = run.name == "sanitizer"
        messages = list(reports(folder)) if is_sanitized else []
        failure_text = failure(result, folder)
        if failure_text is not None and not messages:
            messages.append(failure_text)
        elif not is_sanitized and len(results) > 2:
            first, second = results["as it is"], results["once more"]
            differs = difference(first.output, second.output, result.output)
            differs = differs or run_comparison.difference(first.held, second.held, result.held)
            if differs is not None:
                order_dependent.append((run.name, differs))
        for message_text in messages:
            findings.setdefault(message_text, []).append(run.name)
    if order_dependent:
        text = "the result depends on the order in which blocks and threads run (a missing barrier, or a race): "
        findings[text + order_dependent[0][1]] = [name for name, _ in order_dependent]
    return merged(findings)


def merged(findings: dict[str, list[str]]) -> list[Finding]:
    """Merge defects whose descriptions are equal except for a thread's index or an address."""
    merged_findings: dict[str, Finding] = {}
    for what, names in findings.items():
        key = re.sub(r"\(\d+,\d+,\d+\)|0x[0-9a-f]+", "", what)
        merged_findings.setdefault(key, Finding(what, [])).runs.extend(names)
    return list(merged_findings.values())


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command-line options of ``check`` to a parser."""
    parser.description = (
        "Run a program on the CPU several times, with other orders of blocks and threads and with the sanitizer of "
        "addresses in its kernels, and print what is wrong with the lines of the kernels. The exit status is 1 if "
        "anything is. With --streams, run the program once on the GPU instead, and print handovers of memory between "
        "PyGPU and other libraries that no stream waits for (PYGPU_CHECK_STREAMS=1), with the lines of the program."
    )
    parser.epilog = "example: python -m PyGPU check --shuffles 4 program.py input.dat"
    parser.add_argument("--streams", action="store_true", help="check the order of streams instead of the kernels")
    parser.add_argument("--shuffles", type=int, default=2, metavar="N", help="how many shuffled orders (2)")
    parser.add_argument("--no-sanitizer", action="store_true", help="only the orders")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="of each run; none by default")
    parser.add_argument("program", help="the file of the program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program is given")


def run(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Run the command ``check``: check the program, print the defects, and return 1 if it has defects."""
    if not Path(arguments.program).is_file():
        parser.error(f"there is no file {arguments.program!r}")
    if arguments.streams:
        check_streams.run(parser, arguments)
        return
    library = None if arguments.no_sanitizer else sanitizer()
    if library is None and not arguments.no_sanitizer:
        print("without the sanitizer: no C++ compiler with its library (libasan) was found", file=sys.stderr)
    program = [arguments.program, *arguments.arguments]
    with tempfile.TemporaryDirectory(prefix="pygpu-check-") as name:
        folder = Path(name)
        configurations = runs(arguments, folder, library)
        progress = bars.bar(len(configurations), file=sys.stderr, leave=False)
        try:
            findings = search(program, configurations, folder, arguments.timeout, progress)
        finally:
            progress.close()
    names = ", ".join(run.name for run in configurations)
    for number, finding in enumerate(findings, 1):
        print(f"{number}. {finding.what}\n    [{', '.join(finding.runs)}]")
    if findings:
        sys.exit(1)
    print(f"nothing found: {names}")
