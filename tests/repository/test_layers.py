"""The layers of the crate import one way, and only the outermost ones know Python.

    callback, chain, deferral, error, global, dtype, journal, layout, settings, short, sync <- backend <- lifetime
    <- device, stream <- memory <- array, graph <- kernel <- codegen <- copy <- ops <- interop <- python

The layer `python` is a house of its own, whose rooms import one way too:

    late, libraries, newer, once <- ending <- callback <- errors, gil, settings <- deferral, exit <- convert
    <- runtime <- array <- host <- exchange <- views <- create <- texture <- kernel <- custom, operators <- compat

`backend::cuda` and `backend::hip` never know each other, nor does what they share (`backend::vendor`) know either, and
files never import in a circle (`test_circles.py`).
Test code is exempt.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from rust_source import RustSource

pytestmark = pytest.mark.enough_on("cpu")

ROOT = Path(__file__).parents[2]
LINE = (
    "callback, chain, deferral, error, global, dtype, journal, layout, settings, short, sync <- backend <- lifetime"
    " <- device, stream <- memory <- array, graph <- kernel <- codegen <- copy <- ops <- interop <- python"
)
PYTHON_LINE = (
    "late, libraries, newer, once <- ending <- callback <- errors, gil, settings <- deferral, exit <- convert"
    " <- runtime <- array <- host <- exchange <- views <- create <- texture <- kernel <- custom, operators <- compat"
)


def _ranks(line: str) -> dict[str, int]:
    return {name.strip(): rank for rank, names in enumerate(line.split("<-")) for name in names.split(",")}


RANK = _ranks(LINE)
PYTHON_RANK = _ranks(PYTHON_LINE)
# rust-numpy is behind the same feature as pyo3, so naming it breaks the build without Python just the same.
PYTHON_CRATES = r"\bpyo3\w*\b|\bnumpy\s*::"


def violations(sources: Mapping[str, str]) -> list[str]:
    """Sentences about what breaks the line, given the text of each file by its path from the root."""
    files = [RustSource(name, text) for name, text in sorted(sources.items())]
    test_modules = {module for file in files for module in file.declared_in(file.test_only)}
    python_modules = {module for file in files for module in file.declared_in(file.python_only)}
    found = []
    for file in files:
        if _within(file.module, test_modules):
            continue
        found += _against_the_line(file)
        if file.module[:1] == ("python",) and len(file.module) > 1:  # its mod.rs is the map of the rooms
            found += _against_the_rooms(file)
        if file.module[:1] != ("python",) and not _within(file.module, python_modules):
            found += _names_of_python(file)
    return found


def _within(module: tuple[str, ...], parents: set[tuple[str, ...]]) -> bool:
    return any(module[:length] in parents for length in range(1, len(module) + 1))


def _against_the_line(file: RustSource) -> Iterator[str]:
    if not file.module:  # lib.rs is the map: it declares every layer
        return
    layer = file.module[0]
    if layer not in RANK:
        yield f"{file.file}: the layer {layer} has no place in the line '{LINE}'"
        return
    for reference in file.references():
        where, name = f"{file.file}:{reference.line}", "::".join(reference.path)
        if reference.path[0] not in RANK:
            yield f"{where}: crate::{name} is in no layer of the line"
        elif RANK[reference.path[0]] > RANK[layer]:
            yield f"{where}: {layer} must not use crate::{name}, which is to its right in the line"
        for vendor, other in (("cuda", "hip"), ("hip", "cuda"), ("vendor", "cuda"), ("vendor", "hip")):
            if file.module[:2] == ("backend", vendor) and reference.path[:2] == ("backend", other):
                yield f"{where}: the backend {vendor} must not use crate::{name}"


def _against_the_rooms(file: RustSource) -> Iterator[str]:
    room = file.module[1]
    if room not in PYTHON_RANK:
        yield f"{file.file}: the room {room} has no place in the line '{PYTHON_LINE}'"
        return
    for reference in file.references():
        if reference.path[0] != "python" or len(reference.path) == 1:
            continue
        other = reference.path[1]
        if other not in PYTHON_RANK:
            yield f"{file.file}:{reference.line}: {'::'.join(reference.path)} is in no room of the line"
        elif PYTHON_RANK[other] > PYTHON_RANK[room]:
            yield f"{file.file}:{reference.line}: the room {room} must not use {other}, to its right in the line"


def _names_of_python(file: RustSource) -> Iterator[str]:
    may_hide_it = not file.module or file.module[0] == "interop"
    allowed = [*file.test_only, *(file.python_only if may_hide_it else ())]
    for line in file.lines_naming(PYTHON_CRATES, outside=allowed):
        behind = ' outside of #[cfg(feature = "python")]' if may_hide_it else ""
        yield f"{file.file}:{line}: names pyo3 or rust-numpy{behind}"


def test_imports_run_one_way() -> None:
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in (ROOT / "src").rglob("*.rs")}
    assert sources, "no Rust source was found: this test would hold nothing"
    assert violations(sources) == []


def test_host_memory_comes_to_a_copy_through_one_door() -> None:
    # A1: whoever promises that a copy may use host memory must have asked whether its stream is captured.
    door = ROOT / "src" / "memory" / "capture.rs"
    files = [RustSource(str(path.relative_to(ROOT)), path.read_text()) for path in (ROOT / "src").rglob("*.rs")]
    test_modules = {module for file in files for module in file.declared_in(file.test_only)}
    asked = [file for file in files if not _within(file.module, test_modules)]
    naming = {file.file for file in asked if list(file.lines_naming(r"\bpromised\b", outside=file.test_only))}
    assert naming == {"src/backend/copies.rs", str(door.relative_to(ROOT))}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("src/layout/index.rs", "use crate::array::Array;"),
        ("src/layout/index.rs", "pub(crate) use crate::array::Array as A;"),
        ("src/layout.rs", "use crate::{error::Error, array::{Array}};"),
        ("src/memory/pool.rs", "fn f() -> crate::copy::Plan { todo() }"),
        ("src/memory/pool.rs", "use super::super::interop;"),
        ("src/memory/pool.rs", "use self::super::super::interop;"),
        ("src/memory/pool.rs", "use crate::{interop::{self}, device};"),
        ("src/memory/pool.rs", "use super::{super::{interop::cai}};"),
        ("src/memory/pool.rs", "mod inner { use super::super::super::interop::cai; }"),
        ("src/memory/pool.rs", "macro_rules! m { () => { $crate::ops::run() } }"),
        ("src/memory/pool.rs", "use crate\n    ::ops;"),
        ("src/device.rs", 'const S: &str = "\\" // "; use crate::memory::Pool;'),
        ("src/device.rs", 'const S: &str = r#"a" /* "#; use crate::memory::Pool;'),
        ("src/device.rs", "fn f<'a>(c: char) -> bool { c == '\"' } use crate::memory::Pool; // \""),
        ("src/device.rs", "#[cfg(test)] mod tests { use crate::array::Array; } use crate::copy::Plan;"),
        ("src/device.rs", "#[cfg(not(test))] use crate::copy::Plan;"),
        ("src/device.rs", "#[cfg(test)] use crate::copy::{Plan}; use crate::copy::Kind;"),
        ("src/device.rs", "use crate::Array;"),
        ("src/helpers.rs", "fn f() {}"),
        ("src/backend/cuda/mod.rs", "use super::hip::Module;"),
        ("src/backend/cuda/copy.rs", "use crate::backend::{hip, Backend};"),
        ("src/backend/hip.rs", "fn f() { super::cuda::open() }"),
        ("src/backend/vendor/open.rs", "use crate::backend::cuda::Cuda;"),
        ("src/array.rs", "use pyo3::prelude::*;"),
        ("src/array.rs", '#[cfg(feature = "python")] use pyo3::prelude::*;'),
        ("src/array.rs", "fn f() { numpy::borrow() }"),
        ("src/interop/host.rs", "use pyo3::prelude::*;"),
        ("src/interop/host.rs", '#[cfg(feature = "python")] use pyo3::Py; use pyo3::Bound;'),
        ("src/interop/host.rs", 'struct S { #[cfg(feature = "python")] pub a: pyo3::Py<A>, b: pyo3::Py<A> }'),
        ("src/lib.rs", "#[pyo3::pymodule] mod core {}"),
        ("src/python/array/class.rs", "use crate::python::views::index;"),
        ("src/python/host/new.rs", "use super::super::create::upload;"),
        ("src/python/gil.rs", "use super::exit;"),
        ("src/python/cellar/wine.rs", "fn f() {}"),
        ("src/python/compat/raw.rs", "use crate::python::cellar;"),
    ],
)
def test_a_planted_violation_is_found(file: str, text: str) -> None:
    assert len(violations({file: text})) == 1


@pytest.mark.parametrize(
    "sources",
    [
        {"src/array.rs": "use crate::{dtype::DType, error::{Error, Result}, memory::*};"},
        {"src/layout/mod.rs": "pub(crate) mod index; pub(super) fn f() {} use super::dtype; use self::index::Index;"},
        {"src/stream.rs": "use crate::device::Device;", "src/device.rs": "use crate::stream::Stream;"},
        {"src/layout.rs": "// use crate::array;\n/* a /* nested */ use crate::array; */ fn f() {}"},
        {"src/layout.rs": 'const S: &str = "use crate::array;"; const R: &str = r#"" use crate::array; "#;'},
        {"src/layout.rs": "//! [`crate::array::Array`]\nfn f() {}"},
        {"src/layout.rs": "fn f() {}\n#[cfg(test)]\n#[allow(missing_docs)]\nmod tests { use crate::array::Array; }"},
        {"src/layout/mod.rs": "#[cfg(test)] mod tests;", "src/layout/tests/deep.rs": "use crate::array::Array;"},
        {"src/backend/registry.rs": "use super::{cpu, cuda, hip};"},
        {"src/dtype.rs": "struct Row { numpy: &'static str }"},
        {"src/interop/host.rs": '#![cfg(feature = "python")]\nuse pyo3::prelude::*;'},
        {"src/interop/mod.rs": '#[cfg(feature = "python")]\nmod host;', "src/interop/host.rs": "use pyo3::Py;"},
        {"src/interop/cai.rs": '#[cfg(feature = "python")]\nimpl A { fn f(x: pyo3::Py<A>) {} }'},
        {"src/interop/cai.rs": '#[cfg(feature = "python")]\nimpl<A, B> Of<A, B> { fn f(x: pyo3::Py<A>) {} }'},
        {"src/interop/cai.rs": 'struct S {\n#[cfg(feature = "python")]\npub owner: pyo3::Py<A>, pub size: usize }'},
        {"src/python/mod.rs": "use pyo3::prelude::*; use crate::{interop, array, ops}; use compat::register;"},
        {"src/python/compat/a.rs": "use crate::python::{array::class, gil}; use super::b;"},
        {"src/lib.rs": 'pub mod array;\n#[cfg(feature = "python")]\n#[pyo3::pymodule]\nmod core { use pyo3::Py; }'},
    ],
)
def test_what_is_allowed_passes(sources: dict[str, str]) -> None:
    assert violations(sources) == []


def test_a_violation_names_its_line() -> None:
    assert violations({"src/layout.rs": "\n\nuse crate::array::Array;\n"}) == [
        "src/layout.rs:3: layout must not use crate::array::Array, which is to its right in the line"
    ]
