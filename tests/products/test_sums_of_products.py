"""Test products over several axes, and `einsum`: results match NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from products import check, numbers

# A run on CUDA alone suffices, because these functions are Python code that is the same for HIP.
pytestmark = pytest.mark.enough_on("cpu", "cuda")


def both(name: str, *arguments: Any, **keywords: Any) -> None:
    own = [PyGPU.to_gpu(one) if isinstance(one, np.ndarray) else one for one in arguments]
    expected = np.asarray(getattr(np, name)(*arguments, **keywords))
    for module in (PyGPU, np):
        check(getattr(module, name)(*own, **keywords), expected)


SHAPES = [
    ((), ()),
    ((), (3,)),
    ((2, 3), ()),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_dot_matches_numpy(shapes: Any) -> None:
    a, b = (np.asarray(numbers("float32", *shape)) for shape in shapes)
    both("dot", a, b)
    check(PyGPU.to_gpu(a).dot(PyGPU.to_gpu(b)), np.asarray(np.dot(a, b)))
    out = PyGPU.empty(np.dot(a, b).shape, "float32")
    assert PyGPU.dot(PyGPU.to_gpu(a), PyGPU.to_gpu(b), out=out) is out
    check(out, np.asarray(np.dot(a, b)))


def test_inner_outer_and_kron_match_numpy() -> None:
    a, b = numbers("float32", 2, 3), numbers("float32", 4, 5, 3)
    both("inner", a, b)
    both("inner", a[0], a[0])
    both("outer", a, b)
    both("vdot", a, a.T.copy())
    both("vdot", numbers("complex64", 2, 3), numbers("complex64", 3, 2))
    for of_b in (b, b[0], b[0, 0], b.T):
        both("kron", a, of_b)
        both("kron", of_b, a)
    assert PyGPU.inner(PyGPU.to_gpu(a), 2).tolist() == (a * 2).tolist()


def test_tensordot_matches_numpy() -> None:
    a, b = numbers("float32", 3, 4, 5), numbers("float32", 4, 3, 2)
    both("tensordot", a, b, axes=([1, 0], [0, 1]))
    both("tensordot", a, b, axes=([-3, -2], [1, 0]))
    both("tensordot", a, a.transpose(2, 1, 0).copy(), axes=1)
    both("tensordot", a, b, axes=0)
    both("tensordot", a, a, axes=3)
    both("tensordot", a, b, axes=(0, 1))
    for axes in (2, ([0], [0]), ([0, 0], [1, 1]), ([5], [0])):
        with pytest.raises((ValueError, IndexError)):
            PyGPU.tensordot(PyGPU.to_gpu(a), PyGPU.to_gpu(b), axes=axes)


def test_dot_error_names_mismatched_axes() -> None:
    a = PyGPU.zeros((2, 3))
    with pytest.raises(ValueError, match=r"shapes \(2,3\) and \(2,3\) not aligned: 3 \(dim 1\) != 2 \(dim 0\)"):
        PyGPU.dot(a, a)
    with pytest.raises(ValueError, match="output array is not acceptable"):
        PyGPU.dot(a, a.T, out=PyGPU.zeros((2, 2), order="F"))


TEXTS = {
    "ij,jk->ik": ((3, 4), (4, 5)),
    "ij,jk": ((3, 4), (4, 5)),
    "ij,kj->ki": ((3, 4), (5, 4)),
    "bij,bjk->bik": ((2, 3, 4), (2, 4, 5)),
    "bij,bjk->kib": ((2, 3, 4), (2, 4, 5)),
    "ij,ij->": ((3, 4), (3, 4)),
    "ij,ij->ij": ((3, 4), (3, 4)),
    "i,j->ij": ((3,), (4,)),
    "ii": ((4, 4),),
    "ii->i": ((4, 4),),
    "iij->ji": ((4, 4, 3),),
    "ij->": ((3, 4),),
    "ij->j": ((3, 4),),
    "ba": ((3, 4),),
    "...ij,...jk->...ik": ((2, 3, 4), (4, 5)),
    "...i,i...": ((3, 4), (4, 3)),
    "i...->...": ((2, 4, 3),),
    "ij,jk,kl->il": ((3, 4), (4, 5), (5, 2)),
    "ijk,jl,km->ilm": ((2, 3, 4), (3, 5), (4, 2)),
    "ij,jk,ki": ((3, 4), (4, 5), (5, 3)),
    "a,b,c->abc": ((2,), (3,), (4,)),
    "ij,jk->ik ": ((3, 1), (4, 5)),
    "i,->i": ((3,), ()),
    "ijkl,jk->il": ((2, 3, 4, 5), (3, 4)),
    "aab,bcc->ac": ((3, 3, 2), (2, 4, 4)),
}


@pytest.mark.parametrize("text", TEXTS)
def test_einsum_matches_numpy(text: str) -> None:
    hosts = [np.asarray(numbers("float32", *shape)) for shape in TEXTS[text]]
    both("einsum", text, *hosts)


def test_einsum_accepts_numpy_keywords() -> None:
    a, b = numbers("float32", 3, 4), numbers("float32", 4, 5)
    own = PyGPU.to_gpu(a), PyGPU.to_gpu(b)
    check(PyGPU.einsum(own[0], [0, 1], own[1], [1, 2], [2, 0]), np.einsum(a, [0, 1], b, [1, 2], [2, 0]))
    check(PyGPU.einsum(own[0], [..., 1], own[1].T, [2, 1]), np.einsum(a, [..., 1], b.T, [2, 1]))
    out = PyGPU.empty((3, 5))
    assert PyGPU.einsum("ij,jk", *own, out=out) is out
    check(out.astype("float32"), a @ b)
    check(PyGPU.einsum("ij,jk", *own, dtype="float64"), np.einsum("ij,jk", a, b, dtype="float64"))
    assert PyGPU.einsum("ij,jk->ki", *own, order="C").flags.c_contiguous
    path, _ = PyGPU.einsum_path("ij,jk,kl", own[0], own[1], own[1].T, optimize="optimal")
    check(PyGPU.einsum("ij,jk,kl", own[0], own[1], own[1].T, optimize=path), a @ b @ b.T)
    assert np.einsum_path("ij,jk", *own)[0] == ["einsum_path", (0, 1)]


@pytest.mark.parametrize("dtype", ["bool", "int8", "complex64"])
def test_einsum_of_other_dtypes_matches_numpy(dtype: str) -> None:
    both("einsum", "ij,jk->k", numbers(dtype, 3, 4), numbers(dtype, 4, 5))
    both("einsum", "ii->", numbers(dtype, 4, 4))


def test_einsum_for_diagonal_returns_view() -> None:
    a = PyGPU.zeros((3, 3))
    PyGPU.einsum("ii->i", a)[...] = 1
    assert a.tolist() == np.eye(3).tolist()


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("ij,jk", ((2, 3), (2, 4))),
        ("ijk", ((2, 3),)),
        ("i", ((2, 3),)),
        ("ij->ii", ((2, 3),)),
        ("ij->k", ((2, 3),)),
        ("ij,jk", ((2, 3),)),
        ("i", ((2,), (2,))),
        ("i1", ((2, 3),)),
        ("...->", ((2, 3),)),
        ("ii", ((2, 3),)),
    ],
)
def test_einsum_rejects_same_invalid_subscripts_as_numpy(text: str, shapes: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        np.einsum(text, *(np.zeros(shape) for shape in shapes))
    with pytest.raises(ValueError):  # noqa: PT011
        PyGPU.einsum(text, *(PyGPU.zeros(shape) for shape in shapes))
