"""Give the site's search the words of search_words.txt, by which it finds pages that use other words."""

from __future__ import annotations

import functools
import json
from pathlib import Path

FILE = Path(__file__).parent / "search_words.txt"
SCORER = FILE.with_name("search_score.js")


@functools.cache
def words() -> dict[str, str]:
    """Return the words of each page, separated by commas."""
    lines = [line for line in FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {page: found for page, _, found in (line.partition(": ") for line in lines)}


def front_matter(page: str) -> str:
    """Return the front matter that gives a page its words as keywords, which the site's search reads."""
    found = words().get(page)
    return f'---\nmyst:\n  html_meta:\n    keywords: "{found}"\n---\n\n' if found else ""


def write_scorer() -> Path:
    """Write the script that orders the results of the search, together with the words, and return its path."""
    table = {page: found.split(", ") for page, found in words().items()}
    script = FILE.parents[2] / "build" / SCORER.name
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"const WORDS = {json.dumps(table)};\n{SCORER.read_text(encoding='utf-8')}", encoding="utf-8")
    return script
