"""Write the lists of the NumPy names that PyGPU provides and lacks to docs/array_api.md.

Run as ``python docs/make_functions.py`` where PyGPU is installed; ``tests/repository/test_docs.py`` checks that
the page matches this script's output. The script uses the NumPy version that is pinned in pyproject.toml.
"""

import textwrap
from pathlib import Path

import numpy as np
from generated_table import with_table

import PyGPU
from PyGPU._names import index
from PyGPU._protocols import function_table
from PyGPU._protocols.not_planned_names import NOT_PLANNED

PAGE = Path(__file__).parent / "array_api.md"

# Methods of NumPy's arrays that PyGPU's arrays lack, grouped by their replacement.
LACKING_METHODS: dict[str, list[str]] = {
    "the size of an array is fixed; `PyGPU.resize` returns a new array": ["resize"],
    "`a.ptr` is the address; `a.view(dtype)` changes the dtype": [
        "ctypes",
        "getfield",
        "setfield",
    ],
    "`PyGPU.broadcast_to(a, a.shape)` is a read-only view": ["setflags"],
}

# Names of optional parts of NumPy, which some installations lack.
PARTS = {"fft", "linalg"}


def of_numpy() -> set[str]:
    """Return the public names of the module `numpy`."""
    return {name for name in dir(np) if not name.startswith("_")} - PARTS


def listed(names: set[str]) -> str:
    """Return names in backquotes, sorted and wrapped to the width of the page."""
    return textwrap.fill(", ".join(f"`{name}`" for name in sorted(names)), 128) + "\n"


def table() -> str:
    """Return the section that lists NumPy's names by how PyGPU supports them."""
    everything = of_numpy()
    ours = {name for name in everything if hasattr(PyGPU, name)}
    is_same = ours & {*index.GROUPS["NumPy's own"], "bool", "newaxis", "pi", "e", "inf"}
    is_same |= {name for name in ours if getattr(PyGPU, name) is getattr(np, name)} | {"nan"}
    ufuncs = {name for name in ours if isinstance(getattr(np, name), np.ufunc)}
    asked = {name for name in function_table.names() & ours if hasattr(getattr(np, name), "_implementation")}
    like = function_table.names_with_like() & ours
    alone = ours - is_same - ufuncs - asked - like
    reasons = {name: reason for reason, names in NOT_PLANNED.items() for name in names}
    lacking = everything - ours - function_table.names()
    unknown = sorted(lacking - set(reasons)) + sorted(set(reasons) & ours)
    if unknown:
        raise LookupError(f"PyGPU/_protocols/not_planned_names.py: add with a replacement, or remove: {unknown}")
    parts = [
        f"PyGPU provides {len(ours)} of the {len(everything)} names in the main module of NumPy {np.__version__}.\n",
        f"\n**Elementwise functions**, called as `PyGPU.f(a)` or `np.f(a)`:\n\n{listed(ufuncs)}",
        f"\n**Other functions of arrays**, called as `PyGPU.f(a)` or `np.f(a)`:"
        f"\n\n{listed(asked - like - ufuncs - is_same)}",
        f"\n**Functions that create arrays**, called as `PyGPU.f(...)` or `np.f(..., like=a)`:\n\n{listed(like)}",
        f"\n**Functions called only as `PyGPU.f(a)`**, because NumPy does not dispatch them:\n\n{listed(alone)}",
        f"\n**Objects of NumPy** that PyGPU provides unchanged:\n\n{listed(is_same)}",
        "\n**Names that are not planned**, and what to use instead:\n\n| names | replacement |\n|---|---|\n",
    ]
    for reason, names in NOT_PLANNED.items():
        if found := sorted(set(names) & lacking):
            parts.append(f"| {', '.join(f'`{name}`' for name in found)} | {reason} |\n")
    parts.append(methods())
    return "".join(parts)


def methods() -> str:
    """Return the table of the methods and attributes of ndarrays that GPUArray lacks."""
    lacking = {name for name in set(dir(np.ndarray)) - set(dir(PyGPU.GPUArray)) if not name.startswith("_")}
    named = {name for names in LACKING_METHODS.values() for name in names}
    if lacking != named:
        raise LookupError(f"docs/make_functions.py: add to LACKING_METHODS, or remove: {sorted(lacking ^ named)}")
    rows = [f"| {', '.join(f'`{name}`' for name in names)} | {text} |\n" for text, names in LACKING_METHODS.items()]
    return "\n`GPUArray` has all methods and attributes of an ndarray except these:\n\n| | |\n|---|---|\n" + "".join(
        rows
    )


def page() -> str:
    """Return the page with its table regenerated from the current state of the package."""
    return with_table(PAGE, __file__, table())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
