"""Write the API pages: one for each subject of `PyGPU`, one for each other public module.

The pages list names in the order of ``docs/make_reference.py``. Sphinx's autodoc inserts the docstrings.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from make_reference import FAMILIES, FAMILY_GROUP, GROUPS, PREFIXES, call, group_of, public_names

import PyGPU
from PyGPU._names import index

if TYPE_CHECKING:  # tests import this module without Sphinx
    from sphinx.application import Sphinx

# Public modules except `PyGPU`, by the API that they belong to. Their submodules follow them. A module without a group
# is an error.
MODULES = {
    "Modules of PyGPU": [
        "random", "linalg", "fft", "special", "emath", "lib", "sparse", "typing", "testing", "debug", "profile", "gl",
        "dask",
    ],
    "Modules of PyCUDA": [
        "gpuarray", "driver", "compiler", "tools", "elementwise", "reduction", "scan", "cumath", "curandom",
        "characterize", "autoinit", "autoprimaryctx",
    ],
    "Packages of CuPy": ["cupy", "cupyx"],
    "Modules of PybindGPU": ["runtime", "device_array", "allocators", "backend", "nvml"],
}  # fmt: skip


def public_modules() -> list[str]:
    """Return the names of the public modules below `PyGPU`, such as ``lib`` and ``lib.stride_tricks``."""
    names = [module.name.removeprefix("PyGPU.") for module in pkgutil.walk_packages(PyGPU.__path__, "PyGPU.")]
    return sorted(name for name in names if not any(part.startswith("_") for part in name.split(".")))


def listed(module: ModuleType) -> list[str]:
    """Return the public names of a module."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    return sorted(names, key=lambda name: (name.lower(), name))


def heading(title: str, under: str = "=") -> str:
    """Return a title with an underline of the same length."""
    return f"{title}\n{under * len(title)}\n\n"


def directive(module: str, name: str, value: Any) -> str:
    """Return Sphinx's autodoc directive for a public name, which depends on the kind of its object."""
    full = f"{module}.{name}"
    if isinstance(value, (PyGPU.Ufunc, PyGPU.Reduction)):
        return f".. autofunction:: {module}.{call(name, value)}\n\n"
    if isinstance(value, type) and issubclass(value, BaseException):
        return f".. autoexception:: {full}\n\n"
    if value in (PyGPU.Ufunc, PyGPU.Reduction):
        return f".. autoclass:: {full}()\n   :members:\n\n"  # Programs call only instances, such as `add` and `sum`.
    if isinstance(value, type):
        one_by_one = members_of(value)
        without = ", ".join(["names", "values", *one_by_one])
        options = f"   :members:\n   :exclude-members: {without}\n{inherited(value)}"
        return f".. autoclass:: {full}\n{options}\n" + enumerated(one_by_one)
    if callable(value):
        return f".. autofunction:: {full}\n\n"
    if type(value).__module__.startswith("PyGPU."):
        return f".. autodata:: {full}\n   :no-value:\n\n"
    short = f"   :value: {value!r}\n" if len(repr(value)) < 60 else ""
    return f".. py:data:: {name}\n   :module: {module}\n{short}\n"


def inherited(value: type) -> str:
    """Return autodoc's option that includes the members of base classes which have no page."""
    bases = value.__mro__[1:]
    pageless = [base for base in bases if base.__module__.startswith("PyGPU.") and "._" in base.__module__]
    # autodoc omits the members of the base classes that this option names.
    ends = ", ".join(sorted({base.__name__ for base in bases if base not in pageless}))
    return f"   :inherited-members: {ends}\n" if pageless else ""


def members_of(value: type) -> Mapping[str, Any]:
    """Return the members of an enumeration, of Python or in the style of Boost, which have no docstrings."""
    members = getattr(value, "__members__", None) or getattr(value, "names", None)
    return members if isinstance(members, Mapping) else {}


def enumerated(members: Mapping[str, Any]) -> str:
    """Return the text that lists the members of an enumeration and their values."""
    lines = [f"   .. py:attribute:: {name}\n      :no-contents-entry:\n" for name in members]
    values = [f"      :value: {int(member)}\n" if isinstance(member, int) else "" for member in members.values()]
    return "".join(line + number + "\n" for line, number in zip(lines, values, strict=True))


def by_subject() -> dict[str, list[str]]:
    """Return the public names of `PyGPU` by subject."""
    subjects: dict[str, list[str]] = {title: [] for title in (*GROUPS, *PREFIXES.values(), FAMILY_GROUP)}
    for name in public_names():
        subjects[group_of(name)].append(name)
    return subjects


def subject_page(title: str, names: list[str]) -> str:
    """Return the page of one subject of `PyGPU`."""
    order = GROUPS.get(title, names)
    names = sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name))
    page = heading(f"{plain(title)} (interface)") + ".. py:currentmodule:: PyGPU\n\n"
    if title == FAMILY_GROUP:
        page += f"One class for each of {', '.join(PyGPU.SUPPORTED_DTYPES)}; shown for float32.\n\n"
        names = [f"{kind}_float32" for kind in FAMILIES]
    elsewhere = [name for name in names if name in index.GROUPS["NumPy's own"] or of_numpy(getattr(PyGPU, name))]
    if elsewhere:
        page += re_exported(elsewhere)
    modules = [name for name in names if isinstance(getattr(PyGPU, name), ModuleType) and name not in elsewhere]
    for name in names:
        if name in modules:
            page += f"- :doc:`{name}`\n"
    page += "\n"
    for name in names:
        if name not in elsewhere and name not in modules:
            page += directive("PyGPU", name, getattr(PyGPU, name))
    return page


def re_exported(names: Iterable[str]) -> str:
    """Return the sentence that lists the names of a page that NumPy documents."""
    return f"Re-exported from NumPy: {', '.join(f'``{name}``' for name in names)}.\n\n"


def of_numpy(value: Any) -> bool:
    """Return whether an object is a type of NumPy, which NumPy documents."""
    return isinstance(value, type) and issubclass(value, np.generic)


def is_function_of_numpy(value: Any) -> bool:
    """Return whether an object is a function of NumPy, which NumPy documents."""
    return callable(value) and str(getattr(value, "__module__", "")).partition(".")[0] == "numpy"


def module_page(name: str, homes: dict[int, str]) -> str:
    """Return the page of a module; objects that another page describes (`homes`) become links."""
    full = f"PyGPU.{name}"
    try:
        module = importlib.import_module(full)
    except (ImportError, PyGPU.NotSupportedError) as error:
        return heading(full) + f"Unsupported: {error}.\n"  # `PyGPU.gl` and `PyGPU.sparse`
    values = {each: getattr(module, each) for each in listed(module)}
    values = {each: value for each, value in values.items() if not isinstance(value, ModuleType)}
    elsewhere = {each: home for each, value in values.items() if (home := homes.get(id(value))) and describable(value)}
    own = {each: value for each, value in values.items() if each not in elsewhere}
    page = heading(full) + f".. automodule:: {full}\n\n"
    if numpys := [each for each, value in own.items() if is_function_of_numpy(value)]:
        page += re_exported(numpys)
        own = {each: value for each, value in own.items() if each not in numpys}
    if elsewhere:
        page += heading("Aliases", "-")
        page += "\n".join(f"- ``{each}``: :py:obj:`{home}`" for each, home in elsewhere.items()) + "\n\n"
    if elsewhere and own:
        page += heading("Own names", "-")
    for each, value in own.items():
        homes[id(value)] = f"{full}.{each}"
        page += directive(full, each, value)
    return page


def describable(value: Any) -> bool:
    """Return whether an object can be found by its identity; several names may share a number or a string."""
    return callable(value) and not of_numpy(value)


def pages() -> Iterator[tuple[str, str]]:
    """Yield the file name and the text of each API page."""
    index = (
        heading("Interface")
        + "*For users who look up a call.*\n\nEvery public name, from its docstring. `PyGPU` has NumPy's structure.\n\n"
    )
    subjects = {slug(title): (title, names) for title, names in by_subject().items() if names}
    yield from ((page, subject_page(title, names)) for page, (title, names) in subjects.items())
    placed = {"PyGPU": [f"{plain(title)} <{page}>" for page, (title, _) in subjects.items()]}
    homes = {id(getattr(PyGPU, name)): f"PyGPU.{name}" for name in reversed(public_names())}
    there = public_modules()
    for title, names in MODULES.items():
        placed[title] = [module for name in names for module in there if f"{module}.".startswith(f"{name}.")]
        yield from ((name, module_page(name, homes)) for name in placed[title])
    homeless = set(there).difference(*placed.values())
    if homeless:
        raise LookupError(f"docs/site/api_pages.py: say in MODULES where {sorted(homeless)} belong")
    for title, names in placed.items():
        index += f".. toctree::\n   :caption: {title}\n   :maxdepth: 1\n\n"
        index += "".join(f"   {name}\n" for name in names) + "\n"
    yield "index", index


def plain(title: str) -> str:
    """Return the title of a subject without the marks of code."""
    return title.replace("`", "")


def slug(title: str) -> str:
    """Convert the title of a subject to the file name of its page; pages of modules are named after the module."""
    return "pygpu-" + re.sub(r"\W+", "-", title.lower()).strip("-")


def write(app: Sphinx) -> None:
    """Write new and changed API pages to the folder that Sphinx reads."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    made = {folder / f"{name}.rst": text for name, text in pages()}
    for path in set(folder.glob("*.rst")) - set(made):
        path.unlink()
    for path, text in made.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
