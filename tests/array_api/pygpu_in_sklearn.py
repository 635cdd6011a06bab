"""Pytest plugin that runs scikit-learn's own array API tests with PyGPU in place of the other libraries.

    cd /tmp  # outside the checkout, whose settings of pytest do not suit scikit-learn
    SCIPY_ARRAY_API=1 PYGPU_STRICT=1 PYTHONPATH=$CHECKOUT/tests/array_api python -m pytest -c /dev/null --rootdir=. \\
        -p pygpu_in_sklearn -k PyGPU --pyargs sklearn

The tests use float64 and float32. Some tests pass a NumPy array and a PyGPU array in one call. scikit-learn then moves
one of them to the other's device. scikit-learn converts arrays to NumPy if their library is named PyTorch or CuPy. The
plugin adds the name PyGPU. It replaces the code of scikit-learn's conversion functions, because other modules have
imported the functions already.
"""

import sklearn.utils._array_api as array_api


def yield_namespaces(include_numpy_namespaces=True):
    yield "PyGPU"


def yield_namespace_device_dtype_combinations(include_numpy_namespaces=True):
    for dtype in ("float64", "float32"):
        yield "PyGPU", None, dtype


def yield_mixed_namespace_input_permutations():
    for one, other in (("numpy", "PyGPU"), ("PyGPU", "numpy"), ("array_api_strict", "PyGPU")):
        yield NamespaceAndDevice(one, None), NamespaceAndDevice(other, None), f"{one} to {other}"  # noqa: F821


def _convert_to_numpy(array, xp):
    return array.get() if hasattr(array, "get") else numpy.asarray(array)  # noqa: F821 (a global of scikit-learn)


for function in (
    yield_namespaces,
    yield_namespace_device_dtype_combinations,
    yield_mixed_namespace_input_permutations,
    _convert_to_numpy,
):
    # Versions of scikit-learn before 1.9 have no tests with arrays of two libraries in one call.
    if hasattr(array_api, function.__name__):
        getattr(array_api, function.__name__).__code__ = function.__code__
