"""Write the index and the stubs of PyGPU from the declarations of public names; with ``--check`` only compare.

An entry of the Rust macro `names!` declares a function of Rust, the decorator `public` a function of Python, and a call
of `public_values` a value. The program neither imports nor builds the package. It reports file and line of a name that
is declared twice, of a name without docstring, and of an unknown group. ``tools/tiers.py`` lists the groups, and the
promised stability of each name.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import core_stub
import rust_declarations as rust
import tiers
from rust_declarations import DeclarationError, Name, where
from tiers import GROUPS

PACKAGE = rust.ROOT / "python/PyGPU"
INDEX = PACKAGE / "_names/index.py"
TYPES = PACKAGE / "__init__.pyi"
LAZY = PACKAGE / "_protocols/lazy_names.py"

MARKS = ("public", "public_values")
"""The functions of ``PyGPU._names.public`` that mark names."""


def module_of(path: Path) -> str:
    """Return the name of the module whose file is `path`."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def marks(path: Path, text: str) -> Iterator[Name]:
    """Return the names that a Python file declares as public."""
    if "public" not in text:
        return
    tree = ast.parse(text)
    defined = set(definitions(tree))
    at_top = {
        id(mark) for node in tree.body for mark in [*getattr(node, "decorator_list", ()), getattr(node, "value", None)]
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and any(is_call(node, name) for name in MARKS) and id(node) not in at_top:
            raise DeclarationError(
                f"{where(path)}:{node.lineno}: a public name is one of the module, not of what is in it"
            )
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            for mark in (one for one in node.decorator_list if is_call(one, "public")):
                group, host = arguments(path, mark)
                kind = "classes" if isinstance(node, ast.ClassDef) else "functions"
                yield Name(node.name, kind, group, path, node.lineno, None, host, ast.get_docstring(node) is not None)
        elif isinstance(node, ast.Expr) and is_call(node.value, "public_values"):
            group, names = arguments(path, node.value)
            for name in names:
                one = Name(name, "values", group, path, node.lineno)
                if name not in defined:
                    raise DeclarationError(f"{one.location}: {name}: the module defines no such name")
                yield one


def is_call(node: ast.expr, name: str) -> bool:
    """Return whether an expression is a call of the function `name`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def arguments(path: Path, call: ast.expr) -> tuple[str, tuple[str, ...]]:
    """Return the group in a declaration, and its other arguments: names, or parameters that accept an ndarray."""
    assert isinstance(call, ast.Call)
    try:
        first, *others = [ast.literal_eval(one) for one in call.args]
        keywords = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    except ValueError:
        location = f"{where(path)}:{call.lineno}"
        raise DeclarationError(f"{location}: the arguments of a mark are literal texts, the group first") from None
    return first, tuple(keywords.get("host", others))


def definitions(tree: ast.Module) -> Iterator[str]:
    """Return the names that a module defines or imports at its top level."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)


def declared() -> list[Name]:
    """Return all public names, first the names of the native module."""
    _, exported, *_ = core_stub.read()
    names = [one for one in exported if one.group is not None]
    listed = {one.name for one in names}
    ufuncs = [name for name in core_stub.values(exported) if name not in listed]
    names += [Name(name, "values", "Functions of each element", core_stub.TABLE, 1) for name in ufuncs]
    for path in sorted(PACKAGE.rglob("*.py")):
        names += marks(path, path.read_text(encoding="utf-8"))
    return names


def errors(names: Iterable[Name]) -> Iterator[str]:
    """Return an error message with the location for each wrong declaration."""
    seen: dict[str, Name] = {}
    for one in names:
        if one.name in seen:
            yield f"{one.location}: {one.name} is declared twice; the other declaration is {seen[one.name].location}"
        seen[one.name] = one
        if not one.is_documented:
            yield f"{one.location}: {one.name} has no docstring"
        if one.name.startswith("_"):
            yield f"{one.location}: {one.name} is a private name"
        if one.group not in GROUPS:
            yield f"{one.location}: {one.name}: no group {one.group!r}; tools/tiers.py lists the groups"


def index(names: list[Name]) -> str:
    """Return the text of the index: the modules of names, the groups, and the parameters that accept an ndarray."""
    homes = {one.name: module_of(one.path) for one in names if one.path.suffix == ".py"}
    groups = {
        group: sorted((one for one in names if one.group == group), key=lambda one: (one.kind != "classes", one.name))
        for group in GROUPS
    }
    lines = [
        '"""The public names of PyGPU, generated by tools/name_index.py from their declarations. Do not edit."""',
        "",
    ]
    lines += ["# fmt: off", "HOME = {", *(f'    "{name}": "{home}",' for name, home in sorted(homes.items())), "}"]
    lines += ['"""Modules of the names that the native module does not define."""', "", "GROUPS = {"]
    for group, members in groups.items():
        lines += filled(f'    "{group}": (', [f'"{one.name}",' for one in members])
    lines += ["}", '"""The names of each group of the reference, classes first."""', "", "HOST = {"]
    hosts = {one.name: one.host for one in sorted(names, key=lambda one: one.name) if one.host}
    lines += [f'    "{name}": {tuple_text(host)},' for name, host in hosts.items()]
    lines += ["}", '"""Parameters in which NumPy\'s function accepts an ndarray beside arrays of a device."""']
    lines += ["TIERS = {"]
    for tier in (tiers.COMPATIBILITY, tiers.EXPERIMENTAL):
        members = sorted(name for name, own in tiers_of(names).items() if own == tier)
        lines += filled(f'    "{tier}": (', [f'"{name}",' for name in members])
    lines += ["}", '"""Names and modules that are not stable, by their tier."""']
    return "\n".join(lines) + "\n"


def tiers_of(names: Iterable[Name]) -> dict[str, str]:
    """Return the tier of each declared name and of each module."""
    return tiers.tiers((one.name, str(one.group)) for one in names if one.group in GROUPS)


def filled(head: str, items: list[str]) -> Iterator[str]:
    """Return the lines of a tuple: one line if all items fit into `core_stub.WIDTH` characters, else filled lines."""
    members = " ".join(items)
    short = f"{head}{members if len(items) == 1 else members.removesuffix(',')}),"
    if len(short) <= core_stub.WIDTH:
        yield short
        return
    line = " " * 7
    yield head
    for item in items:
        if len(line) + len(item) + 1 > core_stub.WIDTH:
            yield line
            line = " " * 7
        line += f" {item}"
    yield line
    yield "    ),"


def tuple_text(texts: tuple[str, ...]) -> str:
    """Format texts as a tuple with double quotes."""
    return f"({', '.join(f'{chr(34)}{text}{chr(34)}' for text in texts)}{',' if len(texts) == 1 else ''})"


def modules() -> list[str]:
    """Return the public modules that are attributes of the package."""
    for node in ast.parse(LAZY.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "MODULES":
            return list(ast.literal_eval(node.value))
    raise DeclarationError(f"{where(LAZY)}:1: no MODULES")


def types(names: list[Name]) -> str:
    """Return the text of the package's stub, which imports each name from its module."""
    by_module: dict[str, list[str]] = {"PyGPU": modules(), "PyGPU._core": ["__version__"]}
    for one in names:
        home = module_of(one.path) if one.path.suffix == ".py" else "PyGPU._core"
        by_module.setdefault(home, []).append(one.name)
    by_module["PyGPU._protocols.namespace"] += ["__array_api_version__", "__array_namespace_info__"]
    text = '"""The names of PyGPU for type checkers, generated by tools/name_index.py. Do not edit.\n\n'
    text += "A name without a remark is stable; docs/policies.md describes the tiers.\n"
    text += '"""\n\n'
    tier = tiers_of(names)
    for module, own in sorted(by_module.items()):
        line = f"from {module} import {', '.join(f'{name} as {name}' for name in sorted(own, key=core_stub.sort_key))}"
        if len(line) > core_stub.WIDTH or any(is_marked(tier, name) for name in own):
            entries = [f"    {name} as {name},{remark(tier, name)}\n" for name in sorted(own, key=core_stub.sort_key)]
            line = f"from {module} import (\n{''.join(entries)})"
        text += line + "\n"
    return text + "from PyGPU.backend import *  # noqa: F403 - compatibility\n"


def is_marked(tier: dict[str, str], name: str) -> bool:
    """Return whether the stub has a remark on the tier of a name."""
    return tier.get(name, tiers.STABLE) != tiers.STABLE


def remark(tier: dict[str, str], name: str) -> str:
    """Return the remark of the stub on the tier of a name, or an empty string."""
    return f"  # {tier[name]}" if is_marked(tier, name) else ""


def main() -> int:
    """Write the generated files, or with ``--check`` compare them with the declarations."""
    try:
        names = declared()
        texts = {
            INDEX: index(names),
            TYPES: types(names),
            core_stub.STUB: core_stub.stub(),
            core_stub.SPECIAL_STUB: core_stub.special_ufuncs(),
        }
    except DeclarationError as error:
        print(error, file=sys.stderr)
        return 1
    if wrong := [*errors(names), *tiers.errors((one.name for one in names), modules())]:
        print("\n".join(wrong), file=sys.stderr)
        return 1
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if "--check" in sys.argv:
            print(f"{where(path)} differs from the declarations; run: make names", file=sys.stderr)
        else:
            path.write_text(texts[path], encoding="utf-8")
    return int("--check" in sys.argv and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
