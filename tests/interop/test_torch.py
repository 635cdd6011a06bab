"""Test that CPU tensors of PyTorch and CPU arrays share memory; `tests/gpu/interop` tests GPU memory."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="tests/gpu/interop has torch on GPUs"),
    pytest.mark.enough_on("cpu"),
]

DTYPES = [
    *("int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64", "complex64", "complex128"),
]
VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda a: a,
    "columns": lambda a: a[:, ::2],
    "a corner": lambda a: a[2:5, 1:3],
    "turned": lambda a: a.T,
    "a row": lambda a: a[3],
    "an element": lambda a: a[2, 2],
    "nothing": lambda a: a[:0],
}
FROM_TORCH: dict[str, Callable[[Any], Any]] = {
    "from_dlpack": PyGPU.from_dlpack,
    "asarray": PyGPU.asarray,
    "capsule": lambda t: PyGPU.from_dlpack(torch.utils.dlpack.to_dlpack(t)),
}


def numbers(dtype: str = "float32") -> np.ndarray:
    return np.arange(42).reshape(6, 7).astype(dtype)


@pytest.mark.reads_in_place
@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_and_arrays_share_memory_if_exported_or_imported(dtype: str) -> None:
    host = numbers(dtype)
    array = PyGPU.to_gpu(host)
    tensor = torch.from_dlpack(array)
    assert tensor.data_ptr() == array.ptr
    assert tensor.dtype == getattr(torch, dtype)
    assert tensor.tolist() == host.tolist()
    for name, way in FROM_TORCH.items():
        back = way(tensor)
        assert (back.ptr, back.dtype, back.device.kind) == (array.ptr, host.dtype, "cpu"), name
        np.testing.assert_array_equal(back.get(), host, err_msg=name)


@pytest.mark.parametrize("view", VIEWS)
def test_views_share_memory_after_export_to_torch_and_import_back(view: str) -> None:
    host = VIEWS[view](numbers())
    shown = VIEWS[view](PyGPU.to_gpu(numbers()))
    tensor = torch.from_dlpack(shown)
    assert tuple(tensor.shape) == host.shape
    assert tensor.tolist() == host.tolist()
    if host.size:
        assert tensor.data_ptr() == shown.ptr
    back = PyGPU.from_dlpack(tensor)
    assert back.shape == host.shape
    assert back.tolist() == host.tolist()


def test_writes_by_torch_and_pygpu_are_visible_to_both_libraries() -> None:
    array = PyGPU.zeros((2, 3), "float32")
    tensor = torch.from_dlpack(array[:, 1:])
    tensor += 1
    assert array.tolist() == [[0, 1, 1]] * 2
    array[0] = 5
    assert tensor.tolist() == [[5, 5], [1, 1]]


def test_array_imported_from_broadcast_tensor_has_zero_stride() -> None:
    array = PyGPU.from_dlpack(torch.arange(3, dtype=torch.float32).expand(4, 3))
    assert array.strides == (0, 4)
    assert array.tolist() == [[0, 1, 2]] * 4


@pytest.mark.parametrize(
    "tensor",
    [
        lambda: torch.zeros(3, requires_grad=True),
        lambda: torch.zeros(3, dtype=torch.complex64).conj(),
        lambda: torch.eye(3).to_sparse(),
    ],
    ids=["requires grad", "conjugated", "sparse"],
)
def test_tensors_that_torch_does_not_export_are_rejected(tensor: Callable[[], Any]) -> None:
    with pytest.raises((BufferError, ValueError, RuntimeError, TypeError)):
        PyGPU.from_dlpack(tensor())


def test_memory_stays_valid_after_exporting_array_or_tensor_is_dropped() -> None:
    array = PyGPU.full(100_000, 4, "float32")
    tensor = torch.from_dlpack(array)
    other = PyGPU.asarray(torch.full((100_000,), 5.0))[10:]
    del array
    gc.collect()
    overwriting = [PyGPU.full(100_000, -1, "float32") for _ in range(4)]
    assert (tensor == 4).all()
    assert (other.get() == 5).all()
    del overwriting


def test_repeated_exchanges_with_torch_leak_no_memory() -> None:
    before = PyGPU.memory_statistics()["count"]
    for _ in range(200):
        array = PyGPU.empty(1000, "float32")
        assert PyGPU.from_dlpack(torch.from_dlpack(array)).ptr == array.ptr
    del array
    gc.collect()
    assert PyGPU.memory_statistics()["count"] == before
