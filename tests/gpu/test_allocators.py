"""Test `using_allocator` with the allocators of PyTorch, CuPy and RMM."""

import gc

import numpy as np
import pytest

import PyGPU
from gpu import support

support.require_peers()


@pytest.mark.parametrize("stream", [False, True], ids=["default stream", "own stream"])
def test_memory_of_torch_allocator_is_used_and_returned_to_torch(stream: bool) -> None:
    torch = pytest.importorskip("torch")
    on = PyGPU.Stream() if stream else PyGPU.default_stream()
    before = torch.cuda.memory_allocated()
    host = np.arange(1 << 18, dtype=np.float32)
    with PyGPU.using_allocator("torch"), on:
        array = PyGPU.to_gpu(host)
        assert torch.cuda.memory_allocated() == before + host.nbytes
        copied = array.copy()
        np.testing.assert_array_equal(copied.get(), host)
    del array, copied
    gc.collect()
    assert torch.cuda.memory_allocated() == before


@pytest.mark.parametrize("stream", [False, True], ids=["default stream", "own stream"])
def test_memory_of_cupy_allocator_is_used_and_returned_to_cupy(stream: bool) -> None:
    cupy = pytest.importorskip("cupy")
    on = PyGPU.Stream() if stream else PyGPU.default_stream()
    pool = cupy.get_default_memory_pool()
    before = pool.used_bytes()
    host = np.arange(1 << 18, dtype=np.float32)
    with PyGPU.using_allocator("cupy"), on:
        array = PyGPU.to_gpu(host)
        assert pool.used_bytes() == before + host.nbytes
        np.testing.assert_array_equal(cupy.asarray(array).get(), host)
    del array
    gc.collect()
    assert pool.used_bytes() == before


def test_memory_of_rmm_allocator_is_used_and_returned_to_rmm() -> None:
    rmm = pytest.importorskip("rmm")
    host = np.arange(1 << 18, dtype=np.float32)
    resource = rmm.mr.StatisticsResourceAdaptor(rmm.mr.get_current_device_resource())
    rmm.mr.set_current_device_resource(resource)
    with PyGPU.using_allocator("rmm"), PyGPU.Stream():
        array = PyGPU.to_gpu(host)
        assert resource.allocation_counts.current_bytes == host.nbytes
        np.testing.assert_array_equal(array.get(), host)
    del array
    gc.collect()
    assert resource.allocation_counts.current_bytes == 0


def test_copy_is_correct_if_its_source_returns_to_torch_pool_early() -> None:
    torch = pytest.importorskip("torch")
    host = np.arange(1 << 24, dtype=np.int32)
    side = PyGPU.Stream(non_blocking=True)
    for _ in range(5):
        with PyGPU.using_allocator("torch"):
            array = PyGPU.to_gpu(host)
        with side:
            copied = array.copy()
        del array
        # PyTorch's allocator gives the freed block to the next request of the same size.
        overwritten = torch.full((1 << 24,), -1, dtype=torch.int32, device="cuda")
        np.testing.assert_array_equal(copied.get(), host)
        del overwritten
