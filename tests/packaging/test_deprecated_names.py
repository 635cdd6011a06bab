"""Test the mechanism for deprecated names: each access to such a name warns, and the import of PyGPU loads none of the
modules for them."""

from __future__ import annotations

import subprocess
import sys
import warnings
from types import MappingProxyType

import pytest

import PyGPU
from PyGPU._names import deprecated, index
from PyGPU._protocols import lazy_names

pytestmark = pytest.mark.enough_on("cpu")
ENTRY = deprecated.Deprecation("PyGPU._functions.shapes:reshape", "PyGPU.reshape(a, shape)", "0.3", "0.4")
MESSAGE = (
    r"^PyGPU\.reshaped is deprecated since PyGPU 0\.3 and will be removed in 0\.4: use PyGPU\.reshape\(a, shape\)$"
)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the name `reshaped` to the table of deprecated names."""
    entries = MappingProxyType({**deprecated.TABLE, "reshaped": ENTRY})
    monkeypatch.setattr(deprecated, "TABLE", entries)
    monkeypatch.setattr(lazy_names, "DEPRECATED", entries)


@pytest.mark.usefixtures("table")
def test_deprecated_name_warns_at_each_access_with_line_of_user() -> None:
    for _ in range(2):
        with pytest.warns(DeprecationWarning, match=MESSAGE) as caught:
            assert PyGPU.reshaped is PyGPU.reshape
        assert [one.filename for one in caught] == [__file__]


@pytest.mark.usefixtures("table")
def test_deprecated_name_can_be_imported_with_warning() -> None:
    with pytest.warns(DeprecationWarning, match=MESSAGE):
        from PyGPU import reshaped
    assert reshaped is PyGPU.reshape


@pytest.mark.usefixtures("table")
def test_deprecated_name_is_in_deprecated_table_but_not_in_dir() -> None:
    assert PyGPU.__deprecated__["reshaped"] == ENTRY
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "reshaped" not in {*dir(PyGPU), *PyGPU.__all__, *vars(PyGPU)}


def test_table_of_deprecated_names_is_valid() -> None:
    version = tuple(int(part) for part in PyGPU.__version__.split(".")[:2])
    for name, entry in PyGPU.__deprecated__.items():
        since, removal = (tuple(map(int, text.split("."))) for text in (entry.since, entry.removal))
        assert name not in {*index.HOME, *lazy_names.MODULES}, name
        assert since <= version < removal, f"{name}: remove the entry in version {entry.removal}"
        # A deprecated name must warn during at least one minor version before it is removed.
        assert removal > since, name
        assert deprecated.find(name) is not None


def test_import_of_pygpu_loads_no_module_for_deprecated_or_moved_names() -> None:
    program = "import sys, PyGPU; print([name for name in sys.modules if name.startswith('PyGPU._names')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"
