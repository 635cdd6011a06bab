"""Test the names of NumPy's random module that `PyGPU.random` takes from NumPy or does not provide."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU

pytestmark = pytest.mark.enough_on("cpu")


@pytest.mark.parametrize("name", ["MT19937", "PCG64", "SFC64"])
def test_error_for_other_bit_generators_names_philox(name: str) -> None:
    with pytest.raises(
        AttributeError, match=rf"has no attribute '{name}': its generators are over numpy.random.Philox"
    ):
        getattr(PyGPU.random, name)


def test_seed_sequence_classes_are_those_of_numpy() -> None:
    assert PyGPU.random.Philox is np.random.Philox
    assert PyGPU.random.SeedSequence is np.random.SeedSequence
    with pytest.raises(AttributeError, match=r"has no attribute 'gama'$"):
        PyGPU.random.gama  # noqa: B018


def test_every_other_name_of_numpy_random_exists() -> None:
    missing = {name for name in np.random.__all__ if not hasattr(PyGPU.random, name)}
    assert missing == {"MT19937", "PCG64", "PCG64DXSM", "SFC64"}
    methods = {name for name in dir(np.random.Generator) if not name.startswith("_")}
    assert methods <= set(dir(PyGPU.random.Generator))
    older = {name for name in dir(np.random.RandomState) if not name.startswith("_")}
    assert older <= set(dir(PyGPU.random.RandomState))
