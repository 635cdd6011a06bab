"""Test that no two files of a crate import each other, directly or indirectly.

A `mod.rs` or `lib.rs` declares the files of its folder. References to these files do not count as imports, because the
language requires them. Test code is exempt.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from rust_source import RustSource

pytestmark = pytest.mark.enough_on("cpu")

ROOT = Path(__file__).parents[2]
Module = tuple[str, ...]


def circles(sources: Mapping[str, str]) -> list[str]:
    """Return a sentence for each import cycle; `sources` maps the paths of files to their texts."""
    graph = imports(sources)
    return [f"these import each other: {', '.join(names)}" for names in sorted(_strongly_connected(graph))]


def imports(sources: Mapping[str, str]) -> dict[Module, set[Module]]:
    """Return which modules each module imports. A module is returned only if it has its own file."""
    files = [RustSource(name, text) for name, text in sources.items()]
    test_modules = {module for file in files for module in file.declared_in(file.spans_of_tests)}
    files = [
        file for file in files if not any(file.module[:end] in test_modules for end in range(len(file.module) + 1))
    ]
    known = {file.module for file in files}
    graph: dict[Module, set[Module]] = {module: set() for module in known}
    for file in files:
        for reference in file.references():
            target = _file_of(reference.path, known)
            # A `mod.rs` may name the modules in its own folder.
            if target is not None and target[: len(file.module)] != file.module:
                graph[file.module].add(target)
    return graph


def _file_of(path: Module, known: set[Module]) -> Module | None:
    return next((path[:end] for end in range(len(path), 0, -1) if path[:end] in known), None)


def _strongly_connected(graph: Mapping[Module, set[Module]]) -> Iterator[list[str]]:
    reached = {module: _reachable(graph, module) for module in graph}
    seen: set[Module] = set()
    for module in sorted(graph):
        circle = {other for other in reached[module] if module in reached[other]}
        if module not in seen and len(circle) > 1:
            seen |= circle
            yield ["::".join(name) for name in sorted(circle)]


def _reachable(graph: Mapping[Module, set[Module]], start: Module) -> set[Module]:
    found: set[Module] = set()
    waiting = [start]
    while waiting:
        for target in graph[waiting.pop()] - found:
            found.add(target)
            waiting.append(target)
    return found


def test_no_rust_files_import_each_other_in_a_cycle() -> None:
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in (ROOT / "src").rglob("*.rs")}
    assert sources, "no Rust source was found: this test would hold nothing"
    assert circles(sources) == []


@pytest.mark.parametrize(
    "sources",
    [
        {"src/k/a.rs": "use crate::b::B;", "src/k/b.rs": "use super::a::A;"},
        {
            "src/k/a.rs": "use crate::b;",
            "src/k/b.rs": "use crate::c::C;",
            "src/k/c.rs": "fn f() -> crate::a::A { g() }",
        },
        {"src/k/a/x.rs": "use super::y::Y;", "src/k/a/y.rs": "use crate::a::x;", "src/k/a/mod.rs": "mod x; mod y;"},
    ],
)
def test_cycle_check_finds_import_cycle(sources: dict[str, str]) -> None:
    assert len(circles(sources)) == 1


@pytest.mark.parametrize(
    "sources",
    [
        {"src/k/a.rs": "use crate::b::B;", "src/k/b.rs": "struct B;"},
        {"src/k/lib.rs": "mod x; pub use self::x::X; pub struct A;", "src/k/x.rs": "use super::A; pub struct X(A);"},
        {"src/k/a.rs": "use crate::b::B;", "src/k/b.rs": "#[cfg(test)]\nmod tests { use crate::a::A; }"},
    ],
)
def test_cycle_check_accepts_imports_without_cycle(sources: dict[str, str]) -> None:
    assert circles(sources) == []
