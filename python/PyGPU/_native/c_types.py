"""Types and arguments as C declares them, for kernels that are written out of expressions.

The names of NumPy's own types are the native module's table. Structured types get theirs here, by `register_dtype`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from PyGPU import _core

__all__ = [
    "ScalarArg",
    "VectorArg",
    "dtype_to_ctype",
    "get_arg_type",
    "get_or_register_dtype",
    "parse_c_arg",
    "register_dtype",
]

_of_name: dict[str, np.dtype[Any]] = {}
_names: dict[np.dtype[Any], str] = {}
# The words of types that need no header.
_EVERYWHERE = {"unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool", "size_t"}
# What says nothing about a type.
_SILENT = re.compile(r"\b(const|volatile|restrict|__restrict__|__restrict|struct)\b")
_DECLARATION = re.compile(r"^(?P<type>.+?)(?P<stars>[\s*]*)\b(?P<name>[A-Za-z_]\w*)\s*(?P<brackets>\[\s*\d*\s*\])?$")
_SIXTEEN_BITS = {
    "half": "float16",
    "float16": "float16",
    "pygpu::float16": "float16",
    "bfloat16": "bfloat16",
    "pygpu::bfloat16": "bfloat16",
}


def include_folder() -> str:
    """Return the folder with the headers that kernels may include: ``pycuda-complex.hpp``, ``pycuda-helpers.hpp``.

    Returns
    -------
    str

    Examples
    --------
    >>> from PyGPU._native.c_types import include_folder
    >>> include_folder().endswith("user")
    True
    """
    return str(Path(__file__).parent.parent / "include" / "user")


def register_dtype(dtype: Any, name: str | Iterable[str], alias_ok: bool = False) -> None:
    """Give a dtype a name in C; PyCUDA's older form of `get_or_register_dtype`.

    Parameters
    ----------
    dtype : data-type
        Usually a structured one, laid out as the C type is.
    name : str or sequence of str
        The first one is the one that is written.
    alias_ok : bool, optional
        Whether a dtype may be given that has a name already.

    Warns
    -----
    DeprecationWarning
        Always.

    Raises
    ------
    RuntimeError
        When the dtype has a name, or the name another dtype.

    Warns
    -----
    DeprecationWarning
        Always, as in PyCUDA.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU.tools import dtype_to_ctype, register_dtype
    >>> pair = np.dtype([("low", np.int32), ("high", np.int32)])
    >>> import warnings
    >>> with warnings.catch_warnings(action='ignore'):
    ...     register_dtype(pair, "int_pair")
    >>> dtype_to_ctype(pair)
    'int_pair'
    """
    warnings.warn("register_dtype: use get_or_register_dtype", DeprecationWarning, stacklevel=2)
    dtype = np.dtype(dtype)
    names = [name] if isinstance(name, str) else list(name)
    if dtype in _names and not alias_ok:
        raise RuntimeError(f"dtype {dtype} has the name '{_names[dtype]}' already")
    get_or_register_dtype(names, dtype)


def get_or_register_dtype(c_names: str | Sequence[str], dtype: Any = None) -> np.dtype[Any]:
    """Give a dtype names in C, or look one up.

    Parameters
    ----------
    c_names : str or sequence of str
        The first one is the one that is written.
    dtype : data-type, optional
        Left out to look the name up.

    Returns
    -------
    numpy.dtype
        The dtype of the names; where one was registered before, that one.

    Raises
    ------
    ValueError
        For a name that is not known, without a dtype.
    RuntimeError
        When a name has another dtype.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU.tools import get_or_register_dtype
    >>> get_or_register_dtype("unsigned int")
    dtype('uint32')
    """
    names = [c_names] if isinstance(c_names, str) else list(c_names)
    if dtype is None:
        return parse_type(names[0])
    found: np.dtype[Any] = np.dtype(dtype)
    for name in names:
        known = _known(name)
        if known is not None and known != found:
            raise RuntimeError(f"the name '{name}' means {known} already")
    for name in names:
        found = _of_name.setdefault(name, found)
    _names.setdefault(found, names[0])
    return found


def dtype_to_ctype(dtype: Any, with_fp_tex_hack: bool = False) -> str:
    """Return the name of a dtype in C.

    Parameters
    ----------
    dtype : data-type
        One of NumPy's own, or one that was registered.
    with_fp_tex_hack : bool, optional
        PyCUDA's, for texture references, which are gone; floating types get names of its texture header.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For a dtype that has no name.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU.tools import dtype_to_ctype
    >>> dtype_to_ctype(np.uint8), dtype_to_ctype(np.complex64)
    ('unsigned char', 'pycuda::complex<float>')
    """
    if dtype is None:
        raise ValueError("dtype may not be None")
    dtype = np.dtype(dtype)
    if with_fp_tex_hack:
        hacked = {
            "float32": "fp_tex_float",
            "float64": "fp_tex_double",
            "complex64": "fp_tex_cfloat",
            "complex128": "fp_tex_cdouble",
        }
        if dtype.name in hacked:
            return hacked[dtype.name]
    name = _names.get(dtype) or (None if dtype.names else _core._c_name(dtype))
    if name is None:
        raise ValueError(
            f"unable to map dtype '{dtype}' to a C type: register it with PyGPU.tools.get_or_register_dtype"
        )
    return name


def parse_type(name: str) -> np.dtype[Any]:
    """Return the dtype of a type's name in C.

    Parameters
    ----------
    name : str
        Without ``*``.

    Returns
    -------
    numpy.dtype

    Raises
    ------
    ValueError
        For a name that is not known.
    """
    name = " ".join(_SILENT.sub(" ", name).split())
    dtype = _known(name)
    if dtype is None:
        raise ValueError(f"unknown type '{name}': register its dtype with PyGPU.tools.get_or_register_dtype")
    return dtype


def _known(name: str) -> np.dtype[Any] | None:
    """Return the dtype that was registered for a name, or that is C's own."""
    dtype = _of_name.get(name)
    if dtype is None and name in _SIXTEEN_BITS:
        if _SIXTEEN_BITS[name] == "float16":
            return np.dtype(np.float16)
        import ml_dtypes

        brain: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return brain
    return _core._dtype_of_c_name(name) if dtype is None else dtype


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
    text = " ".join(_SILENT.sub(" ", c_arg).split())
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
    if spelled in _of_name or all(word in _EVERYWHERE for word in spelled.split()):
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
