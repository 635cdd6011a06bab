"""Arguments as C declares them, for kernels that are written out of expressions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from PyGPU._native.c_types import SILENT, dtype_to_ctype, parse_type, registered
from PyGPU._native.library_files import HEADERS

__all__ = ["ScalarArg", "VectorArg", "get_arg_type", "parse_c_arg"]

# The words of types that need no header.
_EVERYWHERE = {"unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool", "size_t"}
_DECLARATION = re.compile(r"^(?P<type>.+?)(?P<stars>[\s*]*)\b(?P<name>[A-Za-z_]\w*)\s*(?P<brackets>\[\s*\d*\s*\])?$")


def told_apart(options: list[str], preamble: str) -> tuple[list[str], str]:
    """Return options without the macros that they define, and the preamble with these before it.

    So they stand behind the kernel's own headers. They stay options where a header is put before every text, which may
    ask for them.
    """
    if "pycuda-" in preamble:
        options = [*options, f"-I{HEADERS}"]
    if any(option.startswith(("-include", "--pre-include")) for option in options):
        return options, preamble
    left, lines, given = [], [], iter(options)
    for option in given:
        found = re.match(r"\s*(?:-D|--define-macro=?)(.*)", option, re.DOTALL)
        if found is None:
            left.append(option)
            continue
        name, sign, value = (found[1] or next(given, "")).strip().partition("=")
        lines.append(f"#define {name} {value if sign else 1}\n")
    return left, "".join([*lines, '#line 1 "preamble"\n', preamble]) if lines else preamble


class DtypedArgument:
    """A declared argument: its dtype and its name.

    Parameters
    ----------
    dtype : data-type
        Of the value, or of an element.
    name : str
        As the kernel's text says it.
    """

    is_vector = False

    def __init__(self, dtype: Any, name: str) -> None:
        self.dtype = np.dtype(dtype)
        self.name = name
        self._spelled: str | None = None

    def declarator(self) -> str:
        """Return the argument as C declares it.

        Returns
        -------
        str
        """
        return f"{self.c_type} {'*' if self.is_vector else ''}{self.name}"

    @property
    def c_type(self) -> str:
        """The type in C: as it was declared, where every compiler knows that."""
        return self._spelled or dtype_to_ctype(self.dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dtype!r}, {self.name!r})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.dtype, self.name))


class ScalarArg(DtypedArgument):
    """A value.

    Parameters
    ----------
    dtype : dtype_like
        Its type.
    name : str
        Its name in the source.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU.tools import ScalarArg
    >>> ScalarArg(np.float32, "a").declarator()
    'float a'
    """

    @property
    def struct_char(self) -> str:
        """The letter of `struct` and of ``Kernel.prepare``."""
        return str(self.dtype.char)


class VectorArg(DtypedArgument):
    """An array.

    Parameters
    ----------
    dtype : data-type
        Of an element.
    name : str
        As the kernel's text says it.
    with_offset : bool, optional
        Taken for the sake of programs that give it; views bring their offset along anyway.
    constant : bool, optional
        Whether the kernel promises not to write it.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU.tools import VectorArg
    >>> VectorArg(np.float32, "x").declarator()
    'float *x'
    """

    is_vector = True
    struct_char = "P"

    def __init__(self, dtype: Any, name: str, with_offset: bool = False, *, constant: bool = False) -> None:
        super().__init__(dtype, name)
        self.with_offset = with_offset
        self.constant = constant


def parse_c_arg(c_arg: str) -> DtypedArgument:
    """Parse one argument as C declares it.

    Parameters
    ----------
    c_arg : str
        ``'const float *x'``, ``'int n'``.

    Returns
    -------
    ScalarArg or VectorArg

    Raises
    ------
    ValueError
        For what is no declaration, and for types that are not known.

    Examples
    --------
    >>> from PyGPU.tools import parse_c_arg
    >>> parse_c_arg("unsigned char *mask")
    VectorArg(dtype('uint8'), 'mask')
    """
    pointed_at, _, _ = c_arg.partition("*")
    constant = re.search(r"\bconst\b", pointed_at) is not None
    # `const` and its kin behind the type: they are about the pointer.
    text = " ".join(SILENT.sub(" ", c_arg).split())
    match = _DECLARATION.match(text)
    if match is None:
        raise ValueError(f"'{c_arg}' is no declaration of an argument, such as 'float *x'")
    stars = match["stars"].count("*") + match["type"].count("*") + (match["brackets"] is not None)
    if stars > 1:
        raise ValueError(f"'{c_arg}' is a pointer to pointers, of which there are no arrays")
    spelled = match["type"].replace("*", " ").strip()
    dtype = parse_type(spelled)
    argument: DtypedArgument
    argument = VectorArg(dtype, match["name"], constant=constant) if stars else ScalarArg(dtype, match["name"])
    if spelled in registered or all(word in _EVERYWHERE for word in spelled.split()):
        argument._spelled = spelled
    return argument


def get_arg_type(c_arg: str) -> str:
    """Return the letter of an argument's type, as ``Kernel.prepare`` takes it.

    Parameters
    ----------
    c_arg : str
        As for `parse_c_arg`.

    Returns
    -------
    str

    Examples
    --------
    >>> from PyGPU.tools import get_arg_type
    >>> get_arg_type("float a"), get_arg_type("float *x")
    ('f', 'P')
    """
    argument = parse_c_arg(c_arg)
    assert isinstance(argument, ScalarArg | VectorArg)
    return str(argument.struct_char)


def parse_arguments(text: str) -> list[DtypedArgument]:
    """Parse a list of arguments as C declares them.

    Parameters
    ----------
    text : str
        With commas between them.

    Returns
    -------
    list
    """
    return [parse_c_arg(part) for part in _split(text) if part.strip()]


def _split(text: str) -> list[str]:
    """Split at commas that are not inside of a template's brackets."""
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign == "<") - (sign == ">")
        if sign == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]
