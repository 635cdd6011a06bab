"""Report words that have a standard replacement, in comments, docstrings and pages (see docs/design/style.md).

python tools/lint_language.py [--counts] [PATH ...]

Without paths the script reads all tracked files. `--counts` prints the number of reports for each folder.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Pattern of each word, and its replacement. The words have no ordinary technical use, so each report is a defect.
WORDS = {
    r"nobody|no-one": "no caller, no thread, unreferenced",
    r"somebody|someone|anybody|whoever": "the caller, the thread, the other library",
    r"who (?:is|has|asks|calls|wants|waits|makes|uses|needs|gives|takes|finds|holds|comes)": "the caller that",
    r"(?:for|to|waits for) whom": "name the subject",
    r"of ours": "PyGPU's, internal",
    r"of (?:others|somebody)": "external",
    r"side by side|beside each other|lie beside": "contiguous, adjacent",
    r"(?:behind each|one behind (?:the|an))other": "consecutive",
    r"put off|puts off|putting off|unlaunched": "defer; deferred, pending",
    r"what wait(?:s|ed)": "pending operations",
    r"(?:close|closes|closing|closed) the window|the gate": "flush, flush point",
    r"(?:the|a|one) flight|in flight of|flights": "launch batch",
    r"by its line": "eagerly",
    r"sealed|seals": "barrier",
    r"meetings?": "uses, compile threshold",
    r"lets? go(?: of)?": "release, drop",
    r"(?:gives? up (?:its|the)|leav(?:e|es|ing) (?:its|the)) gil|python's lock": "release the GIL; the GIL",
    r"says so": "reports it",
    r"what is said": "the message",
    r"told apart|tells? (?:\w+ ){1,3}apart": "distinguish",
    r"slip of the pen|on paper|for ever": "typo; by design; indefinitely",
    r"anyhow": "any, arbitrary",
    r"doors?": "entry point, FFI boundary",
    r"keepers?|lenders?": "owner, exporter",
    r"strangers?": "unknown type, other library",
    r"pains?": "interop regression",
    r"wish(?:es)?": "request, option",
    r"detours?": "fallback",
    r"twins?": "counterpart",
    r"a house|the house|rooms": "package, layer",
    r"shelf|shelves": "object pool",
    r"so-manieth": "every n-th",
    r"grown over|gone along|gone over": "traverse",
}
# Uses of the words that are allowed, with the reason.
ALLOWED = {
    ("tools/lint_language.py", ""): "names the words",
    ("docs/design/style.md", "who calls"): "an example of what to replace",
    ("src/python/kernel/argument.rs", "lenders"): "name of a parameter",
}
# Files that are generated, historic, or written by other projects.
NEVER = ("docs/results/", "docs/licenses_of_crates.txt", "benches/instruction_counts.json")

PATTERN = re.compile(
    r"(?<![\w-])(?:" + "|".join(f"(?P<w{n}>{word})" for n, word in enumerate(WORDS)) + r")(?![\w-])", re.IGNORECASE
)
REPLACEMENTS = list(WORDS.values())
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def rust_comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line comments of Rust, C and CUDA sources."""
    for number, line in enumerate(text.splitlines(), 1):
        start = STRING.sub(lambda match: "." * len(match[0]), line).find("//")
        if start >= 0:
            yield number, line[start:]


def python_comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield comments and docstrings."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            value = node.body[0].value  # type: ignore[attr-defined]
            for offset, line in enumerate(value.value.split("\n")):
                yield value.lineno + offset, line


def page_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page, with masked code."""
    prose = CODE.sub(lambda match: re.sub(r"[^\n]", ".", match[0]), text)
    yield from enumerate(prose.splitlines(), 1)


def hash_comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the comments of a Makefile, a shell script or a TOML file."""
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.search(r"(?:^|\s)#(.*)", line):
            yield number, match[1]


READERS = {
    ".rs": rust_comments, ".h": rust_comments, ".cu": rust_comments, ".cpp": rust_comments, ".c": rust_comments,
    ".py": python_comments, ".pyi": python_comments, ".md": page_lines, ".sh": hash_comments, ".toml": hash_comments,
    ".mk": hash_comments, "Makefile": hash_comments,
}  # fmt: skip


def reports(file: str) -> Iterator[tuple[int, str, str]]:
    """Yield line number, word and replacement for each word of `WORDS` in a file."""
    path = ROOT / file
    reader = READERS.get(path.suffix or path.name)
    if reader is None or not path.is_file() or file.startswith(NEVER):
        return
    for number, line in reader(path.read_text()):
        for match in PATTERN.finditer(CODE.sub(" ", line)):
            word = match[0]
            if not any(file == of and part in word.lower() for of, part in ALLOWED):
                yield number, word, REPLACEMENTS[int((match.lastgroup or "w0")[1:])]


def tracked() -> list[str]:
    """Return all files that git tracks."""
    return subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


def folder_of(file: str) -> str:
    """Return the folder of a file in the table of `--counts`."""
    return "/".join(file.split("/")[:-1][:2]) or file


def main() -> int:
    """Print the reports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", action="store_true")
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args()
    if options.counts:
        counts = Counter(folder_of(file) for file in tracked() for _ in reports(file))
        for folder, count in sorted(counts.items()):
            print(f"{count:6} {folder}")
        return 0
    files = [file for file in tracked() if not options.paths or file.startswith(tuple(options.paths))]
    entries = [(file, *report) for file in files for report in reports(file)]
    for file, line, word, replacement in entries:
        print(f"{file}:{line}: '{word}': write {replacement}")
    return 1 if entries else 0


if __name__ == "__main__":
    sys.exit(main())
