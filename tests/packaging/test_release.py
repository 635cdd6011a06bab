"""Test what a release needs: pinned GitHub actions, scripts of the workflows, equal version numbers, and the bill of
materials."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import PyGPU

pytestmark = pytest.mark.enough_on("cpu")
ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
USES = re.compile(r"^\s*(?:- )?uses: (.*)$", re.MULTILINE)
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+(?:\.\d+)*")
PATHS = re.compile(r"\b(?:tools|\.ci)/[\w./-]+")
TARGETS = re.compile(r"\bmake ([a-z][a-z -]*)")


def script(name: str) -> ModuleType:
    """Load a script of tools/release/ as a module."""
    spec = importlib.util.spec_from_file_location(f"release_{name}", ROOT / "tools/release" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = before
    return module


def unpinned(text: str) -> list[str]:
    """Return the actions of a workflow that are not pinned to a commit, or have no comment with the version."""
    return [action for action in USES.findall(text) if not PINNED.fullmatch(action)]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_github_actions_are_pinned_by_commit(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert USES.findall(text)
    assert unpinned(text) == []


def test_github_action_has_same_commit_in_all_workflows() -> None:
    commits: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for action in USES.findall(path.read_text(encoding="utf-8")):
            name, _, commit = action.partition("@")
            commits.setdefault(name, set()).add(commit)
    assert {name: found for name, found in commits.items() if len(found) > 1} == {}


def test_github_action_check_finds_tag_and_missing_version() -> None:
    commit = "0" * 40
    text = f"- uses: a/b@v4\n- uses: a/b@{commit}\n  uses: a/b@{commit} # v4.1\n"
    assert unpinned(text) == ["a/b@v4", f"a/b@{commit}"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_scripts_and_targets_named_in_workflows_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {target for call in TARGETS.findall(text) for target in call.split()}
    assert {target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)} == set()
    assert [name for name in PATHS.findall(text) if not (ROOT / name).exists()] == []


def test_release_upload_requires_decision_of_repository_owner() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    upload = text[text.index("  publish:\n") :]
    assert "github.ref_type == 'tag' && vars.PUBLISH_TO_INDEX == 'true'" in upload
    assert "password" not in re.sub(r"#.*", "", upload)


def test_all_files_contain_same_version_of_package() -> None:
    version = script("version")
    texts = {name: version.read(name) for name in version.FILES}
    assert list(version.errors(version.version(), texts)) == []
    assert PyGPU.__version__ == version.version(), "build the extension again"


def test_python_package_takes_version_from_cargo_toml() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" in project["dynamic"]
    for manifest in (ROOT / "src").glob("*/Cargo.toml"):
        assert tomllib.loads(manifest.read_text(encoding="utf-8"))["package"]["version"] == {"workspace": True}


def test_version_check_names_each_file_with_wrong_version() -> None:
    version = script("version")
    texts = {name: version.read(name) for name in version.FILES}
    messages = list(version.errors("9.8.7", texts, tag="v9.8"))
    assert len(messages) == 5
    for name in (*version.FILES, "the tag v9.8 "):
        assert any(message.startswith(name) for message in messages), name


def test_changelog_sections_have_dates_and_texts() -> None:
    sections = script("version").sections(
        "# Log\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-27\n\ntext\n\n## [0.1.0]\n\nold\n"
    )
    assert sections == {"Unreleased": (None, ""), "0.2.0": ("2026-11-27", "text"), "0.1.0": (None, "old")}


def test_no_documentation_page_installs_from_package_index() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / ".github").glob("*.md")]
    wrong = re.compile(r"""pip install[^`\n]* ["']?PyGPU(?![-\w./])""", re.IGNORECASE)
    assert wrong.search('pip install "PyGPU[cuda13]"')
    assert wrong.search("pip install -U pygpu")
    assert not wrong.search("pip install ./pygpu-0.2.0-cp311-abi3.whl")
    assert [str(page) for page in pages if wrong.search(page.read_text(encoding="utf-8"))] == []


def test_changelog_section_of_version_is_short() -> None:
    version = script("version")
    _, text = version.sections(version.read("CHANGELOG.md"))[version.version()]
    # The section is limited to 1200 words, which can be read in five minutes.
    assert len(text.split()) < 1200
    for heading in ("Added", "Changed", "Removed", "Fixed", "Speed", "Migration"):
        assert f"### {heading}" in text


def test_bill_of_materials_lists_crates_and_headers() -> None:
    if shutil.which("cargo") is None:
        pytest.skip("no cargo")
    sbom = script("sbom")
    try:
        bill = sbom.bill()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"cargo lacks sources: {error.stderr[-200:]}")
    parts = {part["bom-ref"]: part for part in bill["components"]}
    page = (ROOT / "docs/licenses_of_crates.txt").read_text(encoding="utf-8")
    crates = {f"pkg:cargo/{name}@{number}" for name, number in re.findall(r"^(\S+) (\d\S*): ", page, re.MULTILINE)}
    assert len(crates) > 20
    assert parts.keys() - crates == {"xsf", "pkg:pypi/numpy"}
    assert crates <= parts.keys()
    assert re.fullmatch(r"[0-9a-f]{64}", parts["xsf"]["hashes"][0]["content"])
    references = [part["bom-ref"] for part in bill["components"]]
    assert len(references) == len(set(references))
    assert bill["dependencies"] == [{"ref": "PyGPU", "dependsOn": references}]
    assert json.dumps(sbom.bill()) == json.dumps(bill)
