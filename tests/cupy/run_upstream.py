"""Run CuPy's own tests over PyGPU, and print by folder how many pass and why the others fail.

    git clone https://github.com/cupy/cupy
    python tests/cupy/run_upstream.py cupy cupy_tests/math_tests cupy_tests/linalg_tests

Paths are relative to the folder `tests` of the checkout. Options after ``--`` are passed to pytest. Tests of huge
arrays are omitted unless ``--huge`` is given. A test that reads a private
module of CuPy is counted apart: it cannot pass.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

PRIVATE = "private in CuPy:"
NOT_HUGE = ["-k", "not Huge and not huge and not large and not 32bit and not int32_overflow", "-m", "not slow"]
LONGEST = 160


def last_error(message: str) -> str:
    """Return the line of a message that names the error, with numbers replaced, so that equal causes are counted."""
    lines = [line for line in message.splitlines() if line.strip() and not line.startswith("for ")]
    errors = [line for line in lines if re.match(r"(\w+\.)*\w*(Error|Exception|Warning)\b", line)]
    prefix = (
        "only cupy: " if "only cupy raised" in message else "only numpy: " if "only numpy raised" in message else ""
    )
    text = errors[-1] if prefix and errors else " ".join(lines[:2])
    return prefix + re.sub(r"0x[0-9a-f]+|\d+", "N", text)[:LONGEST]


def report(outcomes: list[tuple[str, str, str]], causes: int) -> None:
    """Print the number of tests by folder and outcome, and the most frequent causes of failures."""
    folders: dict[str, Counter[str]] = defaultdict(Counter)
    failures: Counter[str] = Counter()
    for test, outcome, message in outcomes:
        folder = test.partition("::")[0].rpartition("/")[0]
        is_private = outcome == "failed" and PRIVATE in message
        folders[folder]["private" if is_private else outcome] += 1
        if outcome == "failed" and not is_private:
            failures[last_error(message)] += 1
    total = sum(folders.values(), Counter())
    for folder, counts in [*sorted(folders.items()), ("all", total)]:
        counted = counts["passed"] + counts["failed"]
        share = f"{100 * counts['passed'] / counted:.1f} %" if counted else "none counted"
        others = f"{counts['skipped']} skipped, {counts['private']} private"
        print(f"{folder}: {counts['passed']} of {counted} ({share}), {others}")
    for cause, count in failures.most_common(causes):
        print(f"{count:6} {cause}")


def main() -> int:
    """Run the tests, print the report, and return pytest's exit status."""
    parser = argparse.ArgumentParser(description="Run CuPy's own tests over PyGPU.")
    parser.add_argument("checkout", type=Path, help="folder of a checkout of CuPy")
    parser.add_argument("paths", nargs="+", help="files and folders of tests, relative to the checkout's `tests`")
    parser.add_argument("--huge", action="store_true", help="also run tests of huge arrays")
    parser.add_argument("--causes", type=int, default=40, help="number of causes of failures to print")
    own = sys.argv[1:]
    options = own[own.index("--") + 1 :] if "--" in own else []
    arguments = parser.parse_args(own[: own.index("--")] if "--" in own else own)
    checkout = arguments.checkout.resolve()
    with tempfile.TemporaryDirectory() as folder:
        outcomes = Path(folder) / "outcomes.jsonl"
        outcomes.touch()
        path = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))
        settings = {"CUPY_CHECKOUT": str(checkout), "CUPY_OUTCOMES": str(outcomes), "PYTHONPATH": path}
        command = [
            *(
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-p",
                "upstream_plugin",
                "-p",
                "no:cacheprovider",
                "-c",
                os.devnull,
            ),
            *("--rootdir", ".", "-W", "ignore", "--tb=line", "-rN", "--continue-on-collection-errors"),
            *([] if arguments.huge else NOT_HUGE),
            *options,
            *arguments.paths,
        ]
        environment = {"CUPY_TEST_GPU_LIMIT": "1", **os.environ, **settings}
        done = subprocess.run(command, cwd=checkout / "tests", env=environment, stdout=subprocess.PIPE, text=True)
        print("\n".join(done.stdout.splitlines()[-3:]))
        report([tuple(json.loads(line)) for line in outcomes.read_text().splitlines()], arguments.causes)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
