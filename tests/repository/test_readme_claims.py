"""Test that the claims of the README are covered by tests, and that the figures in the README equal measured
results."""

import functools
import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
# A copy of the repository on a machine with a GPU may lack the results.
pytestmark = [
    pytest.mark.enough_on("cpu"),
    pytest.mark.skipif(
        not (ROOT / "docs" / "results").exists(), reason="docs/results, which has the evidence, is missing"
    ),
]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CLAIMS = ROOT / "docs" / "design" / "claims.md"
PAGES = (ROOT / "README.md", ROOT / "docs" / "index.md")
REFERENCE = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.\w+|\.ci/run|Makefile)(?:::(\w+))?`")


def plain(text: str) -> str:
    """Return the text of a page in one line, without markup."""
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[*`\s]+", " ", text)


def rows(text: str) -> list[list[str]]:
    """Return the cells of each table row of a page, without the header rows."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    heads = {place - 1 for place, row in enumerate(cells) if set("".join(row)) <= set("-|")}
    return [row for place, row in enumerate(cells) if place not in heads and place - 1 not in heads]


def claims(text: str) -> list[tuple[str, str]]:
    """Return the text of each claim, with the tests that are named as evidence for the claim."""
    return [(row[0], row[1]) for row in rows(text)]


def missing(held_by: str) -> list[str]:
    """Return the tests and files that a table cell names and that do not exist."""
    return [
        f"{path}::{name}" if name else path
        for path, name in REFERENCE.findall(held_by)
        if not (ROOT / path).exists() or (name and name not in names(ROOT / path))
    ]


@functools.cache
def names(path: Path) -> set[str]:
    """Return the names of the functions that a file defines."""
    return set(re.findall(r"^(?:async )?def (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))


@functools.cache
def script(name: str) -> ModuleType:
    """Load a script of docs as a module, with the folder docs on the import path, as if Python ran the script."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "docs"))
    return module


def make_performance() -> ModuleType:
    return script("make_performance")


def test_evidence_named_for_each_claim_exists() -> None:
    found = claims(CLAIMS.read_text(encoding="utf-8"))
    assert len(found) > 40
    assert {words: gone for words, held_by in found if (gone := missing(held_by))} == {}
    assert [words for words, held_by in found if not REFERENCE.search(held_by)] == []


def test_claims_in_table_are_quotations_from_pages() -> None:
    said = " ".join(plain(page.read_text(encoding="utf-8")) for page in PAGES)
    assert [words for words, _ in claims(CLAIMS.read_text(encoding="utf-8")) if plain(words) not in said] == []


def test_each_readme_table_row_has_a_claim() -> None:
    written = make_performance()
    tables = README.partition(written.BEGIN)[0] + README.partition(written.END)[2]
    held = [plain(words) for words, _ in claims(CLAIMS.read_text(encoding="utf-8"))]
    heads = [plain(row[0]) for row in rows(tables)]
    assert len(heads) > 15
    assert [head for head in heads if not any(words in head or head in words for words in held)] == []


def test_evidence_check_finds_missing_test_and_file() -> None:
    assert missing("`tests/repository/test_readme_claims.py::test_of_nothing`, `docs/no_page.md`, `Makefile`") == [
        "tests/repository/test_readme_claims.py::test_of_nothing",
        "docs/no_page.md",
    ]


def test_readme_figures_match_newest_results() -> None:
    assert make_performance().readme(README) == README, "run: python docs/make_performance.py"


def test_performance_page_matches_script_output() -> None:
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    assert page == make_performance().page(), "run: python docs/make_performance.py"


def test_speeds_in_readme_match_newest_results() -> None:
    rows = make_performance().read("fusion")["rows"]
    expression = rows["0.9*x + y - 2*x*y (GB/s)"]
    assert f"{expression['PyGPU']:.0f} GB/s on an H200, where torch reaches {expression['torch']:.0f}." in README
    titles = [title for title, _, _ in script("make_figures").BARS]
    assert titles[1:3] == ["0.9*x + y - 2*x*y", "((x - m)**2).sum()"]
    for title in titles[1:3]:
        row = rows[f"{title} (GB/s)"]
        assert row["torch.compile"] > 0.98 * row["PyGPU"]


def test_test_count_in_readme_matches_newest_report() -> None:
    total = make_performance().read("gpu-tests")["total"]
    assert f"{total['passed']} of {total['passed'] + total.get('failed', 0)} tests passed" in README


def test_guide_gallery_and_picture_match_newest_results() -> None:
    made = script("make_figures")
    for path, expected in ((made.GUIDE, made.guide), (made.GALLERY, made.gallery)):
        text = path.read_text(encoding="utf-8")
        assert expected(text) == text, "run: python docs/make_figures.py"
    assert made.PICTURE.read_text(encoding="utf-8") == made.picture(), "run: python docs/make_figures.py"


def test_figures_script_rejects_page_without_begin_and_end_lines() -> None:
    with pytest.raises(LookupError, match="has no lines"):
        script("make_figures").between("text\n<!-- begin -->\n", "new\n", "<!-- begin -->\n", "<!-- end -->\n")


def test_readme_lists_requirements_of_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    crate = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
    assert [re.split(r"[<>=]", needed)[0] for needed in project["dependencies"]] == ["numpy"]
    oldest = project["requires-python"].removeprefix(">=")
    assert f"Rust {crate['rust-version']} or newer, Python {oldest} or newer" in plain(README)


def test_wheel_size_in_readme_matches_limit() -> None:
    limit = re.search(r"^WHEEL_MAX_BYTES := (\d+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert limit is not None
    assert f"one abi3 wheel below {int(limit[1]) // 10**6} MB" in plain(README)
