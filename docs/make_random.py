"""Write the table of names of `PyGPU.random`, and their agreement with NumPy, to docs/random.md.

Run as ``python docs/make_random.py`` where PyGPU is installed; ``tests/repository/test_docs.py`` checks that the page
matches this script's output.
"""

from pathlib import Path

import numpy as np
from generated_table import with_table

import PyGPU

PAGE = Path(__file__).parent / "random.md"

# Methods whose numbers are bitwise equal to NumPy's; the page describes exceptions.
SAME_BITS = {"bytes", "integers", "random", "uniform"}


def names(numpys: object, ours: object) -> set[str]:
    """Return the public names that a class or module of NumPy and its counterpart in PyGPU have in common."""
    found = {name for name in dir(numpys) if not name.startswith("_")}
    lacking = {name for name in found if not hasattr(ours, name)} - {"bit_generator", "mtrand", "test"}
    if lacking - {"MT19937", "PCG64", "PCG64DXSM", "SFC64", "get_bit_generator", "set_bit_generator"}:
        raise LookupError(f"PyGPU.random lacks {sorted(lacking)}")
    return {name for name in found if hasattr(ours, name)}


def listed(found: set[str]) -> str:
    """Return the names in backquotes, sorted."""
    return " ".join(f"`{name}`" for name in sorted(found))


def table() -> str:
    """Return the table of names."""
    methods = names(np.random.Generator, PyGPU.random.Generator) - {"bit_generator", "spawn"}
    own = {name for name in dir(PyGPU.random.Generator) if not name.startswith("_")} - methods
    functions = names(np.random, PyGPU.random) & set(PyGPU.random.__all__)
    entries = (
        ("`Generator`: NumPy's bits", methods & SAME_BITS | {"random_raw"}),
        ("`Generator`: NumPy's distributions, other numbers", methods - SAME_BITS),
        ("`Generator`: position and device", own - {"random_raw"}),
        ("older functions, also methods of `RandomState`", functions - {"Generator", "RandomState", "default_rng"}),
        ("NumPy's own classes", {"BitGenerator", "Philox", "SeedSequence"}),
    )
    lines = [f"| {title} | {listed(found)} |\n" for title, found in entries]
    return "| | |\n|---|---|\n" + "".join(lines)


def page() -> str:
    """Return the text of the page with the table of this version."""
    return with_table(PAGE, __file__, table())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
