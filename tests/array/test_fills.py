"""Test fills of arrays with any dtype and layout.

A captured fill stores the value in the graph, so a launch of the graph reads no host memory. The tests run twice: with
kernels, and in a separate process without a compiler, where PyGPU fills by memsets only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import since_numpy

HAS_GRAPHS = PyGPU.backend_name() != "cpu"
with_graphs = pytest.mark.skipif(not HAS_GRAPHS, reason="this backend has no graphs")

# Item sizes in bytes. A memset supports 1, 2 and 4; 8 and 16 need several words; the others are not powers of two.
SIZES = [*range(1, 17), 24, 40, 600]
FEW_SIZES = [3, 8, 12, 16]
SHAPES_AND_KEYS: list[tuple[tuple[int, ...], Any]] = [
    ((), ()),
    ((1,), slice(None)),
    ((1000,), slice(None)),
    ((4096,), slice(None)),
    ((1001,), slice(1, None)),
    ((300,), slice(None, None, -3)),
    ((40, 30), (slice(1, -1), slice(2, 20))),
    ((7, 1500), (slice(None, None, -2), slice(None, None, 2))),
    ((30, 40), (slice(None), 3)),
    ((5, 6, 7, 8), (slice(None, None, 2), slice(1, 5), slice(None, None, -2), slice(3, 6))),
    ((3, 40, 5, 6), (slice(None), slice(None, None, 2), slice(None, None, 2), slice(None, None, 2))),
]


def item(size: int, seed: int = 1) -> np.void:
    """Return an item whose first 251 bytes all differ; the bytes then repeat."""
    return np.frombuffer(bytes((seed + 37 * place) % 251 for place in range(size)), f"V{size}")[0]


def filled(shape: tuple[int, ...], key: Any, size: int) -> tuple[np.ndarray, PyGPU.GPUArray]:
    """Fill the same part of equal arrays by NumPy and by PyGPU, and return both whole arrays."""
    host = np.zeros(shape, f"V{size}")
    device = PyGPU.to_gpu(host)
    host[key] = item(size)
    device[key].fill(item(size))
    return host, device


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize(("shape", "key"), SHAPES_AND_KEYS, ids=str)
def test_fill_sets_every_selected_element_and_no_other(shape: tuple[int, ...], key: Any) -> None:
    for size in SIZES if len(shape) < 3 else FEW_SIZES:
        host, device = filled(shape, key, size)
        assert device.get().tobytes() == host.tobytes(), f"items of {size} bytes"


def test_record_field_is_filled_in_place() -> None:
    dtype = np.dtype([("flag", "u1"), ("place", "f8"), ("name", "V5"), ("z", "c16")])
    host = np.zeros((20, 30), dtype)
    device = PyGPU.to_gpu(host)
    for field, value in (("place", 1.5), ("name", item(5)), ("z", 1 - 2j), ("flag", 3)):
        host[field][::2, 1:] = value
        device[field][::2, 1:].fill(value)
    assert device.get().tobytes() == host.tobytes()


def test_fill_of_transposed_arrays_and_long_rows_matches_numpy() -> None:
    for size in (3, 8, 12, 16, 24):
        host = np.zeros((3, 5000), f"V{size}")
        device = PyGPU.to_gpu(host)
        host.T[::2] = item(size)
        device.T[::2].fill(item(size))
        host[1, 7:-1] = item(size, 5)
        device[1, 7:-1].fill(item(size, 5))
        assert device.get().tobytes() == host.tobytes(), f"items of {size} bytes"


def overwrite_freed_host_memory() -> None:
    """Overwrite most freed host blocks of up to 699 bytes, by allocating and writing blocks of these sizes."""
    keep = [bytes([255]) * size for size in range(1, 700) for _ in range(4)]
    del keep


@with_graphs
@pytest.mark.parametrize("size", SIZES)
def test_captured_fill_reads_no_host_memory_at_launch(size: int) -> None:
    # A former defect: the captured fill of items of 8 or 16 bytes read host memory that was freed before the launch.
    stream = PyGPU.Stream(non_blocking=True)
    cases = [(shape, key) for shape, key in SHAPES_AND_KEYS if size in FEW_SIZES or len(shape) < 3]
    targets = [PyGPU.to_gpu(np.zeros(shape, f"V{size}")) for shape, _ in cases]
    with PyGPU.Graph(stream) as graph:
        for target, (_, key) in zip(targets, cases, strict=True):
            target[key].fill(item(size))
    for _ in range(3):
        overwrite_freed_host_memory()
        for target in targets:
            target.fill(np.zeros(1, f"V{size}")[0], stream=stream)
        graph.launch(stream)
        for target, (shape, key) in zip(targets, cases, strict=True):
            expected = np.zeros(shape, f"V{size}")
            expected[key] = item(size)
            assert target.get(stream=stream).tobytes() == expected.tobytes()


@with_graphs
def test_captured_calls_of_ones_and_full_read_no_freed_host_memory() -> None:
    # Fills captured in a graph formerly read host memory that was already freed. `ones`, `full` and scalar assignment
    # had the same defect.
    dtypes = ["bool", "int16", "float32", "float64", "int64", "complex64", "complex128"]
    stream = PyGPU.Stream(non_blocking=True)
    targets = [PyGPU.zeros((5, 100), dtype) for dtype in dtypes]
    with PyGPU.Graph(stream) as graph:
        made = [(PyGPU.ones(7, dtype), PyGPU.full(9, 2, dtype), PyGPU.zeros(3, dtype)) for dtype in dtypes]
        for target in targets:
            target[1:, ::2] = 1
            target[0, 0] = 1
            target[2].fill(True)
    overwrite_freed_host_memory()
    graph.launch(stream)
    for dtype, target, (ones, full, zeros) in zip(dtypes, targets, made, strict=True):
        expected = np.zeros((5, 100), dtype)
        expected[1:, ::2] = expected[0, 0] = expected[2] = 1
        np.testing.assert_array_equal(target.get(stream=stream), expected)
        np.testing.assert_array_equal(ones.get(stream=stream), np.ones(7, dtype))
        np.testing.assert_array_equal(full.get(stream=stream), np.full(9, 2, dtype))
        np.testing.assert_array_equal(zeros.get(stream=stream), np.zeros(3, dtype))


@with_graphs
@pytest.mark.skipif(os.environ.get("PYGPU_STRIDED_COPY") == "driver", reason="asked to do without kernels")
def test_fill_of_any_layout_is_recorded_as_one_graph_node() -> None:
    stream = PyGPU.Stream(non_blocking=True)
    for key in (slice(None), slice(None, None, -2), (slice(1, None), slice(2, 9))):
        for size in (3, 8, 12, 16, 24, 40):
            target = PyGPU.to_gpu(np.zeros((50, 60), f"V{size}"))
            with PyGPU.Graph(stream) as graph:
                target[key].fill(item(size))
            assert graph.num_nodes == 1, f"items of {size} bytes at {key}"


@pytest.mark.starts_processes
@pytest.mark.skipif(os.environ.get("PYGPU_STRIDED_COPY") is not None, reason="is such a process")
@pytest.mark.skipif(not HAS_GRAPHS, reason="the host fills by itself")
def test_all_fill_tests_pass_in_process_without_compiler() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__]
    environment = os.environ | {"PYGPU_STRIDED_COPY": "driver"}
    folder = Path(__file__).parent
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(2 + 1j, "f4"), (float("nan"), "i4"), (np.int64(300), "u1"), ([1, 300], "u1"), (1e99, "f4"), (np.array(2j), "i4")],
)
def test_full_converts_any_number_like_numpy(value: Any, dtype: str) -> None:
    with warnings.catch_warnings(action="ignore"):
        ours, like = PyGPU.full(2, value, dtype), PyGPU.full_like(PyGPU.zeros(2, dtype), value)
        expected = np.full(2, value, dtype)
    np.testing.assert_array_equal(ours.get(), expected)
    np.testing.assert_array_equal(like.get(), expected)


@since_numpy("2.1", "OverflowError; NumPy 2.0 cuts the value")
def test_full_rejects_python_int_out_of_range() -> None:
    with pytest.raises(OverflowError, match="300"):
        PyGPU.full(2, 300, "u1")
