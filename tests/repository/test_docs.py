"""Test the documentation: the reference, the form of docstrings, and the examples in docstrings.

The repository's conftest.py makes pytest run the code blocks of README.md and docs/.
"""

import ast
import doctest
import enum
import functools
import importlib
import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU import _core
from PyGPU._names import index

pytestmark = [pytest.mark.reads_in_place, pytest.mark.enough_on("cpu")]
ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("**/*.md")])
# The tests cover all Python modules, except modules whose import has side effects.
MODULES = (
    PyGPU,
    PyGPU.gpuarray,
    PyGPU.backend,
    PyGPU.characterize,
    PyGPU.compiler,
    PyGPU.cumath,
    PyGPU.cupy,
    PyGPU.cupy.cuda.cufft,
    PyGPU.cupy.fft.config,
    PyGPU.cupy.polynomial.polynomial,
    PyGPU.cupy.polynomial.polyutils,
    PyGPU.cupy.random,
    PyGPU.cupy.testing,
    PyGPU.cupyx,
    PyGPU.cupyx.profiler,
    PyGPU.cupyx.scipy.fft,
    PyGPU.cupyx.scipy.fftpack,
    PyGPU.curandom,
    PyGPU.driver,
    PyGPU.elementwise,
    PyGPU.emath,
    PyGPU.fft,
    PyGPU.lib.stride_tricks,
    PyGPU.linalg,
    PyGPU.random,
    PyGPU.reduction,
    PyGPU.scan,
    PyGPU.special,
    PyGPU.tools,
    _core,
)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
BLOCK = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
# A docstring without a section Parameters must refer to another docstring by a text that matches this pattern.
REFERS = re.compile(r"\b(?:as|like|same as|see)\b[^.]*`\w[\w.]*`", re.IGNORECASE)


def make_reference() -> ModuleType:
    """Load docs/make_reference.py as a module."""
    return script("make_reference")


def script(name: str) -> ModuleType:
    """Load a script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Python puts a script's folder on the import path, because scripts import modules of their folder.
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "docs"))
    return module


def _members(name: str, owner: type) -> Iterator[tuple[str, Any]]:
    """Return the methods and properties of a class, and of its base classes within the package."""
    # The docstring of a class describes its slots and constants, so these need no docstrings.
    described = listed_parameters(sections(inspect.getdoc(owner) or "").get("Attributes", ""))
    own = [base for base in owner.__mro__ if base.__module__.split(".")[0] == "PyGPU"]
    for base in own if not issubclass(owner, enum.Enum) else ():
        # Sort the members, because the members of the extension's classes have no fixed order.
        for member, value in sorted(vars(base).items()):
            if isinstance(value, staticmethod | classmethod):
                value = getattr(base, member)
            if (
                not member.startswith("_")
                and member not in described
                and (callable(value) or inspect.isdatadescriptor(value))
            ):
                yield f"{name}.{member}", value


def documented(modules: Iterable[ModuleType] = MODULES) -> dict[str, Any]:
    """Return all public functions and classes and their public members by full name, and each object only once."""
    found: dict[str, Any] = {}
    seen: set[int] = set()

    def add(name: str, value: Any) -> None:
        if id(value) not in seen:
            seen.add(id(value))
            found[name] = value

    for module in modules:
        names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
        for name in names:
            value = getattr(module, name)
            if not callable(value) or (isinstance(value, type) and value.__module__.startswith("numpy")):
                continue  # Skip constants, and types that NumPy defines.
            if name in index.GROUPS["NumPy's own"]:
                continue  # Skip objects that NumPy documents.
            add(name, value)
            if isinstance(value, type):
                for member, thing in _members(name, value):
                    add(member, thing)
    return found


def parameters(thing: Any) -> list[str]:
    """Return the names of a function's positional and keyword parameters."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return []
    kinds = inspect.Parameter
    named = (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)
    return [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.kind in named and parameter.name not in ("self", "cls")
    ]


def sections(text: str) -> dict[str, str]:
    """Return the sections of a numpydoc docstring by title."""
    parts = SECTION.split(text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def listed_parameters(section: str) -> set[str]:
    """Return the parameter names that a docstring section lists."""
    heads = [line.partition(" :")[0] for line in section.splitlines() if line and not line[0].isspace()]
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def faults(thing: Any) -> list[str]:
    """Return a description of each part that a docstring lacks."""
    text = inspect.getdoc(thing) or ""
    if not text:
        return ["has no docstring"]
    first = " ".join(text.split("\n\n", 1)[0].split())
    found = []
    if not re.search(r"[.:]$", first):
        found.append(f"the summary is no sentence: {first!r}")
    if not callable(thing) or (isinstance(thing, type) and issubclass(thing, BaseException)):
        return found
    named = [] if isinstance(thing, enum.EnumType) else parameters(thing)
    section = sections(text).get("Parameters")
    if named and section is None and not REFERS.search(text):
        found.append(f"has parameters {named} and no section Parameters")
    if section is not None:
        missing = set(named) - listed_parameters(section)
        if missing:
            found.append(f"Parameters says nothing of {sorted(missing)}")
    return found


DOCUMENTED = documented()


# Calls in docstring examples that need a compiler for kernels.
COMPILING = re.compile(r"\b(Kernel|Module|SourceModule|sizeof|compile|load_source|compile_source)\(")


@functools.cache
def has_compiler() -> bool:
    try:
        PyGPU.Module("__global__ void none() {}")
    except PyGPU.BackendUnavailableError:
        return False
    return True


class ExampleRunner(doctest.DocTestRunner):
    """Run an example, and store the error of a call that the backend does not support."""

    unsupported: PyGPU.NotSupportedError | None = None

    def report_unexpected_exception(self, out: Any, test: Any, example: Any, exc_info: Any) -> None:
        if isinstance(exc_info[1], PyGPU.NotSupportedError):
            self.unsupported = exc_info[1]
        super().report_unexpected_exception(out, test, example, exc_info)


def _examples() -> list[doctest.DocTest]:
    parser = doctest.DocTestParser()
    tests = [
        parser.get_doctest(inspect.getdoc(thing) or "", {"__name__": "__main__"}, name, f"<{name}>", 0)
        for name, thing in DOCUMENTED.items()
    ]
    return [test for test in tests if test.examples]


@pytest.mark.parametrize("test", _examples(), ids=lambda test: test.name)
def test_docstring_example_gives_shown_output(test: doctest.DocTest) -> None:
    if any(COMPILING.search(example.source) for example in test.examples) and not has_compiler():
        pytest.skip("no compiler for kernels")
    report: list[str] = []
    runner = ExampleRunner(optionflags=FLAGS, verbose=False)
    runner.run(test, out=report.append)
    if PyGPU.backend_name() == "hip" and runner.unsupported is not None:
        pytest.skip(str(runner.unsupported))
    assert not runner.summarize(verbose=False).failed, "".join(report)


def test_examples_import_no_private_modules() -> None:
    names = [f"PyGPU.cupy.cuda.{module.name}" for module in pkgutil.iter_modules(PyGPU.cupy.cuda.__path__)]
    cuda = [importlib.import_module(name) for name in names]
    public = DOCUMENTED | documented([PyGPU.cupy.cuda, *cuda])
    private = re.compile(r"^ *(?:>>> |\.\.\. )?(?:import|from) PyGPU[\w.]*(?:\._| import _)", re.MULTILINE)
    assert [name for name, thing in public.items() if private.search(inspect.getdoc(thing) or "")] == []
    files = [*PAGES, *(ROOT / "examples").rglob("*.py")]
    assert [str(file) for file in files if private.search(file.read_text(encoding="utf-8"))] == []


def test_messages_cite_no_files_of_documentation() -> None:
    # An installed package has no folder docs, so messages cite titles of pages or other help.
    cited = []
    for file in (ROOT / "python" / "PyGPU").rglob("*.py"):
        nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
        # A docstring, also of a constant, is an expression statement.
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        texts = [node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in docstrings]
        cited += [f"{file}: {text}" for text in texts if isinstance(text, str) and "docs/" in text]
    for file in (ROOT / "src").rglob("*.rs"):
        lines = file.read_text(encoding="utf-8").splitlines()
        cited += [f"{file}: {line}" for line in lines if re.match(r"(?!\s*(//|#\[)).*docs/", line)]
    assert cited == []


def test_docstrings_of_different_functions_differ() -> None:
    by_text: dict[str, list[str]] = {}
    for name, thing in DOCUMENTED.items():  # An object with two public names is compared once.
        if not isinstance(thing, type) and "." not in name:
            by_text.setdefault(inspect.getdoc(thing) or "", []).append(name)
    assert [names for names in by_text.values() if len(names) > 1] == []


def test_ufunc_and_reduction_docstrings_have_examples() -> None:
    kinds = (PyGPU.Ufunc, PyGPU.Reduction)
    functions = [thing for thing in DOCUMENTED.values() if isinstance(thing, kinds)]
    shown = [re.search(r"^>>> .*?\bPyGPU\.(?:special\.)?(\w+)\(", one.__doc__, re.MULTILINE) for one in functions]
    assert [one[1] if one else "" for one in shown] == [one.__name__ for one in functions]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_public_docstring_has_numpydoc_form(name: str) -> None:
    assert faults(DOCUMENTED[name]) == []


def test_docstring_check_finds_missing_parameters() -> None:
    def scale(values: Any, factor: float) -> None:
        """Scale the values.

        Parameters
        ----------
        values : array
        """

    def silent(values: Any) -> None: ...

    def bare(values: Any) -> None:
        """Do it"""

    assert faults(scale) == ["Parameters says nothing of ['factor']"]
    assert faults(silent) == ["has no docstring"]
    assert faults(bare) == [
        "the summary is no sentence: 'Do it'",
        "has parameters ['values'] and no section Parameters",
    ]


def test_reference_page_matches_script_output() -> None:
    pytest.importorskip("dask", reason="the page describes PyGPU.dask.Backend, which derives from a class of Dask")
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    expected = make_reference().reference()
    assert page == expected, "run: python docs/make_reference.py"


def test_function_table_matches_script_output() -> None:
    page = (ROOT / "docs" / "arithmetic.md").read_text(encoding="utf-8")
    assert page == script("make_operations").page(), "run: python docs/make_operations.py"


def test_table_of_special_functions_matches_script_output() -> None:
    page = (ROOT / "docs" / "special.md").read_text(encoding="utf-8")
    assert page == script("make_special").page(), "run: python docs/make_special.py"


def test_numpy_name_table_matches_script_output() -> None:
    page = (ROOT / "docs" / "array_api.md").read_text(encoding="utf-8")
    if f"NumPy {np.__version__}." not in page:
        pytest.skip(f"the page lists the names of another NumPy than {np.__version__}")
    assert page == script("make_functions").page(), "run: python docs/make_functions.py"


def test_random_name_table_matches_script_output() -> None:
    page = (ROOT / "docs" / "random.md").read_text(encoding="utf-8")
    assert page == script("make_random").page(), "run: python docs/make_random.py"


def test_cupy_name_table_matches_script_output() -> None:
    page = (ROOT / "docs" / "porting_from_cupy.md").read_text(encoding="utf-8")
    assert page == script("make_cupy_names").page(), "run: python docs/make_cupy_names.py"


def test_random_kernels_match_script_output() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools/random_kernels.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_reference_has_every_public_name_once() -> None:
    made = make_reference()
    page, *modules = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8").split("\n## `PyGPU.")
    listed = re.findall(r"^- `(?:PyGPU\.)?([\w<>]+)", page, re.MULTILINE)
    expected = {f"{made.family(name)}_<dtype>" if made.family(name) else name for name in made.public_names()}
    assert sorted(listed) == sorted(expected)
    assert [text.partition("`")[0] for text in modules] == list(made.MODULES)


def test_reference_has_section_of_every_public_module() -> None:
    made = make_reference()
    names = [each.name.removeprefix("PyGPU.") for each in pkgutil.walk_packages(PyGPU.__path__, "PyGPU.")]
    public = {name for name in names if not re.search(r"(^|\.)_", name)}
    elsewhere = {name for name in public if name.split(".")[0] in made.MODULES_ELSEWHERE}
    assert public - elsewhere == set(made.MODULES)


def test_section_of_module_has_every_public_name() -> None:
    made = make_reference()
    sections = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8").split("\n## `PyGPU.")[1:]
    missing = []
    for section in sections:
        module = importlib.import_module(f"PyGPU.{section.partition('`')[0]}")
        for name in getattr(module, "__all__", ()):
            shown = f"{made.family(name)}_<dtype>" if made.family(name) else name
            if not re.search(
                rf"(?:^- `(?:PyGPU\.[\w.]+\.)?|^As in .*`){re.escape(shown)}(?!\w)", section, re.MULTILINE
            ):
                missing.append(f"{module.__name__}.{name}")
    assert missing == []


def test_reference_shows_signatures_of_ufuncs() -> None:
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    keywords = "out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True"
    assert f"- `add(x1, x2, /, {keywords})`: Add the operands.\n" in page
    assert f"- `betainc(a, b, x, /, {keywords})`: " in page


@pytest.mark.parametrize("page", ["arithmetic.md", "reference.md", "special.md"])
def test_generated_page_escapes_powers(page: str) -> None:
    text = re.sub(r"`[^`\n]*`", "", (ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert re.findall(r".*\w\*\*\w.*", text) == []


def test_reference_script_rejects_public_name_without_group() -> None:
    with pytest.raises(LookupError, match="no_such_name is in no group"):
        make_reference().group_of("no_such_name")


def links(page: Path) -> list[str]:
    """Return the targets of a page's links within the repository."""
    targets = LINK.findall(BLOCK.sub("", page.read_text(encoding="utf-8")))
    return [target for target in targets if not target.startswith(("http://", "https://"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_pages_lead_to_existing_files(page: Path) -> None:
    # A copy of the repository on a machine with a GPU may lack results.
    has_results = (ROOT / "docs" / "results").exists()
    targets = [target for target in links(page) if has_results or "results/" not in target]
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_every_page_is_linked_from_readme() -> None:
    seen, open_pages = set(), [ROOT / "README.md"]
    while open_pages:
        page = open_pages.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        open_pages += [path for target in links(page) if (path := (page.parent / target).resolve()).is_file()]
    assert [page for page in PAGES if page.resolve() not in seen] == []


def test_readme_has_at_most_130_lines() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 130
