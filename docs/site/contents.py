"""Read contents.txt, the table of contents of the site: two tiers, their entries, and the pages below each entry.

The indentation is the level. A line is a page, or ``Title <page>``, or a pattern that stands for all pages of a folder
that no other line names.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "contents.txt"
TITLED = re.compile(r"(.+) <(.+)>")


class Entry(NamedTuple):
    """Entry of the table of contents: level, page or name of the tier, and title if it differs from the page's."""

    level: int
    page: str
    title: str = ""

    def line(self) -> str:
        """Return the line of a toctree for an entry; a leading slash makes the page's path relative to the root."""
        return f"{self.title} </{self.page}>" if self.title else f"/{self.page}"


def entries(text: str, pages: list[str]) -> list[Entry]:
    """Return the entries in order. Each pattern is replaced by the pages that match it and that no line names."""
    found = []
    for line in text.splitlines():
        name = line.strip()
        titled = TITLED.fullmatch(name)
        level = (len(line) - len(name)) // 2
        found.append(Entry(level, titled[2], titled[1]) if titled else Entry(level, name))
    free = [page for page in pages if page not in {entry.page for entry in found} and page != "index"]
    complete = []
    for entry in found:
        if entry.page.endswith("*"):
            folder = entry.page.rpartition("/")[0]
            complete += [Entry(entry.level, page) for page in free if page.rpartition("/")[0] == folder]
        else:
            complete.append(entry)
    return complete


def toctrees(found: list[Entry]) -> dict[str, str]:
    """Return the toctrees that each page needs; the tiers are the toctrees of the front page."""
    trees: dict[str, str] = {}
    for place, entry in enumerate(found):
        below = []
        for other in found[place + 1 :]:
            if other.level <= entry.level:
                break
            if other.level == entry.level + 1:
                below.append(other.line())
        if below:
            caption = f":caption: {entry.page}\n" if entry.level == 0 else ""
            tree = f"\n```{{toctree}}\n:hidden:\n{caption}\n" + "\n".join(below) + "\n```\n"
            page = "index" if entry.level == 0 else entry.page
            trees[page] = trees.get(page, "") + tree
    return trees


def with_unique_title(docs: Path, page: str, text: str) -> str:
    """Add "(design)" to the title of a design page if a page for users has the same title."""
    title = text.partition("\n")[0]
    others = [*docs.glob("*.md"), *docs.glob("howto/*.md")] if page.startswith("design/") else []
    if any(other.read_text(encoding="utf-8").startswith(f"{title}\n") for other in others):
        return text.replace(title, f"{title} (design)", 1)
    return text


def pages_of(docs: Path) -> list[str]:
    """Return the Markdown pages of a folder, without suffix, in alphabetical order."""
    paths = sorted(path.relative_to(docs) for path in docs.rglob("*.md"))
    return [str(path.with_suffix("")) for path in paths if path.parts[0] not in ("site", "api", "gallery")]


def read(docs: Path) -> list[Entry]:
    """Return the entries of contents.txt for the pages of a folder."""
    return entries(FILE.read_text(encoding="utf-8"), pages_of(docs))
