"""Write docs/licenses_of_crates.txt, which lists the crates linked into the extension and their licences.

    python tools/licenses.py

Every wheel contains this file. If a crate offers a choice of licences, Apache-2.0 is chosen, because the wheel contains
the text of Apache-2.0 as a separate file. docs/licenses_of_crates.txt contains the texts of all other licences.
deny.toml lists the accepted licences. ``tests/packaging/test_licenses.py`` compares the file with Cargo.lock.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licenses_of_crates.txt"
TARGETS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")
HEAD = """\
Crates whose code is linked into PyGPU._core, beside Rust's standard library (Apache-2.0 OR MIT, The Rust Project
Developers).
All that offer Apache-2.0 are used under it: its text is LICENSE-APACHE. The texts of the others follow.

"""


def cargo(*arguments: str) -> str:
    """Return the output of cargo, without network access."""
    command = ["cargo", *arguments, "--locked", "--offline"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout


def linked() -> set[tuple[str, str]]:
    """Return name and version of each crate that is linked on any target.

    Crates of procedural macros are excluded, because they run only during compilation.
    """
    packages: set[tuple[str, str]] = set()
    for target in TARGETS:
        tree = cargo(
            *("tree", "--package", "pygpu-python", "--edges", "normal,no-proc-macro", "--prefix", "none"),
            *("--format", "{p}", "--target", target),
        )
        packages |= set(re.findall(r"^(\S+) v(\S+)", tree, re.MULTILINE))
    return {crate for crate in packages if not crate[0].startswith("pygpu-")}


def text_of(folder: Path) -> str:
    """Return the text of the licence that a crate contains."""
    files = sorted(path for path in folder.iterdir() if re.match(r"licen[cs]e|copying", path.name, re.IGNORECASE))
    if not files:
        raise LookupError(f"{folder.name} brings no text of its licence")
    return files[0].read_text(encoding="utf-8").strip()


def page() -> str:
    """Return the content of the whole file."""
    crates = linked()
    packages = [
        package
        for package in json.loads(cargo("metadata", "--format-version", "1"))["packages"]
        if (package["name"], package["version"]) in crates
    ]
    lines, texts = [], []
    for package in sorted(packages, key=lambda package: (package["name"], package["version"])):
        crate = f"{package['name']} {package['version']}"
        lines.append(f"{crate}: {package['license']}\n")
        if not re.search(r"\bApache-2\.0\b(?! WITH)", package["license"]):
            texts.append(f"\n---- {crate} ----\n\n{text_of(Path(package['manifest_path']).parent)}\n")
    return HEAD + "".join(lines + texts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
