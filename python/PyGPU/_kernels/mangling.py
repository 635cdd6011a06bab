"""Find the mangled name of a C++ function by the name that the source or a debugger shows."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["find_mangled"]


def find_mangled(name: str, names: Sequence[str]) -> str | None:
    """Find the mangled name of a function by its name in the source or in a debugger.

    Parameters
    ----------
    name : str
        Name such as ``'axpy<float, 4>'``, ``'ns::scale'``, or with parameters ``'scale(float*, int)'``.
    names : sequence of str
        Mangled names to search.

    Returns
    -------
    str or None

    Raises
    ------
    ValueError
        If several names match, or if no demangler is available.

    Examples
    --------
    >>> from PyGPU._kernels.mangling import find_mangled
    >>> find_mangled("scale<float, 4>", ["_Z5scaleIfLi4EEvPfi", "_Z5scaleIdLi4EEvPdi"])
    '_Z5scaleIfLi4EEvPfi'
    """
    demangle = _demangler()
    searched = _without_spaces(name)
    matches = [
        mangled
        for mangled, demangled in zip(names, demangle(names), strict=True)
        if searched in _name_variants(demangled)
    ]
    # nvcc lists an instance of a kernel template twice; the name with an additional "L" belongs to the instance's host
    # stub.
    matches = [mangled for mangled in matches if not _is_local_duplicate(mangled, matches)]
    if len(matches) > 1:
        raise ValueError(f"several functions are called '{name}': {', '.join(matches)}; give the mangled name")
    return matches[0] if matches else None


def _is_local_duplicate(mangled: str, names: Sequence[str]) -> bool:
    return any(
        mangled[index] == "L" and mangled[:index] + mangled[index + 1 :] in names for index in range(len(mangled))
    )


def _without_spaces(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _name_variants(demangled: str | None) -> set[str]:
    """Return the names by which users may search for a function: with and without result type and parameters."""
    if not demangled:
        return set()
    variants = {demangled, demangled.removeprefix("void ")}
    if demangled.endswith(")"):
        depth, index = 0, len(demangled)
        while index > 0:
            index -= 1
            depth += {")": 1, "(": -1}.get(demangled[index], 0)
            if depth == 0:
                break
        variants |= {variant[: len(variant) - (len(demangled) - index)] for variant in tuple(variants)}
    return {_without_spaces(variant) for variant in variants}


Demangler = Callable[[Sequence[str]], Sequence[str | None]]


def _demangler() -> Demangler:
    """Return a function that demangles C++ names; it calls the C++ library or a program such as c++filt."""
    for library in ("libstdc++.so.6", "libc++abi.so.1", "libc++.1.dylib"):
        try:
            function = ctypes.CDLL(library)["__cxa_demangle"]
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        function.argtypes = (ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        return lambda names: [_demangle_by_library(function, name) for name in names]
    for program in ("c++filt", "cu++filt", "llvm-cxxfilt"):
        path = shutil.which(program)
        if path:
            return lambda names, path=path: _demangle_by_program(path, names)  # type: ignore[misc]
    raise ValueError(
        "the image has mangled names, and nothing here reads them (libstdc++, c++filt): give the kernel's mangled name"
    )


def _demangle_by_library(function: Any, name: str) -> str | None:
    buffer = function(name.encode(), None, None, None)
    if not buffer:
        return None
    demangled = ctypes.string_at(buffer).decode(errors="replace")
    free = ctypes.CDLL(None)["free"]
    free.argtypes, free.restype = (ctypes.c_void_p,), None
    free(buffer)
    return demangled


def _demangle_by_program(path: str, names: Sequence[str]) -> list[str | None]:
    text = "\n".join(names)
    demangled = subprocess.run([path], input=text, capture_output=True, text=True, check=True).stdout
    return list(demangled.splitlines())
