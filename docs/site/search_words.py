"""Read search_words.txt: words of NumPy, CuPy and CUDA by which the site's search finds pages that use other words."""

from __future__ import annotations

import functools
from pathlib import Path

FILE = Path(__file__).parent / "search_words.txt"


@functools.cache
def words() -> dict[str, str]:
    """Return the words of each page, separated by commas."""
    lines = [line for line in FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {page: found for page, _, found in (line.partition(": ") for line in lines)}


def front_matter(page: str) -> str:
    """Return the front matter that gives a page its words as keywords, which the site's search reads."""
    found = words().get(page)
    return f'---\nmyst:\n  html_meta:\n    keywords: "{found}"\n---\n\n' if found else ""
