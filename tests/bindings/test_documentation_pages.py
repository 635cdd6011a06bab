"""Test that all code on the pages of docs/bindings is part of an example in examples/bindings; other tests run the
examples.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "bindings").glob("*.md"))
BLOCK = re.compile(r"^```(cpp|c|cmake|meson|cython|sh|py|fortran|rust|julia)\n(.*?)^```", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.enough_on("cpu")


def sources() -> str:
    files = (ROOT / "examples" / "bindings").rglob("*")
    return "\n".join(path.read_text() for path in files if path.is_file() and path.suffix != ".pyc")


def test_each_bindings_example_has_documentation_page() -> None:
    shown = "".join(path.read_text() for path in PAGES) + (ROOT / "docs" / "howto" / "ctypes.md").read_text()
    folders = sorted(path.name for path in (ROOT / "examples" / "bindings").iterdir() if path.is_dir())
    assert [name for name in folders if f"examples/bindings/{name}" not in shown and name != "__pycache__"] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "index.md"], ids=lambda page: page.name)
def test_code_on_bindings_page_is_part_of_example(page: Path) -> None:
    text = sources()
    blocks = [block for _, block in BLOCK.findall(page.read_text())]
    assert [block for block in blocks if block not in text] == []
