"""Write the table of functions, with operands, summary and implementation, to docs/special.md.

Run as ``python docs/make_special.py`` where PyGPU is installed; ``tests/repository/test_docs.py`` checks that the page
matches this script's output.
"""

import inspect
from pathlib import Path
from typing import Any

from generated_table import escaped, with_table

import PyGPU

PAGE = Path(__file__).parent / "special.md"


def operands(function: Any) -> str:
    """Return the names of a function's operands, from its docstring or signature."""
    if isinstance(function, PyGPU.Ufunc):
        return str(function.__doc__).partition("----------\n")[2].partition(" :")[0]
    return ", ".join(inspect.signature(function).parameters)


def source(function: Any) -> str:
    """Return the implementation that computes a function on a GPU."""
    if not isinstance(function, PyGPU.Ufunc):
        return "composed"
    return "C++" if "by C++ source" in str(function.__doc__) else "device"


def table() -> str:
    """Return the table of all functions, sorted by name."""
    lines = ["| function | what it is | source |", "|---|---|---|"]
    for name in PyGPU.special.__all__:
        function = getattr(PyGPU.special, name)
        what = escaped(str(function.__doc__).strip().partition("\n")[0])
        lines.append(f"| `{name}({operands(function)})` | {what} | {source(function)} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """Return the page with its table regenerated from the current state of the package."""
    return with_table(PAGE, __file__, table())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
