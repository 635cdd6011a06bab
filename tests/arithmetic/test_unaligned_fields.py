"""Test elementwise functions of arrays whose elements are unaligned, such as fields of packed structured arrays."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU

PACKED = np.dtype([("flag", "i1"), ("x", "f4"), ("y", "f8"), ("z", "c16")])


def packed() -> tuple[np.ndarray, PyGPU.GPUArray]:
    """Return a packed structured array, whose fields are unaligned, on the host and on the device."""
    host = np.zeros(37, PACKED)
    host["flag"] = np.arange(37)
    for name in ("x", "y", "z"):
        host[name] = np.arange(37) / 4 - 3
    return host, PyGPU.to_gpu(host)


@pytest.mark.parametrize("name", ["x", "y", "z"])
def test_elementwise_functions_accept_unaligned_operands(name):
    host, array = packed()
    for call in (
        lambda xp, a: a[name] + a[name],
        lambda xp, a: 2 * a[name][::-2],
        lambda xp, a: xp.where(a["flag"] > 5, a[name], a["y"]),
        lambda xp, a: xp.exp(a[name]),
        lambda xp, a: a[name] == 1,
        lambda xp, a: abs(a[name]),
    ):
        found, expected = call(PyGPU, array), call(np, host)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found.get(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["x", "y", "z"])
def test_ufunc_writes_result_into_unaligned_out_array(name):
    host, array = packed()
    for data in (host, array):
        field = data[name]
        field += 1
        field *= field
    mask = host["flag"] % 2 == 0
    np.negative(host[name], out=host[name], where=mask)
    PyGPU.negative(array[name], out=array[name], where=PyGPU.to_gpu(mask))
    np.multiply(host["x"], 2, out=host["y"])
    PyGPU.multiply(array["x"], 2, out=array["y"])
    for field in PACKED.names:
        np.testing.assert_allclose(array[field].get(), host[field], rtol=1e-6)


def test_ufunc_with_two_results_writes_into_unaligned_arrays():
    host, array = packed()
    np.modf(host["y"][:10], out=(host["y"][10:20], host["y"][20:30]))
    PyGPU.modf(array["y"][:10], out=(array["y"][10:20], array["y"][20:30]))
    np.testing.assert_array_equal(array["y"].get(), host["y"])
