"""PyCUDA's table of dtypes and their names in C, and the declarations of arguments."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = [
    "Argument",
    "ScalarArg",
    "VectorArg",
    "dtype_to_ctype",
    "get_arg_type",
    "get_or_register_dtype",
    "parse_c_arg",
    "register_dtype",
]

# All names of each type; the first is what `dtype_to_ctype` gives.
_BASIC: list[tuple[str, list[str]]] = [
    ("bool", ["bool"]),
    ("int8", ["signed char", "char"]),
    ("uint8", ["unsigned char"]),
    ("int16", ["short", "signed short", "signed short int", "short signed int", "short int"]),
    ("uint16", ["unsigned short", "unsigned short int", "short unsigned int"]),
    ("int32", ["int", "signed int", "signed"]),
    ("uint32", ["unsigned", "unsigned int"]),
    ("int64", ["long long", "long long int", "signed long long"]),
    ("uint64", ["unsigned long long", "unsigned long long int"]),
    ("float32", ["float"]),
    ("float64", ["double"]),
    ("complex64", ["pycuda::complex<float>"]),
    ("complex128", ["pycuda::complex<double>"]),
]

_dtype_of_name: dict[str, numpy.dtype[Any]] = {}
_name_of_dtype: dict[numpy.dtype[Any], str] = {}


def _fill() -> None:
    for basic, names in _BASIC:
        _add(numpy.dtype(basic), names)
    # `long` is as wide as C's on this machine.
    _add(numpy.dtype("l"), ["long", "long int", "signed long", "signed long int"])
    _add(numpy.dtype("L"), ["unsigned long", "unsigned long int"])
    _name_of_dtype[numpy.dtype("l")] = "long"
    _name_of_dtype[numpy.dtype("L")] = "unsigned long"
    for name in ("size_t", "uintptr_t"):
        _dtype_of_name[name] = numpy.dtype(numpy.uintp)
    for name in ("ptrdiff_t", "intptr_t"):
        _dtype_of_name[name] = numpy.dtype(numpy.intp)
    for bits in (8, 16, 32, 64):
        _dtype_of_name[f"int{bits}_t"] = numpy.dtype(f"int{bits}")
        _dtype_of_name[f"uint{bits}_t"] = numpy.dtype(f"uint{bits}")


def _add(dtype: numpy.dtype[Any], names: Iterable[str]) -> None:
    for name in names:
        _dtype_of_name[name] = dtype
        _name_of_dtype.setdefault(dtype, name)


_fill()


def get_or_register_dtype(names: str | list[str], dtype: DTypeLike | None = None) -> numpy.dtype[Any]:
    """Give the dtype of a name in C, and note it if it is new.

    Parameters
    ----------
    names : str or list of str
        Its name or names in C.
    dtype : dtype, optional
        What they mean; without it the first name must be known.

    Returns
    -------
    numpy.dtype

    Raises
    ------
    RuntimeError
        If a name means another dtype.
    ValueError
        If a name is not known, and no dtype was given.

    Examples
    --------
    >>> from PyGPU.tools import get_or_register_dtype
    >>> get_or_register_dtype('unsigned int')
    dtype('uint32')
    """
    names = [names] if isinstance(names, str) else list(names)
    if dtype is None:
        try:
            return _dtype_of_name[names[0]]
        except KeyError:
            raise ValueError(f"no dtype is known for the C type {names[0]!r}; register it first") from None
    dtype = numpy.dtype(dtype)
    known = [name for name in names if name in _dtype_of_name]
    for name in known:
        if _dtype_of_name[name] != dtype:
            raise RuntimeError(f"the C type {name!r} means {_dtype_of_name[name]} already, not {dtype}")
    _add(dtype, names)
    return dtype


def register_dtype(dtype: DTypeLike, name: str | list[str], alias_ok: bool = False) -> None:
    """Note the name in C of a dtype; `get_or_register_dtype` does it without the deprecation.

    Parameters
    ----------
    dtype : dtype
        Mostly a structured one.
    name : str or list of str
        Its name or names in C.
    alias_ok : bool, optional
        Whether the dtype may have a name already.

    Raises
    ------
    RuntimeError
        If the dtype has a name already, or a name another dtype.

    Examples
    --------
    >>> import numpy, warnings
    >>> from PyGPU.tools import dtype_to_ctype, register_dtype
    >>> pair = numpy.dtype([('first', 'f4'), ('second', 'i4')])
    >>> with warnings.catch_warnings(action='ignore'):
    ...     register_dtype(pair, 'pair_of_the_example')
    >>> dtype_to_ctype(pair)
    'pair_of_the_example'
    """
    warnings.warn("register_dtype() is deprecated; use get_or_register_dtype()", DeprecationWarning, stacklevel=2)
    dtype = numpy.dtype(dtype)
    if not alias_ok and dtype in _name_of_dtype:
        raise RuntimeError(f"{dtype} has the name {_name_of_dtype[dtype]!r} already; alias_ok=True allows another")
    get_or_register_dtype(name, dtype)


def dtype_to_ctype(dtype: DTypeLike, with_fp_tex_hack: bool = False) -> str:
    """Give the name in C of a dtype.

    Parameters
    ----------
    dtype : dtype
        Which.
    with_fp_tex_hack : bool, optional
        The names by which PyCUDA reads doubles through textures.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If it has none.

    Examples
    --------
    >>> from PyGPU.tools import dtype_to_ctype
    >>> dtype_to_ctype('complex64')
    'pycuda::complex<float>'
    """
    if dtype is None:
        raise ValueError("dtype is None, which is no type")
    dtype = numpy.dtype(dtype)
    if with_fp_tex_hack:
        hack = {
            "float32": "fp_tex_float",
            "float64": "fp_tex_double",
            "complex64": "fp_tex_cfloat",
            "complex128": "fp_tex_cdouble",
        }
        if dtype.name in hack:
            return hack[dtype.name]
    try:
        return _name_of_dtype[dtype]
    except KeyError:
        raise ValueError(f"{dtype} has no name in C; give it one by get_or_register_dtype('name', dtype)") from None


class Argument:
    """An argument of a generated kernel; `VectorArg` or `ScalarArg`.

    Parameters
    ----------
    dtype : dtype
        Its type, or that of its elements.
    name : str
        Its name in the source.

    Examples
    --------
    >>> from PyGPU.tools import Argument, ScalarArg
    >>> issubclass(ScalarArg, Argument)
    True
    """

    struct_char: str
    """Its letter for `prepare`."""

    def __init__(self, dtype: DTypeLike, name: str) -> None:
        self.dtype = numpy.dtype(dtype)
        self.name = name

    def declarator(self) -> str:
        """Give its declaration in C.

        Returns
        -------
        str

        Examples
        --------
        >>> from PyGPU.tools import VectorArg
        >>> VectorArg('float32', 'x').declarator()
        'float *x'
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.dtype})"


class VectorArg(Argument):
    """A pointer to elements of a dtype.

    Parameters
    ----------
    dtype : dtype
        That of the elements.
    name : str
        Its name in the source.

    Examples
    --------
    >>> from PyGPU.tools import VectorArg
    >>> VectorArg('int32', 'x').declarator()
    'int *x'
    """

    struct_char = "P"

    def declarator(self) -> str:
        """Give its declaration in C.

        Returns
        -------
        str

        Examples
        --------
        >>> from PyGPU.tools import VectorArg
        >>> VectorArg('float32', 'x').declarator()
        'float *x'
        """
        return f"{dtype_to_ctype(self.dtype)} *{self.name}"


class ScalarArg(Argument):
    """A number of a dtype.

    Parameters
    ----------
    dtype : dtype
        Its type.
    name : str
        Its name in the source.

    Examples
    --------
    >>> from PyGPU.tools import ScalarArg
    >>> ScalarArg('float64', 'x').declarator()
    'double x'
    """

    def __init__(self, dtype: DTypeLike, name: str) -> None:
        super().__init__(dtype, name)
        self.struct_char = self.dtype.char

    def declarator(self) -> str:
        """Give its declaration in C.

        Returns
        -------
        str

        Examples
        --------
        >>> from PyGPU.tools import ScalarArg
        >>> ScalarArg('float32', 'x').declarator()
        'float x'
        """
        return f"{dtype_to_ctype(self.dtype)} {self.name}"


_DROPPED = re.compile(r"\b(const|volatile|__restrict__|__restrict|restrict)\b")


def parse_c_arg(c_arg: str) -> Argument:
    """Read the declaration of an argument in C.

    Parameters
    ----------
    c_arg : str
        For example ``'const float *x'``.

    Returns
    -------
    Argument
        A `VectorArg` for a pointer or an array, else a `ScalarArg`.

    Raises
    ------
    ValueError
        For what is no declaration, and for unknown types.

    Examples
    --------
    >>> from PyGPU.tools import parse_c_arg
    >>> parse_c_arg('const float *x')
    VectorArg('x', float32)
    """
    text = _DROPPED.sub("", c_arg)
    is_vector = "*" in text or "[" in text
    text = re.sub(r"\[[^]]*\]", "", text.replace("*", " "))
    words = text.split()
    if len(words) < 2 or not words[-1].isidentifier():
        raise ValueError(f"{c_arg!r} is no declaration of an argument, as 'float *x' or 'int n'")
    dtype = get_or_register_dtype(" ".join(words[:-1]))
    return VectorArg(dtype, words[-1]) if is_vector else ScalarArg(dtype, words[-1])


def get_arg_type(c_arg: str) -> str:
    """Read the letter of an argument for `prepare` from its declaration in C.

    Parameters
    ----------
    c_arg : str
        For example ``'float x'``.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        As `parse_c_arg`.

    Examples
    --------
    >>> from PyGPU.tools import get_arg_type
    >>> get_arg_type('float *x'), get_arg_type('int n')
    ('P', 'i')
    """
    return parse_c_arg(c_arg).struct_char
