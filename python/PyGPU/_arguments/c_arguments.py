"""Arguments of kernels that are generated from expressions, and functions that parse C declarations of arguments."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from PyGPU._arguments.c_types import SILENT, dtype_to_ctype, parse_type, registered
from PyGPU._paths.library_files import HEADERS

__all__ = ["ScalarArg", "VectorArg", "get_arg_type", "parse_c_arg"]

# Words of C types that every compiler supports without a header.
_BUILTIN_WORDS = {"unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool", "size_t"}
_DECLARATION = re.compile(r"^(?P<type>.+?)(?P<stars>[\s*]*)\b(?P<name>[A-Za-z_]\w*)\s*(?P<brackets>\[\s*\d*\s*\])?$")


def extract_macros(options: list[str], preamble: str) -> tuple[list[str], str]:
    """Move macro definitions from compiler options to the preamble; return the options and the preamble.

    In the preamble the macros do not affect the headers that PyGPU's generated source includes before the preamble. If
    an option such as ``-include`` inserts a header before every source, the definitions remain options, because that
    header may use the macros.
    """
    if "pycuda-" in preamble:
        options = [*options, f"-I{HEADERS}"]
    if any(option.startswith(("-include", "--pre-include")) for option in options):
        return options, preamble
    remaining, definitions, option_iterator = [], [], iter(options)
    for option in option_iterator:
        macro = re.match(r"\s*(?:-D|--define-macro=?)(.*)", option, re.DOTALL)
        if macro is None:
            remaining.append(option)
            continue
        name, equals, value = (macro[1] or next(option_iterator, "")).strip().partition("=")
        definitions.append(f"#define {name} {value if equals else 1}\n")
    return remaining, "".join([*definitions, '#line 1 "preamble"\n', preamble]) if definitions else preamble


class DtypedArgument:
    """Kernel argument with its dtype and name.

    Parameters
    ----------
    dtype : data-type
        Type of the value or of an element.
    name : str
        Name in the kernel's source.
    """

    is_vector = False

    def __init__(self, dtype: Any, name: str) -> None:
        self.dtype = np.dtype(dtype)
        self.name = name
        self._declared_type: str | None = None

    def declarator(self) -> str:
        """Return the C declaration of the argument.

        Returns
        -------
        str
        """
        return f"{self.c_type} {'*' if self.is_vector else ''}{self.name}"

    @property
    def c_type(self) -> str:
        """C type of the argument: the declared name if every compiler supports that name, else the dtype's C name."""
        return self._declared_type or dtype_to_ctype(self.dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dtype!r}, {self.name!r})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.dtype, self.name))


class ScalarArg(DtypedArgument):
    """Scalar argument of a kernel.

    Parameters
    ----------
    dtype : dtype_like
        Type of the value.
    name : str
        Name in the source.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU.tools import ScalarArg
    >>> ScalarArg(np.float32, "a").declarator()
    'float a'
    """

    @property
    def struct_char(self) -> str:
        """Format letter of the type, as in Python's module `struct` and in ``Kernel.prepare``."""
        return str(self.dtype.char)


class VectorArg(DtypedArgument):
    """Array argument of a kernel.

    Parameters
    ----------
    dtype : data-type
        Type of an element.
    name : str
        Name in the kernel's source.
    with_offset : bool, optional
        Accepted for compatibility with PyCUDA; it has no effect, because the address of a view always includes its
        offset.
    constant : bool, optional
        Whether the kernel only reads the array.

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
    """Parse the C declaration of one argument.

    Parameters
    ----------
    c_arg : str
        Declaration such as ``'const float *x'`` or ``'int n'``.

    Returns
    -------
    ScalarArg or VectorArg

    Raises
    ------
    ValueError
        For an invalid declaration, and for unknown types.

    Examples
    --------
    >>> from PyGPU.tools import parse_c_arg
    >>> parse_c_arg("unsigned char *mask")
    VectorArg(dtype('uint8'), 'mask')
    """
    pointee, _, _ = c_arg.partition("*")
    constant = re.search(r"\bconst\b", pointee) is not None
    # Words after the `*`, such as `const` and `restrict`, qualify the pointer and do not affect the type.
    text = " ".join(SILENT.sub(" ", c_arg).split())
    match = _DECLARATION.match(text)
    if match is None:
        raise ValueError(f"'{c_arg}' is no declaration of an argument, such as 'float *x'")
    stars = match["stars"].count("*") + match["type"].count("*") + (match["brackets"] is not None)
    if stars > 1:
        raise ValueError(f"'{c_arg}' is a pointer to pointers, of which there are no arrays")
    declared_type = match["type"].replace("*", " ").strip()
    dtype = parse_type(declared_type)
    argument: DtypedArgument
    argument = VectorArg(dtype, match["name"], constant=constant) if stars else ScalarArg(dtype, match["name"])
    if declared_type in registered or all(word in _BUILTIN_WORDS for word in declared_type.split()):
        argument._declared_type = declared_type
    return argument


def get_arg_type(c_arg: str) -> str:
    """Return the format letter of an argument's type, as in ``Kernel.prepare``.

    Parameters
    ----------
    c_arg : str
        Declaration of the argument, as for `parse_c_arg`.

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
    """Parse a list of C declarations of arguments.

    Parameters
    ----------
    text : str
        Declarations, separated by commas.

    Returns
    -------
    list
    """
    return [parse_c_arg(part) for part in _split(text) if part.strip()]


def _split(text: str) -> list[str]:
    """Split a list of declarations at the commas that are not inside a template's angle brackets."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character == "<") - (character == ">")
        if character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]
