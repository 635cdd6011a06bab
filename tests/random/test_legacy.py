"""Test NumPy's older random functions, such as `rand`, and the class `RandomState`."""

from __future__ import annotations

import copy
import inspect
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import PyGPU

PyGPU.device_count()


def test_legacy_functions_after_seed_draw_same_numbers_as_default_rng() -> None:
    PyGPU.random.seed(12)
    rng = PyGPU.random.default_rng(12)
    np.testing.assert_array_equal(PyGPU.random.rand(2, 3).get(), rng.random((2, 3)).get())
    np.testing.assert_array_equal(PyGPU.random.randint(1, 7, 5).get(), rng.integers(1, 7, 5).get())
    np.testing.assert_array_equal(PyGPU.random.randn(4).get(), rng.standard_normal(4).get())
    state = PyGPU.random.get_state()
    first = PyGPU.random.permutation(9).get()
    PyGPU.random.set_state(state)
    np.testing.assert_array_equal(PyGPU.random.permutation(9).get(), first)
    assert PyGPU.random.rand().shape == PyGPU.random.ranf().shape == PyGPU.random.sample().shape == ()
    PyGPU.random.seed()
    assert (PyGPU.random.random(3).get() != PyGPU.random.random_sample(3).get()).all()


def test_copied_or_pickled_random_state_continues_same_number_sequence() -> None:
    rng = PyGPU.random.RandomState(5)
    rng.rand(3)
    copies = (copy.deepcopy(rng), pickle.loads(pickle.dumps(rng)))
    expected = rng.random_sample(3).get()
    for one in copies:
        np.testing.assert_array_equal(one.random_sample(3).get(), expected)
    rng.seed(5)
    assert rng.rand() == PyGPU.random.RandomState(5).rand()
    assert rng.tomaxint() >= 0
    assert repr(rng).startswith("RandomState(Philox) on ")


@pytest.mark.enough_on("cpu")
def test_legacy_function_signatures_match_numpy() -> None:
    for ours, numpys in (
        (PyGPU.random, np.random),
        (PyGPU.random.RandomState, np.random.RandomState),
        (PyGPU.random.Generator, np.random.Generator),
    ):
        for name in dir(numpys):
            own: Any = getattr(ours, name, None)
            if name.startswith("_") or not callable(own) or isinstance(own, type) or name == "default_rng":
                continue
            try:
                expected = inspect.signature(getattr(numpys, name))
            except ValueError:
                continue
            if any(one.kind is one.VAR_KEYWORD for one in expected.parameters.values()):
                continue
            names = [(one.name, one.kind) for one in expected.parameters.values()]
            assert [(one.name, one.kind) for one in inspect.signature(own).parameters.values()] == names, name


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize("seed", [-1, 1 << 32, "a", 1.5, [1, -1], []])
def test_invalid_seeds_raise_same_errors_as_numpy(seed: Any) -> None:
    with pytest.raises(Exception) as expected:  # noqa: PT011
        np.random.seed(seed)
    with pytest.raises(expected.type):
        PyGPU.random.seed(seed)
    with pytest.raises(expected.type):
        PyGPU.random.RandomState(seed)


@pytest.mark.enough_on("cpu")
def test_legacy_functions_reject_invalid_arguments() -> None:
    with pytest.warns(DeprecationWarning, match="randint"):
        drawn = PyGPU.random.random_integers(3, size=50)
    assert set(drawn.tolist()) == {1, 2, 3}
    with pytest.raises(ValueError, match="1-dimensional"):
        PyGPU.random.choice([[1, 2]])
    with pytest.raises(TypeError, match="dict of a Philox"):
        PyGPU.random.set_state(np.random.RandomState(1).get_state())
    with pytest.raises(ValueError, match="scale < 0"):
        PyGPU.random.normal(0, -1)


def test_threads_sharing_random_state_draw_each_number_once() -> None:
    rng = PyGPU.random.RandomState(9)
    parts: list[np.ndarray] = []

    def draw() -> None:
        for _ in range(20):
            parts.append(rng.standard_gamma(0.7, 7).get())

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = PyGPU.random.RandomState(9).standard_gamma(0.7, 560).get()
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.sort(expected))


def test_threads_that_skip_and_draw_never_repeat_number() -> None:
    rng = PyGPU.random.default_rng(9)
    parts: list[np.ndarray] = []

    def draw() -> None:
        for _ in range(30):
            parts.append(rng.random_raw(5).get())

    def skip() -> None:
        for _ in range(30):
            rng.advance(3)

    threads = [threading.Thread(target=function) for function in (draw, skip, draw, skip)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.unique(np.concatenate(parts)).size == 300
