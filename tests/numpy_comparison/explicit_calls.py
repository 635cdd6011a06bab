"""List calls of functions whose arguments depend on each other, such as subscripts and operands of `einsum`."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

import numpy as np

from .operands import Callback, File, Operand


class Explicit(NamedTuple):
    """List calls by their positional and keyword arguments. If `is_all` is set, no further calls are generated."""

    calls: list[tuple[tuple[Any, ...], dict[str, Any]]]
    is_all: bool = True


def _given(*arguments: Any, **named: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return arguments, named


def _saved(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


_A = Operand((2, 3), "float64")
_B = Operand((3, 2), "float64", salt=1)
_Q = Operand((3, 3), "float64", salt=2)
_I = Operand((2, 3), "int64")
_TEXT = b"1 2 3\n4 5 6\n"
_EINSUM = [
    ("ij,jk->ik", _A, _B), ("ij,jk", _A, _B), ("ij->ji", _A), ("ij->", _A), ("ii", _Q), ("ii->i", _Q), ("ij,ij->i",
        _A, _A),
    ("...j,j", _A, Operand((3,), "float32")), ("ij,jk,kl->il", _A, _B, _A), ("i,j->ij", _I, _I), ("ij->i", _I), ("->",
        Operand((), "int8")),
    ("ij,kj->ik", Operand((2, 3), "int8"), Operand((1, 3), "uint8")), ("ij,jk", _A, _A), ("ij->ik", _A), ("i", _A),
        ("ij->ii", _A),
    ("i...->...", Operand((2, 3, 4), "complex64")), ("ij->ij", Operand((0, 3), "float64")), ("ij,jk->ik", Operand((2,
        0), "float32"), Operand((0, 3), "float32")),
    (_A, [0, 1], _B, [1, 2], [0, 2]), (_A, [0, 1], [1, 0]), ("ij", 3), ("ij", None), (3, _A), (), ("ij,ij", _A,
        Operand((1, 3), "bool")),
    ("ij->j", Operand((2, 3), "float16")), ("ijj->i", Operand((2, 3, 3), "bool")), ("ab,bc->", _A, _B), ("$", _A),
]  # fmt: skip

EXPLICIT: dict[str, Explicit] = {
    "array2string": Explicit([_given(_A), _given(Operand((), "int64")), _given(_A, precision=2, separator=", "),
        _given(3), _given(None)]),
    "array_repr": Explicit([_given(Operand((0,), "float32"))]),
    "array_str": Explicit([_given(_A), _given(_A, precision=2), _given(Operand((), "bool"))]),
    "einsum": Explicit([_given(*arguments) for arguments in _EINSUM] + [
        _given("ij->i", _I, dtype="float64"), _given("ij->i", _A, dtype="int64"), _given("ij->i", _A, dtype="int64",
        casting="unsafe"),
        _given("ij,jk->ik", _A, _B, optimize=True), _given("ij,jk,kl->il", _A, _B, _A, optimize="optimal"),
        _given("ij->ji", _A, order="F"),
        _given("ij->i", _A, casting="bad"), _given("ij->i", _A, unknown=3),
    ]),
    "einsum_path": Explicit([_given("ij,jk,kl->il", _A, _B, _A), _given("ij,jk", _A, _B, optimize="optimal"),
        _given("ij", _A, _B)]),
    "from_dlpack": Explicit([_given(_A), _given(Operand((0, 2), "int8")), _given(3), _given(None), _given("x"),
        _given([1, 2])]),
    "frombuffer": Explicit([_given(b"12345678", "i2"), _given(b"12345678", "i4", count=1, offset=4), _given(b"123",
        "i2"), _given(b"", "i2"), _given(3), _given(b"12345678", "i2", 9), _given(b"1234", "i2", offset=8),
        _given(b"12345678")]),
    "fromfile": Explicit([_given(__file__, "u1", count=4), _given(__file__, "u1", 3, offset=2), _given(3.5),
        _given(None), _given("/nonexistent/file")]),
    "fromstring": Explicit([_given("1 2 3", sep=" "), _given("1,2", dtype="i4", sep=","), _given("1 2 3", count=2,
        sep=" "), _given(3, sep=" "), _given(None, sep=" "), _given("1 x", sep=" ")]),
    "genfromtxt": Explicit([_given(File(_TEXT)), _given(File(_TEXT), dtype="i4", skip_header=1), _given(File(_TEXT),
        usecols=(0, 2)), _given(3), _given(None), _given("/nonexistent/file"), _given(File(b"1 2\n3\n"))]),
    "load": Explicit([_given(File(_saved(np.arange(6.0).reshape(2, 3)))), _given(File(_saved(np.array(3, "i1")))),
        _given(File(b"nothing")), _given(File(b"")), _given(3), _given(None), _given("/nonexistent/file")]),
    "loadtxt": Explicit([_given(File(_TEXT)), _given(File(_TEXT), dtype="i4", skiprows=1), _given(File(_TEXT),
        usecols=(0, 2), unpack=True), _given(File(_TEXT), ndmin=2, max_rows=1), _given(3), _given(None),
        _given("/nonexistent/file"), _given(File(b"1 2\n3\n")), _given(File(b"x y\n"))]),
    "save": Explicit([_given(File(), _A), _given(File(), Operand((0,), "int8")), _given(3, _A), _given(None, _A)]),
    "savetxt": Explicit([_given(File(), _A), _given(File(), _I, fmt="%d", delimiter=","), _given(File(), Operand((),
        "float64")), _given(File(), Operand((2, 3, 4), "float64")), _given(3, _A)]),
    "savez": Explicit([_given(File(), _A, x=_I), _given(File()), _given(File(), _A, arr_0=_I), _given(3, _A)]),
    "savez_compressed": Explicit([_given(File(), _A, x=_I), _given(File(), _A, arr_0=_I), _given(None, _A)]),
    "linalg.tensorinv": Explicit([_given(Operand((2, 3, 6), "float64"), 2), _given(Operand((6, 2, 3), "float64"),
        ind=1), _given(Operand((2, 3, 3, 2), "float64")), _given(Operand((6, 2, 3), "float32"), ind=1)], is_all=False),
    "linalg.tensorsolve": Explicit([_given(Operand((2, 3, 6), "float64"), Operand((2, 3), "float64")),
        _given(Operand((2, 6, 3), "float64"), Operand((2, 3), "float64"), axes=(1,))], is_all=False),
    "linalg.lstsq": Explicit([_given(Operand((5, 2), "float64"), Operand((5,), "float64")), _given(Operand((5, 2),
        "float32"), Operand((5, 2), "float32")), _given(Operand((2, 5), "float64"), Operand((2,), "float64"))],
        is_all=False),
    "apply_along_axis": Explicit([_given(Callback("xp.percentile", lambda xp: xp.percentile), 1, _A, 50),
        _given(Callback("xp.sort", lambda xp: xp.sort), 0, _A, axis=-1)], is_all=False),
    "mean": Explicit([_given(Operand((3000,), "float32", layout="stepped")), _given(Operand((3000,), "float16"))],
        is_all=False),
    "nanvar": Explicit([_given(Operand((2, 3), "complex64")), _given(Operand((2, 3), "complex64"), dtype="float32")],
        is_all=False),
    "sum": Explicit([_given(Operand((3000,), "float32", layout="stepped")), _given(Operand((40, 50), "float16"),
        axis=0)], is_all=False),
}  # fmt: skip
"""The calls of each function; the first call is one that NumPy accepts."""
