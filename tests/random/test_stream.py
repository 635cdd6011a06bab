"""Test that a generator returns the same bits as NumPy's Philox generator for any sequence of draws."""

from __future__ import annotations

import copy
import pickle
import random
import threading
from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU._random.stream_position import StreamPosition, block
from support import on_cpu

PyGPU.device_count()
SEED = random.randrange(1 << 32)
COUNTS = (1, 3, 8, 5, 100, 4097, 0, 2, 2048)


def both(key: int = SEED, counter: int = 0) -> tuple[Any, np.random.Generator]:
    print("key", key, "counter", counter)
    return tuple(of(np.random.Philox(key=key, counter=counter)) for of in (PyGPU.random.Generator, np.random.Generator))


def assert_equal(got: PyGPU.GPUArray, expected: Any) -> None:
    assert isinstance(got, PyGPU.GPUArray)
    expected = np.asarray(expected)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got.get(), expected)


def assert_same_place(rng: Any, numpys: np.random.Generator) -> None:
    here, there = StreamPosition.from_state(rng.state), StreamPosition.from_state(numpys.bit_generator.state)
    assert (here.key, here.number, here.half) == (there.key, there.number, there.half)


def test_draws_match_numpy_after_any_previous_draws() -> None:
    rng, numpys = both()
    for count in COUNTS:
        for dtype in ("float32", "float64"):
            assert_equal(rng.random(count, dtype), numpys.random(count, dtype))
        assert_equal(rng.integers(1 << 20, size=count), numpys.integers(1 << 20, size=count))
        assert_equal(rng.uniform(-3, 2.5, count), numpys.uniform(-3, 2.5, count))
        assert_equal(rng.random_raw(count), numpys.bit_generator.random_raw(count))
        assert_same_place(rng, numpys)
    assert rng.bytes(7) == numpys.bytes(7)


@pytest.mark.enough_on("cuda")
def test_draws_of_7_million_numbers_match_numpy() -> None:
    rng, numpys = both(counter=(1 << 64) - 5_000_000)
    assert_equal(rng.random(7_000_001, "float32"), numpys.random(7_000_001, "float32"))
    assert_equal(rng.random(3_500_000), numpys.random(3_500_000))
    assert_same_place(rng, numpys)


@pytest.mark.parametrize("counter", [(1 << 64) - 3, (1 << 128) - 3, (1 << 256) - 3])
@pytest.mark.enough_on("cuda")
def test_philox_counter_carries_into_upper_words(counter: int) -> None:
    rng, numpys = both(counter=counter)
    assert_equal(rng.random(4097), numpys.random(4097))
    assert_equal(rng.random(9, "float32"), numpys.random(9, "float32"))
    assert_same_place(rng, numpys)


def test_integers_match_numpy_for_ranges_without_rejected_draws() -> None:
    rng, numpys = both()
    cases = [(0, 2, "int64"), (-(1 << 31), 1 << 31, "int64"), (-(1 << 63), 1 << 63, "int64"), (5, 6, "int64")]
    cases += [(-(1 << 61), 1 << 61, "int64"), (0, 1 << 32, "uint32")]
    for low, high, dtype in cases if on_cpu() else cases[:5]:
        assert_equal(rng.integers(low, high, 1001, dtype), numpys.integers(low, high, 1001, dtype))
    assert_equal(rng.integers(1, 64, 1001, endpoint=True), numpys.integers(1, 64, 1001, endpoint=True))
    assert_same_place(rng, numpys)


@pytest.mark.enough_on("cuda")
def test_integers_are_uniform_if_many_draws_are_rejected() -> None:
    # For a range of this width, a third of the random 32-bit values is rejected. Without rejection, some of the
    # integers would occur twice as often as others.
    width = 3 << 30
    print("seed", SEED)
    drawn = PyGPU.random.default_rng(SEED).integers(width, size=30_000, dtype="int64").get()
    shares = np.histogram(drawn, 6, (0, width))[0] / drawn.size
    assert abs(shares - 1 / 6).max() < 6 * (1 / 6 / drawn.size) ** 0.5
    wide = PyGPU.random.default_rng(SEED).integers(3 << 61, size=30_000, dtype="int64").get()
    shares = np.histogram(wide / 2.0**61, 6, (0, 3))[0] / wide.size
    assert abs(shares - 1 / 6).max() < 6 * (1 / 6 / wide.size) ** 0.5


def test_random_numbers_fill_out_array_of_any_layout_and_offset() -> None:
    rng, numpys = both()
    memory = PyGPU.zeros((9, 700), "float32")
    host = np.zeros((9, 700), "float32")
    for index in (np.s_[2, 1:], np.s_[::-2, 3::5], np.s_[:, 0], np.s_[4:4], np.s_[0, 3:4]):
        assert rng.random(dtype="float32", out=memory[index]).shape == host[index].shape
        host[index] = numpys.random(host[index].shape, "float32")
        np.testing.assert_array_equal(memory.get(), host)
    turned = PyGPU.zeros((5, 4), "float32").T
    rng.random((4, 5), "float32", out=turned)
    np.testing.assert_array_equal(turned.get(), numpys.random((4, 5), "float32"))


def test_random_accepts_missing_shape_and_empty_shape() -> None:
    rng, numpys = both()
    assert rng.random().shape == ()
    numpys.random()
    assert_equal(rng.random(()), np.asarray(numpys.random(())))
    assert_equal(rng.random((0, 3)), numpys.random((0, 3)))
    assert_equal(rng.random((2, 3)), numpys.random((2, 3)))


def test_generator_state_is_exchangeable_with_numpy() -> None:
    rng, numpys = both()
    assert_equal(rng.random(5, "float32"), numpys.random(5, "float32"))
    onward = np.random.Generator(rng.bit_generator)
    assert_equal(rng.random(9, "float32"), onward.random(9, "float32"))
    rng.state = numpys.bit_generator.state
    for copied in (rng, copy.deepcopy(rng), pickle.loads(pickle.dumps(rng))):
        copied.state = numpys.bit_generator.state
        numpys_own = np.random.Generator(np.random.Philox(0))
        numpys_own.bit_generator.state = numpys.bit_generator.state
        assert_equal(copied.random(3, "float32"), numpys_own.random(3, "float32"))
        assert_equal(copied.random(3), numpys_own.random(3))
    assert pickle.loads(pickle.dumps(rng)).state["buffer_pos"] == rng.state["buffer_pos"]
    with pytest.raises(ValueError, match="PCG64"):
        rng.state = np.random.PCG64(1).state
    with pytest.raises(ValueError, match="PCG64"):
        PyGPU.random.Generator(np.random.PCG64(1))
    with pytest.raises(TypeError, match="default_rng"):
        PyGPU.random.Generator(5)


def test_seeds_and_spawned_generators_match_numpy() -> None:
    for seed in (5, [1, 2], np.random.SeedSequence(7), np.random.Philox(3)):
        expected = np.random.Generator(
            copy.deepcopy(seed) if isinstance(seed, np.random.Philox) else np.random.Philox(seed)
        )
        assert_equal(PyGPU.random.default_rng(seed).random(5), expected.random(5))
    numpys = np.random.Generator(np.random.Philox(11))
    rng = PyGPU.random.default_rng(11)
    for one, other in zip(rng.spawn(2) + rng.spawn(1), numpys.spawn(2) + numpys.spawn(1), strict=True):
        assert_equal(one.random(3), other.random(3))
    assert_equal(pickle.loads(pickle.dumps(rng)).spawn(1)[0].random(3), numpys.spawn(1)[0].random(3))
    with pytest.raises(TypeError, match="spawn"):
        both()[0].spawn(1)
    assert PyGPU.random.default_rng(rng) is rng
    assert not (PyGPU.random.default_rng().random(3) == PyGPU.random.default_rng().random(3)).all()
    moved, other = PyGPU.random.default_rng(1).advance(5), np.random.Philox(1)
    other.advance(5)
    assert_equal(moved.random_raw(3), other.random_raw(3))


def test_threads_sharing_generator_draw_each_number_once() -> None:
    rng, numpys = both()
    parts: list[np.ndarray] = []

    def draw() -> None:
        for _ in range(20):
            parts.append(rng.random_raw(7).get())

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.sort(numpys.bit_generator.random_raw(560)))


def test_each_graph_launch_draws_next_numbers() -> None:
    rng, numpys = both()
    assert_equal(rng.random(3, "float32"), numpys.random(3, "float32"))
    stream = PyGPU.Stream()
    small, large = PyGPU.empty(5, "float32"), PyGPU.empty(3)
    with stream:
        stream.begin_capture()
        rng.random(out=small, dtype="float32")
        rng.random(out=large)
        graph = stream.end_capture()
    for _ in range(3):
        graph.launch(stream)
        assert_equal(small, numpys.random(5, "float32"))
        assert_equal(large, numpys.random(3))
        assert_equal(rng.random(2, "float32"), numpys.random(2, "float32"))
        assert_same_place(rng, numpys)
    rng.state = np.random.Philox(key=SEED).state
    graph.launch(stream)
    assert_equal(small, np.random.Generator(np.random.Philox(key=SEED)).random(5, "float32"))
    with pytest.raises(ValueError, match="key"):
        rng.state = np.random.Philox(key=SEED + 1).state


def test_generator_rejects_invalid_arguments() -> None:
    rng = PyGPU.random.default_rng(1)
    for refused, error in (
        (lambda: rng.random(3, "int32"), TypeError),
        (lambda: rng.random(3, out=PyGPU.empty(3, "float32")), TypeError),
        (lambda: rng.random(3, out=PyGPU.empty(4)), ValueError),
        (lambda: rng.random(-1), ValueError),
        (lambda: rng.integers(5, 5), ValueError),
        (lambda: rng.integers(300, dtype="uint8"), ValueError),
        (lambda: rng.integers(-1, 3, dtype="uint8"), ValueError),
        (lambda: rng.integers(3, dtype="float32"), TypeError),
        (lambda: rng.normal(0, -1), ValueError),
        (lambda: rng.exponential(-1), ValueError),
        (lambda: rng.poisson(-1), ValueError),
        (lambda: rng.poisson(float("nan")), ValueError),
        (lambda: rng.choice(3, 4, replace=False), ValueError),
        (lambda: rng.choice(3, p=[0.5, 0.6, 0.1]), ValueError),
        (lambda: rng.choice(0, 1), ValueError),
        (lambda: rng.shuffle([1, 2]), TypeError),
    ):
        with pytest.raises(error):
            refused()


def test_host_philox_matches_numpy() -> None:
    bits = np.random.Philox(key=(1 << 100) + SEED, counter=(1 << 200) + 5)
    state = bits.state["state"]
    key = (int(state["key"][0]), int(state["key"][1]))
    assert list(block((1 << 200) + 6, key)) == bits.random_raw(4).tolist()
