"""Test that completion and `help` of each public module show only public names, and readable signatures."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import pydoc
import re
import rlcompleter
import types
import typing
from collections.abc import Iterator
from typing import Any

import pytest

import PyGPU
from PyGPU._names.annotations import readable

pytestmark = pytest.mark.enough_on("cpu")

# Modules that raise an error or create a context when they are imported.
NOT_IMPORTED = {"PyGPU.gl", "PyGPU.sparse", "PyGPU.autoinit", "PyGPU.autoprimaryctx"}

# Names that a star import omits, because an access to such a name opens a driver or depends on the time of the access.
UNLISTED = {
    "PyGPU.backend": {"use_hip"},
    "PyGPU.cupy.cuda.nvtx": {"available"},
    "PyGPU.cupy.cuda.runtime": {"is_hip"},
    "PyGPU.driver": {"CUDA_DEBUGGING"},
    "PyGPU.runtime": {"use_hip"},
}

# Packages from whose classes a module's public classes derive. The module itself can be imported without them.
NEEDS = {"PyGPU.dask": ("dask",)}


def public_modules() -> list[str]:
    """Return the names of all public modules below `PyGPU`, and of their public submodules."""
    names = [module.name for module in pkgutil.walk_packages(PyGPU.__path__, "PyGPU.")]
    return [name for name in names if "._" not in name and name not in NOT_IMPORTED]


def imported(name: str) -> types.ModuleType:
    """Import a public module, all of whose names can be accessed, or skip the test if that needs a missing package."""
    for package in NEEDS.get(name, ()):
        pytest.importorskip(package, reason=f"the names of {name} include classes that derive from {package}'s")
    return importlib.import_module(name)


def callables_of(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """Return PyGPU's functions and classes in a module, and the public methods of the classes, by name."""
    for name in getattr(module, "__all__", ()):
        value = getattr(module, name)
        defined_in = value.__module__ if isinstance(value, type) else getattr(value, "__module__", None)
        if isinstance(value, types.ModuleType) or not callable(value) or not str(defined_in).startswith("PyGPU"):
            continue
        yield f"{module.__name__}.{name}", value
        if isinstance(value, type):
            members = [member for member in vars(value) if member == "__init__" or not member.startswith("_")]
            yield from ((f"{module.__name__}.{name}.{member}", getattr(value, member)) for member in members)


def signature_of(value: Any) -> str:
    """Return the signature that `help` shows, or an empty string for an object without one."""
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""


@pytest.mark.parametrize("name", public_modules())
def test_dir_of_module_lists_exactly_public_names(name: str) -> None:
    module = importlib.import_module(name)
    shown = {each for each in dir(module) if not each.startswith("_")}
    assert shown == {*getattr(module, "__all__", ()), *UNLISTED.get(name, ())}


@pytest.mark.parametrize("name", ["PyGPU", *public_modules()])
def test_signatures_of_module_have_no_quotes_and_no_private_types(name: str) -> None:
    module = imported(name)
    shown = {path: signature_of(value) for path, value in callables_of(module)}
    # Quotes within `Literal[...]` are correct, because its arguments are strings.
    plain = {path: re.sub(r"Literal\[[^]]*\]", "", text) for path, text in shown.items()}
    private = re.compile(r"PyGPU\._|_core\.|ForwardRef|(?:: |-> |[\[|] ?)(?:'|\"|_[A-Z])")
    assert {path: text for path, text in plain.items() if private.search(text)} == {}


@pytest.mark.parametrize("name", ["PyGPU", *public_modules()])
def test_docstrings_of_module_name_no_private_objects(name: str) -> None:
    module = imported(name)
    texts = {path: inspect.getdoc(value) or "" for path, value in callables_of(module)}
    assert [path for path, text in texts.items() if re.search(r"\b_core\.|'PyGPU\._", text)] == []


@pytest.mark.parametrize("name", ["PyGPU.driver", "PyGPU.linalg", "PyGPU.backend", "PyGPU.cupy.cuda"])
def test_help_of_module_has_no_quoted_annotations(name: str) -> None:
    text = pydoc.render_doc(importlib.import_module(name), renderer=pydoc.plaintext)
    quoted = re.compile(r"ForwardRef|\w\(.*(?:: |-> )'|__annotations__ = \{.*: '")
    # Lines of examples may contain quotes, because they print strings.
    assert [line for line in text.splitlines() if quoted.search(line) and ">>>" not in line] == []


def test_completion_of_random_module_omits_imported_names() -> None:
    matches = rlcompleter.Completer({"PyGPU": PyGPU}).attr_matches("PyGPU.random.")
    found = {match.removeprefix("PyGPU.random.").rstrip("()") for match in matches}
    assert found == set(PyGPU.random.__all__)


def test_completion_of_array_shows_only_documented_attributes() -> None:
    shown = [name for name in dir(PyGPU.GPUArray) if not name.startswith("_")]
    assert [name for name in shown if not inspect.getdoc(getattr(PyGPU.GPUArray, name))] == []
    assert {"__add__", "__dlpack__", "__array_ufunc__"} <= set(dir(PyGPU.GPUArray))


def test_signature_of_function_shows_types_without_quotes() -> None:
    text = signature_of(PyGPU.array_split)
    assert text == "(ary: GPUArray, indices_or_sections: Any, axis: int = 0) -> list[GPUArray]"


def test_annotations_of_module_can_be_evaluated() -> None:
    assert typing.get_type_hints(PyGPU.array_split)["ary"] is PyGPU.GPUArray


def test_annotations_of_functions_of_other_libraries_are_unchanged() -> None:
    def annotated(a: int) -> None: ...

    annotated.__annotations__ = {"a": "int"}
    assert readable(annotated) is annotated
    assert signature_of(annotated) == "(a: 'int')"


@pytest.mark.parametrize(
    ("name", "operands"),
    [("add", "x1, x2, /, out=None"), ("sin", "x, /, out=None"), ("modf", "x, /, out=(None, None)")],
)
def test_signature_of_ufunc_has_numpys_keywords_except_signature(name: str, operands: str) -> None:
    keywords = "where=True, casting='same_kind', order='K', dtype=None, subok=True"
    assert signature_of(getattr(PyGPU, name)) == f"({operands}, *, {keywords})"


def test_every_ufunc_has_signature_with_its_operands() -> None:
    ufuncs = [value for value in vars(PyGPU.special).values() if isinstance(value, PyGPU.Ufunc)]
    assert len(ufuncs) > 50
    for ufunc in ufuncs:
        parameters = inspect.signature(ufunc).parameters.values()
        assert [each.kind for each in parameters].count(inspect.Parameter.POSITIONAL_ONLY) == ufunc.nin
    assert signature_of(PyGPU.special.betainc).startswith("(a, b, x, /, out=None, *, where=True")
