"""The package's own modules import each other one way."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def module_name(path: str) -> str:
    """``PyGPU._cli`` for ``PyGPU/_cli/__init__.py``."""
    return path.removesuffix(".py").removesuffix(".pyi").removesuffix("/__init__").replace("/", ".")


def imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run when the module does: not those of functions, nor those for type checkers only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            if isinstance(node.test, ast.Name):
                yield from (found for other in node.orelse for found in imports(ast.Module([other], [])))
            else:
                yield from (found for other in node.body for found in imports(ast.Module([other], [])))
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from imports(node)


def uses(text: str, modules: set[str]) -> set[str]:
    """Which of some modules a module's text imports. A package counts only if a name of its own is taken from it."""
    found = set()
    for node in imports(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            source = node.module or ""
            found |= {name if (name := f"{source}.{alias.name}") in modules else source for alias in node.names}
    return found & modules


def circles(sources: Mapping[str, str]) -> list[str]:
    """The circles among modules, given the text of each file by its path below the package's parent."""
    texts = {module_name(path): text for path, text in sources.items()}
    graph = {module: uses(text, set(texts)) for module, text in texts.items()}
    found: list[str] = []
    done: set[str] = set()

    def walk(module: str, way: list[str]) -> None:
        if module in way:
            found.append(" -> ".join([*way[way.index(module) :], module]))
        elif module not in done:
            for other in sorted(graph[module]):
                walk(other, [*way, module])
            done.add(module)

    for module in sorted(graph):
        walk(module, [])
    return found


def public_by_private(sources: Mapping[str, str]) -> list[str]:
    """Private modules that import a public one, of which there may be a second under PyCUDA's name."""
    texts = {module_name(path): text for path, text in sources.items()}
    public = {module for module in texts if "._" not in module and "." in module}
    users = {module: uses(text, set(texts)) & public for module, text in texts.items() if module not in public}
    return [f"{module} imports {', '.join(sorted(used))}" for module, used in users.items() if used]


def python_files() -> list[Path]:
    """The files of the package, stubs included."""
    return [path for pattern in ("*.py", "*.pyi") for path in sorted((ROOT / "python").rglob(pattern))]


def package() -> dict[str, str]:
    """The text of each module of the package. Of a native one there is a stub, whose imports never run."""
    folder = ROOT / "python"
    stubs = [path for path in python_files() if path.suffix == ".pyi" and not path.with_suffix(".py").exists()]
    sources = {str(path.relative_to(folder)): "" for path in stubs}
    return sources | {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.py")}


def test_modules_import_each_other_one_way() -> None:
    assert circles(package()) == []


def test_private_modules_import_no_public_ones() -> None:
    assert public_by_private(package()) == []


def test_a_circle_is_found() -> None:
    sources = {
        "p/__init__.py": "from p.a import f",
        "p/a.py": "if True:\n    import p.b",
        "p/b.py": "try:\n    from p import c\nexcept ImportError:\n    pass",
        "p/c.py": "from p import g",
    }
    assert circles(sources) == ["p -> p.a -> p.b -> p.c -> p"]


def test_imports_in_functions_and_for_type_checkers_are_no_circle() -> None:
    sources = {
        "p/a.py": "from p import b",
        "p/b.py": "def f():\n    from p import a\nif TYPE_CHECKING:\n    import p.a",
        "p/c.py": "from p.c import d",
        "p/__init__.py": "",
    }
    assert circles(sources) == ["p.c -> p.c"]


def test_a_private_module_that_imports_a_public_one_is_found() -> None:
    sources = {"p/__init__.py": "", "p/a.py": "", "p/_b.py": "from p import a\nimport p", "p/c.py": "import p.a"}
    assert public_by_private(sources) == ["p._b imports p.a"]
