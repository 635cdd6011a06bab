"""Write a software bill of materials (CycloneDX 1.6, JSON) of the wheel: its crates, the carried headers and NumPy.

    python tools/release/sbom.py [FILE]

Without FILE the program prints the document. The document contains no time and no random number, so that two runs give
the same bytes. The crates are those of ``tools/licenses.py``, with the checksums of Cargo.lock.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tomllib
import uuid
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import licenses  # noqa: E402
from release import version  # noqa: E402

XSF = "src/ops/include/xsf"
LICENCES = {"Apache-2.0/MIT": "Apache-2.0 OR MIT", "MIT/Apache-2.0": "MIT OR Apache-2.0"}
"""Outdated spellings of licences in the metadata of crates, each with the SPDX expression that replaces it."""


def crates() -> list[dict[str, Any]]:
    """Return a component for each crate that is linked into the extension."""
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    linked = licenses.linked()
    declared = {
        (package["name"], package["version"]): package["license"]
        for package in json.loads(licenses.cargo("metadata", "--format-version", "1"))["packages"]
    }
    packages = []
    for package in locked:
        key = package["name"], package["version"]
        if key in linked:
            reference = f"pkg:cargo/{key[0]}@{key[1]}"
            packages.append(
                {
                    "type": "library",
                    "bom-ref": reference,
                    "name": key[0],
                    "version": key[1],
                    "purl": reference,
                    "hashes": [{"alg": "SHA-256", "content": package["checksum"]}],
                    "licenses": [{"expression": LICENCES.get(declared[key], declared[key])}],
                }
            )
    return packages


def carried_headers() -> dict[str, Any]:
    """Return a component for SciPy's headers xsf, of which the package carries a part."""
    content = hashlib.sha256()
    for path in sorted((ROOT / XSF).rglob("*")):
        if path.is_file():
            content.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return {
        "type": "library",
        "bom-ref": "xsf",
        "name": "xsf",
        "description": f"C++ headers of SciPy's special functions; a part of them, changed, is in {XSF}",
        "hashes": [{"alg": "SHA-256", "content": content.hexdigest()}],
        "licenses": [{"license": {"id": "BSD-3-Clause"}}],
        "externalReferences": [{"type": "vcs", "url": "https://github.com/scipy/xsf"}],
    }


def required() -> list[dict[str, Any]]:
    """Return a component for each Python package that the wheel requires."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [requirement.partition(">")[0] for requirement in project["dependencies"]]
    return [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{name}",
            "name": name,
            "purl": f"pkg:pypi/{name}",
            "scope": "required",
            "properties": [{"name": "PyGPU:requirement", "value": requirement}],
        }
        for name, requirement in zip(names, project["dependencies"], strict=True)
    ]


def bill() -> dict[str, Any]:
    """Return the whole document."""
    number = version.version()
    parts = [*crates(), carried_headers(), *required()]
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": "PyGPU",
                "name": "PyGPU",
                "version": number,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
            }
        },
        "components": parts,
        "dependencies": [{"ref": "PyGPU", "dependsOn": [part["bom-ref"] for part in parts]}],
    }
    # The serial number follows from the content, so that equal documents have equal numbers.
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {**content, "serialNumber": f"urn:uuid:{serial}"}


if __name__ == "__main__":
    text = json.dumps(bill(), indent=2) + "\n"
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    else:
        print(text, end="")
