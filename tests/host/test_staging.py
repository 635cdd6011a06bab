"""Test large copies between host and device through chunks of pinned memory, and the reuse of memory of dropped
results.

If ``PYGPU_STAGING_THRESHOLD=1 PYGPU_STAGING_CHUNK=4096`` is set, copies of small arrays between host and device also
use the ring of pinned slots.
"""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import PyGPU
from support import address, assert_same_values

MIB = 1 << 20
# Sizes in bytes near the threshold of staging, near one chunk and near several chunks.
SIZES = [MIB - 4, MIB, MIB + 4, 2 * MIB, 3 * MIB + 12, 9 * MIB + 4]


def numbers(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 30, count, dtype=np.int32)


def python(code: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | environment, check=False
    )


@pytest.mark.parametrize("size", SIZES)
def test_values_are_unchanged_by_copies_of_sizes_near_staging_thresholds(size: int) -> None:
    host = numbers(size // 4)
    array = PyGPU.to_gpu(host)
    assert_same_values(array.get(), host)
    array.set(host[::-1])
    out = np.zeros(2 * len(host), np.int32)
    array.get(out[1::2])
    np.testing.assert_array_equal(out[1::2], host[::-1])
    assert not out[::2].any()


def random_view(host: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return a view with random steps, signs and axis order."""
    steps = random.choice([1, 1, 2, 3, -1, -2], host.ndim)
    return host[tuple(slice(None, None, int(step)) for step in steps)].transpose(random.permutation(host.ndim))


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("seed", range(20))
def test_values_are_unchanged_by_copies_of_large_views_with_any_strides(seed: int) -> None:
    random = np.random.default_rng(seed)
    shape = random.permutation([int(random.integers(1, 9)), int(random.integers(20, 300)), 4099])
    source = random_view(random.random(shape, dtype=np.float32), random)
    array = PyGPU.to_gpu(source)
    assert_same_values(array.get(), source)
    target = random_view(np.zeros(shape, np.float32), random)
    sized = PyGPU.empty(target.shape, np.float32)
    values = random.random(target.shape, dtype=np.float32)
    sized.set(values)
    sized.get(target)
    np.testing.assert_array_equal(target, values)
    part = tuple(slice(None, None, int(step)) for step in random.choice([1, 2, -1], values.ndim))
    assert_same_values(np.ascontiguousarray(sized[part].get()), np.ascontiguousarray(values[part]))


def test_host_array_may_change_after_async_upload_returns() -> None:
    host = numbers(5 * MIB)
    expected, stream = host.copy(), PyGPU.Stream()
    array = PyGPU.to_gpu_async(host, stream=stream)
    host[:] = 0
    result = array.get_async(stream)
    stream.synchronize()
    np.testing.assert_array_equal(result, expected)


def test_values_are_unchanged_by_concurrent_copies_of_six_threads() -> None:
    failures: list[int] = []

    def copy(seed: int) -> None:
        for turn in range(4):
            host = numbers(MIB + 997 * seed, 10 * seed + turn)
            if not np.array_equal(PyGPU.to_gpu(host).get(), host):
                failures.append(seed)

    threads = [threading.Thread(target=copy, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_large_result_of_get_is_ordinary_resizable_ndarray() -> None:
    result = PyGPU.to_gpu(numbers(2 * MIB)).get()
    assert type(result) is np.ndarray
    assert result.base is None
    assert result.flags.owndata
    assert result.flags.writeable
    expected = result.copy()
    result.resize(3 * MIB, refcheck=False)
    np.testing.assert_array_equal(result[: 2 * MIB], expected)
    result.resize(MIB, refcheck=False)
    np.testing.assert_array_equal(result, expected[:MIB])


def test_result_of_get_is_unchanged_while_result_or_view_is_referenced() -> None:
    array = PyGPU.to_gpu(numbers(2 * MIB, 1))
    first = array.get()
    tail, expected = first[-1000:], first[-1000:].copy()
    array.fill(7)
    second = array.get()
    del first
    third, fourth = array.get(), PyGPU.zeros(2 * MIB, np.int32).get()
    assert len({address(one) for one in (second, third, fourth)}) == 3
    np.testing.assert_array_equal(tail, expected)
    assert (second == 7).all()
    assert (third == 7).all()
    assert not fourth.any()


def test_memory_of_dropped_result_is_reused_by_next_get() -> None:
    PyGPU.trim_memory()
    result = PyGPU.zeros(3 * MIB, np.float32).get()
    place = address(result)
    del result
    assert PyGPU.memory_statistics()["host_cache_bytes"] >= 12 * MIB
    other = PyGPU.ones((3, MIB), np.float32).get()
    assert address(other) == place
    assert (other == 1).all()


def test_result_cache_is_limited_and_released_by_trim_memory() -> None:
    before = PyGPU.host_cache_limit()
    try:
        PyGPU.set_host_cache_limit(8 * MIB)
        results = [PyGPU.zeros(MIB, np.float32).get() for _ in range(4)]
        del results
        assert PyGPU.memory_statistics()["host_cache_bytes"] <= 8 * MIB
        PyGPU.trim_memory()
        assert PyGPU.memory_statistics()["host_cache_bytes"] == 0
        PyGPU.set_host_cache_limit(0)
        PyGPU.zeros(MIB, np.float32).get()
        assert PyGPU.memory_statistics()["host_cache_bytes"] == 0
    finally:
        PyGPU.set_host_cache_limit(before)


def test_pinned_memory_of_copies_is_limited() -> None:
    before = PyGPU.pinned_limit()
    host = numbers(5 * MIB)
    PyGPU.synchronize()  # Synchronize first, so that the copies of other tests return their pinned slots to the ring.
    try:
        for limit in (0, 2 * MIB, 8 * MIB):
            PyGPU.set_pinned_limit(limit)
            assert PyGPU.pinned_limit() == PyGPU.config()["pinned_limit"] == limit
            assert_same_values(PyGPU.to_gpu(host).get(), host)
            assert PyGPU.memory_statistics()["pinned_bytes"] <= limit
    finally:
        PyGPU.set_pinned_limit(before)
    assert PyGPU.config()["pinned_refused"] is None


@pytest.mark.parametrize("name", ["set_pinned_limit", "set_host_cache_limit"])
@pytest.mark.parametrize(
    ("value", "error"), [(-1, ValueError), (0.5, TypeError), ("1", TypeError), (1 << 70, ValueError)]
)
def test_set_cache_limit_rejects_value_that_is_no_byte_count(name: str, value: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        getattr(PyGPU, name)(value)


def test_non_numeric_cache_limit_in_environment_raises_error() -> None:
    done = python("import PyGPU; PyGPU.show_config(); PyGPU.pinned_limit()", PYGPU_PINNED_LIMIT="much")
    assert done.returncode != 0
    assert "ValueError: the environment variable PYGPU_PINNED_LIMIT is 'much'" in done.stderr
    assert "PYGPU_PINNED_LIMIT is 'much'" in done.stdout


def test_pinned_limit_in_environment_variable_is_applied() -> None:
    done = python("import PyGPU; print(PyGPU.pinned_limit())", PYGPU_PINNED_LIMIT="12345678")
    assert done.stdout == "12345678\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork()")
def test_forked_child_downloads_while_parent_threads_download() -> None:
    code = """
import os, threading, numpy as np, PyGPU
array, over = PyGPU.zeros(1 << 20, np.float32), False
array.get()
def make():
    while not over: array.get()
thread = threading.Thread(target=make, daemon=True)
thread.start()
for turn in range(20):
    child = os.fork()
    if child == 0:
        one = PyGPU.ones(1 << 20, np.float32).get()
        os._exit(0 if (one == 1).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
over = True
thread.join()
"""
    done = python(code, PYGPU_BACKEND="cpu", PYTHONWARNINGS="ignore")
    assert done.returncode == 0, done.stderr
