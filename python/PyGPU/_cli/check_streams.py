"""Run ``python -m PyGPU check --streams program.py``: run a program and print handovers of memory without stream order.

The program runs in a separate process with ``PYGPU_CHECK_STREAMS=1``, on the GPU that the program chooses.
"""

import argparse
import subprocess
import sys
import tempfile
from os import environ
from pathlib import Path

from PyGPU import backend_name
from PyGPU._cli import run_with_stream_check


def execute(program: list[str], limit: float | None) -> tuple[str | None, list[str]]:
    """Run the program; return the cause of its failure, or None, and the list of reports.

    Parameters
    ----------
    program : list of str
        File and arguments of the program.
    limit : float, optional
        Time limit of the run in seconds.
    """
    with tempfile.TemporaryDirectory(prefix="pygpu-check-") as folder:
        reports = Path(folder, "reports")
        command = [sys.executable, run_with_stream_check.__file__, str(reports), *program]
        failure = None
        try:
            status = subprocess.run(
                command, env={**environ, "PYGPU_CHECK_STREAMS": "1"}, check=False, timeout=limit
            ).returncode
            if status:
                failure = f"ended by signal {-status}" if status < 0 else f"exit status {status}"
        except subprocess.TimeoutExpired:
            failure = f"it did not end within {limit} seconds"
        return failure, run_with_stream_check.read(reports)


def run(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Check the streams of a program, print the reports, and exit with status 1 if there is a report.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The command's parser, which prints errors in the arguments.
    arguments : argparse.Namespace
        The command's arguments.
    """
    if backend_name() == "cpu":
        parser.error("--streams needs a GPU: on the CPU backend each call completes its work before it returns")
    failure, reports = execute([arguments.program, *arguments.arguments], arguments.timeout)
    for number, report in enumerate(reports, 1):
        print(f"{number}. {report}")
    if failure:
        print(f"{len(reports) + 1}. the program failed: {failure}")
    if failure or reports:
        sys.exit(1)
    print("nothing found: every handover that PyGPU can see was ordered when it was made")
