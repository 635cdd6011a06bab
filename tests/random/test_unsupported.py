"""Test that the error for a missing function of NumPy's random module names an alternative."""

from __future__ import annotations

import copy

import pytest

import PyGPU

pytestmark = pytest.mark.enough_on("cpu")


@pytest.mark.parametrize(("name", "told"), [("seed", "a seed is given to a generator"), ("rand", "by a generator")])
def test_legacy_function_error_names_generator(name: str, told: str) -> None:
    with pytest.raises(AttributeError, match=rf"has no attribute '{name}': .*{told}, rng = PyGPU\.random\.default_rng"):
        getattr(PyGPU.random, name)


def test_missing_distribution_error_names_numpy() -> None:
    rng = PyGPU.random.default_rng(1)
    with pytest.raises(AttributeError, match=r"PyGPU.to_gpu\(numpy.random.default_rng\(seed\).gamma\(...\)\)"):
        rng.gamma  # noqa: B018
    with pytest.raises(AttributeError, match=r"object has no attribute 'gama'$"):
        rng.gama  # noqa: B018
    assert copy.deepcopy(rng).random() == rng.random()
