"""Find the workspace paths in a Rust file, and the parts of the file that a `cfg` attribute controls.

The reader works on tokens: it blanks comments and literals, matches braces, and expands `use` trees. The reader must
never miss a path that rustc would resolve; in case of doubt it reports a path that may not exist.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

# The order of these alternatives matters: a raw string may contain text that looks like a comment,
# and a lifetime such as 'a is not a character literal.
_OPAQUE = re.compile(
    r"""
      //[^\n]*
    | (?P<block>/\*)
    | b?r(?P<hashes>\#*)".*?"(?P=hashes)
    | [bc]?"(?:\\.|[^"\\])*"
    | b?'(?:\\(?:u\{[^}]*\}|x[0-9a-fA-F]{2}|.)|[^'\\\n])'
    """,
    re.VERBOSE | re.DOTALL,
)
_PATH = re.compile(r"(?<![\w:])\$?(?:self\s*::\s*)?(?P<start>crate|super|pygpu_\w+)(?P<rest>(?:\s*::\s*\w+)*)")
_USE = re.compile(r"\buse\s+(?P<tree>[^;]+);")
_INLINE_MODULE = re.compile(r"\bmod\s+(\w+)\s*\{")
_FILE_MODULE = re.compile(r"\bmod\s+(\w+)\s*;")
# Keywords of Rust items that end only at `;` or `}`. A field, an enum variant or an argument also ends at `,`.
_ITEM = re.compile(
    r"""(?:\s*\#\[[^\]]*\])* \s* (?:pub\s*(?:\([^)]*\))?\s*)? (?:(?:const|async|unsafe|extern|default)\s+)*
        (?:fn|impl|struct|enum|union|mod|use|trait|type|static|const|macro_rules|extern)\b""",
    re.VERBOSE,
)
_TREE_TOKEN = re.compile(r"\w+|::|[{},*]")


@dataclass(frozen=True)
class Reference:
    """Hold a path into the workspace: the folder of the crate, the segments from the crate's root, and the line."""

    path: tuple[str, ...]
    line: int


def module_of(file: str) -> tuple[str, ...]:
    """Return the module of a file, beginning with its crate: `("backend", "cuda")` for `src/backend/cuda/mod.rs`."""
    parts = file.removeprefix("src/").removesuffix(".rs").split("/")
    if parts[-1] in ("mod", "lib"):
        parts.pop()
    return tuple(parts)


class RustSource:
    """Hold the text of a Rust file and the path of its module."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.module = module_of(file)
        self.text = text
        self.code = _blank(text)

    @cached_property
    def spans_of_tests(self) -> list[range]:
        """Return the spans of the file that only test builds compile."""
        return self._behind(lambda cfg: bool(re.search(r"\btest\b", cfg)) and not re.search(r"\b(?:not|any)\b", cfg))

    def declared_in(self, spans: list[range]) -> Iterator[tuple[str, ...]]:
        """Yield the modules in other files that a span of this file declares.

        The `cfg` condition of the span applies to these modules, too.
        """
        for match in _FILE_MODULE.finditer(self.code):
            if _inside(match.start(), spans):
                yield (*self.module, match[1])

    def references(self) -> Iterator[Reference]:
        """Yield all paths outside of test code that begin with `crate`, `super` or a crate of the workspace.

        `use` trees are expanded.
        """
        uses = []
        for match in _USE.finditer(self.code):
            uses.append(range(match.start(), match.end()))
            if not _inside(match.start(), self.spans_of_tests):
                for path in _unfold(match["tree"]):
                    yield from self._resolve(path, match.start())
        for match in _PATH.finditer(self.code):
            if not _inside(match.start(), uses) and not _inside(match.start(), self.spans_of_tests):
                yield from self._resolve((match["start"], *re.findall(r"\w+", match["rest"])), match.start())

    def lines_naming(self, pattern: str, *, outside: list[range]) -> Iterator[int]:
        """Yield the numbers of the lines on which code matches the pattern, except in the spans `outside`."""
        for match in re.finditer(pattern, self.code):
            if not _inside(match.start(), outside):
                yield self._line(match.start())

    def _resolve(self, path: tuple[str, ...], position: int) -> Iterator[Reference]:
        # In a `use` tree, drop `self`, because `a::{self}` means `a`. But keep a path that consists of `self` alone.
        path = tuple(name for name in path if name != "self") or ("self",)
        here = [*self.module, *(name for name, span in self._inline_modules if position in span)]
        if path[0] == "crate":
            resolved = (*self.module[:1], *path[1:])
        elif path[0].startswith("pygpu_"):
            resolved = (path[0].removeprefix("pygpu_"), *path[1:])
        elif path[0] == "super":
            ups = next((i for i, name in enumerate(path) if name != "super"), len(path))
            resolved = (*here[: max(len(here) - ups, 0)], *path[ups:])
        else:
            return
        # A path of only one segment comes from `pub(crate)` or `pub(super)`, and refers to no item.
        if resolved and len(path) > 1:
            yield Reference(resolved, self._line(position))

    @cached_property
    def _inline_modules(self) -> list[tuple[str, range]]:
        return [
            (match[1], range(match.end(), _closing(self.code, match.end() - 1)))
            for match in _INLINE_MODULE.finditer(self.code)
        ]

    def _behind(self, predicate: Callable[[str], bool]) -> list[range]:
        spans = []
        for match in re.finditer(r"#(!?)\[\s*cfg\s*\(", self.code):
            condition_end = _closing(self.code, match.end() - 1)
            if not predicate(self.text[match.end() : condition_end]):
                continue
            attribute_end = _closing(self.code, self.code.index("[", match.start())) + 1
            # An inner attribute such as `#![cfg(...)]` applies to the whole file.
            end = len(self.code) if match[1] else _item_end(self.code, attribute_end)
            spans.append(range(match.start(), end))
        return spans

    def _line(self, position: int) -> int:
        return self.code.count("\n", 0, position) + 1


def _inside(position: int, spans: list[range]) -> bool:
    return any(position in span for span in spans)


def _blank(text: str) -> str:
    """Replace comments and literals by spaces, so that offsets and line numbers stay the same."""
    pieces, position = [], 0
    while match := _OPAQUE.search(text, position):
        end = _block_comment_end(text, match.start()) if match["block"] else match.end()
        pieces.append(text[position : match.start()])
        pieces.append(re.sub(r"[^\n]", " ", text[match.start() : end]))
        position = end
    return "".join(pieces) + text[position:]


def _block_comment_end(text: str, start: int) -> int:
    depth = 0
    for match in re.finditer(r"/\*|\*/", text[start:]):
        depth += 1 if match[0] == "/*" else -1
        if depth == 0:
            return start + match.end()
    return len(text)


def _closing(code: str, opening: int) -> int:
    """Return the offset of the bracket that closes the bracket at `opening`."""
    depth = 0
    for position in range(opening, len(code)):
        if code[position] in "([{":
            depth += 1
        elif code[position] in ")]}":
            depth -= 1
            if depth == 0:
                return position
    return len(code)


def _item_end(code: str, start: int) -> int:
    """Return the end of the item, statement or field after an attribute: the `;`, `,` or closing brace."""
    ends = ";}" if _ITEM.match(code, start) else ";,}"
    position = start
    while position < len(code):
        if code[position] in "([":
            position = _closing(code, position)
        elif code[position] == "{":
            end = _closing(code, position) + 1
            # The closing brace of `use a::{b};` does not end the statement.
            return end + 1 if code[end : end + 1] == ";" else end
        elif code[position] in ends:
            return position + 1
        position += 1
    return len(code)


def _unfold(tree: str) -> list[tuple[str, ...]]:
    """Expand a `use` tree: `crate::{a, b::{c, d as e}}` becomes `crate::a`, `crate::b::c` and `crate::b::d`."""
    tokens = _TREE_TOKEN.findall(re.sub(r"\bas\s+\w+", "", tree))
    paths, prefixes, path = [], [()], ()
    for token in tokens:
        if token == "{":
            prefixes.append((*prefixes[-1], *path))
            path = ()
        elif token in ",}":
            if path:
                paths.append((*prefixes[-1], *path))
            path = ()
            if token == "}":
                prefixes.pop()
        elif token != "::":
            path = (*path, token)
    return [*paths, (*prefixes[-1], *path)] if path else paths
