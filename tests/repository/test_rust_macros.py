"""Test the expansion of Rust macros, from which the stub gets the types of functions that macros generate."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.enough_on("cpu")

ROOT = Path(__file__).parents[2]

ENTRY = """
macro_rules! entry {
    (method $name:ident {$($text:tt)*} ($($signature:tt)*) ($($parameter:ident: $type:ty),*)
     $run:path, [$($first:expr),*]) => {
        #[pymethods]
        impl GpuArray {
            $($text)*
            #[pyo3(signature = ($($signature)*) -> "GPUArray")]
            fn $name<'py>(slf: &Bound<'py, Self>, $($parameter: $type),*) -> PyResult<()> {
                let quote = '"'; // a "{" in a comment
                $run($($first,)* slf)
            }
        }
    };
    (function $name:ident {$($text:tt)*} $($rest:tt)*) => {
        $($text)*
        #[pyfunction]
        #[pyo3(signature = (a: "GPUArray") -> "int")]
        fn $name(a: i32) -> i32 {}
    };
}
macro_rules! text {
    (axis) => { "axis : int" };
}
"""
ROWS = """
/// Rows of entries.
macro_rules! rows {
    ($($(#[$summary:meta])* $form:ident $name:ident => $run:path, $row:literal $(, $extra:ident)?
       { $(#[$example:meta])* })*) => {
        $(entry! { $form $name
            { $(#[$summary])* #[doc = text!(axis)] $(#[$example])* }
            (axis: "int | None" = None, *, keepdims: "bool" = false)
            (axis: Option<Vec<(i64, i64)>>, keepdims: bool) $run, [row($row)?, -1] })*
    };
}

rows! {
    /// The sum of "all"; it's 64 bits.
    method sum => reduction::call, "sum" {
        /// >>> 1
    }
    // An alias.
    function total => call, "sum", strict {}
}

other! { method ignored }
"""


@pytest.fixture
def rust_macros(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Load the module `rust_macros` from the folder `tools`."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import rust_macros

    yield rust_macros
    sys.modules.pop("rust_macros", None)


def test_functions_that_macros_generate_become_stub_entries(rust_macros: ModuleType) -> None:
    ((start, written),) = rust_macros.Macros([ENTRY, ROWS]).items(ROWS)
    assert ROWS[start:].startswith("rows! {")
    assert written.splitlines() == [
        "#[pymethods]",
        "impl GpuArray {",
        "    /// text",
        "    /// text",
        "    /// text",
        '    #[pyo3(signature=(axis:"int | None"=None,*,keepdims:"bool"=false)->"GPUArray")]',
        "    fn sum<'py>(slf:&Bound<'py,Self>,axis:Option<Vec<(i64,i64)>>,keepdims:bool)->PyResult<()> {",
        "    }",
        "}",
        "/// text",
        "#[pyfunction]",
        '#[pyo3(signature=(a:"GPUArray")->"int")]',
        "fn total(a:i32)->i32 {",
        "}",
    ]


def test_macros_without_functions_are_not_expanded(rust_macros: ModuleType) -> None:
    text = "macro_rules! twice {\n    ($x:expr) => { $x + $x };\n}\ntwice! { 1 }\n"
    assert list(rust_macros.Macros([text]).items(text)) == []


def test_expansion_rejects_macro_call_that_matches_no_arm(rust_macros: ModuleType) -> None:
    text = ROWS + "rows! {\n    method sum -> 3\n}\n"
    with pytest.raises(ValueError, match="rows!: no arm fits: method sum"):
        list(rust_macros.Macros([ENTRY, text]).items(text))


def test_native_module_macros_expand_to_python_names(rust_macros: ModuleType) -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "src/python").rglob("*.rs"))]
    macros = rust_macros.Macros(texts)
    written = "\n".join(lines for text in texts for _, lines in macros.items(text))
    for name in ("sum", "nanmax", "cumsum", "argsort", "matmul", "__radd__"):
        assert f"fn {name}" in written
