"""Test the declarations of public names: generated files are current, and errors name the file and the line."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.enough_on("cpu")

ROOT = Path(__file__).parents[2]
RUST = Path("/src/python/sorting.rs")
PYTHON = ROOT / "python/PyGPU/_functions/sorting.py"


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModuleType, ModuleType, ModuleType]]:
    """Return the modules `name_index`, `core_stub` and `rust_declarations` from the folder `tools`."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import core_stub
    import name_index
    import rust_declarations

    yield name_index, core_stub, rust_declarations
    for module in ("name_index", "core_stub", "rust_declarations"):
        sys.modules.pop(module, None)


Tools = tuple[ModuleType, ModuleType, ModuleType]

FUNCTION = """
/// The order.
#[pyfunction]
#[pyo3(
    signature = (
        a: "GPUArray", axis: "int | None" = Some(-1), *, kind: "Literal['a', 'b']" = "a, (b", stable: "bool" = false
    ) -> "GPUArray",
    text_signature = "(a, axis=-1, *, kind='a, (b', stable=False)"
)]
pub(crate) fn argsort<'py>(a: Own<'_, 'py>) -> PyResult<Bound<'py, GpuArray>> {
"""


def test_files_generated_from_declarations_are_current(tools: Tools) -> None:
    name_index, core_stub, _ = tools
    declared = name_index.declared()
    assert list(name_index.errors(declared)) == []
    assert name_index.INDEX.read_text(encoding="utf-8") == name_index.index(declared), "run: make names"
    assert name_index.TYPES.read_text(encoding="utf-8") == name_index.types(declared), "run: make names"
    assert core_stub.STUB.read_text(encoding="utf-8") == core_stub.stub(), "run: make names"


def test_signature_in_declarations_becomes_stub_entry(tools: Tools) -> None:
    _, core_stub, rust = tools
    (item,) = rust.items(RUST, FUNCTION)
    assert (item.name, item.line, item.is_documented) == ("argsort", 10, True)
    assert "\n".join(core_stub.member(item, {})) == (
        "def argsort(\n"
        '    a: GPUArray, axis: int | None = -1, *, kind: Literal["a", "b"] = "a, (b", stable: bool = False\n'
        ") -> GPUArray: ..."
    )


def test_stub_methods_have_types_of_signatures_and_results(tools: Tools) -> None:
    _, core_stub, rust = tools
    text = """
#[pymethods]
impl PyDevice {
    #[new]
    #[pyo3(signature = (index: "DeviceLike" = None) -> "Self")]
    fn new(py: Python<'_>, index: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
    }

    #[getter]
    fn memory(&self) -> PyResult<(usize, Option<String>)> {
    }

    #[getter]
    // stub: -> Literal["cpu", "cuda"]
    fn kind(&self) -> &'static str {
    }

    fn __len__(&self) -> usize {
    }
}

fn not_exported() {
"""
    lines = [line for item in rust.items(RUST, text) for line in core_stub.member(item, {"PyDevice": "Device"})]
    assert lines == [
        "    def __new__(cls, index: DeviceLike = None) -> Self: ...",
        "    @property",
        "    def memory(self) -> tuple[int, str | None]: ...",
        "    @property",
        '    def kind(self) -> Literal["cpu", "cuda"]: ...',
        "    def __len__(self) -> int: ...",
    ]


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("#[allow(unused)]", "sorting.rs:4: f: no signature"),
        ('#[pyo3(signature = (a, b: "int") -> "int")]', "sorting.rs:4: f: no type of a"),
        ('#[pyo3(signature = (a: "int"))]', "sorting.rs:4: f: no type of the result"),
    ],
)
def test_stub_check_finds_function_without_types(tools: Tools, signature: str, message: str) -> None:
    _, core_stub, rust = tools
    (item,) = rust.items(RUST, f"/// Text.\n#[pyfunction]\n{signature}\nfn f(a: i32, b: i32) -> i32 {{\n}}\n")
    with pytest.raises(rust.DeclarationError, match=message):
        list(core_stub.member(item, {}))


def test_stub_check_finds_getter_of_unknown_type(tools: Tools) -> None:
    _, core_stub, rust = tools
    text = "#[pymethods]\nimpl A {\n    #[getter]\n    fn x(&self) -> Strange {\n    }\n}\n"
    (item,) = rust.items(RUST, text)
    with pytest.raises(rust.DeclarationError, match=r"sorting.rs:4: x: the type in Python is missing"):
        list(core_stub.member(item, {}))


def test_declaration_entries_have_groups_aliases_and_host_parameters(tools: Tools) -> None:
    _, _, rust = tools
    text = """
names! {
    with add;
    // A remark: with marks;
    functions "Order": sort, argsort(host = ["a", "b"]),
        lexsort;
    aliases "Order": order = sort;
    internal_classes: Launcher;
}
"""
    found = [(one.name, one.kind, one.group, one.line, one.target, one.host) for one in rust.names(RUST, text)]
    assert found == [
        ("sort", "functions", "Order", 5, None, ()),
        ("argsort", "functions", "Order", 5, None, ("a", "b")),
        ("lexsort", "functions", "Order", 6, None, ()),
        ("order", "aliases", "Order", 7, "sort", ()),
        ("Launcher", "classes", None, 8, None, ()),
    ]


@pytest.mark.parametrize("row", ["functions: sort;", 'internal_functions "Order": sort;', 'funtions "Order": sort;'])
def test_declaration_check_finds_wrong_entry(tools: Tools, row: str) -> None:
    _, _, rust = tools
    with pytest.raises(rust.DeclarationError, match=r"sorting.rs:2: names!: a row is"):
        list(rust.names(RUST, f"names! {{\n    {row}\n}}\n"))


def test_declaration_check_finds_undeclared_exported_name(tools: Tools) -> None:
    _, core_stub, rust = tools
    exported = list(rust.names(RUST, 'names! {\n    functions "Order": sort;\n}\n'))
    with pytest.raises(rust.DeclarationError, match=r"sorting.rs:2: sort has no types"):
        core_stub.check_types([], exported, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('@public("Order")\ndef f():\n    """Text."""', None),
        ('@public("Order")\ndef f(): ...', "sorting.py:2: f has no docstring"),
        ('@public("Ordr")\ndef f():\n    """Text."""', "sorting.py:2: f: no group 'Ordr'"),
        ('@public("Order")\ndef _f():\n    """Text."""', "sorting.py:2: _f is a private name"),
        ('x = 1\npublic_values("Order", "x", "x")', "sorting.py:2: x is declared twice; the other declaration is"),
    ],
)
def test_declaration_check_finds_wrong_public_decorator(tools: Tools, text: str, message: str | None) -> None:
    name_index, _, _ = tools
    found = list(name_index.errors(name_index.marks(PYTHON, text)))
    assert len(found) == (message is not None)
    assert message is None or message in found[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('public_values("Order", "x")', "sorting.py:1: x: the module defines no such name"),
        ("@public(GROUP)\ndef f():\n    pass", "sorting.py:1: the arguments of a mark are literal texts"),
        (
            'class A:\n    @public("Order")\n    def f(self):\n        pass',
            "sorting.py:2: a public name is one of the module",
        ),
    ],
)
def test_declaration_check_finds_unreadable_public_decorator(tools: Tools, text: str, message: str) -> None:
    name_index, _, rust = tools
    with pytest.raises(rust.DeclarationError, match=message):
        list(name_index.marks(PYTHON, text))


def returned(text: str) -> Iterator[tuple[str, str]]:
    """Yield the functions and methods of a module, including overloads, with the types of their results."""
    for node in ast.walk(ast.parse(text)):
        for one in getattr(node, "body", ()) if isinstance(node, ast.Module | ast.ClassDef) else ():
            if isinstance(one, ast.FunctionDef):
                owner = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
                yield owner + one.name, "nothing" if one.returns is None else ast.unparse(one.returns)


def test_no_operator_or_function_has_return_type_any(tools: Tools) -> None:
    name_index, core_stub, _ = tools
    declared = name_index.declared()
    files = {one.path for one in declared if one.path.suffix == ".py"} | {core_stub.STUB}
    found: dict[str, set[str]] = {}
    for text in (path.read_text(encoding="utf-8") for path in files):
        for name, kind in returned(text):
            found.setdefault(name, set()).add(kind)
    functions = {one.name for one in declared} & set(found)
    assert len(functions) > 250
    # Omit the implementation of an overloaded function. The implementation may return Any, because type checkers use
    # the overloads only.
    assert {name for name in functions if found[name] <= {"Any", "nothing"}} == {"get_allocator"}
    kinds = [found[f"GPUArray.__{name}__"] for name in OPERATORS]
    assert set().union(*kinds) == {"GPUArray", "Self", "tuple[GPUArray, GPUArray]"}


ARITHMETIC = "add sub mul truediv floordiv mod pow matmul lshift rshift and or xor"
OPERATORS = [
    *(side + name for side in ("", "r", "i") for name in ARITHMETIC.split()),
    *("divmod", "rdivmod", "neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "eq", "ne"),
]
