"""Lookup of mangled C++ names by their source or debugger names."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["find_mangled"]


def find_mangled(name: str, names: Sequence[str]) -> str | None:
    """Find the mangled name of a function by its name in a source or a debugger.

    Parameters
    ----------
    name : str
        ``'axpy<float, 4>'``, ``'ns::scale'``, or with its parameters: ``'scale(float*, int)'``.
    names : sequence of str
        Existing mangled names.

    Returns
    -------
    str or None

    Raises
    ------
    ValueError
        If several match, or no demangler is available.

    Examples
    --------
    >>> from PyGPU._native.compiled.mangling import find_mangled
    >>> find_mangled("scale<float, 4>", ["_Z5scaleIfLi4EEvPfi", "_Z5scaleIdLi4EEvPdi"])
    '_Z5scaleIfLi4EEvPfi'
    """
    demangle = _demangler()
    wanted = _plain(name)
    found = [mangled for mangled, told in zip(names, demangle(names), strict=True) if wanted in _forms(told)]
    # nvcc also lists a template's kernel by its host stub's name, which is local to a file ("L").
    found = [mangled for mangled in found if not _is_local_twin(mangled, found)]
    if len(found) > 1:
        raise ValueError(f"several functions are called '{name}': {', '.join(found)}; give the mangled name")
    return found[0] if found else None


def _is_local_twin(mangled: str, names: Sequence[str]) -> bool:
    return any(mangled[at] == "L" and mangled[:at] + mangled[at + 1 :] in names for at in range(len(mangled)))


def _plain(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _forms(told: str | None) -> set[str]:
    """List the names of one function: with and without result type and parameters."""
    if not told:
        return set()
    forms = {told, told.removeprefix("void ")}
    if told.endswith(")"):
        depth, at = 0, len(told)
        while at > 0:
            at -= 1
            depth += {")": 1, "(": -1}.get(told[at], 0)
            if depth == 0:
                break
        forms |= {form[: len(form) - (len(told) - at)] for form in tuple(forms)}
    return {_plain(form) for form in forms}


Demangler = Callable[[Sequence[str]], Sequence[str | None]]


def _demangler() -> Demangler:
    """Return the available demangler: the C++ library's function, or a program."""
    for library in ("libstdc++.so.6", "libc++abi.so.1", "libc++.1.dylib"):
        try:
            function = ctypes.CDLL(library)["__cxa_demangle"]
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        function.argtypes = (ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        return lambda names: [_by_library(function, name) for name in names]
    for program in ("c++filt", "cu++filt", "llvm-cxxfilt"):
        path = shutil.which(program)
        if path:
            return lambda names, path=path: _by_program(path, names)  # type: ignore[misc]
    raise ValueError(
        "the image has mangled names, and nothing here reads them (libstdc++, c++filt): give the kernel's mangled name"
    )


def _by_library(function: Any, name: str) -> str | None:
    buffer = function(name.encode(), None, None, None)
    if not buffer:
        return None
    told = ctypes.string_at(buffer).decode(errors="replace")
    free = ctypes.CDLL(None)["free"]
    free.argtypes, free.restype = (ctypes.c_void_p,), None
    free(buffer)
    return told


def _by_program(path: str, names: Sequence[str]) -> list[str | None]:
    text = "\n".join(names)
    told = subprocess.run([path], input=text, capture_output=True, text=True, check=True).stdout
    return list(told.splitlines())
