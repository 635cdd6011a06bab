"""Write the tables of CuPy's names, and of replacements for missing names, to docs/porting_from_cupy.md.

Run as ``python docs/make_cupy_names.py`` where PyGPU is installed; ``tests/repository/test_docs.py`` checks that the
page matches this script's output. The names are in tests/cupy/cupy_names.txt.
"""

import importlib
import pkgutil
from pathlib import Path

from generated_table import with_table

from PyGPU._cupy.lazy_names import has_own_parameters
from PyGPU._cupy.missing_names import MISSING, missing_text
from PyGPU._names import index

PAGE = Path(__file__).parent / "porting_from_cupy.md"
NAMES = Path(__file__).parents[1] / "tests" / "cupy" / "cupy_names.txt"
ATTRIBUTE = "cudaDevAttr"
OTHER = "Modules, constants, types and exceptions"


def names_of_cupy() -> dict[str, list[str]]:
    """Return a dict of CuPy's public names by module; the list of names is empty for a module that PyGPU lacks."""
    lines = [line for line in NAMES.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    modules = "\n".join(lines).replace("\n    ", " ").splitlines()
    return {module: names.split() for module, _, names in (line.partition(":") for line in modules)}


def quoted(names: list[str]) -> str:
    """Return names in backquotes; CUDA's device attributes are abbreviated to one pattern."""
    attributes = [name for name in names if name.startswith(ATTRIBUTE)]
    others = [name for name in names if name not in attributes]
    return " ".join(f"`{name}`" for name in [*others, *([f"{ATTRIBUTE}*"] if attributes else [])])


def group_of(name: str) -> str:
    """Return the heading in the table under which a name of `cupy` is listed."""
    if has_own_parameters("PyGPU.cupy", name):
        return "CuPy's own, or with CuPy's parameters"
    groups = (group for group, names in index.GROUPS.items() if name in names)
    return next(groups, OTHER)


def table_of_package(names: list[str]) -> str:
    """Return the table of the names of `cupy`, by the groups of the reference."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(group_of(name), []).append(name)
    order = [*index.GROUPS, "CuPy's own, or with CuPy's parameters", OTHER]
    rows = [f"| {group} | {quoted(groups[group])} |" for group in sorted(groups, key=order.index)]
    return "\n".join(["| group | names |", "|---|---|", *rows]) + "\n"


def names_of_cuda() -> dict[str, list[str]]:
    """Return the names of `cupy.cuda` and its modules that PyGPU has."""
    package = importlib.import_module("PyGPU.cupy.cuda")
    modules = [
        package,
        *(importlib.import_module(f"PyGPU.cupy.cuda.{one.name}") for one in pkgutil.iter_modules(package.__path__)),
    ]
    return {
        module.__name__.removeprefix("PyGPU."): [
            name for name in dir(module) if not name.startswith("_") and name != "TYPE_CHECKING"
        ]
        for module in modules
    }


def table() -> str:
    """Return the tables of all modules."""
    modules = {module: names for module, names in names_of_cupy().items() if names}
    found = {module: [name for name in names if not missing_text(module, name)] for module, names in modules.items()}
    for module, names in found.items():
        lacking = [name for name in names if not hasattr(importlib.import_module(f"PyGPU.{module}"), name)]
        if lacking:
            raise LookupError(f"PyGPU/_cupy/missing_names.py: add with a replacement: {module}: {lacking}")
    text = f"### `cupy`\n\n{table_of_package(found.pop('cupy'))}\n### Other modules\n\n| module | names |\n|---|---|\n"
    found = dict(sorted({**found, **names_of_cuda()}.items()))
    text += "".join(f"| `{module}` | {quoted(names)} |\n" for module, names in found.items() if names)
    text += "\n### Missing names\n\n| names | replacement |\n|---|---|\n"
    return text + "".join(f"| {quoted(list(names))} | {reason} |\n" for reason, names in MISSING.items())


def page() -> str:
    """Return the page with its table regenerated from the current state of the package."""
    return with_table(PAGE, __file__, table())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
