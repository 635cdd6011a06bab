"""Count the words of the hand-written pages of the documentation, in total or by page.

Run as ``python tools/count_words.py [--pages] [--all] [--against REVISION]``. The count covers README.md and the
Markdown pages of docs, without docs/results, generated pages, generated parts of pages, comments and fenced code. The
count excludes names in backquotes, numbers and link addresses, because an edit of the text keeps them; ``--all``
includes them.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
GENERATED = ("docs/reference.md", "docs/performance.md")
GENERATED_PART = re.compile(r"^<!-- [Ww]ritten by .*?^<!-- (?:end|As far as here\.) -->$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
NAME = re.compile(r"`[^`]*`")
ADDRESS = re.compile(r"\]\([^)]*\)")
WORD = re.compile(r"[^\W\d_][\w'-]*")


def is_hand_written(name: str) -> bool:
    """Return whether a path relative to the root is a page whose words are counted."""
    if name == "README.md":
        return True
    in_docs = name.startswith("docs/") and name.endswith(".md")
    return in_docs and not name.startswith(("docs/results/", "docs/api/", "docs/gallery/")) and name not in GENERATED


def count(text: str, *, everything: bool = False) -> int:
    """Return the number of words of a page."""
    for pattern in (GENERATED_PART, CODE, COMMENT):
        text = pattern.sub(" ", text)
    if everything:
        return len(text.split())
    return len(WORD.findall(NAME.sub(" ", ADDRESS.sub(" ", text))))


def git(*arguments: str) -> str:
    """Return the output of a git command in the repository."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True, text=True)
    return done.stdout


def counts(names: list[str], read: Callable[[str], str], *, everything: bool) -> dict[str, int]:
    """Return the number of words of each hand-written page among `names`; `read` returns the text of a page."""
    return {name: count(read(name), everything=everything) for name in sorted(names) if is_hand_written(name)}


def of_tree(*, everything: bool) -> dict[str, int]:
    """Return the number of words of each page of the working tree."""
    names = ["README.md", *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
    return counts(names, lambda name: (ROOT / name).read_text(encoding="utf-8"), everything=everything)


def of_revision(revision: str, *, everything: bool) -> dict[str, int]:
    """Return the number of words of each page of a revision."""
    names = git("ls-tree", "-r", "--name-only", revision, "README.md", "docs").splitlines()
    return counts(names, lambda name: git("show", f"{revision}:{name}"), everything=everything)


def report(now: dict[str, int], before: dict[str, int] | None, *, pages: bool) -> list[str]:
    """Return the lines of the report: one line for each page if `pages` is set, then the total."""
    earlier = before or {}
    rows = [(name, now.get(name, 0), earlier.get(name, 0)) for name in sorted({*now, *earlier})]
    total = ("total", sum(now.values()), sum(earlier.values()))
    lines = []
    for name, words, then in [*(rows if pages else []), total]:
        change = f", {then} before ({(words - then) / then:+.1%})" if then else ""
        lines.append(f"{name}: {words} words{change}")
    return lines


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="REVISION", help="compare with the pages of this revision")
    parser.add_argument("--pages", action="store_true", help="print each page")
    parser.add_argument("--all", action="store_true", dest="everything", help="count names, figures and addresses, too")
    options = parser.parse_args()
    before = of_revision(options.against, everything=options.everything) if options.against else None
    print("\n".join(report(of_tree(everything=options.everything), before, pages=options.pages)))


if __name__ == "__main__":
    main()
