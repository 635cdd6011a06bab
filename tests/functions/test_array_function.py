"""Test NumPy functions with device arrays (NEP 18): results of dispatched functions, and errors of all other
functions."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy
from PyGPU._protocols import array_function, function_table
from PyGPU._protocols.argument_adapter import ArgumentAdapter
from support import assert_same, on_cpu

HOST: dict[str, Any] = {
    "a": np.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]]),
    "b": np.array([[1.0, 1.0, 2.0], [2.0, 5.0, 8.0]]),
    "q": np.arange(9.0).reshape(3, 3),
    "n": np.array([[3.0, np.nan, 2.0], [6.0, 5.0, 4.0]]),
    "i": np.array([2, 0, 1]),
    "j": np.array([1, 1, 2, 4]),
    "v": np.array([1.0, 2.0, 4.0, 8.0]),
    "m": np.array([[True, False, True], [False, False, True]]),
    "z": np.array([1 + 2j, 3 + 0j]),
}

# Tested calls: one for each function in PyGPU's table of dispatched functions. Arrays are named as in `HOST`.
# Each call is evaluated twice, with device arrays and with host arrays.
CALLS = """
np.all(m, 0)                            np.allclose(a, b)                       np.amax(a, axis=1)
np.amin(a, axis=1, keepdims=True)       np.angle(z, deg=True)                   np.any(m, axis=1)
np.append(a, b, axis=0)                 np.arange(2, 8, 3, like=a)              np.argmax(a, axis=1)
np.argmin(a)                            np.argpartition(v, 1)[1]                np.argsort(a, axis=0)
np.argwhere(m)                          np.around(a, 1)                         np.array([1, 2], ndmin=2, like=a)
np.array2string(a)                      np.array_equal(a, b)                    np.array_equiv(a, b)
np.array_repr(a)                        np.array_split(v, 3)                    np.array_str(a)
np.asanyarray([1, 2], like=a)           np.asarray([[1], [2]], 'f4', like=a)    np.ascontiguousarray(3, like=a)
np.asfortranarray([[1, 2]], like=a)     np.astype(a, 'f4')                      np.atleast_1d(a)
np.atleast_2d(v)                        np.atleast_3d(v)                        np.average(a, axis=1)
np.bincount(j)                          np.block([[a], [b]])                    np.broadcast_arrays(a, i)
np.broadcast_to(i, (2, 3))              np.can_cast(a.dtype, 'f4')              np.choose(i, [v[:3], v[1:], v[:3]])
np.clip(a, 2, a_max=4)                  np.column_stack([v, v])                 np.common_type(a, i)
np.compress([True, False], a, axis=0)   np.concat([a, b])                       np.concatenate((a, b), axis=1)
np.copy(a, order='F', subok=True)       np.copyto(a, b)                         np.count_nonzero(m, axis=0)
np.cumprod(a, axis=1)                   np.cumsum(a, 0)                         np.cumulative_prod(v)
np.cumulative_sum(v)                    np.diag(q, k=1)                         np.diagflat(i)
np.diagonal(q, axis1=1, axis2=0)        np.diff(a, axis=0)                      np.digitize(v, v)
np.dsplit(v.reshape(1, 1, 4), 2)        np.dstack([v, v])                       np.ediff1d(v, to_end=v)
np.empty((0, 3), 'i4', like=a)          np.empty_like(a[:0], dtype='i2')        np.expand_dims(a, axis=1)
np.extract(m, a)                        np.eye(2, 3, k=1, like=a)               np.flatnonzero(m)
np.flip(m=a, axis=1)                    np.fliplr(a)                            np.flipud(a)
np.frombuffer(b'abcd', 'i2', like=a)    np.fromfile(path, 'i1', like=a)        np.fromfunction(plus, (2, 2), like=a)
np.fromiter([1, 2], 'i4', like=a)       np.fromstring('1 2', sep=' ', like=a)   np.full((2,), 7, like=a)
np.full_like(a, 3, subok=False)         np.genfromtxt(file(), like=a)           np.histogram(v, 2)
np.histogram_bin_edges(v, bins=2)       np.hsplit(v, 2)                         np.hstack([v, i])
np.i0(v)                                np.identity(2, like=a)                  np.imag(z)
np.intersect1d(v, j)                    np.isclose(a, b)                        np.iscomplex(z)
np.iscomplexobj(z)                      np.isin(a, b, invert=True)              np.isreal(z)
np.isposinf(n)                          np.isneginf(i)                          np.unravel_index(j, (2, 3), order='F')
np.ravel_multi_index((i, i), (3, 4))
np.isrealobj(a)                         np.lexsort((i, i))
np.loadtxt(file(), like=a)              np.matrix_transpose(a)                  np.max(a)
np.may_share_memory(a, a[1:])           np.mean(a, axis=1)                      np.median(a, axis=0)
np.meshgrid(v, i, indexing='ij')        np.min(a, axis=0, initial=2)            np.min_scalar_type(i[0])
np.moveaxis(a, 0, 1)                    np.nan_to_num(n, nan=3)                 np.nanargmax(n)
np.nanargmin(n, axis=1)                 np.nancumprod(n)                        np.nancumsum(n, axis=0)
np.nanmax(n, axis=1)                    np.nanmean(n)                           np.nanmedian(n, axis=1)
np.nanmin(n)                            np.nanpercentile(n, 50)                 np.nanprod(n, axis=0)
np.nanquantile(n, .5, axis=1)           np.nanstd(n)                            np.nansum(n, axis=0)
np.nanvar(n, axis=1)                    np.ndim(a)                              np.nonzero(m)
np.ones((2, 1), 'i8', like=a)           np.ones_like(a, shape=3)                np.pad(v, (1, 2))
np.partition(v, 2)[2]                   np.percentile(a, 50, axis=1)            np.permute_dims(a)
np.place(a, m, [7.0])                   np.prod(a, axis=0)                      np.ptp(a, 1)
np.put(a, [0], 9.0)                     np.put_along_axis(v, i, 3.0, 0)         np.putmask(a, m, b)
np.quantile(a, .5)                      np.ravel(a, order='F')                  np.real(z)
np.repeat(a, 2, axis=1)                 np.require([1, 2], 'f4', 'F', like=a)   np.reshape(a, (3, 2))
np.resize(v, (3, 2))                    np.result_type(a, np.complex64)         np.roll(a, 1, axis=(0, 1))
np.rollaxis(a, 1)                       np.rot90(a, k=3)                        np.round(a, decimals=1)
np.save(out(), a)                       np.savetxt(out(), a)                    np.savez(out(), a, x=b)
np.savez_compressed(out(), x=b)         np.searchsorted(v, a)                   np.select([m], [a], default=b)
np.setdiff1d(v, j)                      np.setxor1d(v, j)                       np.shape(a)
np.shares_memory(a[:1], a[1:])          np.sinc(v)                              np.size(a, 1)
np.sort(a, axis=None)                   np.split(v, [1, 3])                     np.squeeze(a[:1], axis=0)
np.stack([a, b], axis=-1)               np.std(a, axis=0, ddof=1)               np.sum(a, 0, None, None, True)
np.swapaxes(a, 0, 1)                    np.take(a, [0, 2], axis=1)              np.take_along_axis(v, i, 0)
np.tile(v, (2, 2))                      np.trace(q)                             np.transpose(a)
np.tri(2, k=1, like=a)                  np.tril(q)                              np.triu(q, 1)
np.union1d(v, j)                        np.unique(b, return_counts=True)        np.unique_all(b)
np.unique_counts(b)                     np.unique_inverse(b)                    np.unique_values(b)
np.unstack(a, axis=1)                   np.var(a, axis=1)                       np.vsplit(a, 2)
np.vstack([v, v])                       np.where(m, a, b)                       np.zeros(3, order='F', like=a)
np.zeros_like(a, 'i4')
np.corrcoef(a)                          np.convolve(v, i)                       np.correlate(v, i)
np.cov(a)                               np.cross(a, b)                          np.dot(q, q)
np.einsum('ij,jk', q, q)                np.einsum_path('ij,jk', q, q)           np.inner(a, b)
np.kron(a, q)                           np.outer(v, i)                          np.tensordot(q, q, axes=1)
np.vdot(v, v)                           np.histogram2d(v, v, 2)                 np.histogramdd(q, 2)
np.apply_along_axis(np.sum, 0, a)       np.apply_over_axes(np.sum, a, 0)        np.delete(a, 1, 1)
np.diag_indices_from(q)                 np.fill_diagonal(a, v)                  np.fix(n)
np.gradient(a, axis=1)                  np.insert(a, 1, v[:2], axis=1)          np.interp(v, v, v)
np.ix_(i, i)                            np.packbits(j)                          np.piecewise(v, [v > 2], [7])
np.polyadd(v, i)                        np.polyder(v)                           np.polyint(v)
np.poly(v)                              np.polydiv(v, v[1:])                    np.polyfit(v, i.repeat(2)[:4], 1)
np.roots(v)
np.polymul(v, i)                        np.polysub(v, i)                        np.polyval(v, i)
np.real_if_close(z)                     np.sort_complex(i)                      np.trapezoid(a)
np.tril_indices_from(q)                 np.trim_zeros(i)                        np.triu_indices_from(q)
np.unpackbits(j.astype('u1'))           np.unwrap(v)                            np.vander(i)
"""
PROGRAMS = {
    call.partition("(")[0]: f"np.{call.strip()}"
    for call in CALLS.replace("\nnp.", "  np.").split("  np.")
    if call.strip()
}
# Functions that Dask calls most often. On a GPU only these functions are tested, because a simulated GPU compiles
# kernels slowly.
FIRST = [
    "concatenate", "stack", "transpose", "where", "sum", "min", "max", "argmin", "argmax", "cumsum", "full_like",
    "zeros_like", "empty_like", "asarray", "array", "save", "array2string", "shares_memory", "may_share_memory",
]  # fmt: skip

CHANGING = {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}


def arrays(is_host: bool) -> dict[str, Any]:
    values = {name: value.copy() for name, value in HOST.items()}
    made = values if is_host else {name: PyGPU.to_gpu(value) for name, value in values.items()}
    return made | {
        "np": np,
        "plus": lambda x, y: x + y,
        "out": io.BytesIO,
        "file": lambda: io.BytesIO(b"1 2\n3 4\n"),
    }


def same(ours: Any, numpys: Any) -> None:
    if isinstance(numpys, (np.ndarray, np.generic)) and not isinstance(ours, (bool, int, str)):
        assert isinstance(ours, PyGPU.GPUArray), type(ours)
        assert_same(ours, np.asarray(numpys))
    elif isinstance(numpys, (list, tuple)):
        assert len(ours) == len(numpys)
        for one, other in zip(ours, numpys, strict=True):
            same(one, other)
    else:
        assert ours == numpys


def is_in_numpy(name: str) -> bool:
    """Return whether the installed NumPy has a function: some functions are new in NumPy 2.1."""
    return hasattr(np, name)


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated")  # NumPy 2.5 deprecates `fix`.
@pytest.mark.parametrize("name", sorted(filter(is_in_numpy, PROGRAMS)) if on_cpu() else FIRST)
def test_dispatched_function_matches_numpy_on_same_device(name: str, tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"1 2\n3 4\n")
    program = PROGRAMS[name]
    ours, numpys = ({**arrays(is_host), "path": str(tmp_path / "bytes")} for is_host in (False, True))
    # `like=` accepts only arrays that implement `__array_function__`. The call with host arrays omits the argument.
    host_program = program.replace(", like=a", "")
    same(eval(program, ours), eval(host_program, numpys))
    if name in CHANGING:
        same(ours["a"], numpys["a"])
        same(ours["v"], numpys["v"])


def test_table_of_tested_calls_has_every_dispatched_function() -> None:
    names = {name for name in function_table.names() if hasattr(getattr(np, name, None), "_implementation")}
    of_numbers = {"linspace", "logspace", "geomspace"}
    names = (names - of_numbers) | function_table.names_with_like() | {"can_cast", "result_type"}
    assert set(filter(is_in_numpy, PROGRAMS)) == names


def test_every_numpy_function_is_dispatched_or_rejected() -> None:
    array = PyGPU.zeros(3)
    for name in dir(np):
        function = getattr(np, name)
        if not hasattr(function, "_implementation") or name in function_table.names():
            continue
        with pytest.raises(TypeError, match=rf"numpy\.{name}: PyGPU does not compute this yet"):
            array.__array_function__(function, (PyGPU.GPUArray,), (array,), {})


def test_repeated_dispatch_without_keywords_gives_same_results_and_errors() -> None:
    class Derived(PyGPU.GPUArray):
        pass

    ours, numpys = arrays(False), arrays(True)
    for program in ("np.where(m, a, b)", "np.concatenate((a, b), 1)", "np.sum(a, 1)", "np.reshape(a, (3, 2))"):
        for _ in range(3):
            same(eval(program, ours), eval(program, numpys))
    # Before NumPy 2.4, `where` has no signature, so calls with any number of arguments are direct.
    assert array_function.direct_functions[np.where] == (PyGPU.where, 3 if is_numpy("2.4") else sys.maxsize)
    # Calls with keywords, host arrays or arrays of a subclass are passed to the function `call`.
    derived = Derived(numpys["a"].copy())
    assert np.array_equal(np.concatenate((derived, derived)).get(), np.concatenate((numpys["a"],) * 2))
    if is_numpy("2.1"):  # NumPy 2.0 has no keyword `shape`.
        same(np.reshape(ours["a"], shape=(3, 2)), numpys["a"].reshape(3, 2))
    same(np.reshape(ours["a"], (3, 2), "F"), numpys["a"].reshape(3, 2, order="F"))
    with pytest.raises(ValueError, match="either both or neither"):
        np.where(ours["m"], ours["a"])
    with pytest.raises(TypeError, match="device"):
        np.where(ours["m"], numpys["a"], ours["b"])


class Stranger:
    """Imitate an array of another library that implements `__array_function__`."""

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return NotImplemented if func is np.ravel else ("the stranger's", func.__name__)


def test_numpy_function_calls_array_function_of_foreign_operand() -> None:
    array, other = PyGPU.zeros(3), Stranger()
    assert np.concatenate([array, other]) == ("the stranger's", "concatenate")
    assert np.unwrap(other) == ("the stranger's", "unwrap")
    assert array.__array_function__(np.ravel, (PyGPU.GPUArray, Stranger), (array,), {}) is NotImplemented


MIXED: dict[str, Callable[[Any, Any], Any]] = {
    "concatenate": lambda a, h: np.concatenate([a, h]),
    "where": lambda a, h: np.where(a, a, h),
    "sum": lambda a, h: np.sum(h, out=a),
    "copyto": lambda a, h: np.copyto(h, a),
    "searchsorted": lambda a, h: np.searchsorted(a, h),
    "isin": lambda a, h: np.isin(a, h),
    "allclose": lambda a, h: np.allclose(a, h),
    "putmask": lambda a, h: np.putmask(a, h > 0, a),
}


@pytest.mark.parametrize("name", MIXED)
def test_numpy_function_rejects_host_operand_next_to_device_array(name: str) -> None:
    with pytest.raises(TypeError, match=rf"numpy\.{name}: the ndarray of shape \(3,\) is in host memory.*to_gpu"):
        MIXED[name](PyGPU.zeros(3), np.ones(3))


def test_numpy_functions_accept_indices_and_scalars_in_host_memory() -> None:
    array = PyGPU.to_gpu(np.array([5, 6, 7]))
    assert np.take(array, np.array([2, 0])).tolist() == [7, 5]
    assert np.repeat(array, np.array([0, 1, 2])).tolist() == [6, 7, 7]
    np.copyto(array, np.array([1, 2, 3]))
    assert array.tolist() == [1, 2, 3]
    assert np.where(array > 1, array, np.array(0)).tolist() == [0, 2, 3]
    assert np.array_equal(array, np.array([1, 2, 3]))
    assert not np.array_equal(np.array([1, 2]), array)


HOST_PARAMETERS: dict[str, Callable[[Any], Any]] = {
    "array_split": lambda a: np.array_split(a, np.array([1, 3])),
    "split": lambda a: np.split(a, np.array([1])),
    "hsplit": lambda a: np.hsplit(a, np.array([1])),
    "vsplit": lambda a: np.vsplit(a.reshape(2, 2), np.array([1])),
    "dsplit": lambda a: np.dsplit(a.reshape(1, 2, 2), np.array([1])),
    "tile": lambda a: np.tile(a, np.array([2, 1])),
    "histogram": lambda a: np.histogram(a, np.array([0.0, 2.0, 9.0])),
    "histogram_bin_edges": lambda a: np.histogram_bin_edges(a, np.array([0.0, 2.0, 9.0])),
    "digitize": lambda a: np.digitize(a, np.array([2.0, 4.0])),
}


@pytest.mark.parametrize("name", HOST_PARAMETERS)
def test_numpy_function_accepts_parameter_in_host_memory(name: str) -> None:
    host = np.array([1.0, 5.0, 2.0, 4.0])
    ours, numpys = HOST_PARAMETERS[name](PyGPU.to_gpu(host)), HOST_PARAMETERS[name](host)
    for array, expected in zip(
        *((each if isinstance(each, (list, tuple)) else [each]) for each in (ours, numpys)), strict=True
    ):
        assert_same(array, expected)


def test_unsupported_numpy_parameter_accepts_only_default_value() -> None:
    array = PyGPU.to_gpu(np.arange(6.0).reshape(2, 3))
    assert np.linspace(0, 1, 3, axis=0).shape == (3,)
    assert np.nanvar(array, mean=np._NoValue).tolist() == pytest.approx(np.arange(6.0).var())
    # Every function of PyGPU has all parameters of NumPy's function, so the test defines a function that lacks one.
    call = ArgumentAdapter("nanvar", np.nanvar, lambda a, axis=None: PyGPU.nanvar(a, axis))
    assert call((array,), {"axis": 0, "mean": np._NoValue}).tolist() == [2.25, 2.25, 2.25]
    with pytest.raises(TypeError, match=r"numpy\.nanvar: PyGPU's function has no parameter mean, given 2\.0"):
        call((array,), {"mean": 2.0})


def test_numpy_save_and_array2string_accept_device_array() -> None:
    array = PyGPU.to_gpu(np.arange(3.0))
    file = io.BytesIO()
    np.save(file, array)
    file.seek(0)
    np.testing.assert_array_equal(np.load(file), np.arange(3.0))
    assert np.array2string(array, precision=1) == "[0. 1. 2.]"


def test_numpy_argument_like_creates_array_on_same_device() -> None:
    array = PyGPU.to_gpu(np.arange(3.0))
    for made in (
        np.asarray(array, like=array),
        np.array(np.ones(3), like=array),
        np.asarray([array, array], like=array),
    ):
        assert isinstance(made, PyGPU.GPUArray)
        assert made.device == array.device
    assert np.asarray(array, like=array) is array
    assert np.array(array, like=array) is not array
    assert np.array(3, ndmin=2, like=array).shape == (1, 1)
    assert np.asfortranarray(np.ones((2, 2)), like=array).flags.f_contiguous


def test_shares_memory_is_true_only_if_bytes_overlap() -> None:
    array = PyGPU.zeros(10)
    assert np.shares_memory(array[:6], array[5:])
    assert not np.shares_memory(array[::2], array[1::2])
    assert np.may_share_memory(array[::2], array[1::2])
    assert not np.shares_memory(array, PyGPU.zeros(10))
    assert not np.shares_memory(array[3:3], array)
