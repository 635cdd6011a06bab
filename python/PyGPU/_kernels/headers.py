"""Insert headers, which a program passes as strings, into the source that includes them.

The run-time compilers have different interfaces for headers that are passed as strings, and the host compiler has none.
Temporary files are no solution, because their names would become part of cached sources. A source with inserted headers
works with every compiler.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

__all__ = ["inlined"]

_INCLUDE = re.compile(r'\s*#\s*include\s*[<"]([^>"]+)[>"]')
_LINE = re.compile(r'\s*#\s*line\s+(\d+)\s*(?:"((?:[^"\\]|\\.)*)")?')
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b[^\n]*$", re.MULTILINE)


def inlined(text: str, name: str, headers: Mapping[Any, Any]) -> str:
    r"""Replace ``#include`` lines by the headers' text; ``#line`` directives keep line numbers in messages correct.

    Parameters
    ----------
    text, name : str
        The source, and its name in messages.
    headers : mapping
        Texts of the headers, by the names under which the source or another header includes them.

    Returns
    -------
    str

    Examples
    --------
    >>> from PyGPU._kernels.headers import inlined
    >>> print(inlined('#include "two.h"\nint a = TWO;', "kernel.cu", {"two.h": "#define TWO 2"}))
    #line 1 "two.h"
    #define TWO 2
    #line 2 "kernel.cu"
    int a = TWO;
    """
    for header, body in headers.items():
        if not isinstance(header, str) or not isinstance(body, str):
            raise TypeError(f"headers are texts by their names, and {header!r} is {type(body).__name__}")
    return "\n".join(_expanded(text, _quoted(name), headers, ()))


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')


def _expanded(text: str, file: str, headers: Mapping[str, str], open_headers: tuple[str, ...]) -> list[str]:
    lines, number = [], 1
    for line in text.split("\n"):
        number += 1  # `number` is the line number of the next line
        if (directive := _LINE.match(line)) is not None:
            number, file = int(directive[1]), directive[2] if directive[2] is not None else file
        elif (include := _INCLUDE.match(line)) is not None and include[1] in headers:
            header = include[1]
            # A header that includes itself must have an include guard, so its second inclusion would be empty.
            body = [] if header in open_headers else _header(header, headers, open_headers)
            lines += [*body, f'#line {number} "{file}"']
            continue
        lines.append(line)
    return lines


def _header(name: str, headers: Mapping[str, str], open_headers: tuple[str, ...]) -> list[str]:
    body, occurrences = _ONCE.subn("", headers[name])
    quoted = _quoted(name)
    lines = [f'#line 1 "{quoted}"', *_expanded(body, quoted, headers, (*open_headers, name))]
    if occurrences:
        guard = f"PYGPU_ONCE_{sha256(name.encode()).hexdigest()[:16]}"
        lines = [f"#ifndef {guard}", f"#define {guard}", *lines, "#endif"]
    return lines
