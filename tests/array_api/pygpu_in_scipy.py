"""Pytest plugin that runs SciPy's own array API tests with PyGPU in place of the other libraries.

    cd /tmp  # outside the checkout, whose settings of pytest do not suit SciPy
    SCIPY_ARRAY_API=1 PYGPU_STRICT=1 PYTHONPATH=$CHECKOUT/tests/array_api python -m pytest -c /dev/null --rootdir=. \\
        -p pygpu_in_scipy -m array_api_backends --pyargs scipy.stats

PyGPU is a device library for SciPy, as CuPy is: tests that SciPy marks `cpu_only` or `np_only` are skipped. SciPy's
assertions convert arrays to NumPy if their library is named PyTorch or CuPy. The plugin adds the name PyGPU.
"""

import inspect
import types

import numpy
import pytest
import scipy._lib._array_api as array_api
import scipy.conftest as conftest

import PyGPU
import PyGPU.testing


class NumPy(types.ModuleType):
    """Replace NumPy in SciPy's tests, with assertions that also accept device arrays."""

    testing = PyGPU.testing

    def __getattr__(self, name):
        return getattr(numpy, name)


def _xp_copy_to_numpy(x):
    return x.get() if hasattr(x, "get") else np.array(x)  # noqa: F821 (a global of SciPy)


def _device_type(a):
    return str(a.device).partition(":")[0] if hasattr(a, "device") else "cpu"


array_api.np = NumPy("numpy")
# Replace the code of the functions, not their names, because other modules have imported the functions already.
# `xp_device_type` must return the device type, because one test of SciPy is less strict on a GPU.
array_api._xp_copy_to_numpy.__code__ = _xp_copy_to_numpy.__code__
array_api.xp_device_type.__code__ = _device_type.__code__

conftest.xp_known_backends.add("PyGPU")
conftest.xp_skip_cpu_only_backends.add("PyGPU")
conftest.xp = pytest.fixture(params=[pytest.param(PyGPU, id="PyGPU", marks=pytest.mark.array_api_backends)])(
    inspect.unwrap(conftest.xp)
)
