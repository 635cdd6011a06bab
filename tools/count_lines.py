"""Count the lines of code of each folder, in Rust and in Python, and compare them with a revision.

    python tools/count_lines.py                      the working tree
    python tools/count_lines.py --against 92273ac    the working tree, and its difference to a revision

The count excludes blank lines, comments, docstrings, tests (folders `tests`, files `tests.rs`, items under
`#[cfg(test)]`), files whose first lines name the script that wrote them, and files that git ignores.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tarfile
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
LANGUAGES = {".rs": "Rust", ".py": "Python", ".pyi": "Python"}

# Literals, lifetimes and comments. A literal may contain comment marks.
# A lifetime begins like a character literal but has no second quote.
RUST_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*)
    |(?P<opening>/\*)
    |(?P<literal>b?c?r(?P<hashes>\#*)"[\s\S]*?"(?P=hashes)|[bc]?"(?:\\[\s\S]|[^"\\])*"|b?'(?:\\[^\n]+?|[^'\\\n])')""",
    re.VERBOSE,
)
TEST_ATTRIBUTE = re.compile(r"#\[cfg\((?:all\()?test\b[^\]]*\]")
GENERATED = re.compile(r"(?:[Ww]ritten|[Gg]enerated) by \S*(?:tools/|make)|@generated")
NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def blanked(text: str) -> str:
    """Return the text with a space in place of each character except line ends."""
    return re.sub(r"[^\n]", " ", text)


def comment_end(text: str, start: int) -> int:
    """Return the position after the block comment that begins at `start` and may contain other block comments."""
    depth = 0
    for mark in re.compile(r"/\*|\*/").finditer(text, start):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(text)


def without_comments(text: str) -> tuple[str, str]:
    """Return Rust code twice: with blanked comments, and with blanked comments and masked literals."""
    code, masked, position = [], [], 0
    while token := RUST_TOKEN.search(text, position):
        code.append(text[position : token.start()])
        masked.append(text[position : token.start()])
        if token["literal"] is not None:
            position = token.end()
            code.append(token[0])
            masked.append(re.sub(r"[^\s]", "_", token[0]))
        else:
            position = token.end() if token["comment"] is not None else comment_end(text, token.start())
            code.append(blanked(text[token.start() : position]))
            masked.append(code[-1])
    return "".join([*code, text[position:]]), "".join([*masked, text[position:]])


def item_end(masked: str, start: int) -> int:
    """Return the end of the item at `start`: after its braces, or after a semicolon or comma outside of brackets."""
    depth = 0
    for mark in re.compile(r"[(\[{}\]);,]").finditer(masked, start):
        if mark[0] in "([{":
            depth += 1
        elif mark[0] in ")]}":
            depth -= 1
            if depth <= 0 and mark[0] == "}":
                end = mark.end() if depth == 0 else mark.start()
                return end + masked.startswith(";", end)
        elif depth == 0:
            return mark.end()
    return len(masked)


def rust_lines(text: str) -> int:
    """Return how many lines of code a Rust file has."""
    code, masked = without_comments(text)
    position = 0
    while test := TEST_ATTRIBUTE.search(masked, position):
        position = item_end(masked, test.end())
        code = code[: test.start()] + blanked(code[test.start() : position]) + code[position:]
    return sum(1 for line in code.splitlines() if line.strip())


def docstring_lines(text: str) -> set[int]:
    """Return the line numbers of docstrings, including texts that document a name."""
    numbers: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            numbers.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return numbers


def python_lines(text: str) -> int:
    """Return how many lines of code a Python file has."""
    lines, code = text.splitlines(), set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NOT_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return sum(1 for number in code - docstring_lines(text) if lines[number - 1].strip())


def is_counted(path: str, text: str) -> bool:
    """Return whether a file is written by hand and is not a test."""
    file = PurePosixPath(path)
    is_test = "tests" in file.parts or file.name in ("tests.rs", "conftest.py")
    head = "\n".join(text.split("\n", 3)[:3])
    return file.suffix in LANGUAGES and not is_test and not GENERATED.search(head)


def folder(path: str) -> str:
    """Return the first two folders of a file's path; in `python`, the first three folders."""
    parents = PurePosixPath(path).parts[:-1]
    return "/".join(parents[: 3 if parents[:1] == ("python",) else 2]) or "."


def count(files: Mapping[str, str]) -> Counter[tuple[str, str]]:
    """Return the number of lines of code by folder and language; `files` maps paths to texts."""
    lines: Counter[tuple[str, str]] = Counter()
    for path, text in files.items():
        if is_counted(path, text):
            language = LANGUAGES[PurePosixPath(path).suffix]
            lines[folder(path), language] += rust_lines(text) if language == "Rust" else python_lines(text)
    return lines


def git(*arguments: str) -> bytes:
    """Return the output of a git command; if the command fails, exit with the message of git."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        sys.exit(done.stderr.decode())
    return done.stdout


def in_the_tree() -> dict[str, str]:
    """Return the texts of the Rust and Python files of the working tree by path."""
    paths = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").decode().split("\0")
    suited = [path for path in paths if PurePosixPath(path).suffix in LANGUAGES and (ROOT / path).is_file()]
    return {path: (ROOT / path).read_text() for path in suited}


def at(revision: str) -> dict[str, str]:
    """Return the texts of the Rust and Python files of a revision by path."""
    texts = {}
    with tarfile.open(fileobj=io.BytesIO(git("archive", "--format=tar", revision))) as archive:
        for member in archive:
            content = archive.extractfile(member) if PurePosixPath(member.name).suffix in LANGUAGES else None
            if content is not None:
                texts[member.name] = content.read().decode()
    return texts


def table(now: Counter[tuple[str, str]], before: Counter[tuple[str, str]] | None) -> Iterator[str]:
    """Return the lines of a table: an entry for each folder, for each language, and for all files."""
    rows = sorted({*now, *(before or ())})
    kept = [(f"{folder_name} ({language})", [(folder_name, language)]) for folder_name, language in rows]
    kept += [(language, [row for row in rows if row[1] == language]) for language in sorted(set(LANGUAGES.values()))]
    kept.append(("all", rows))
    width = max(len(name) for name, _ in kept)
    header = "  lines" if before is None else "  lines  before  difference"
    yield f"{'folder':{width}}{header}"
    for name, group in kept:
        lines = sum(now[row] for row in group)
        if before is None:
            yield f"{name:{width}}{lines:7}"
        else:
            earlier = sum(before[row] for row in group)
            yield f"{name:{width}}{lines:7}{earlier:8}{lines - earlier:+12}"


def main() -> None:
    """Print the table of line counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="REV", help="a revision of git to compare with")
    arguments = parser.parse_args()
    before = None if arguments.against is None else count(at(arguments.against))
    for line in table(count(in_the_tree()), before):
        print(line)


if __name__ == "__main__":
    main()
