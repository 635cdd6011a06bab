"""Test NumPy's public names other than functions of arrays: objects, `broadcast`, and names that PyGPU omits."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import since_numpy
from PyGPU._names import index
from PyGPU._protocols.not_planned_names import NOT_PLANNED
from support import assert_same, assert_same_refusal, outcome


@since_numpy("2.4", "the end of names that NumPy 2.0 deprecated")
def test_every_numpy_name_is_provided_or_listed_as_not_planned() -> None:
    not_planned = {name for names in NOT_PLANNED.values() for name in names}
    missing = {name for name in dir(np) if not name.startswith("_") and not hasattr(PyGPU, name)}
    assert missing <= not_planned
    assert [name for name in not_planned if hasattr(PyGPU, name)] == []


@pytest.mark.parametrize(("text", "name"), [(text, names[0]) for text, names in NOT_PLANNED.items()])
def test_name_listed_as_not_planned_raises_error_with_replacement(text: str, name: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(text.replace("`", ""))):
        getattr(PyGPU, name)


@pytest.mark.parametrize("name", index.GROUPS["NumPy's own"])
def test_object_of_numpy_is_same_object_in_pygpu(name: str) -> None:
    assert getattr(PyGPU, name) is getattr(np, name)


def test_import_of_pygpu_does_not_load_modules_of_rare_names() -> None:
    code = (
        "import sys, PyGPU; "
        "print([name for name in sys.modules if name.startswith(('PyGPU.lib', 'PyGPU.testing', 'PyGPU.emath', "
        "'numpy.testing', 'PyGPU._protocols.n', 'PyGPU._functions'))])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_error_settings_are_shared_with_numpy() -> None:
    before = PyGPU.geterr()
    with PyGPU.errstate(divide="raise"):
        assert np.geterr()["divide"] == "raise"
        PyGPU.seterr(divide="ignore")
        assert np.geterr()["divide"] == "ignore"
    assert np.geterr() == before


@pytest.mark.parametrize(
    "shapes", [(), ((),), ((2, 3),), ((3, 1), (4,)), ((2, 1, 3), (0, 1)), ((1,), ()), ((2, 0),) * 3]
)
def test_broadcast_matches_numpy(shapes: tuple[tuple[int, ...], ...]) -> None:
    expected = np.broadcast(*(np.zeros(shape) for shape in shapes))
    for arrays in ([PyGPU.zeros(shape) for shape in shapes], [np.zeros(shape) for shape in shapes]):
        got = PyGPU.broadcast(*arrays)
        for name in ("shape", "ndim", "size", "numiter"):
            assert getattr(got, name) == getattr(expected, name)
        assert got.nd == expected.nd  # codespell:ignore nd
    assert PyGPU.broadcast(PyGPU.broadcast(PyGPU.zeros(3), 1), [[1], [2]]).shape == (2, 3)


def test_broadcast_rejects_same_shapes_as_numpy() -> None:
    for shapes in (((2,), (3,)), ((2, 3), (3, 2)), ((1,),) * 65):
        assert_same_refusal(
            outcome(lambda shapes=shapes: PyGPU.broadcast(*(PyGPU.zeros(shape) for shape in shapes))),
            outcome(lambda shapes=shapes: np.broadcast(*(np.zeros(shape) for shape in shapes))),
        )
    with pytest.raises(TypeError, match=r"shape \(3,\) is not iterated"):
        iter(PyGPU.broadcast(PyGPU.zeros(3)))


def test_row_stack_warns_and_stacks_like_numpy() -> None:
    host = np.arange(3)
    with pytest.warns(DeprecationWarning, match="vstack"):
        got = PyGPU.row_stack([PyGPU.to_gpu(host), PyGPU.to_gpu(host)])
    assert_same(got, np.vstack([host, host]))


def test_elementwise_functions_are_instances_of_ufunc() -> None:
    assert isinstance(PyGPU.add, PyGPU.ufunc)
    assert PyGPU.ufunc is PyGPU.Ufunc
