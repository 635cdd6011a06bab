"""Test which operations are deferred, how many kernels compute the deferred operations, and which results get
memory."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU
import simulated_driver
from fusion_support.operation_counts import OperationCounts, limits, mode, waiting
from PyGPU import _core

HOST = np.linspace(-1, 2, 12).reshape(3, 4)
OTHER = np.linspace(3, 4, 12).reshape(3, 4)


@pytest.fixture
def x() -> PyGPU.GPUArray:
    return PyGPU.to_gpu(HOST)


@pytest.fixture
def y() -> PyGPU.GPUArray:
    return PyGPU.to_gpu(OTHER)


def expression(x: PyGPU.GPUArray, y: PyGPU.GPUArray) -> PyGPU.GPUArray:
    return 0.9 * x + y - 2 * x * y


def test_deferred_addition_launches_nothing(x: PyGPU.GPUArray) -> None:
    counted = OperationCounts()
    y = x + 1
    assert (counted["operations"], waiting(), counted["kernels"]) == (1, 1, 0)
    assert y.tolist() == (HOST + 1).tolist()
    assert (waiting(), counted["kernels"], counted["outputs"]) == (0, 1, 1)


def test_expression_evaluated_for_third_time_is_launched_as_one_kernel(x: PyGPU.GPUArray, y: PyGPU.GPUArray) -> None:
    expression(x, y).get()
    expression(x, y).get()
    counted = OperationCounts()
    got = expression(x, y)
    assert waiting() == 5
    _core.flush()
    assert (counted["kernels"], counted["fused"], counted["outputs"]) == (1, 1, 1)
    if simulated_driver.driver() is not None:
        assert counted["launches"] == 1
    np.testing.assert_array_equal(got.get(), expression(HOST, OTHER))


def test_first_use_of_expression_launches_each_operation_separately(x: PyGPU.GPUArray) -> None:
    counted = OperationCounts()
    # No other test contains this expression, so its fused kernel is not compiled yet.
    got = ((x + 7) * 11 - 13) * (x + 17) - 19
    _core.flush()
    assert (counted["kernels"], counted["first_meetings"], counted["fused"]) == (6, 1, 0)
    np.testing.assert_array_equal(got.get(), ((HOST + 7) * 11 - 13) * (HOST + 17) - 19)


def test_compile_threshold_1_compiles_fused_kernel_at_first_use(x: PyGPU.GPUArray) -> None:
    with limits(compile_threshold=1):
        counted = OperationCounts()
        got = (x - 3) * (x - 5)
        _core.flush()
        assert (counted["kernels"], counted["fused"], counted["first_meetings"]) == (1, 1, 0)
    np.testing.assert_array_equal(got.get(), (HOST - 3) * (HOST - 5))


def test_live_temporary_is_stored_by_kernel_of_whole_expression(x: PyGPU.GPUArray, y: PyGPU.GPUArray) -> None:
    with limits(compile_threshold=1):
        counted = OperationCounts()
        t = 0.9 * x
        z = t + y
        _core.flush()
        assert (counted["kernels"], counted["outputs"]) == (1, 2)
    np.testing.assert_array_equal(t.get(), 0.9 * HOST)
    np.testing.assert_array_equal(z.get(), 0.9 * HOST + OTHER)


def test_dropped_temporary_of_fused_expression_gets_no_memory(x: PyGPU.GPUArray, y: PyGPU.GPUArray) -> None:
    with limits(compile_threshold=1):
        counted = OperationCounts()
        t = 0.9 * x
        z = t + y
        del t
        _core.flush()
        assert (counted["kernels"], counted["outputs"]) == (1, 1)
    np.testing.assert_array_equal(z.get(), 0.9 * HOST + OTHER)


def test_dropped_result_is_never_computed(x: PyGPU.GPUArray) -> None:
    counted = OperationCounts()
    x + 1
    assert (waiting(), counted["dropped"]) == (0, 1)
    _core.flush()
    PyGPU.synchronize()
    assert counted["kernels"] == 0


def test_dropped_chain_of_results_is_never_computed(x: PyGPU.GPUArray) -> None:
    counted = OperationCounts()
    y = ((x + 1) * 2 - 3) * 4
    assert waiting() == 4
    del y
    assert (waiting(), counted["dropped"]) == (0, 4)
    _core.flush()
    assert counted["kernels"] == 0


def test_loop_that_drops_its_results_leaves_pending_queue_empty(x: PyGPU.GPUArray) -> None:
    counted = OperationCounts()
    for _ in range(100):
        x + 1
    assert (counted["dropped"], counted["closed"]) == (100, {})


def test_dropped_pending_result_with_live_view_is_computed(x: PyGPU.GPUArray) -> None:
    counted = OperationCounts()
    view = (x + 1)[1:]
    _core.flush()
    assert counted["outputs"] == 1
    np.testing.assert_array_equal(view.get(), (HOST + 1)[1:])


def test_reading_shape_and_dtype_of_pending_result_does_not_launch(x: PyGPU.GPUArray) -> None:
    y = x.T + 1
    twin = HOST.T + 1
    assert (y.shape, y.dtype, y.strides, y.size) == (twin.shape, twin.dtype, twin.strides, twin.size)
    assert (y.ndim, y.nbytes, y.itemsize, len(y)) == (twin.ndim, twin.nbytes, twin.itemsize, len(twin))
    assert y.flags.f_contiguous
    assert y.device == x.device
    assert waiting() == 1


def test_deferred_operations_of_two_shapes_use_two_kernels(x: PyGPU.GPUArray) -> None:
    counted = OperationCounts()
    kept = [x + 1, x[0] + 1]
    _core.flush()
    assert counted["kernels"] == 2
    np.testing.assert_array_equal(kept[1].get(), HOST[0] + 1)


def test_independent_deferred_operations_of_one_shape_use_one_kernel(x: PyGPU.GPUArray, y: PyGPU.GPUArray) -> None:
    with limits(compile_threshold=1):
        counted = OperationCounts()
        kept = [x + 1, y * 2, x - y]
        _core.flush()
        assert (counted["kernels"], counted["outputs"]) == (1, 3)
    for got, expected in zip(kept, [HOST + 1, OTHER * 2, HOST - OTHER], strict=True):
        np.testing.assert_array_equal(got.get(), expected)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_number_of_results_per_fused_kernel_is_limited(x: PyGPU.GPUArray, most: int) -> None:
    with limits(compile_threshold=1, outputs=most):
        counted = OperationCounts()
        kept = [x + number for number in range(6)]
        _core.flush()
        assert counted["outputs"] == 6
        assert counted["kernels"] == -(-6 // most)
    for number, got in enumerate(kept):
        np.testing.assert_array_equal(got.get(), HOST + number)


def test_number_of_arrays_per_fused_kernel_is_limited() -> None:
    hosts = [HOST + number for number in range(8)]
    arrays = [PyGPU.to_gpu(host) for host in hosts]
    with limits(compile_threshold=1, arrays=3):
        counted = OperationCounts()
        total, twin = arrays[0], hosts[0]
        for array, host in zip(arrays[1:], hosts[1:], strict=True):
            total, twin = total + array, twin + host
        _core.flush()
        assert counted["kernels"] > 2
    np.testing.assert_array_equal(total.get(), twin)


def test_chain_of_200_operations_is_flushed_when_queue_is_full(x: PyGPU.GPUArray) -> None:
    y, twin = x, HOST
    counted = OperationCounts()
    for _ in range(200):
        y, twin = y + 0.5, twin + 0.5
    _core.flush()
    assert counted["closed"]["nodes"] == 6
    np.testing.assert_array_equal(y.get(), twin)


def test_fused_float16_operations_round_after_each_operation() -> None:
    host = (np.arange(100) / 7).astype("float16")
    x = PyGPU.to_gpu(host)
    with limits(compile_threshold=1):
        counted = OperationCounts()
        got = (x * x + host[3]) * x - x * host[5]
        _core.flush()
        assert counted["kernels"] == 1
    expected = (host * host + host[3]) * host - host * host[5]
    assert got.get().tobytes() == expected.tobytes()


def test_fused_product_and_sum_are_not_contracted_to_fma() -> None:
    host = np.random.default_rng(5).random(1000, np.float32)
    x, y = PyGPU.to_gpu(host), PyGPU.to_gpu(host[::-1].copy())
    with limits(compile_threshold=1):
        got = x * y + x
        _core.flush()
    assert got.get().tobytes() == (host * host[::-1] + host).tobytes()


def test_fusion_mode_off_launches_each_operation_at_its_call(x: PyGPU.GPUArray) -> None:
    with mode("off"):
        counted = OperationCounts()
        y = (x + 1) * 2
        assert waiting() == 0
        assert counted["operations"] == 0
        assert counted["at_once"] == {"off": 2}
    np.testing.assert_array_equal(y.get(), (HOST + 1) * 2)


def test_change_of_fusion_mode_flushes_pending_operations(x: PyGPU.GPUArray) -> None:
    kept = x + 1
    counted = OperationCounts()
    assert _core._set_fusion("off") == "auto"
    assert counted["closed"] == {"asked": 1}
    _core._set_fusion("auto")
    np.testing.assert_array_equal(kept.get(), HOST + 1)


def test_set_fusion_rejects_unknown_mode() -> None:
    with pytest.raises(ValueError, match="'auto' or 'off'"):
        _core._set_fusion("on")


def test_invalid_operation_raises_at_call_and_not_at_flush(x: PyGPU.GPUArray) -> None:
    kept = x + 1
    counted = OperationCounts()
    with pytest.raises(ValueError, match="broadcast"):
        x + PyGPU.zeros(7)
    small = PyGPU.zeros(3, "uint8")
    with pytest.raises(OverflowError):
        small + 300
    with pytest.raises(TypeError):
        x + "text"
    with pytest.raises(TypeError):
        x & x
    assert counted["failures"] == 0
    np.testing.assert_array_equal(kept.get(), HOST + 1)


@pytest.mark.parametrize("rows", [slice(None), slice(1, None), slice(None, None, -1)])
def test_expression_assigned_to_array_is_deferred_without_extra_memory(x: PyGPU.GPUArray, rows: slice) -> None:
    with limits(compile_threshold=1):
        target, expected = PyGPU.to_gpu(OTHER), OTHER.copy()
        counted = OperationCounts()
        target[rows] = x[rows] * 2 + 1
        assert waiting() == 3
        _core.flush()
        assert (counted["kernels"], counted["outputs"]) == (1, 1)
    expected[rows] = HOST[rows] * 2 + 1
    np.testing.assert_array_equal(target.get(), expected)


def test_operations_with_empty_results_are_not_deferred() -> None:
    x = PyGPU.zeros((0, 3))
    assert (x + 1).shape == (0, 3)
    assert waiting() == 0


def test_operations_on_host_arrays_are_not_deferred() -> None:
    x = PyGPU.to_gpu(HOST, device="cpu")
    y = x + 1
    assert waiting() == 0
    np.testing.assert_array_equal(y.get(), HOST + 1)


def test_operations_on_array_subclasses_are_not_deferred() -> None:
    class Named(PyGPU.GPUArray):
        pass

    x = PyGPU.to_gpu(HOST).view()
    named = Named(HOST.shape, HOST.dtype)
    named.set(HOST)
    counted = OperationCounts()
    y = named + x
    assert type(y) is Named
    assert waiting() == 0
    assert counted["at_once"].get("form") == 1
    np.testing.assert_array_equal(y.get(), HOST + HOST)


def test_pending_operations_without_live_results_are_dropped(x: PyGPU.GPUArray) -> None:
    PyGPU.synchronize()
    before = PyGPU.memory_statistics()["bytes"]
    y = PyGPU.to_gpu(np.ones(1 << 18))
    z = y + 1
    del y
    assert waiting() == 1
    del z
    PyGPU.synchronize()
    assert waiting() == 0
    assert PyGPU.memory_statistics()["bytes"] == before
