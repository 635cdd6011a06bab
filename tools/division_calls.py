"""Replace divisions in C++ functions by calls, so that a compiler expands the instructions of a division once."""

from __future__ import annotations

import re

TOKEN = re.compile(
    r"\s+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\w*|(?:::)?[A-Za-z_]\w*|[/*+-]=|--|\+\+|&&|\|\||[<>=!]=|.", re.DOTALL
)
TYPES = ("(double)", "(int)", "(float)")


def with_calls(part: str) -> str:
    """Return a function's text with calls of `call_divide` in place of divisions by variables."""
    part = re.sub(r"([\w\[\]]+) /= ([^;]+);", r"\1 = \1 / (\2);", part)
    at = 0
    while (at := part.find("/", at)) >= 0:
        tokens = [(found[0], found.start()) for found in TOKEN.finditer(part) if not found[0].isspace()]
        index = next(place for place, (_, start) in enumerate(tokens) if start == at)
        texts = [text for text, _ in tokens]
        first, last = left_operand(texts, index), right_operand(texts, index)
        begin, end = tokens[first][1], tokens[last][1] + len(texts[last])
        left, right = part[begin:at].strip(), part[at + 1 : end].strip()
        if (is_constant(left) and is_constant(right)) or re.fullmatch(r"[248](\.0)?", right):
            at += 1
            continue
        if right.startswith("(") and closing(texts, index + 1) == last:
            right = right[1:-1]
        part = f"{part[:begin]}call_divide({left}, {right}){part[end:]}"
        at = begin
    return part


def is_constant(text: str) -> bool:
    """Return whether an operand has no variable."""
    return not re.search(r"[a-z_]\w*", re.sub(r"[\d.]+(e[+-]?\d+)?", "", text))


def closing(texts: list[str], opened: int) -> int:
    """Return the index of the token that closes a bracket."""
    depth = 0
    for index in range(opened, len(texts)):
        depth += (texts[index] in "([") - (texts[index] in ")]")
        if depth == 0:
            return index
    raise ValueError("a bracket is not closed")


def right_operand(texts: list[str], division: int) -> int:
    """Return the index of the last token of a division's right operand."""
    at = division + 1
    while texts[at] in "+-*" or "".join(texts[at : at + 3]) in TYPES:
        at += 3 if texts[at] == "(" else 1
    at = closing(texts, at) if texts[at] == "(" else at
    while texts[at + 1] in "([":
        at = closing(texts, at + 1)
    return at


def left_operand(texts: list[str], division: int) -> int:
    """Return the index of the first token of a division's left operand, which includes earlier products."""
    at = division - 1
    while True:
        while texts[at] in ")]":
            depth = 0
            while True:
                depth += (texts[at] in ")]") - (texts[at] in "([")
                if depth == 0:
                    break
                at -= 1
            if (re.fullmatch(r"(::)?[A-Za-z_]\w*", texts[at - 1]) and texts[at - 1] != "return") or texts[
                at - 1
            ] in ")]":
                at -= 1
        while "".join(texts[max(at - 3, 0) : at]) in TYPES:
            at -= 3
        is_operand = bool(re.fullmatch(r"[\w:.]+|[)\]]", texts[at - 2])) and texts[at - 2] != "return"
        if texts[at - 1] != "*":
            return at
        at -= 2 if is_operand else 1
        if not is_operand and texts[at - 1] != "*":
            return at
