"""Test the language checks: the list of forbidden words, and the check of commit subjects."""

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = [pytest.mark.reads_in_place, pytest.mark.enough_on("cpu")]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def lint() -> ModuleType:
    """Load tools/lint_language.py as a module."""
    spec = importlib.util.spec_from_file_location("lint_language", ROOT / "tools/lint_language.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(lint: ModuleType, folder: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Write a file, and return the words that the check reports for the file."""
    monkeypatch.setattr(lint, "ROOT", folder)
    (folder / name).write_text(text)
    return [word for _, word, _ in lint.reports(name)]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.rs", '// nobody waits\nlet nobody = "nobody";\n', ["nobody"]),
        ("a.rs", 'let url = "https://of.ours/"; // of ours\n', ["of ours"]),
        ("a.py", '"""Somebody."""\nnobody = "nobody"  # a detour\n', ["detour", "Somebody"]),
        ("a.md", "Nobody, `nobody`\n\n```python\nnobody = 1\n```\n", ["Nobody"]),
        ("a.sh", "# one twin, the twins\necho twins\n", ["twin", "twins"]),
        ("a.rs", "// outdoors, ceiling, painting\n", []),
    ],
)
def test_lint_reports_words_of_comments_docstrings_and_pages(
    lint: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, words: list[str]
) -> None:
    assert write(lint, tmp_path, name, text, monkeypatch) == words


def test_every_exception_in_word_allowlist_still_occurs_in_its_file(lint: ModuleType) -> None:
    for file, word in lint.ALLOWED:
        if word:
            assert any(word in line.lower() for line in (ROOT / file).read_text().splitlines()), (file, word)


@pytest.mark.parametrize(
    ("subject", "is_accepted"),
    [
        ("Flush when an operand escapes while being recorded", True),
        ("Merge branch 'x' of a repository whose name is far longer than seventy-two characters", True),
        ("x" * 72, True),
        ("x" * 73, False),
        ("What most batches are is seen in one pass", False),
        ("Classify common batches.", False),
    ],
)
def test_commit_subject_is_rejected_if_style_forbids_it(tmp_path: Path, subject: str, is_accepted: bool) -> None:
    message = tmp_path / "message"
    message.write_text(
        f"{subject}\n\nA body of any length, which is not checked by anything, however long its lines may be.\n"
    )
    result = subprocess.run(["sh", ROOT / "tools/commit_msg.sh", message], capture_output=True, text=True)
    assert (result.returncode == 0) is is_accepted
    assert (result.stderr == "") is is_accepted
