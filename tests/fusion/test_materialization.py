"""Test uses of pending results: each use of their values or addresses flushes first.

Also test that operations on escaped memory, whose address is visible outside PyGPU, are not deferred.
"""

from __future__ import annotations

import copy
import ctypes
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dlpack_forge
import PyGPU
import simulated_driver
from fusion_support.operation_counts import OperationCounts, waiting
from handover_support.protocols import Shown
from installed.numpy_version import is_numpy
from PyGPU import _core

HOST = np.linspace(-1, 2, 12).reshape(3, 4)
ONE = np.array(41.0)

# Uses of the pending result `x + 1`, each with a NumPy function that computes the expected result.
USES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "get": (lambda a: a.get(), lambda n: n),
    "tolist": (lambda a: a.tolist(), lambda n: n.tolist()),
    "item": (lambda a: a.item(3), lambda n: n.item(3)),
    "iteration": (lambda a: [row.get() for row in a], list),
    "repr": (lambda a: "0.27272727" in repr(a), lambda _: True),
    "str": (lambda a: str(a), str),
    "in": (lambda a: 3.0 in a, lambda n: 3.0 in n),
    "pickle": (lambda a: pickle.loads(pickle.dumps(a)).get(), lambda n: n),
    "copy.copy": (lambda a: copy.copy(a).get(), lambda n: n),
    "copy.deepcopy": (lambda a: copy.deepcopy(a).get(), lambda n: n),
    "a view": (lambda a: a[1:, ::2].get(), lambda n: n[1:, ::2]),
    "an element": (lambda a: float(a[2, 3]), lambda n: n[2, 3]),
    "T": (lambda a: a.T.get(), lambda n: n.T),
    "reshape": (lambda a: a.reshape(4, 3).get(), lambda n: n.reshape(4, 3)),
    "ravel": (lambda a: a.ravel().get(), lambda n: n.ravel()),
    "reversed": (lambda a: a[::-1].get(), lambda n: n[::-1]),
    "bits": (lambda a: a.view("int64").get(), lambda n: n.view("int64")),
    "a copy": (lambda a: a.copy().get(), lambda n: n),
    "astype": (lambda a: a.astype("float32").get(), lambda n: n.astype("float32")),
    "a mask": (lambda a: a[a > 1].get(), lambda n: n[n > 1]),
    "a gather": (lambda a: a[np.array([2, 0])].get(), lambda n: n[[2, 0]]),
    "sort": (lambda a: PyGPU.sort(a).get(), np.sort),
    "max": (lambda a: a.max().get(), lambda n: n.max()),
    "cumsum": (lambda a: a.cumsum(0).get(), lambda n: n.cumsum(0)),
    "concatenate": (lambda a: PyGPU.concatenate([a, a]).get(), lambda n: np.concatenate([n, n])),
    "dlpack": (lambda a: PyGPU.from_dlpack(a.__dlpack__()).get(), lambda n: n),
    "the interface": (lambda a: PyGPU.asarray(Shown(a, "__cuda_array_interface__"), copy=True).get(), lambda n: n),
    "another device": (lambda a: a.to_device("cpu").get(), lambda n: n),
}
if is_numpy("2.1"):
    USES["dlpack to the host"] = (lambda a: np.from_dlpack(a, device="cpu", copy=True), lambda n: n)


@pytest.mark.parametrize("name", USES)
def test_use_of_pending_result_gives_same_values_as_numpy(name: str) -> None:
    if name == "the interface" and PyGPU.backend_name() != "cuda":
        pytest.skip("the interface is CUDA's")
    x = PyGPU.to_gpu(HOST)
    ours, numpys = USES[name]
    y = x + 1
    assert waiting() == 1
    got = ours(y)
    assert waiting() == 0
    np.testing.assert_array_equal(got, numpys(HOST + 1))


@pytest.mark.parametrize("as_number", [bool, int, float, complex])
def test_python_scalar_of_pending_result_is_correct(as_number: Callable[[Any], Any]) -> None:
    x = PyGPU.to_gpu(ONE)
    assert as_number(x + 1) == as_number(42.0)
    assert waiting() == 0


def test_pending_result_as_index_is_correct() -> None:
    x = PyGPU.to_gpu(np.array(1))
    assert [10, 20, 30][x + 1] == 30


def test_address_of_pending_result_points_to_its_values() -> None:
    driver = simulated_driver.driver()
    if driver is None:
        pytest.skip("another library is simulated")
    x = PyGPU.to_gpu(HOST)
    y = x + 1
    address = y.ptr
    assert address != 0
    assert waiting() == 0
    PyGPU.synchronize()
    got = np.zeros_like(HOST)
    driver.foreign_download(got.ctypes.data, address, got.nbytes, 0)
    PyGPU.synchronize()
    np.testing.assert_array_equal(got, HOST + 1)


# Ways in which code outside PyGPU gets the address of an array.
EXPOSING: dict[str, Callable[[Any], Any]] = {
    "ptr": lambda a: a.ptr,
    "data_ptr": lambda a: a.data_ptr(),
    "the number of gpudata": lambda a: int(a.gpudata),
    "as_parameter": lambda a: a._as_parameter_,
    "dlpack": lambda a: a.__dlpack__(),
    "interface": lambda a: a.__cuda_array_interface__,
    "the exchange table": dlpack_forge.Exported,
    "a tensor that is lent": dlpack_forge.lent,
}


def exposed_by(name: str, array: PyGPU.GPUArray) -> Any:
    if name == "interface" and PyGPU.backend_name() != "cuda":
        pytest.skip("the interface is CUDA's")
    return EXPOSING[name](array)


@pytest.mark.parametrize("name", EXPOSING)
def test_request_for_address_of_operand_launches_pending_operations(name: str) -> None:
    x = PyGPU.to_gpu(HOST)
    kept = x + 1
    assert waiting() == 1
    shown = exposed_by(name, x)
    assert waiting() == 0
    del shown
    np.testing.assert_array_equal(kept.get(), HOST + 1)


@pytest.mark.parametrize("name", EXPOSING)
def test_second_request_for_address_launches_operations_on_other_arrays(name: str) -> None:
    x, other = PyGPU.to_gpu(HOST), PyGPU.to_gpu(HOST)
    shown = [exposed_by(name, x)]
    kept = other + 1
    assert waiting() == 1
    shown.append(exposed_by(name, x))
    assert waiting() == 0
    shown.clear()
    np.testing.assert_array_equal(kept.get(), HOST + 1)


def test_operations_are_eager_after_gpudata_is_converted_to_integer() -> None:
    x = PyGPU.to_gpu(HOST)
    memory = x.gpudata
    kept = x + 1
    assert waiting() == 1
    assert int(memory) > 0
    assert waiting() == 0
    again = x + 2
    assert waiting() == 0
    np.testing.assert_array_equal(kept.get(), HOST + 1)
    np.testing.assert_array_equal(again.get(), HOST + 2)


@pytest.mark.parametrize("name", EXPOSING)
def test_operations_on_escaped_memory_are_eager(name: str) -> None:
    x = PyGPU.to_gpu(HOST)
    shown = exposed_by(name, x)
    counted = OperationCounts()
    kept = x + 1
    assert waiting() == 0
    assert counted["at_once"] == {"exposed": 1}
    assert kept[::2].shape == (2, 4)
    del shown


@pytest.mark.parametrize("name", EXPOSING)
def test_operations_on_views_of_escaped_memory_are_eager(name: str) -> None:
    x = PyGPU.to_gpu(HOST)
    view = x[1:]
    shown = exposed_by(name, x)
    kept = [view + 1, x.T + 1]
    assert waiting() == 0
    del shown, kept


def test_address_of_view_makes_operations_on_whole_block_eager() -> None:
    x = PyGPU.to_gpu(HOST)
    assert x[1:].ptr > 0
    kept = x + 1
    assert waiting() == 0
    del kept


def test_fusion_report_counts_flush_by_eager_operation() -> None:
    x, shown = PyGPU.to_gpu(HOST), PyGPU.to_gpu(HOST)
    assert shown.ptr > 0
    kept = [x + 1]
    counted = OperationCounts()
    kept.append(shown + 2)
    assert counted["closed"] == {"operation": 1}


def test_operations_are_correct_after_consumer_drops_dlpack_import() -> None:
    x = PyGPU.to_gpu(HOST)
    capsule = x.__dlpack__()
    taken = PyGPU.from_dlpack(capsule)
    kept = [x + 1]
    assert waiting() == 0
    del taken, capsule
    PyGPU.synchronize()
    kept.append(x + 1)
    # 0 is correct too: the last addition may be eager, because the importing consumer passed no stream.
    assert waiting() <= 1
    np.testing.assert_array_equal(kept[1].get(), HOST + 1)


def by_pointer() -> PyGPU.GPUArray:
    x = PyGPU.to_gpu(HOST)
    return PyGPU.from_pointer(x.ptr, x.shape, x.dtype, owner=x)


# Arrays on which operations are never deferred: their memory is not from PyGPU's pool, or their address is visible
# outside PyGPU.
OTHERS: dict[str, Callable[[], Any]] = {
    "a pointer": by_pointer,
    "shared": lambda: PyGPU.empty(HOST.shape, HOST.dtype, shared=True),
    "an allocator's": lambda: PyGPU.gpuarray.empty(HOST.shape, HOST.dtype, allocator=PyGPU.driver.mem_alloc),
}


@pytest.mark.parametrize("name", OTHERS)
def test_operations_on_external_memory_are_not_deferred(name: str) -> None:
    x = OTHERS[name]()
    if x.device.kind == "cpu":
        pytest.skip("the host has it")
    x.set(HOST)
    counted = OperationCounts()
    kept = x + 1
    assert waiting() == 0
    assert counted["at_once"] in ({"foreign": 1}, {"exposed": 1})
    np.testing.assert_array_equal(kept.get(), HOST + 1)


@pytest.mark.parametrize("name", ["ptr", "dlpack"])
def test_write_by_another_library_does_not_change_earlier_result(name: str) -> None:
    driver = simulated_driver.driver()
    if driver is None:
        pytest.skip("another library is simulated")
    x = PyGPU.to_gpu(HOST)
    before = x + 1
    shown = exposed_by(name, x)
    during = x * 2
    zeros = np.zeros_like(HOST)
    # This stream is a blocking stream, so it waits for the default stream, as streams of other libraries do.
    stream = PyGPU.Stream()
    driver.foreign_upload(x.ptr, zeros.ctypes.data, zeros.nbytes, stream.handle)
    stream.synchronize()
    after = x + 3
    np.testing.assert_array_equal(before.get(), HOST + 1)
    np.testing.assert_array_equal(during.get(), HOST * 2)
    np.testing.assert_array_equal(after.get(), zeros + 3)
    del shown


def test_copy_to_raw_address_launches_pending_operations_first() -> None:
    x = PyGPU.to_gpu(HOST)
    y = x + 1
    address = int(PyGPU.zeros(3).ptr)  # A request for the address of any array flushes all pending operations.
    assert waiting() == 0
    kept = y * 2
    assert waiting() == 1
    other = PyGPU.driver.mem_alloc(HOST.nbytes)
    assert waiting() == 1 or waiting() == 0
    PyGPU.driver.memcpy_htod(other, HOST)
    assert waiting() == 0
    np.testing.assert_array_equal(kept.get(), (HOST + 1) * 2)
    del address


def test_ctypes_request_for_address_of_pending_result_flushes() -> None:
    x = PyGPU.to_gpu(HOST)
    y = x + 1
    parameter = ctypes.c_void_p(y.ptr)
    assert parameter.value == y.ptr
    assert waiting() == 0


def test_custom_allocator_does_not_prevent_deferral_for_other_arrays() -> None:
    own = PyGPU.gpuarray.empty(HOST.shape, HOST.dtype, allocator=PyGPU.driver.mem_alloc)
    own.set(HOST)
    kept = [own + 1]
    assert waiting() == 0
    x = PyGPU.to_gpu(HOST)
    kept.append(x + 1)
    assert waiting() == 1
    kept.append(x + own)
    assert waiting() == 0
    for got, expected in zip(kept, [HOST + 1, HOST + 1, HOST + HOST], strict=True):
        np.testing.assert_array_equal(got.get(), expected)


def test_numpy_add_of_device_array_is_deferred() -> None:
    x = PyGPU.to_gpu(HOST)
    y = np.add(x, 1)
    assert waiting() == 1
    np.testing.assert_array_equal(y.get(), HOST + 1)


def test_second_flush_launches_no_kernel_and_changes_no_result() -> None:
    x = PyGPU.to_gpu(HOST)
    kept = x + 1
    counted = OperationCounts()
    _core.flush()
    assert (waiting(), counted["closed"]) == (0, {"asked": 1})
    _core.flush()
    assert counted["closed"] == {"asked": 1}
    np.testing.assert_array_equal(kept.get(), HOST + 1)
