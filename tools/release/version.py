"""Check that every copy of PyGPU's version equals Cargo.toml's, or print the version's section of the changelog.

    python tools/release/version.py [--tag v0.2.0] [--notes]

The version is defined by ``[workspace.package]`` of Cargo.toml only: maturin, ``PyGPU.__version__`` and the cache keys
follow it. The other files in `places` contain a copy, which this program compares. ``--tag`` also compares a tag.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADING = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>\d{4}-\d\d-\d\d))?$", re.MULTILINE)


def read(name: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def version() -> str:
    """Return the version of the workspace."""
    return str(tomllib.loads(read("Cargo.toml"))["workspace"]["package"]["version"])


def sections(changelog: str) -> dict[str, tuple[str | None, str]]:
    """Return the date and the text of each changelog section, by version."""
    heads = list(HEADING.finditer(changelog))
    ends = [head.start() for head in heads[1:]] + [len(changelog)]
    return {
        head["version"]: (head["date"], changelog[head.end() : end].strip())
        for head, end in zip(heads, ends, strict=True)
    }


def errors(expected: str, texts: dict[str, str], tag: str | None = None) -> Iterator[str]:
    """Return a message for each file whose version differs from the expected one."""
    dated = sections(texts["CHANGELOG.md"])
    date, notes = dated.get(expected, (None, ""))
    if date is None or not notes:
        yield f"CHANGELOG.md has no section '## [{expected}] - DATE' with a text"
    patterns = {
        "CITATION.cff": rf"^version: {re.escape(expected)}$",
        "python/PyGPU/share/pkgconfig/pygpu.pc": rf"^Version: {re.escape(expected)}$",
        "Cargo.lock": rf'^name = "pygpu-python"\nversion = "{re.escape(expected)}"$',
    }
    for name, pattern in patterns.items():
        if not re.search(pattern, texts[name], re.MULTILINE):
            yield f"{name} does not have the version {expected}"
    if date and f"date-released: {date}" not in texts["CITATION.cff"]:
        yield f"CITATION.cff does not have the date {date} of CHANGELOG.md"
    if tag is not None and tag != f"v{expected}":
        yield f"the tag {tag} is not v{expected}"


FILES = ("CHANGELOG.md", "CITATION.cff", "Cargo.lock", "python/PyGPU/share/pkgconfig/pygpu.pc")
"""The files that contain a copy of the version."""


def main() -> int:
    """Compare the files, or print the notes of the release."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", help="the tag of the release, such as v0.2.0")
    parser.add_argument("--notes", action="store_true", help="print the changelog's section of the version")
    arguments = parser.parse_args()
    expected = version()
    if messages := list(errors(expected, {name: read(name) for name in FILES}, arguments.tag)):
        print("\n".join(messages), file=sys.stderr)
        return 1
    print(sections(read("CHANGELOG.md"))[expected][1] if arguments.notes else f"version {expected}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
