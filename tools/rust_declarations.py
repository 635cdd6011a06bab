"""Read the declarations of Rust sources: entries of `names!`, functions, classes, and the types in signatures.

Nothing is compiled. The types are in ``#[pyo3(signature = (a: "GPUArray") -> "GPUArray")]``. For items to which pyo3
accepts no signature (getters, most special methods, overloads), a comment ``// stub: ...`` before the item contains the
lines of the stub, or only the result type as ``// stub: -> type``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "src/python"

FUNCTION = re.compile(r"(?:pub(?:\([^)]*\))? +)?(?:const +|unsafe +|extern +\"C\" +)*fn +((?:r#)?\$?\w+)")
STRUCT = re.compile(r"(?:pub(?:\([^)]*\))? +)?struct +(\w+)")
IMPL = re.compile(r"( *)impl(?:<[^>]*>)? +(\w+)")
ROWS = re.compile(r"^ *names! \{\n(.*?)^ *\}", re.MULTILINE | re.DOTALL)
KINDS = ("functions", "classes", "values", "aliases")


class DeclarationError(Exception):
    """Report a declaration that the tools cannot accept; the message begins with the file and the line."""


@dataclass
class Parameter:
    """Hold one parameter as in the stub: the name with stars (or a separator), the annotation and the default."""

    name: str
    type: str | None = None
    default: str | None = None

    def __str__(self) -> str:
        annotated = self.name if self.type is None else f"{self.name}: {self.type}"
        if self.default is None:
            return annotated
        return f"{annotated} = {self.default}" if self.type else f"{annotated}={self.default}"


@dataclass
class Item:
    """Hold a function, method or class of a Rust file."""

    name: str
    path: Path
    line: int
    attributes: list[str]
    is_documented: bool
    stub: list[str]
    owner: str | None = None
    rust: str = ""
    head: str = ""
    start: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)

    @property
    def location(self) -> str:
        """Return the file and the line, with which an error message begins."""
        return f"{where(self.path)}:{self.line}"

    def has(self, attribute: str) -> bool:
        """Return whether the item has an attribute such as ``getter``, with or without arguments."""
        return any(re.match(rf"#\[{attribute}\b", each) for each in self.attributes)

    def option(self, name: str) -> str | None:
        """Return the text of an option of pyo3, such as ``name`` in ``#[pyo3(name = "x")]``."""
        for each in self.attributes:
            if signature := re.search(r"(?<!text_)signature *= *(?=\()", each):
                each = each[: signature.start()] + each[closing(each, signature.end()) :]
            match = re.search(rf'(?<!\w){name} *= *"((?:[^"\\]|\\.)*)"', each, re.DOTALL)
            if re.match(r"#\[py", each) and match:
                return re.sub(r"\\\n\s*", "", match[1]).replace('\\"', '"')
        return None

    def signature(self) -> tuple[list[Parameter], str | None] | None:
        """Return the parameters and the result type of the item's pyo3 signature; None if the item has no signature."""
        for each in self.attributes:
            if match := re.search(r"(?<!text_)signature *= *(?=\()", each):
                close = closing(each, match.end())
                inside = split(each[match.end() + 1 : close])
                returns = re.match(r'\s*->\s*"([^"]*)"', each[close + 1 :])
                return [parameter(part) for part in inside], returns[1].replace("'", '"') if returns else None
        return None


@dataclass
class Name:
    """Hold one name that an entry of `names!` declares."""

    name: str
    kind: str
    group: str | None
    path: Path
    line: int
    target: str | None = None
    host: tuple[str, ...] = ()
    is_documented: bool = True

    @property
    def location(self) -> str:
        """Return the file and the line, with which an error message begins."""
        return f"{where(self.path)}:{self.line}"


def where(path: Path) -> Path:
    """Return a path relative to the repository, as error messages show it."""
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def closing(text: str, start: int) -> int:
    """Return the position of the bracket that closes the bracket at `start`; brackets in literals do not count."""
    depth, at = 0, start
    while at < len(text):
        if text[at] == '"':
            at = literal_end(text, at)
        elif text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    raise ValueError(f"no closing bracket: {text[start : start + 60]!r}")


def literal_end(text: str, start: int) -> int:
    """Return the position of the quote that ends the literal at `start`."""
    at = start + 1
    while text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return at


def split(text: str) -> list[str]:
    """Split a text at the commas outside brackets and literals."""
    parts, begin, at = [], 0, 0
    while at < len(text):
        if text[at] == '"':
            at = literal_end(text, at)
        elif text[at] in "([{":
            at = closing(text, at)
        elif text[at] == ",":
            parts.append(text[begin:at])
            begin = at + 1
        at += 1
    return [part.strip() for part in [*parts, text[begin:]] if part.strip()]


def parameter(text: str) -> Parameter:
    """Parse one parameter or separator of a signature of pyo3."""
    match = re.fullmatch(r'([*/]*(?:r#)?\w*)(?: *: *"([^"]*)")?(?: *= *(.*))?', text, re.DOTALL)
    if match is None:
        raise ValueError(f"no parameter of a signature: {text!r}")
    kind = None if match[2] is None else match[2].replace("'", '"')
    return Parameter(match[1].replace("r#", ""), kind, None if match[3] is None else python_value(match[3]))


def python_value(text: str) -> str:
    """Return the default value of a Rust parameter in the form that pyo3 shows in Python."""
    text = text.strip()
    if text in ("true", "false"):
        return text.capitalize()
    if text == "None" or re.fullmatch(r'-?[\d_]+(\.\d+)?|"[^"\\]*"', text):
        return text
    return "()" if re.fullmatch(r"\(\)", text) else "..."


def items(path: Path, text: str) -> Iterator[Item]:
    """Yield the functions, methods and classes of a file that pyo3 exports, and ``// stub:`` lines without an item."""
    at, owner, indent = 0, None, ""
    attributes: list[str] = []
    stub: list[str] = []
    spans: list[tuple[int, int]] = []
    is_documented, begun = False, 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        bare = line.lstrip()
        if owner is not None and line == indent + "}":
            owner = None
        if bare.startswith("//"):
            if not attributes and not stub and not is_documented:
                begun = at
            is_documented |= bare.startswith("///")
            if bare.startswith("// stub:"):
                stub.append(bare.removeprefix("// stub:").removeprefix(" "))
            at = end + 1
            continue
        if bare.startswith("#["):
            if not attributes and not stub and not is_documented:
                begun = at
            begin = at + len(line) - len(bare)
            close = closing(text, begin + 1)
            attributes.append(text[begin : close + 1])
            spans.append((begin, close + 1))
            at = text.find("\n", close) + 1
            continue
        number = text.count("\n", 0, at) + 1
        common = (path, number, attributes, is_documented, stub)
        if (match := IMPL.match(line)) and any(each.startswith("#[pymethods") for each in attributes):
            owner, indent = match[2], match[1]
        elif match := FUNCTION.match(bare):
            item = Item(match[1], *common, owner=owner, rust=match[1], start=at, spans=spans)
            item.head = text[at : text.find("{", at)]
            if (owner and len(line) - len(bare) == len(indent) + 4) or item.has("pyfunction"):
                if not item.has("pyfunction") and item.has("cfg"):
                    pass
                elif "$" not in item.name:
                    item.name = python_name(item)
                    yield item
        elif (match := STRUCT.match(bare)) and any(each.startswith("#[pyclass") for each in attributes):
            item = Item(match[1], *common, rust=match[1], start=at, spans=spans)
            item.name = item.option("name") or match[1]
            yield item
        elif stub:
            yield Item("", *common, start=begun)
        attributes, stub, spans, is_documented = [], [], [], False
        at = end + 1


def python_name(item: Item) -> str:
    """Return the name of a function or a method in Python."""
    if named := item.option("name"):
        return named
    for each in item.attributes:
        if match := re.match(r'#\[(?:getter|setter)\("?(\w+)"?\)\]', each):
            return match[1]
    if item.has("new"):
        return "__new__"
    name = item.rust.removeprefix("r#")
    if item.has("getter"):
        return name.removeprefix("get_") if name.startswith("get_") else name
    return name.removeprefix("set_") if item.has("setter") else name


def names(path: Path, text: str) -> Iterator[Name]:
    """Yield the names that the `names!` entries of a file declare."""
    text = re.sub(r"//[^\n]*", lambda comment: " " * len(comment[0]), text)
    for block in ROWS.finditer(text):
        for row in re.finditer(r"(\w+)(?: \"([^\"]*)\")?: ([^;]*);", block[1]):
            kind, group = row[1].removeprefix("internal_"), row[2]
            start = block.start(1) + row.start()
            if kind not in KINDS or (group is None) != row[1].startswith("internal_"):
                line = text.count("\n", 0, start) + 1
                raise DeclarationError(
                    f'{where(path)}:{line}: names!: a row is `functions "Group": a, b;`, or '
                    f"`internal_functions: a;` for names that only the package uses"
                )
            for part in re.finditer(r"(\w+)(?: = (\w+))?(?:\(host = \[([^\]]*)\]\))?", row[3]):
                line = text.count("\n", 0, block.start(1) + row.start(3) + part.start()) + 1
                host = tuple(re.findall(r'"(\w+)"', part[3] or ""))
                yield Name(part[1], kind, group, path, line, part[2], host)


def files() -> list[Path]:
    """Return the Rust files of the native module."""
    return sorted(path for path in FOLDER.rglob("*.rs") if path.stem != "tests")


def text_parameters(text: str) -> list[Parameter]:
    """Return the parameters of a ``text_signature``."""
    arguments = ast.parse(f"def f{text.replace('$', '')}: ...").body[0].args  # type: ignore[attr-defined]
    parameters: list[Parameter] = []
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults
    for number, (one, default) in enumerate(zip(plain, defaults, strict=True)):
        parameters.append(Parameter(one.arg, None, None if default is None else quoted(default)))
        if number + 1 == len(arguments.posonlyargs):
            parameters.append(Parameter("/"))
    if arguments.vararg:
        parameters.append(Parameter("*" + arguments.vararg.arg))
    elif arguments.kwonlyargs:
        parameters.append(Parameter("*"))
    for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parameters.append(Parameter(one.arg, None, None if default is None else quoted(default)))
    if arguments.kwarg:
        parameters.append(Parameter("**" + arguments.kwarg.arg))
    return parameters


def quoted(value: ast.expr) -> str:
    """Return the source of a default value, with double quotes as in the stub."""
    text = ast.unparse(value)
    return f'"{text[1:-1]}"' if text.startswith("'") and '"' not in text else text
