"""Test the import order of folders within the crates `python` and `backend`; cargo enforces the order of the crates.

A folder of `src/python` imports only folders to its left in this line:

exported_names, init_cell, library_search, py_once <- finalization <- ffi <- callback <- errors, gil, settings
<- fusion, atexit <- convert <- runtime <- array <- host_transfers <- interop <- views <- create <- texture <- kernel
<- custom_kernels, operators <- compat

In `src/backend`, `cuda` and `hip` never import each other, and `cuda_and_hip`, which both import, imports neither of
them. Files never import in a circle (`test_import_cycles.py`). Test code is exempt.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from rust_source import RustSource

pytestmark = pytest.mark.enough_on("cpu")

ROOT = Path(__file__).parents[2]
PYTHON_LINE = (
    "exported_names, init_cell, library_search, py_once <- finalization <- ffi <- callback <- errors, gil, settings"
    " <- fusion, atexit <- convert <- runtime <- array <- host_transfers <- interop <- views <- create"
    " <- texture <- kernel <- custom_kernels, operators <- compat"
)


def _ranks(line: str) -> dict[str, int]:
    return {name.strip(): rank for rank, names in enumerate(line.split("<-")) for name in names.split(",")}


PYTHON_RANK = _ranks(PYTHON_LINE)


def violations(sources: Mapping[str, str]) -> list[str]:
    """Return a sentence for each import that violates the order; `sources` maps the paths of files to their texts."""
    files = [RustSource(name, text) for name, text in sorted(sources.items())]
    test_modules = {module for file in files for module in file.declared_in(file.spans_of_tests)}
    found = []
    for file in files:
        if _within(file.module, test_modules):
            continue
        if file.module[:1] == ("backend",):
            found += _between_vendors(file)
        # The crate's lib.rs may import from every folder, because it declares all folders.
        if file.module[:1] == ("python",) and len(file.module) > 1:
            found += _against_the_folders(file)
    return found


def _within(module: tuple[str, ...], parents: set[tuple[str, ...]]) -> bool:
    return any(module[:length] in parents for length in range(1, len(module) + 1))


def _between_vendors(file: RustSource) -> Iterator[str]:
    for reference in file.references():
        for vendor, other in (("cuda", "hip"), ("hip", "cuda"), ("cuda_and_hip", "cuda"), ("cuda_and_hip", "hip")):
            if file.module[:2] == ("backend", vendor) and reference.path[:2] == ("backend", other):
                name = "::".join(reference.path)
                yield f"{file.file}:{reference.line}: the backend {vendor} must not use {name}"


def _against_the_folders(file: RustSource) -> Iterator[str]:
    folder = file.module[1]
    if folder not in PYTHON_RANK:
        yield f"{file.file}: the folder {folder} is missing in the line '{PYTHON_LINE}'"
        return
    for reference in file.references():
        if reference.path[0] != "python" or len(reference.path) == 1:
            continue
        other = reference.path[1]
        if other not in PYTHON_RANK:
            yield f"{file.file}:{reference.line}: {'::'.join(reference.path)} is in no folder of the line"
        elif PYTHON_RANK[other] > PYTHON_RANK[folder]:
            yield f"{file.file}:{reference.line}: the folder {folder} must not use {other}, to its right in the line"


def test_rust_folders_import_only_folders_to_their_left() -> None:
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in (ROOT / "src").rglob("*.rs")}
    assert sources, "no Rust source was found: this test would hold nothing"
    assert violations(sources) == []


def test_only_capture_module_permits_host_memory_in_copies() -> None:
    # Code must query whether a stream is captured before it allows a copy that uses host memory. A captured copy would
    # read pageable memory at each launch of the graph, although the contents of the memory may have changed since the
    # capture.
    door = ROOT / "src" / "memory" / "stream_captures.rs"
    files = [RustSource(str(path.relative_to(ROOT)), path.read_text()) for path in (ROOT / "src").rglob("*.rs")]
    test_modules = {module for file in files for module in file.declared_in(file.spans_of_tests)}
    checked = [file for file in files if not _within(file.module, test_modules)]
    naming = {file.file for file in checked if list(file.lines_naming(r"\bpromised\b", outside=file.spans_of_tests))}
    assert naming == {"src/backend/copies.rs", str(door.relative_to(ROOT))}


def test_unsafe_calls_of_c_functions_are_only_in_ffi_folder() -> None:
    # Only `src/python/ffi` may call the C APIs of Python, NumPy and DLPack. Unsafe code in other folders may concern
    # only device memory and the classes of this crate.
    folder = ROOT / "src" / "python"
    files = [RustSource(str(path.relative_to(ROOT)), path.read_text()) for path in folder.rglob("*.rs")]
    counts = {file.file: len(list(file.lines_naming(r"\bunsafe\b", outside=file.spans_of_tests))) for file in files}
    inside = sum(count for name, count in counts.items() if name.startswith("src/python/ffi/"))
    assert inside > 100, "hardly any was found: this test would hold nothing"
    assert sum(counts.values()) - inside <= 60
    calls = r"\b(?:ffi::_?Py\w*\(|PY_ARRAY_API\b|npyffi\b)"
    calling = {file.file for file in files if list(file.lines_naming(calls, outside=file.spans_of_tests))}
    assert {name for name in calling if not name.startswith("src/python/ffi/")} == set()


def test_only_two_crates_depend_on_crate_pyo3() -> None:
    naming = set()
    for manifest in (ROOT / "src").glob("*/Cargo.toml"):
        dependencies = tomllib.loads(manifest.read_text())["dependencies"]
        naming |= {(manifest.parent.name, name) for name in ("pyo3", "numpy") if name in dependencies}
    # Only the crates `base` and `python` depend on pyo3. The dependency of `base` is optional: because of Rust's orphan
    # rule, only `base` can implement the conversion of its error type into Python exceptions.
    assert naming == {("base", "pyo3"), ("python", "pyo3"), ("python", "numpy")}
    base = tomllib.loads((ROOT / "src/base/Cargo.toml").read_text())
    assert base["dependencies"]["pyo3"]["optional"] is True


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("src/backend/cuda/mod.rs", "use super::hip::Module;"),
        ("src/backend/cuda/copy.rs", "use crate::{hip, Backend};"),
        ("src/backend/hip/mod.rs", "fn f() { super::cuda::open() }"),
        ("src/backend/cuda_and_hip/open_library.rs", "use crate::cuda::Cuda;"),
        ("src/backend/cuda_and_hip/open_library.rs", "macro_rules! m { () => { $crate::cuda::run() } }"),
        ("src/backend/cuda_and_hip/open_library.rs", "use crate\n    ::cuda;"),
        ("src/backend/cuda_and_hip/open_library.rs", 'const S: &str = "\\" // "; use crate::cuda::Cuda;'),
        ("src/backend/cuda_and_hip/open_library.rs", 'const S: &str = r#"a" /* "#; use crate::cuda::Cuda;'),
        (
            "src/backend/cuda_and_hip/open_library.rs",
            "fn f<'a>(c: char) -> bool { c == '\"' } use crate::cuda::Cuda; // \"",
        ),
        (
            "src/backend/cuda_and_hip/open_library.rs",
            "#[cfg(test)] mod tests { use crate::hip::A; } use crate::cuda::Cuda;",
        ),
        ("src/backend/cuda_and_hip/open_library.rs", "#[cfg(not(test))] use crate::cuda::Cuda;"),
        ("src/backend/cuda_and_hip/open_library.rs", "mod inner { use super::super::super::cuda::Cuda; }"),
        ("src/python/array/class.rs", "use crate::views::index;"),
        ("src/python/host_transfers/device_arrays.rs", "use super::super::create::upload;"),
        ("src/python/gil.rs", "use super::exit;"),
        ("src/python/cellar/wine.rs", "fn f() {}"),
        ("src/python/compat/raw.rs", "use crate::cellar;"),
    ],
)
def test_layer_check_finds_inserted_forbidden_import(file: str, text: str) -> None:
    assert len(violations({file: text})) == 1


@pytest.mark.parametrize(
    "sources",
    [
        {"src/backend/backend_registry.rs": "use super::{cpu, cuda, hip};"},
        {"src/backend/cuda_and_hip/a.rs": "// use crate::cuda;\n/* a /* nested */ use crate::cuda; */ fn f() {}"},
        {"src/backend/cuda_and_hip/a.rs": 'const S: T = "use crate::cuda;"; const R: T = r#"" use crate::cuda; "#;'},
        {"src/backend/cuda_and_hip/open_library.rs": "//! [`crate::cuda::Cuda`]\nfn f() {}"},
        {"src/backend/cuda_and_hip/a.rs": "#[cfg(test)]\n#[allow(missing_docs)]\nmod tests { use crate::cuda::A; }"},
        {
            "src/backend/cuda_and_hip/mod.rs": "#[cfg(test)] mod tests;",
            "src/backend/cuda_and_hip/tests/deep.rs": "use crate::cuda::A;",
        },
        {"src/python/lib.rs": "use pyo3::prelude::*; use compat::register;"},
        {"src/python/compat/a.rs": "use crate::{array::class, gil}; use super::b; use pygpu_array::Array;"},
    ],
)
def test_layer_check_accepts_allowed_imports(sources: dict[str, str]) -> None:
    assert violations(sources) == []


def test_message_of_layer_violation_has_line_number() -> None:
    assert violations({"src/backend/hip/a.rs": "\n\nuse crate::cuda::Cuda;\n"}) == [
        "src/backend/hip/a.rs:3: the backend hip must not use backend::cuda::Cuda"
    ]
