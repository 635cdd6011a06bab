"""Measure the wall time of builds and of CI, as in the tables of CONTRIBUTING.md.


    python tools/build_times.py edits            builds after an edit in each crate
    python tools/build_times.py demo test ci     each command in a clean clone, in a temporary folder

Times are meaningful only on an idle machine. Packages are taken from the caches of pip and cargo if possible.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMANDS = {"demo": ["make", "demo"], "test": ["make", "test"], "ci": ["bash", ".ci/run"]}


def seconds(command: list[str], folder: Path) -> float:
    """Return the wall time of a command; exit with its output if it fails."""
    begun = time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return time.monotonic() - begun


def from_a_clone(name: str) -> float:
    """Return the wall time of a command in a new clone of HEAD."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        return seconds(COMMANDS[name], clone)


def edits() -> dict[str, tuple[float, float]]:
    """Return for each crate the times of `cargo check` and of the development build after an edit in this crate."""
    members = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    commands = [["cargo", "check", "--package", "pygpu-python"], ["make", ".venv/.extension-dev"]]
    for command in commands:
        seconds(command, ROOT)
    medians = {}
    for member in members:
        root = ROOT / member / "lib.rs"
        text, times = root.read_text(), []
        for number, command in enumerate(commands):
            try:
                root.write_text(f"{text}\nconst _: () = assert!({number} < 2);\n")
                times.append(seconds(command, ROOT))
            finally:
                root.write_text(text)
        medians[member] = (times[0], times[1])
    return medians


def main() -> None:
    """Measure and print the times that the command line selects."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=["edits", *COMMANDS])
    os.environ.setdefault("PYO3_PYTHON", str(ROOT / ".venv/bin/python"))
    for name in parser.parse_args().names:
        if name == "edits":
            print("| edit in | `cargo check` | `make .venv/.extension-dev` |\n|---|---|---|")
            for member, (check, build) in edits().items():
                print(f"| `{member}` | {check:.1f} s | {build:.1f} s |")
        else:
            print(f"| `{' '.join(COMMANDS[name])}` | {from_a_clone(name):.0f} s |")


if __name__ == "__main__":
    main()
