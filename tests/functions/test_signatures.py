"""Compare the signatures of functions that NumPy and PyGPU share.

The tables GENERAL and KEPT list intended differences.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import since_numpy
from PyGPU import _core
from PyGPU._names import index
from support import assert_same

pytestmark = pytest.mark.enough_on("cpu")

_Parameters = dict[str, inspect.Parameter]

GENERAL = {
    "adds device": "selects the device of the result",
    "adds stream": "selects the stream that computes, as in PyCUDA",
    "adds allocator": "selects the memory of the result, as in PyCUDA",
    "adds shared": "allocates memory that other processes may open",
    "lacks like": "NumPy implements it: np.f(..., like=a) calls PyGPU.f on the device of a",
    "lacks subok": "results always have the class GPUArray; np.f ignores the keyword",
    "order has default None": "None means C order, or the order of the prototype, as NumPy's default does",
    "keepdims has default False": "equals NumPy's omitted value for arrays that are no subclass",
    "where has default None": "None means all elements, as NumPy's omitted value or True",
    "initial has default None": "None means no initial value, as NumPy's omitted value",
    "mean has default None": "None means that the elements determine the means, as NumPy's omitted value",
    "prepend has default None": "None means nothing is joined, as NumPy's omitted value",
    "append has default None": "None means nothing is joined, as NumPy's omitted value",
    "correction has default None": "None means that `ddof` applies, as NumPy's omitted value",
    "ddof has default 0.0": "equals NumPy's 0; fractions are accepted as well",
    "a is positional-only": "native functions take their first operand by position; np.f(a=x) works",
    "kwargs is called keywords": "further keywords of ufuncs; their name is not visible to callers",
    "shape is keyword-only": "PyCUDA's functions have other parameters at this position; np.f accepts it by position",
}
"""Differences from NumPy's signature that are accepted for every function, each with its reason."""

DESCENDING = (
    {"descending has default False": "the array API's default; NumPy's omitted value means the same"}
    if np.lib.NumpyVersion(np.__version__) >= "2.5.0"
    else {"adds descending": "the array API's and NumPy 2.5's keyword"}
)

KEPT: dict[str, dict[str, str]] = {
    "arange": {
        "start_or_stop is called start": "the array API's name",
        "start_or_stop is positional-or-keyword": "the array API's signature",
        "dtype is positional-or-keyword": "PyCUDA's position",
    },
    "array": {"ndmax has default None": "None means no limit, as the omitted value of NumPy"},
    "asarray": {"a is called obj": "the array API's name"},
    "argsort": DESCENDING,
    "broadcast_to": {"array is called a": "np.broadcast_to(array=x, shape=s) works"},
    "clip": {
        "lacks a_min": "the array API's name is min; np.clip(a, a_min=0, a_max=1) works",
        "lacks a_max": "the array API's name is max; np.clip(a, a_min=0, a_max=1) works",
        "min has default None": "None means no limit, as NumPy's omitted value",
        "max has default None": "None means no limit, as NumPy's omitted value",
        "min is positional-or-keyword": "the array API's signature",
        "max is positional-or-keyword": "the array API's signature",
    },
    "einsum": {
        "adds dtype": "one of the keywords that NumPy's signature shows as kwargs",
        "adds order": "one of the keywords that NumPy's signature shows as kwargs",
        "adds casting": "one of the keywords that NumPy's signature shows as kwargs",
        "lacks kwargs": "all keywords are named",
    },
    "empty_like": {
        "prototype is called other": "PyCUDA's name",
        "prototype is positional-or-keyword": "PyCUDA's signature",
    },
    "flip": {"m is called a": "one name for the operand; np.flip(m=x) works"},
    "full_like": {"a is called other": "PyCUDA's name; np.full_like(a=x) works"},
    "ones_like": {"a is called other": "PyCUDA's name; np.ones_like(a=x) works"},
    "zeros_like": {"a is called other": "PyCUDA's name; np.zeros_like(a=x) works"},
    "linspace": {
        "num has default None": "None means 50, NumPy's default",
    },
    "real": {"adds out": "a parameter of PyGPU's other elementwise functions"},
    "imag": {"adds out": "a parameter of PyGPU's other elementwise functions"},
    "sort": DESCENDING,
    "fft.fftfreq": {"adds dtype": "the array API's keyword"},
    "fft.rfftfreq": {"adds dtype": "the array API's keyword"},
    "show_config": {"lacks mode": "PyGPU's configuration, not NumPy's; PyGPU.show_config returns text"},
    "putmask": {"a is positional-or-keyword": "a call by keyword works, too"},
    "tensordot": {"b is positional-only": "the array API's signature"},
    "savez": {"lacks allow_pickle": "kwds contains it; np.savez interprets it"},
    "savez_compressed": {"lacks allow_pickle": "kwds contains it; np.savez_compressed interprets it"},
}
"""Intended differences of single functions from NumPy's signatures, each with the reason."""

PASSED_ON = {"frombuffer", "fromfile", "fromstring", "genfromtxt", "load", "loadtxt", "savetxt"}
"""Functions that read or write files and pass further arguments to NumPy's function of the installed version."""

WITHOUT_SIGNATURE = {
    "fromstring": "NumPy's function has no signature before NumPy 2.5",
    "i0": "PyGPU's function is a ufunc; NumPy's ufuncs have no signature either",
    "imag": "PyGPU's function is a ufunc; NumPy's ufuncs have no signature either",
    "real": "PyGPU's function is a ufunc; NumPy's ufuncs have no signature either",
    "sinc": "PyGPU's function is a ufunc; NumPy's ufuncs have no signature either",
}
"""Shared functions without a signature in one of the packages, and the reason."""

KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional-only",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional-or-keyword",
    inspect.Parameter.VAR_POSITIONAL: "variable",
    inspect.Parameter.KEYWORD_ONLY: "keyword-only",
    inspect.Parameter.VAR_KEYWORD: "variable keyword",
}
VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def shared_functions() -> Iterator[tuple[str, Any, Any]]:
    """Return the name, NumPy's function and PyGPU's function for every function that both packages have."""
    modules = {"": sorted({*index.HOME, *_core.__all__}), "linalg": None, "fft": None}
    for module, listed in modules.items():
        ours, numpys = (getattr(package, module) if module else package for package in (PyGPU, np))
        for name in listed or ours.__all__:
            function, counterpart = getattr(ours, name), getattr(numpys, name, None)
            is_other = isinstance(counterpart, (np.ufunc, type)) or counterpart is function
            if callable(function) and callable(counterpart) and not is_other:
                yield f"{module}.{name}".lstrip("."), counterpart, function


def signature(function: Any) -> _Parameters | None:
    if isinstance(function, _core.Ufunc):
        return None  # Newer Python versions return the parameters of `Ufunc.__call__`: `*args` and `**kwargs`.
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None


def is_positional(parameter: inspect.Parameter) -> bool:
    return parameter.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def counterparts(numpys: _Parameters, ours: _Parameters) -> dict[str, str]:
    """Pair the parameters of NumPy's and PyGPU's function: by name, or else by position, and `*args` and `**kwargs` by
    kind."""
    pairs = {name: name for name in numpys if name in ours}
    positional = [name for name, parameter in ours.items() if is_positional(parameter)]
    for position, (name, parameter) in enumerate(numpys.items()):
        if name in ours:
            continue
        if parameter.kind in VARIABLE:
            found = [other for other, its in ours.items() if its.kind == parameter.kind]
        else:
            found = positional[position : position + 1] if is_positional(parameter) else []
        if found and found[0] not in numpys:
            pairs[name] = found[0]
    return pairs


def differences(numpys: _Parameters, ours: _Parameters) -> Iterator[str]:
    """Describe how PyGPU's parameters differ from NumPy's."""
    pairs = counterparts(numpys, ours)
    for name, parameter in numpys.items():
        if name not in pairs:
            yield f"lacks {name}"
            continue
        other = ours[pairs[name]]
        if other.name != name:
            yield f"{name} is called {other.name}"
        if other.kind != parameter.kind:
            yield f"{name} is {KINDS[other.kind]}"
        elif is_positional(parameter) and list(numpys).index(name) != list(ours).index(other.name):
            yield f"{name} has position {list(ours).index(other.name)}"
        if other.default is not parameter.default and repr(other.default) != repr(parameter.default):
            yield f"{name} has default {other.default!r}"
    yield from (f"adds {name}" for name in ours if name not in pairs.values())


def all_differences() -> dict[str, set[str]]:
    """Return the differences of all shared functions that have signatures."""
    found = {}
    for name, counterpart, function in shared_functions():
        numpys, ours = signature(counterpart), signature(function)
        if numpys is not None and ours is not None:
            different = set(differences(numpys, ours))
            if name in PASSED_ON:
                different = {text for text in different if not text.startswith("lacks")} - {"adds args", "adds kwargs"}
            found[name] = different
    return found


@since_numpy("2.4", "signatures of functions in C")
def test_signatures_differ_from_numpy_only_as_listed() -> None:
    unlisted = {
        name: sorted(texts - set(GENERAL) - set(KEPT.get(name, ()))) for name, texts in all_differences().items()
    }
    assert {name: texts for name, texts in unlisted.items() if texts} == {}


@pytest.mark.skipif(not np.__version__.startswith("2.4."), reason="the tables describe NumPy 2.4")
def test_every_listed_difference_of_signatures_exists() -> None:
    found = all_differences()
    assert set(GENERAL) <= set().union(*found.values())
    assert {name: missing for name in KEPT if (missing := set(KEPT[name]) - found.get(name, set()))} == {}
    assert set(found) | set(WITHOUT_SIGNATURE) >= PASSED_ON


@since_numpy("2.4", "signatures of functions in C")
def test_every_function_shared_with_numpy_has_signature() -> None:
    without = {name for name, *functions in shared_functions() if None in map(signature, functions)}
    assert without <= set(WITHOUT_SIGNATURE)


@pytest.mark.parametrize("name", ["all", "any", "argmax", "max", "mean", "prod", "std", "sum"])
def test_operand_of_reduction_may_be_passed_by_keyword(name: str) -> None:
    host = np.array([[1.0, 2.0], [3.0, 5.0]])
    assert_same(getattr(np, name)(a=PyGPU.to_gpu(host), axis=0), getattr(np, name)(a=host, axis=0))


@pytest.mark.parametrize(
    ("name", "keywords"),
    [
        ("real", {"val": 0}),
        ("i0", {"x": 0}),
        ("clip", {"a": 0, "a_min": 2, "a_max": 3}),
        pytest.param("clip", {"a": 0, "max": 3}, marks=since_numpy("2.1", "min and max of clip")),
        ("flip", {"m": 0}),
        ("broadcast_to", {"array": 0, "shape": (2, 2, 2), "subok": True}),
        ("full_like", {"a": 0, "fill_value": 2, "subok": True}),
        ("zeros_like", {"a": 0, "dtype": "f4", "order": "C", "shape": (2,)}),
        ("ones_like", {"a": 0}),
    ],
)
def test_numpys_keywords_are_accepted_where_pygpus_names_differ(name: str, keywords: dict[str, Any]) -> None:
    host = np.array([[1.0, 2.0], [3.0, 5.0]])
    first = next(iter(keywords))
    ours = getattr(np, name)(**keywords | {first: PyGPU.to_gpu(host)})
    assert isinstance(ours, PyGPU.GPUArray)
    np.testing.assert_allclose(ours.get(), getattr(np, name)(**keywords | {first: host}), rtol=1e-15)


@since_numpy("2.1", "min and max of clip")
@pytest.mark.parametrize(
    ("limits", "keywords"),
    [((2,), {}), ((), {"a_max": 2}), ((), {"a_min": 2}), ((1, 2), {"min": 1}), ((1,), {"a_max": 2, "max": 2})],
)
def test_numpy_clip_of_device_array_raises_same_errors_as_numpy(
    limits: tuple[int, ...], keywords: dict[str, int]
) -> None:
    with pytest.raises((TypeError, ValueError)) as numpys:
        np.clip(np.arange(4), *limits, **keywords)
    with pytest.raises(numpys.type) as ours:
        np.clip(PyGPU.arange(4), *limits, **keywords)
    assert str(ours.value) == str(numpys.value)


@since_numpy("2.1", "min and max of clip")
@pytest.mark.parametrize("limits", [(1, 2), (None, 2), (1, None), (None, None)])
def test_numpy_clip_of_device_array_accepts_same_limits_as_numpy(limits: tuple[int | None, int | None]) -> None:
    assert_same(np.clip(PyGPU.arange(4), *limits), np.clip(np.arange(4), *limits))
    assert_same(np.clip(PyGPU.arange(4), min=limits[0]), np.clip(np.arange(4), min=limits[0]))
