"""Write the table of functions to docs/arithmetic.md, with the types of operands and results.

Run as ``python docs/make_operations.py`` where PyGPU is installed; ``tests/repository/test_docs.py`` checks that
the page matches this script's output.
"""

from pathlib import Path

from generated_table import escaped, with_table

import PyGPU
from PyGPU import _core

PAGE = Path(__file__).parent / "arithmetic.md"
CLASSES = {
    "bool": "b", "int8": "i", "int16": "i", "int32": "i", "int64": "i",
    "uint8": "u", "uint16": "u", "uint32": "u", "uint64": "u",
    "float16": "f", "bfloat16": "f", "float32": "f", "float64": "f", "complex64": "c", "complex128": "c",
}  # fmt: skip


def letters(loops: list[tuple[list[str], list[str]]], *, of_results: bool) -> str:
    """Return the distinct type letters of the first operands or of the results, in the order of the loops."""
    seen: dict[str, None] = {}
    for operands, results in loops:
        names = results if of_results else operands[:1]
        seen[", ".join(CLASSES[name] for name in names)] = None
    return " ".join(seen) if all(len(one) == 1 for one in seen) else "; ".join(seen)


def row(ufunc: PyGPU.Ufunc) -> str:
    """Return the line of a function in the table."""
    loops = [tuple(side.split(",") for side in loop.split("->")) for loop in ufunc.types]
    pairs = [(operands, results) for operands, results in loops]
    aliases = sorted(name for name in _core.__all__ if getattr(PyGPU, name) is ufunc and name != ufunc.__name__)
    names = ", ".join(f"`{name}`" for name in (ufunc.__name__, *aliases))
    taken, given = letters(pairs, of_results=False), letters(pairs, of_results=True)
    what = escaped(ufunc.__doc__.partition("\n")[0])
    return f"| {names} | {ufunc.nin} | {taken} | {'the same' if given == taken else given} | {what} |"


def table() -> str:
    """Return the table of all functions, sorted by name."""
    # `PyGPU.__all__` omits names such as `abs`, which Python's built-in functions have.
    objects = [getattr(PyGPU, name) for name in _core.__all__]
    found = {one.__name__: one for one in objects if isinstance(one, PyGPU.Ufunc)}
    head = "| function | operands | types | results | what it is |\n|---|---|---|---|---|\n"
    return head + "".join(f"{row(found[name])}\n" for name in sorted(found))


def page() -> str:
    """Return the page with its table regenerated from the current state of the package."""
    return with_table(PAGE, __file__, table())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
