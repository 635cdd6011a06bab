"""Pytest plugin that runs scikit-learn's own array API tests with PyGPU in place of the other libraries.

    SCIPY_ARRAY_API=1 PYTHONPATH=tests/array_api python -m pytest -p pygpu_in_sklearn -k PyGPU --pyargs sklearn

scikit-learn converts arrays of PyTorch and CuPy to NumPy by the name of the library. The plugin adds PyGPU to these
names. It replaces the code of the functions, because other modules have imported the functions already.
"""

import sklearn.utils._array_api as array_api


def yield_namespaces(include_numpy_namespaces=True):
    yield "PyGPU"


def _convert_to_numpy(array, xp):
    return array.get() if hasattr(array, "get") else numpy.asarray(array)  # noqa: F821 (a global of scikit-learn)


array_api.yield_namespaces.__code__ = yield_namespaces.__code__
array_api._convert_to_numpy.__code__ = _convert_to_numpy.__code__
