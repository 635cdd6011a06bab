"""Test the site that `make docs` builds: the generated API pages, the table of contents, and the index of search
words."""

import importlib.util
import json
import pkgutil
import re
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

import PyGPU

pytest.importorskip("dask", reason="the pages of the reference include PyGPU.dask")

pytestmark = [pytest.mark.reads_in_place, pytest.mark.enough_on("cpu")]
DOCS = Path(__file__).parents[2] / "docs"


def of_site(name: str) -> ModuleType:
    """Load a module of docs/site, which may import modules of docs."""
    sys.path.insert(0, str(DOCS))
    try:
        spec = importlib.util.spec_from_file_location(name, DOCS / "site" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(DOCS))
    return module


@pytest.fixture(scope="module")
def api_pages() -> ModuleType:
    """Load docs/site/api_pages.py as a module."""
    return of_site("api_pages")


@pytest.fixture(scope="module")
def pages(api_pages: ModuleType) -> dict[str, str]:
    """Return the text of each API page, by the name of the page."""
    return dict(api_pages.pages())


def test_every_public_module_has_an_api_page(pages: dict[str, str]) -> None:
    names = [each.name.removeprefix("PyGPU.") for each in pkgutil.walk_packages(PyGPU.__path__, "PyGPU.")]
    modules = {name for name in names if not re.search(r"(^|\.)_", name)}
    assert {"random", "lib.stride_tricks", "cupy.cuda.runtime"} <= modules <= set(pages)
    assert ".. autofunction:: PyGPU.lib.stride_tricks.as_strided\n" in pages["lib.stride_tricks"]


def test_functions_with_names_of_builtins_are_on_api_pages(pages: dict[str, str]) -> None:
    for name in ("sum", "min", "max", "any", "all"):
        assert f".. autofunction:: PyGPU.{name}(a, /, axis=None" in pages["pygpu-reductions"]
    assert ".. autofunction:: PyGPU.abs(x, /, out=None, *, where=True" in pages["pygpu-functions-of-each-element"]


def test_class_on_api_page_lists_members_of_undocumented_base(pages: dict[str, str]) -> None:
    for page, name in (("random", "Generator"), ("compiler", "SourceModule")):
        _, found, rest = pages[page].partition(f".. autoclass:: PyGPU.{page}.{name}\n")
        assert found
        assert "   :inherited-members: object\n" in rest.split(".. auto")[0]


def test_constant_on_api_page_has_name_and_module(pages: dict[str, str]) -> None:
    page = pages["pygpu-cuda-streams-and-events"]
    assert ".. py:data:: cudaStreamDefault\n   :module: PyGPU\n" in page


def test_site_contents_have_two_levels_with_at_most_12_entries() -> None:
    found = of_site("contents").read(DOCS)
    assert [entry.page for entry in found if entry.level == 0] == ["Use it", "How it works"]
    assert 8 < len([entry for entry in found if entry.level == 1]) <= 12


def test_site_contents_list_every_page_once() -> None:
    contents = of_site("contents")
    listed = [entry.page for entry in contents.read(DOCS) if entry.level > 0]
    assert sorted(listed) == sorted({*contents.pages_of(DOCS), "api/index", "gallery/index"} - {"index"})


def test_site_contents_insert_page_where_pattern_matches_its_path() -> None:
    contents = of_site("contents")
    found = contents.entries("Tier\n  Title <a/first>\n    a/*\n    *\n", ["a/first", "a/second", "third", "index"])
    trees = contents.toctrees(found)
    assert trees["index"] == "\n```{toctree}\n:hidden:\n:caption: Tier\n\nTitle </a/first>\n```\n"
    assert trees["a/first"] == "\n```{toctree}\n:hidden:\n\n/a/second\n/third\n```\n"


def test_site_title_of_design_page_differs_from_title_of_page_for_users() -> None:
    unique = of_site("contents").with_unique_title
    for page, title in (("design/memory", "Memory (design)"), ("howto/memory", "Memory")):
        text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
        assert unique(DOCS, page, text) == text.replace("# Memory\n", f"# {title}\n", 1)


def test_site_scorer_contains_words_of_every_page() -> None:
    script = of_site("search_words").write_scorer().read_text(encoding="utf-8")
    table = json.loads(script.partition("const WORDS = ")[2].partition(";\n")[0])
    assert set(table) == set(of_site("search_words").words())
    assert "mempool" in table["howto/memory"]
    assert "Scorer.score = " in script


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_first_line_of_page_names_its_readers(page: Path) -> None:
    if page.relative_to(DOCS).parts[0] in ("api", "gallery"):
        pytest.skip("written by another program")
    title, readers = [line for line in page.read_text(encoding="utf-8").splitlines() if line][:2]
    assert title.startswith("# ")
    assert re.fullmatch(r"\*For .+[.]\*", readers), "the line below the title names the readers: *For ... .*"


def test_site_archive_contains_each_example_of_bindings(tmp_path: Path) -> None:
    downloads = of_site("downloads")
    downloads.write(tmp_path / "build" / "examples.zip")
    with zipfile.ZipFile(tmp_path / "build" / "examples.zip") as archive:
        names = archive.namelist()
    folders = {path.name for path in downloads.EXAMPLES.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= {name.split("/")[1] for name in names}
    assert {"bindings/binding_checks.py", "bindings/library/heat.h", "bindings/pybind11/make.sh"} <= set(names)
    assert [name for name in names if name.endswith(".pyc")] == []
    assert downloads.is_example_of_bindings(downloads.EXAMPLES / "pybind11")
    assert not downloads.is_example_of_bindings(DOCS / "bindings")


def test_site_search_words_belong_to_existing_pages() -> None:
    words = of_site("search_words").words()
    assert [page for page in words if not (DOCS / f"{page}.md").exists()] == []
    assert [found for found in words.values() if not re.fullmatch(r"[a-z0-9_]+(, [a-z0-9_]+)*", found)] == []


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("ndarray", "tutorial"),
        ("asnumpy", "tutorial"),
        ("rawkernel", "howto/kernels"),
        ("mempool", "howto/memory"),
        ("cudamalloc", "howto/memory"),
        ("cudastreamsynchronize", "streams_and_lifetime"),
        ("nsight", "howto/fast"),
        ("ufunc", "arithmetic"),
    ],
)
def test_site_search_finds_page_by_word_of_another_library(word: str, page: str) -> None:
    front = of_site("search_words").front_matter(page)
    assert front.startswith("---\nmyst:\n  html_meta:\n    keywords: ")
    assert word in front.partition('keywords: "')[2].partition('"')[0].split(", ")
