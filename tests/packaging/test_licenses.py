"""Test that the wheel contains the licenses of the crates that are linked into it."""

import importlib.util
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.enough_on("cpu")
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "licenses_of_crates.txt").read_text(encoding="utf-8")


def test_wheel_includes_licenses_of_crates() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "docs/licenses_of_crates.txt" in project["license-files"]


def test_wheel_includes_licenses_of_xsf() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name in ("LICENSE", "LICENSES_bundled.txt"):
        assert f"src/ops/include/xsf/{name}" in project["license-files"]
        assert (
            "Redistribution" in (ROOT / "src/ops/include/xsf" / name).read_text(encoding="utf-8") or name != "LICENSE"
        )


def test_license_file_lists_exactly_the_linked_crates() -> None:
    if shutil.which("cargo") is None:
        pytest.skip("no cargo")
    spec = importlib.util.spec_from_file_location("licenses", ROOT / "tools" / "licenses.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    try:
        written = script.page()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"cargo does not have all crates here: {error.stderr.strip()}")
    assert written == PAGE, "run: python tools/licenses.py"


def test_license_file_has_text_for_crate_without_apache_license() -> None:
    crates = re.findall(r"^(\S+ [\d.]+): (.+)$", PAGE.partition("\n----")[0], re.MULTILINE)
    assert len(crates) > 20
    for crate, terms in crates:
        assert ("Apache-2.0" in terms) or f"---- {crate} ----" in PAGE
