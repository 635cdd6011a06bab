"""Test that `copy`, `copy.copy`, `copy.deepcopy` and pickling give arrays with the same values, attributes, class and
memory order."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import PyGPU
from support import ALL_DTYPES, assert_same, assert_same_refusal, examples, host_views, outcome, pair, shapes, slices

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


class Labelled(PyGPU.GPUArray):
    """Define a subclass with a label, at module level because pickle finds classes by name."""

    def label(self) -> str:
        return f"<{self.name}>"


class Finalized(PyGPU.GPUArray):
    def __array_finalize__(self, other: Any) -> None:
        self.unit = getattr(other, "unit", "none")


@st.composite
def views(draw: st.DrawFn) -> tuple[np.ndarray, PyGPU.GPUArray]:
    host, device = pair(draw(shapes), draw(st.sampled_from(ALL_DTYPES)), draw(st.sampled_from("CF")))
    key = (*(draw(slices) for _ in range(host.ndim)), ...)
    axes = draw(st.permutations(range(host.ndim)))
    return host[key].transpose(axes), device[key].transpose(axes)


def assert_same_strides(ours: PyGPU.GPUArray, numpys: np.ndarray) -> None:
    if numpys.size:
        long = [axis for axis, length in enumerate(numpys.shape) if length > 1]
        assert [ours.strides[axis] for axis in long] == [numpys.strides[axis] for axis in long]


@examples(100)
@given(views(), st.sampled_from(["C", "F", "A", "K"]))
def test_memory_order_of_copy_matches_numpy(both: tuple[np.ndarray, PyGPU.GPUArray], order: Any) -> None:
    host, device = both
    copied = device.copy(order)
    assert_same(copied, host)
    assert_same_strides(copied, host.copy(order))
    assert copied.base is None
    assert copied.flags.owndata
    assert host.size == 0 or copied.ptr != device.ptr


@pytest.mark.parametrize("order", ["X", 1, ""])
def test_copy_method_rejects_unknown_memory_order(order: Any) -> None:
    host, device = pair((2, 3))
    assert_same_refusal(outcome(lambda: device.copy(order)), outcome(lambda: host.copy(order)))


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, PyGPU.GPUArray.copy], ids=["copy", "deepcopy", "method"]
)
def test_copy_of_array_has_its_own_memory(duplicate: Any) -> None:
    host, device = pair((2, 3))
    copied = duplicate(device)
    copied[...] = 0
    assert_same(device, host)
    assert duplicate(PyGPU.broadcast_to(device, (4, 2, 3))).flags.writeable


@examples(100)
@given(views())
def test_copy_and_deepcopy_have_same_values_and_memory_order(both: tuple[np.ndarray, PyGPU.GPUArray]) -> None:
    host, device = both
    for duplicate in (copy.copy, copy.deepcopy):
        copied = duplicate(device)
        assert_same(copied, host)
        assert_same_strides(copied, host.copy("K"))


@examples(150)
@given(views(), st.sampled_from(PROTOCOLS))
def test_view_restored_from_pickle_has_same_values_and_strides_as_numpy(
    both: tuple[np.ndarray, PyGPU.GPUArray], protocol: int
) -> None:
    host, device = both
    restored = pickle.loads(pickle.dumps(device, protocol))
    assert_same(restored, host)
    assert_same_strides(restored, pickle.loads(pickle.dumps(host.copy("K"), protocol)))
    assert restored.flags.writeable


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_array_restored_from_pickle_has_same_class_and_attributes(protocol: int) -> None:
    device = Labelled((2, 3), "int32")
    device.fill(7)
    device.name = "seven"
    device.parts = [1, {"two": 2}]
    restored = pickle.loads(pickle.dumps(device, protocol))
    assert type(restored) is Labelled
    assert restored.label() == "<seven>"
    assert restored.parts == device.parts
    assert restored.tolist() == [[7, 7, 7], [7, 7, 7]]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pickle_of_array_that_refers_to_itself_restores_reference(protocol: int) -> None:
    _, device = pair((3,))
    device.itself = device
    device.friends = [device]
    restored = pickle.loads(pickle.dumps(device, protocol))
    assert restored.itself is restored
    assert restored.friends[0] is restored


def test_pickle_supports_out_of_band_buffers() -> None:
    host, device = pair((100,), "float32")
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(device, 5, buffer_callback=buffers.append)
    assert len(data) < 400
    assert_same(pickle.loads(data, buffers=buffers), host)


def test_pickled_array_can_be_loaded_in_another_process() -> None:
    _, device = pair((2, 3), "int16", "F")
    program = (
        "import pickle, sys; a = pickle.load(sys.stdin.buffer); "
        "assert type(a).__name__ == 'GPUArray' and a.strides == (2, 4), a; print(a.tolist())"
    )
    done = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(device), capture_output=True, check=False)
    assert done.stderr == b""
    assert done.stdout.decode().strip() == "[[1, 2, 3], [4, 5, 6]]"


def test_function_that_restores_pickled_arrays_rejects_forged_arguments() -> None:
    from PyGPU._core import _restore

    for arguments in ((int, np.zeros(3)), (PyGPU.GPUArray, [1]), (PyGPU.GPUArray, np.array([None])), (1, 2), ()):
        with pytest.raises(TypeError):
            _restore(*arguments)


def test_copy_shares_attributes_of_array_and_deepcopy_copies_them() -> None:
    device = Labelled((3,), "int32")
    device.fill(1)
    device.name, device.parts = "name", [[1]]
    shallow, deep = copy.copy(device), copy.deepcopy(device)
    assert type(shallow) is type(deep) is Labelled
    assert shallow.parts is device.parts
    assert deep.parts == device.parts
    assert deep.parts[0] is not device.parts[0]
    assert deep.label() == "<name>"
    assert shallow.__dict__ is not device.__dict__


def test_deepcopy_keeps_references_of_copied_objects_to_each_other() -> None:
    _, device = pair((3,))
    device.itself = device
    copied = copy.deepcopy(device)
    assert copied.itself is copied
    both = copy.deepcopy([device, device])
    assert both[0] is both[1]


def test_deepcopy_of_array_with_uncopyable_attribute_raises() -> None:
    class Unwilling:
        def __deepcopy__(self, memo: Any) -> Any:
            raise ZeroDivisionError("on purpose")

    _, device = pair((3,))
    device.part = Unwilling()
    with pytest.raises(ZeroDivisionError):
        copy.deepcopy(device)


def test_array_copies_call_array_finalize_like_numpy() -> None:
    device = Finalized((3,), "int32")
    device.fill(0)
    device.unit = "metre"
    for made in (device.copy(), copy.copy(device), copy.deepcopy(device), device[1:], device.T, device[[0]]):
        assert type(made) is Finalized
        assert made.unit == "metre"


@examples(100)
@given(host_views())
def test_repeated_copies_in_other_memory_orders_have_same_values(host: np.ndarray) -> None:
    device = PyGPU.to_gpu(host)
    assert_same(device.copy().copy("F").copy("C"), host)


def test_array_with_pybindgpu_metadata_can_be_copied() -> None:
    _, device = pair((3,))
    device.set_val(0, 5.0)
    for made in (copy.copy(device), copy.deepcopy(device), pickle.loads(pickle.dumps(device))):
        assert made.tolist() == [5.0, 2.0, 3.0]
