"""Expand the `macro_rules!` macros of the native module that generate functions or methods, without function bodies.

The matcher supports the fragment kinds that these macros use. Like Rust's matcher, it does not backtrack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

TOKEN = re.compile(
    r"""(?P<doc>///[^\n]*)|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<space>\s+)|(?P<text>b?"(?:[^"\\]|\\.)*")"""
    r"""|(?P<char>'(?:[^'\\]|\\.)')|(?P<lifetime>'\w+)|(?P<word>(?:r\#)?[A-Za-z_]\w*)|(?P<number>\d[\w.]*)|(?P<mark>.)""",
    re.DOTALL,
)
STUB = "// stub:"
CLOSING = {"(": ")", "[": "]", "{": "}"}
DEFINITION = re.compile(r"^ *macro_rules! (\w+) (?=\{)", re.MULTILINE)
INVOCATION = re.compile(r"^ *(\w+)! ?(?=[({\[])", re.MULTILINE)
WORD = re.compile(r"(?:r#)?[A-Za-z_]\w*")


@dataclass
class Group:
    """Hold the tokens between two brackets."""

    bracket: str
    tokens: list[Token]


@dataclass
class Variable:
    """Represent ``$name:kind`` in the pattern of a macro, or ``$name`` in its expansion."""

    name: str
    kind: str = ""


@dataclass
class Repeated:
    """Represent a repetition: ``$(...)``, a separator if any, and ``*``, ``+`` or ``?``."""

    tokens: list[Token]
    separator: str
    count: str


Token: TypeAlias = str | Group | Variable | Repeated


@dataclass
class Bound:
    """Hold the value of a macro variable: its tokens, or the bindings of each iteration of its repetition."""

    tokens: list[Token] = field(default_factory=list)
    repetitions: list[dict[str, Bound]] | None = None


Bindings: TypeAlias = dict[str, Bound]


def read(text: str, start: int) -> tuple[Group, int]:
    """Return the group of tokens that begins at the bracket at `start`, and the position after the group."""
    stack = [Group("", [])]
    at = start
    while True:
        match_of_token = TOKEN.match(text, at)
        if match_of_token is None:
            raise ValueError(f"no closing bracket: {text[start : start + 60]!r}")
        at = match_of_token.end()
        token = match_of_token[0]
        if match_of_token["doc"]:
            line = token[3:].replace("\\", "\\\\").replace('"', '\\"')
            stack[-1].tokens += ["#", Group("[", ["doc", "=", f'"{line}"'])]
        elif token.startswith(STUB):
            stack[-1].tokens += ["#", Group("[", ["stub", token])]
        elif token in CLOSING:
            stack.append(Group(token, []))
        elif token in CLOSING.values():
            group = stack.pop()
            stack[-1].tokens.append(group)
            if len(stack) == 1:
                return group, at
        elif not match_of_token["comment"] and not match_of_token["space"]:
            stack[-1].tokens.append(token)


def pattern(tokens: Sequence[Token]) -> list[Token]:
    """Return tokens in which each ``$name`` is replaced by a `Variable` and each ``$(...)`` by a `Repeated`."""
    parts: list[Token] = []
    rest = list(tokens)
    while rest:
        token = rest.pop(0)
        if isinstance(token, Group):
            parts.append(Group(token.bracket, pattern(token.tokens)))
        elif token != "$" or not rest:
            parts.append(token)
        elif isinstance(inner := rest.pop(0), Group):
            separator = "" if rest[0] in ("*", "+", "?") else str(rest.pop(0))
            parts.append(Repeated(pattern(inner.tokens), separator, str(rest.pop(0))))
        elif inner == "crate":
            parts.append("crate")
        elif rest[:1] == [":"] and len(rest) > 1 and isinstance(rest[1], str) and rest[1] in FRAGMENTS:
            parts.append(Variable(str(inner), rest[1]))
            del rest[:2]
        else:
            parts.append(Variable(str(inner)))
    return parts


def until(tokens: Sequence[Token], at: int, ends: tuple[str, ...]) -> int:
    """Return the position of the first token that is in `ends` and outside of angle brackets."""
    depth, start = 0, at
    while at < len(tokens):
        token = tokens[at]
        is_arrow = token == ">" and at > start and tokens[at - 1] in ("-", "=")
        if token in ends and depth == 0:
            return at
        depth += (token == "<") - (token == ">" and not is_arrow)
        at += 1
    return at


def fragment(kind: str, tokens: Sequence[Token], at: int) -> int | None:
    """Return the position after the fragment of a kind that begins at `at`; None if no such fragment begins there."""
    if kind == "meta":
        return len(tokens) if at < len(tokens) else None
    if at >= len(tokens):
        return None
    token = tokens[at]
    if kind == "tt":
        return at + 1
    if kind == "ident":
        return at + 1 if isinstance(token, str) and WORD.fullmatch(token) else None
    if kind == "literal":
        is_literal = isinstance(token, str) and re.match(r"""b?"|'.|\d|(?:true|false)$""", token)
        return at + 1 if is_literal else None
    if kind == "path":
        if not (isinstance(token, str) and WORD.fullmatch(token)):
            return None
        at += 1
        while tokens[at : at + 2] == [":", ":"]:
            at += 3
        return at
    behind = until(tokens, at, (",", ";", "{", "|") if kind == "ty" else (",", ";"))
    return behind if behind > at else None


FRAGMENTS = ("ident", "literal", "tt", "path", "ty", "expr", "meta")


def match(pattern_tokens: Sequence[Token], tokens: Sequence[Token], at: int, bound: Bindings) -> int | None:
    """Match tokens from `at` on with a pattern; return the position after the matched tokens, or None."""
    for token in pattern_tokens:
        if isinstance(token, Variable):
            behind = fragment(token.kind, tokens, at)
            if behind is None:
                return None
            bound[token.name] = Bound(list(tokens[at:behind]))
            at = behind
        elif isinstance(token, Repeated):
            at = match_repeated(token, tokens, at, bound)
        elif at >= len(tokens):
            return None
        elif isinstance(token, Group):
            group = tokens[at]
            if not isinstance(group, Group) or group.bracket != token.bracket:
                return None
            if match(token.tokens, group.tokens, 0, bound) != len(group.tokens):
                return None
            at += 1
        elif tokens[at] != token:
            return None
        else:
            at += 1
    return at


def match_repeated(token: Repeated, tokens: Sequence[Token], at: int, bound: Bindings) -> int:
    """Match a repetition as often as possible; return the position after the matched tokens."""
    repetitions: list[Bindings] = []
    while at < len(tokens) and not (token.count == "?" and repetitions):
        begin = at
        if repetitions and token.separator:
            if tokens[at] != token.separator:
                break
            begin = at + 1
        inner: Bindings = {}
        behind = match(token.tokens, tokens, begin, inner)
        if behind is None or behind == begin:
            break
        repetitions.append(inner)
        at = behind
    for name in variables(token.tokens):
        bound[name] = Bound(repetitions=repetitions)
    return at


def variables(tokens: Sequence[Token]) -> Iterator[str]:
    """Return the names of the variables in tokens."""
    for token in tokens:
        if isinstance(token, Variable):
            yield token.name
        elif isinstance(token, Group | Repeated):
            yield from variables(token.tokens)


def written(text: Sequence[Token], bound: Bindings) -> list[Token]:
    """Return the tokens of an expansion, with variables replaced by their values."""
    output: list[Token] = []
    for token in text:
        if isinstance(token, Variable):
            output += bound[token.name].tokens if token.name in bound else ["$", token.name]
        elif isinstance(token, Repeated):
            repeated = [
                name for name in variables(token.tokens) if name in bound and bound[name].repetitions is not None
            ]
            turns = bound[repeated[0]].repetitions if repeated else []
            for number in range(len(turns or [])):
                if number and token.separator:
                    output.append(token.separator)
                inner = {name: (bound[name].repetitions or [{}])[number].get(name, Bound()) for name in repeated}
                output += written(token.tokens, {**bound, **inner})
        elif isinstance(token, Group):
            output.append(Group(token.bracket, written(token.tokens, bound)))
        else:
            output.append(token)
    return output


class Macros:
    """Hold the macros of source texts that expand to functions or methods."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._arms: dict[str, list[tuple[list[Token], list[Token]]]] = {}
        bodies: dict[str, str] = {}
        for text in texts:
            for definition in DEFINITION.finditer(text):
                group, end = read(text, definition.end())
                bodies[definition[1]] = text[definition.end() : end]
                self._arms[definition[1]] = list(arms(group.tokens))
        used = {name for name, body in bodies.items() if re.search(r"#\[py(function|methods)", body)}
        while more := {name for name, body in bodies.items() if calls(body) & used} - used:
            used |= more
        self._used = used

    def items(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield for each macro call in a text its position, and the attributes and heads of its expansion as lines."""
        defined = [(occurrence.start(), read(text, occurrence.end())[1]) for occurrence in DEFINITION.finditer(text)]
        for occurrence in INVOCATION.finditer(text):
            is_inside = any(start <= occurrence.start() < end for start, end in defined)
            if occurrence[1] in self._used and not is_inside:
                group, _ = read(text, occurrence.end())
                yield occurrence.start(), "\n".join(lines(self._expanded([occurrence[1], "!", group]))) + "\n"

    def _expanded(self, tokens: Sequence[Token]) -> list[Token]:
        output: list[Token] = []
        rest = list(tokens)
        while rest:
            token = rest.pop(0)
            is_call = isinstance(token, str) and token in self._used and rest[:1] == ["!"]
            if is_call and len(rest) > 1 and isinstance(rest[1], Group):
                output += self._expanded(self._call(str(token), rest[1].tokens))
                del rest[:2]
            else:
                output.append(token)
        return output

    def _call(self, name: str, tokens: Sequence[Token]) -> list[Token]:
        for pattern_tokens, text in self._arms[name]:
            bound: Bindings = {}
            if match(pattern_tokens, tokens, 0, bound) == len(tokens):
                return written(text, bound)
        raise ValueError(f"{name}!: no arm fits: {joined(tokens)[:120]}")


def arms(tokens: Sequence[Token]) -> Iterator[tuple[list[Token], list[Token]]]:
    """Yield the pattern and the expansion of each arm of a macro."""
    groups = [token for token in tokens if isinstance(token, Group)]
    for left, text in zip(groups[::2], groups[1::2], strict=True):
        yield pattern(left.tokens), pattern(text.tokens)


def calls(text: str) -> set[str]:
    """Return the names of the macros that a text calls."""
    return set(re.findall(r"\b(\w+)!", text))


def joined(tokens: Sequence[Token]) -> str:
    """Join tokens to a text, with a space between two words and between a parenthesis and a word."""
    text = ""
    for token in tokens:
        if isinstance(token, Group):
            part = f"{token.bracket}{joined(token.tokens)}{CLOSING[token.bracket]}"
        else:
            part = token if isinstance(token, str) else ""
        is_between_words = (text[-1:].isalnum() or text[-1:] == ")") and part[:1].isalnum()
        text += f" {part}" if is_between_words or (part[:1] == "_" and text[-1:].isalnum()) else part
    return text


def lines(tokens: Sequence[Token], indent: str = "") -> Iterator[str]:
    """Yield attributes, documentation and heads of the items in tokens, one per line, indented as by rustfmt."""
    head: list[Token] = []
    rest = list(tokens)
    while rest:
        token = rest.pop(0)
        if token == "#" and not head and rest and isinstance(rest[0], Group):
            attribute = joined([rest.pop(0)])
            if attribute.startswith(f"[stub{STUB}"):
                yield indent + attribute.removeprefix("[stub").removesuffix("]")
            else:
                yield f"{indent}/// text" if attribute.startswith("[doc=") else f"{indent}#{attribute}"
        elif token == ";":
            if "struct" in head:
                yield f"{indent}{joined(head)};"
            head = []
        elif isinstance(token, Group) and token.bracket == "{":
            yield f"{indent}{joined(head)} {{"
            if head[:1] == ["impl"]:
                yield from lines(token.tokens, f"{indent}    ")
            yield f"{indent}}}"
            head = []
        else:
            head.append(token)
