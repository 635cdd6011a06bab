"""Test that the imports among the package's modules have no cycles, and that folders import only lower layers.

A folder of ``python/PyGPU`` imports only folders to its left on this line (`docs/design/python_packages.md`):

_core, _names <- _process, _paths, _memory, _host_arrays, _testing <- _arguments <- _kernels, _streams, _observability
<- _functions <- _linalg, _fft, _random, _special, _fusion <- _protocols <- _shared_arrays, _pycuda, _pybindgpu, _dask
<- _cupy <- public modules <- _cli

Imports inside functions are checked. Imports for type checkers are not checked. Python imports the package itself
before each of its modules; this import is not checked either.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.enough_on("cpu")

ROOT = Path(__file__).parent.parent.parent
LINE = (
    "_core, _names <- _process, _paths, _memory, _host_arrays, _testing <- _arguments"
    " <- _kernels, _streams, _observability <- _functions <- _linalg, _fft, _random, _special, _fusion <- _protocols"
    " <- _shared_arrays, _pycuda, _pybindgpu, _dask <- _cupy <- public modules <- _cli"
)
RANK = {name.strip(): rank for rank, names in enumerate(LINE.split("<-")) for name in names.split(",")}
PUBLIC = "public modules"
FOLDERS = {"__main__": "_cli", "_cluda": PUBLIC, "_mymako": PUBLIC}
"""Modules whose folder is not their name: the command line's entry point, and PyCUDA's modules with an underscore."""

LOOKUPS = {
    "PyGPU._functions": "loads the module of a function when the function is first used, by the index of names",
    "PyGPU._protocols.array_function": "NEP 18: finds the package's function that has the name of NumPy's",
    "PyGPU._protocols.like_argument": "NEP 35: finds the package's function that has the name of NumPy's",
    "PyGPU._protocols.namespace": "returns the package, which is the namespace of the array API",
    "PyGPU._protocols.lazy_names": "finds names of the package that are loaded when they are first used",
    "PyGPU._protocols.package_alias": "finds the module that `pycuda.x` or `cupy.x` stands for",
    "PyGPU._names.deprecated": "finds the object of a deprecated name",
    "PyGPU._names.moved_modules": "finds the names of a private module of an earlier version that has moved",
    "PyGPU._cupy.lazy_names": "finds names of `cupy` and `cupyx` that are loaded when they are first used",
    "PyGPU._cupy.public_lookup": "finds functions of the package, and modules that a function of CuPy returns",
    "PyGPU._cupy.testing.comparisons": "finds the modules with which a test is run",
}
"""Modules that import a module of the package by a computed name at run time, and the reason."""


def module_name(path: str) -> str:
    """Return the name of the module of a file: ``PyGPU._cli`` for ``PyGPU/_cli/__init__.py``."""
    return path.removesuffix(".py").removesuffix(".pyi").removesuffix("/__init__").replace("/", ".")


def imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Find the imports of a module and of its functions, except imports for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            if isinstance(node.test, ast.Name):
                yield from (found for other in node.orelse for found in imports(ast.Module([other], [])))
            else:
                yield from (found for other in node.body for found in imports(ast.Module([other], [])))
        elif not isinstance(node, ast.expr):
            yield from imports(node)


def uses(text: str, modules: set[str]) -> set[str]:
    """Return which of the given modules a source imports. A package is returned only if the source imports one of its
    names."""
    found = set()
    for node in imports(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            source = node.module or ""
            found |= {name if (name := f"{source}.{alias.name}") in modules else source for alias in node.names}
    return found & modules


def looked_up(text: str) -> Iterator[tuple[int, str]]:
    """Find the modules that ``import_module`` loads. Return the line and the name of each module, or ``?`` for a
    computed name."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
            name = node.args[0]
            for choice in (name.body, name.orelse) if isinstance(name, ast.IfExp) else (name,):
                value = choice.value if isinstance(choice, ast.Constant) else "?"
                if value == "?" or str(value).split(".")[0] == "PyGPU":
                    yield node.lineno, str(value)


def folder(module: str) -> str:
    """Return the folder of a module as it occurs in `LINE`, the order of the folders. ``PyGPU`` itself is a public
    module."""
    name = module.removeprefix("PyGPU").removeprefix(".").partition(".")[0]
    return FOLDERS.get(name, name if name.startswith("_") else PUBLIC)


def against_the_line(sources: Mapping[str, str]) -> list[str]:
    """Return one sentence for each import that violates `LINE`, the order of the folders. `sources` maps paths to
    texts."""
    texts = {module_name(path): text for path, text in sources.items()}
    found = []
    for module, text in sorted(texts.items()):
        own = folder(module)
        if own not in RANK:
            found.append(f"{module}: the folder {own} has no place in the line '{LINE}'")
            continue
        for line, used in modules_named(text, set(texts)):
            other = folder(used)
            if used.startswith("."):
                found.append(f"{module}:{line}: the import of {used} is relative")
            elif other not in RANK:
                found.append(f"{module}:{line}: {used} is in no folder of the line")
            elif other != own and RANK[other] >= RANK[own]:
                found.append(f"{module}:{line}: {own} must not import {used}, of {other}")
        if module not in LOOKUPS:
            found += [
                f"{module}:{line}: a lookup of {used} that LOOKUPS does not list" for line, used in looked_up(text)
            ]
    return found


def modules_named(text: str, modules: set[str]) -> Iterator[tuple[int, str]]:
    """Return the line and the module of each import from the package, even if the imported folder does not exist."""
    for node in imports(ast.parse(text)):
        source = "" if isinstance(node, ast.Import) else "." * node.level + (node.module or "")
        for alias in node.names:
            name = f"{source}.{alias.name}" if source else alias.name
            is_folder = source == "PyGPU" and re.match("_[a-z]", alias.name)
            used = name if not source or name in modules or is_folder else source
            if used.startswith(".") or used.split(".")[0] == "PyGPU":
                yield node.lineno, used


def circles(sources: Mapping[str, str]) -> list[str]:
    """Return the import cycles among modules; `sources` maps file paths to texts."""
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
    """Return a sentence for each private module that imports a public module.

    Such an import is an error, because a public module may exist twice: a second time under PyCUDA's name.
    """
    texts = {module_name(path): text for path, text in sources.items()}
    public = {module for module in texts if "._" not in module and "." in module}
    users = {module: uses(text, set(texts)) & public for module, text in texts.items() if module not in public}
    return [f"{module} imports {', '.join(sorted(used))}" for module, used in users.items() if used]


def python_files() -> list[Path]:
    """Return the files of the package, including stubs."""
    return [path for pattern in ("*.py", "*.pyi") for path in sorted((ROOT / "python").rglob(pattern))]


def package() -> dict[str, str]:
    """Return the source of each module of the package; the source of a native module is empty."""
    folder = ROOT / "python"
    stubs = [path for path in python_files() if path.suffix == ".pyi" and not path.with_suffix(".py").exists()]
    sources = {str(path.relative_to(folder)): "" for path in stubs}
    return sources | {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.py")}


def test_no_modules_import_each_other_in_a_cycle() -> None:
    assert circles(package()) == []


def test_private_modules_import_no_public_modules() -> None:
    assert public_by_private(package()) == []


def test_folders_import_only_lower_layers() -> None:
    sources = package()
    assert len(sources) > 200, "the package was not found: this test would hold nothing"
    assert against_the_line(sources) == []


def test_every_module_allowed_to_import_by_name_does_so() -> None:
    texts = {module_name(path): text for path, text in package().items()}
    assert [module for module in LOOKUPS if not list(looked_up(texts.get(module, "")))] == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("PyGPU/_arguments/a.py", "from PyGPU import _functions"),
        ("PyGPU/_arguments/a.py", "from PyGPU._functions.sets import unique"),
        ("PyGPU/_arguments/a.py", "def f():\n    from PyGPU._pycuda.driver.copies import memcpy_htod"),
        ("PyGPU/_arguments/a.py", "class A:\n    async def f(self):\n        import PyGPU._functions.sets"),
        ("PyGPU/_arguments/a.py", "f = lambda: __import__('PyGPU.driver')"),
        ("PyGPU/_arguments/a.py", "def f():\n    from PyGPU import ForkError"),
        ("PyGPU/_arguments/a.py", "import PyGPU"),
        ("PyGPU/_arguments/a.py", "from ..driver import init"),
        ("PyGPU/_functions/a.py", "if True:\n    from PyGPU._linalg.norms import norm"),
        ("PyGPU/_functions/a.py", "try:\n    import PyGPU.driver\nexcept ImportError:\n    pass"),
        ("PyGPU/_linalg/a.py", "from PyGPU._fft import several_axes"),
        ("PyGPU/_fusion/a.py", "from PyGPU._protocols import like_argument"),
        ("PyGPU/_shared_arrays/a.py", "from PyGPU._pycuda.driver.memory import mem_alloc"),
        ("PyGPU/_dask/a.py", "if not TYPE_CHECKING:\n    from PyGPU import linalg"),
        ("PyGPU/_dask/a.py", "if TYPE_CHECKING:\n    pass\nelse:\n    from PyGPU import linalg"),
        ("PyGPU/driver.py", "from PyGPU._cli.main import main"),
        ("PyGPU/_pycuda/a.py", "import importlib\nimportlib.import_module('PyGPU.driver')"),
        ("PyGPU/_pycuda/a.py", "import_module('numpy' if x else 'PyGPU')"),
        ("PyGPU/_pycuda/a.py", "import_module(f'PyGPU.{name}')"),
        ("PyGPU/_cellar/a.py", "import numpy"),
        ("PyGPU/_cli/a.py", "from PyGPU import _cellar"),
    ],
)
def test_import_check_finds_inserted_violation(path: str, text: str) -> None:
    assert len(against_the_line({path: text})) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("PyGPU/_arguments/a.py", "from PyGPU import _core\nfrom PyGPU._arguments.b import f\nimport numpy"),
        (
            "PyGPU/_arguments/a.py",
            "if TYPE_CHECKING:\n    from PyGPU import GPUArray\n    from PyGPU.typing import DeviceLike",
        ),
        (
            "PyGPU/_linalg/a.py",
            "from PyGPU._functions.array_arguments import array\ndef f():\n    from PyGPU._linalg import b",
        ),
        ("PyGPU/_protocols/like_argument.py", "import_module('PyGPU')"),
        ("PyGPU/_arguments/a.py", "import_module('tqdm.auto' if x else 'tqdm')"),
        ("PyGPU/_mymako/__init__.py", "from PyGPU import driver"),
        ("PyGPU/__main__.py", "from PyGPU._cli.main import main"),
        ("PyGPU/__init__.py", "from PyGPU._core import GPUArray\nfrom PyGPU import driver"),
        ("PyGPU/_cli/a.py", "import PyGPU\nfrom PyGPU import driver"),
    ],
)
def test_import_check_accepts_allowed_imports(path: str, text: str) -> None:
    assert against_the_line({path: text}) == []


def test_message_about_import_violation_contains_line_number() -> None:
    assert against_the_line({"PyGPU/_arguments/a.py": "\n\nimport PyGPU.driver"}) == [
        "PyGPU._arguments.a:3: _arguments must not import PyGPU.driver, of public modules"
    ]


def test_cycle_check_finds_import_cycle() -> None:
    sources = {
        "p/__init__.py": "from p.a import f",
        "p/a.py": "if True:\n    import p.b",
        "p/b.py": "try:\n    from p import c\nexcept ImportError:\n    pass",
        "p/c.py": "from p import g",
    }
    assert circles(sources) == ["p -> p.a -> p.b -> p.c -> p"]


def test_cycle_check_finds_import_cycle_through_function() -> None:
    sources = {"p/a.py": "from p import b", "p/b.py": "class B:\n    def f(self):\n        from p import a"}
    assert circles(sources) == ["p.a -> p.b -> p.a"]


def test_import_check_ignores_imports_for_type_checkers() -> None:
    sources = {
        "p/a.py": "from p import b",
        "p/b.py": "if TYPE_CHECKING:\n    import p.a",
        "p/c.py": "from p.c import d",
        "p/__init__.py": "",
    }
    assert circles(sources) == ["p.c -> p.c"]


def test_check_finds_import_of_public_module_by_private_module() -> None:
    sources = {"p/__init__.py": "", "p/a.py": "", "p/_b.py": "from p import a\nimport p", "p/c.py": "import p.a"}
    assert public_by_private(sources) == ["p._b imports p.a"]
