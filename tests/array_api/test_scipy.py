"""Test SciPy and scikit-learn, if installed: functions that use the array API compute on the arrays' device.

Functions in SciPy's compiled code are not tested: they convert their arguments to NumPy, which raises an error for a
device array.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy
from support import of_few, on_cpu

if "scipy" in sys.modules and os.environ.get("SCIPY_ARRAY_API") != "1":
    pytest.skip("SciPy was imported without SCIPY_ARRAY_API=1", allow_module_level=True)
os.environ["SCIPY_ARRAY_API"] = "1"
pytest.importorskip("scipy")

import scipy.differentiate
import scipy.integrate
import scipy.optimize.elementwise
import scipy.special
import scipy.stats

RNG = np.random.default_rng(0)
HOST = {"a": RNG.random((4, 5)), "v": RNG.random(9) + 0.1, "w": RNG.random(9) + 0.2, "p": np.array([1.0, 2.0, 3.0])}
STATS = """
stats.boxcox_llf(1., v); stats.circmean(v); stats.circstd(v); stats.describe(v).mean; stats.differential_entropy(v)
stats.directional_stats(a).mean_direction; stats.false_discovery_control(v / 2); stats.gmean(v); stats.gstd(v)
stats.hmean(v); stats.iqr(v); stats.kurtosis(v); stats.moment(v, 2); stats.pmean(v, 2); stats.quantile(v, .3)
stats.rankdata(a, axis=1); stats.sem(v); stats.sigmaclip(v).clipped; stats.skew(v); stats.tmean(v)
stats.trim_mean(v, .1); stats.tstd(v); stats.tvar(v); stats.variation(v); stats.zmap(v, w); stats.zscore(a)
stats.bootstrap((v,), xp.mean, n_resamples=20, rng=1, method='percentile').standard_error
"""
OTHERS = """
special.logsumexp(a, axis=1); special.softmax(a, axis=1); special.log_softmax(a, axis=1); integrate.trapezoid(v)
integrate.cumulative_trapezoid(v); integrate.cumulative_simpson(v); differentiate.derivative(xp.sin, v).df
integrate.tanhsinh(lambda x: x**2, xp.asarray(0.), xp.asarray(1.)).integral; optimize.rosen(v); optimize.rosen_der(v)
optimize.elementwise.find_root(lambda x: x**2 - 2, (xp.asarray(0.), xp.asarray(2.))).x
optimize.elementwise.find_minimum(lambda x: (x - 1)**2, (xp.asarray(-1.), xp.asarray(.5), xp.asarray(3.))).x
"""
FEW = ("stats.zscore(a)", "stats.skew(v)", "stats.rankdata(a, axis=1)", "special.softmax(a, axis=1)")
ALL = [one.strip() for one in f"{STATS};{OTHERS}".replace("\n", ";").split(";") if one.strip()]


def compute(call: str, xp: Any) -> Any:
    made = {name: xp.asarray(value) for name, value in HOST.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(call, vars(scipy) | made | {"xp": xp})


@pytest.mark.parametrize("call", of_few(ALL, FEW))
def test_scipy_function_computes_on_device(call: str) -> None:
    ours, numpys = compute(call, PyGPU), compute(call, np)
    assert isinstance(ours, PyGPU.GPUArray)
    np.testing.assert_allclose(ours.get(), np.asarray(numpys), rtol=1e-9, atol=1e-12)


SKLEARN = """
preprocessing.StandardScaler().fit_transform(x); preprocessing.MinMaxScaler().fit_transform(x)
preprocessing.MaxAbsScaler().fit_transform(x); preprocessing.Normalizer().fit_transform(x)
preprocessing.PolynomialFeatures(2).fit_transform(x); preprocessing.KernelCenterer().fit_transform(x @ x.T)
preprocessing.LabelBinarizer().fit_transform(y); metrics.accuracy_score(y, z); metrics.confusion_matrix(y, z)
metrics.f1_score(y, z); metrics.jaccard_score(y, z); metrics.average_precision_score(y, x[:, 0])
metrics.mean_squared_error(x, x + 1); metrics.r2_score(x[:, 0], x[:, 1]); metrics.roc_auc_score(y, x[:, 0])
metrics.log_loss(y, x[:, 0]); metrics.roc_curve(y, x[:, 0])[0]; metrics.pairwise.euclidean_distances(x)
metrics.pairwise.rbf_kernel(x); metrics.pairwise.cosine_similarity(x); metrics.pairwise.manhattan_distances(x)
model_selection.train_test_split(x, y, random_state=0)[0]
"""
# scikit-learn copies arguments of these calls to the host by `numpy.from_dlpack(x, device="cpu")`.
SKLEARN_ON_HOST = ("LabelBinarizer", "confusion_matrix", "roc_auc_score", "log_loss")
SKLEARN_FEW = ("preprocessing.StandardScaler().fit_transform(x)", "metrics.f1_score(y, z)")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # On the CPU, NumPy computes the result and warns.
@pytest.mark.parametrize(
    "call", of_few([one.strip() for one in SKLEARN.replace("\n", ";").split(";") if one.strip()], SKLEARN_FEW)
)
def test_scikit_learn_function_computes_on_device(call: str) -> None:
    sklearn = pytest.importorskip("sklearn")
    from sklearn import metrics, model_selection, preprocessing

    if not is_numpy("2.1") and not on_cpu() and any(name in call for name in SKLEARN_ON_HOST):
        pytest.skip("new in NumPy 2.1: device= of from_dlpack")
    scope = {"metrics": metrics, "model_selection": model_selection, "preprocessing": preprocessing}
    rng = np.random.default_rng(0)
    hosts = {"x": rng.random((20, 4)), "y": rng.integers(0, 2, 20), "z": rng.integers(0, 2, 20)}
    with sklearn.config_context(array_api_dispatch=True):
        numpys = eval(call, scope | hosts)
        ours = eval(call, scope | {name: PyGPU.to_gpu(value) for name, value in hosts.items()})
    assert isinstance(ours, PyGPU.GPUArray | float)
    got = ours.get() if isinstance(ours, PyGPU.GPUArray) else ours
    np.testing.assert_allclose(got, numpys, rtol=1e-7, atol=1e-10)
