"""Functions that analyse and change the C++ text of a user's kernel by its tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = [
    "depends_on_block",
    "has_word",
    "headers_for",
    "is_array_index",
    "is_local_output",
    "own_integers",
    "renamed",
    "tokens",
]

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<word>[A-Za-z_]\w*)"""
    r"""|(?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*)|(?P<sign>->|::|<<=|>>=|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|<<|>>|.)""",
    re.DOTALL,
)
_JUMPS = frozenset({"return", "goto", "continue", "asm"})
_OWN_INTEGER = re.compile(r"\btypedef\b[\w\s]+?\b(u?int(?:8|16|32|64)_t)\s*;")
# Names in a C++ text that may make the kernel's result depend on the block size.
_BLOCK = frozenset({"blockDim", "threadIdx", "blockIdx", "gridDim", "__shared__", "CUPY_FOR", "warpSize"})


def tokens(text: str) -> list[str]:
    """Return the tokens of a C++ text, without comments.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from PyGPU._cupy.kernels.c_text import tokens
    >>> tokens('y = x->n + 2.5f; // a sum')
    ['y', '=', 'x', '->', 'n', '+', '2.5f', ';']
    """
    return [match.group() for match in _TOKEN.finditer(text) if match.lastgroup != "space"]


def has_word(word: str, *texts: str) -> bool:
    """Return whether a name occurs in one of the texts, also inside comments."""
    pattern = re.compile(rf"\b{word}\b")
    return any(pattern.search(text) for text in texts)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a C++ text with renamed variables; members, strings and comments are unchanged.

    Parameters
    ----------
    text : str
        C++ text.
    names : mapping of str to str
        New names by old names.

    Returns
    -------
    str

    Examples
    --------
    >>> from PyGPU._cupy.kernels.c_text import renamed
    >>> renamed('n = a.n + n;', {'n': 'm'})
    'm = a.n + m;'
    """
    if not any(has_word(name, text) for name in names):
        return text
    parts: list[str] = []
    last = ""
    for match in _TOKEN.finditer(text):
        word = match.group()
        is_variable = match.lastgroup == "word" and last not in (".", "->", "::")
        parts.append(names.get(word, word) if is_variable else word)
        if match.lastgroup != "space":
            last = word
    return "".join(parts)


def own_integers(text: str) -> dict[str, str]:
    """Return new names for types of <stdint.h> that a user's source defines itself.

    CuPy's compiler does not include <stdint.h>, so programs define its types. PyGPU's compilers may include this
    header, so a different definition of, for example, `uint64_t` would be an error.

    Parameters
    ----------
    text : str
        C++ text.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> from PyGPU._cupy.kernels.c_text import own_integers
    >>> own_integers('typedef unsigned long long uint64_t;')
    {'uint64_t': 'program_uint64_t'}
    """
    return {name: f"program_{name}" for name in _OWN_INTEGER.findall(text)}


def depends_on_block(*texts: str) -> bool:
    """Return whether C++ texts use the threads of a block, so that the kernel's result depends on the block size."""
    return any(word in _BLOCK or word.startswith("__sync") for text in texts for word in tokens(text))


def is_local_output(name: str, operation: str, preamble: str, is_fresh: bool) -> bool:
    """Return whether a kernel may compute an output element in a local variable and store it after the operation.

    The old element is then not read, so the array must be new or the operation must assign the whole element first. The
    operation must also neither return early nor take the element's address.

    Parameters
    ----------
    name : str
        Name of the output.
    operation, preamble : str
        C++ texts of the kernel.
    is_fresh : bool
        Whether the array is newly allocated.

    Returns
    -------
    bool

    Examples
    --------
    >>> from PyGPU._cupy.kernels.c_text import is_local_output
    >>> is_local_output('y', 'y = x + 1', '', False), is_local_output('y', 'y += x', '', False)
    (True, False)
    """
    if "#" in operation or has_word(name, *(line for line in preamble.splitlines() if "define" in line)):
        return False
    words = tokens(operation)
    if not _JUMPS.isdisjoint(words):
        return False
    depth, seen = 0, is_fresh
    for at, word in enumerate(words):
        before = words[at - 1] if at else ";"
        depth += (word in "([{") - (word in ")]}")
        if word != name or before in (".", "->", "::"):
            continue
        if _is_address(words, at):
            return False  # The operation needs the array element's address, which a local variable lacks.
        if not seen:
            statement = words[at + 2 :][: _statement_end(words[at + 2 :])]
            if depth or before not in (";", "}") or words[at + 1 : at + 2] != ["="] or name in statement:
                return False
            seen = True
    return seen


def _is_address(words: list[str], at: int) -> bool:
    """Return whether the word at a position is the operand of the address operator, as in ``&y`` and ``&(y)``."""
    while at and words[at - 1] == "(":
        at -= 1
    return at > 0 and words[at - 1] == "&" and (at < 2 or not _ends_operand(words[at - 2]))


def _ends_operand(word: str) -> bool:
    return word[0].isalnum() or word[0] in "_)]"


def _statement_end(words: list[str]) -> int:
    return words.index(";") if ";" in words else len(words)


def is_array_index(name: str, texts: tuple[str, ...], names: frozenset[str]) -> bool:
    """Return whether a kernel needs the shape of a raw array. The kernel then receives an object instead of a pointer.

    The shape is needed if the array occurs without an index, or if an index is a list or an array of indices.

    Parameters
    ----------
    name : str
        Name of the array.
    texts : tuple of str
        C++ texts of the kernel.
    names : frozenset of str
        Names of the scalar variables in the texts.

    Returns
    -------
    bool

    Examples
    --------
    >>> from PyGPU._cupy.kernels.c_text import is_array_index
    >>> is_array_index('x', ('y = x[i]',), frozenset('i')), is_array_index('x', ('y = x.size()',), frozenset())
    (False, True)
    """
    for text in texts:
        words = tokens(text)
        for at, word in enumerate(words):
            if word != name or (at and words[at - 1] in (".", "->", "::")):
                continue
            index = words[at + 2 : at + 4]
            if words[at + 1 : at + 2] != ["["] or index[:1] == ["{"]:
                return True
            if index[1:] == ["]"] and index[0] not in names and re.search(rf"\b{index[0]}\s*(\[|\)\s*\[)", text):
                return True
            if index[:1] == ["_ind"]:
                return True
    return False


def headers_for(*texts: str) -> str:
    r"""Return `#include` lines for those of CuPy's default headers that C++ texts need.

    Parameters
    ----------
    *texts : str
        C++ texts, among them the names of types.

    Returns
    -------
    str

    Examples
    --------
    >>> from PyGPU._cupy.kernels.c_text import headers_for
    >>> headers_for('complex<float> z', 'y = conj(z)')
    '#include <cupy/complex.cuh>\n'
    """
    needs = {
        "complex.cuh": r"\b(complex|thrust)\b",
        "float16.cuh": r"\bb?float16\b",
        "math_constants.h": r"\bCUDART_",
        "carray.cuh": r"\b(CArray|CIndexer|CUPY_FOR|M_PI|_ind|pygpu_cupy)\b",
        "atomics.cuh": r"\batomic(Add|Max|Min)\b",
    }
    names = [name for name, pattern in needs.items() if any(re.search(pattern, text) for text in texts)]
    return "".join(f"#include <cupy/{name}>\n" for name in names)
