"""Test that no public name is missing on the generated API pages of `make docs`."""

import importlib.util
import pkgutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

import PyGPU

pytest.importorskip("dask", reason="the pages of the reference include PyGPU.dask")

pytestmark = [pytest.mark.reads_in_place, pytest.mark.enough_on("cpu")]
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def api_pages() -> ModuleType:
    """Load docs/site/api_pages.py as a module."""
    sys.path.insert(0, str(DOCS))
    try:
        spec = importlib.util.spec_from_file_location("api_pages", DOCS / "site" / "api_pages.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(DOCS))
    return module


@pytest.fixture(scope="module")
def pages(api_pages: ModuleType) -> dict[str, str]:
    """Return the text of each API page, by the name of the page."""
    return dict(api_pages.pages())


def test_every_public_module_has_a_page(pages: dict[str, str]) -> None:
    modules = {each.name for each in pkgutil.iter_modules(PyGPU.__path__) if not each.name.startswith("_")}
    assert modules <= set(pages)


def test_functions_named_like_builtins_are_on_api_pages(pages: dict[str, str]) -> None:
    for name in ("sum", "min", "max", "any", "all"):
        assert f".. autofunction:: PyGPU.{name}(a, /, axis=None" in pages["pygpu-reductions"]
    assert ".. autofunction:: PyGPU.abs(x1, /" in pages["pygpu-functions-of-each-element"]


def test_class_on_api_page_lists_members_of_undocumented_base(pages: dict[str, str]) -> None:
    for page, name in (("random", "Generator"), ("compiler", "SourceModule")):
        _, found, rest = pages[page].partition(f".. autoclass:: PyGPU.{page}.{name}\n")
        assert found
        assert "   :inherited-members: object\n" in rest.split(".. auto")[0]


def test_constant_on_api_page_has_name_and_module(pages: dict[str, str]) -> None:
    page = pages["pygpu-cuda-streams-and-events"]
    assert ".. py:data:: cudaStreamDefault\n   :module: PyGPU\n" in page
