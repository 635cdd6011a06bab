"""Test that PyGPU registers its functions with Dask automatically, and that Dask fails if one of them is missing."""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import PyGPU
import support
from PyGPU import dask as ours

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.enough_on("cpu", "cuda")

A_PROGRAM = """
import sys
{imports}
import numpy as np
meta = PyGPU.empty((0,), "f8")
x = da.from_array(np.arange(6.0), chunks=3).map_blocks(PyGPU.to_gpu, meta=meta, dtype="f8")
mean = x.mean(keepdims=True).compute(scheduler="synchronous")
assert type(mean) is PyGPU.GPUArray, type(mean)
from dask.sizeof import sizeof
assert sizeof(PyGPU.zeros(1000)) == 8000
"""


@contextlib.contextmanager
def without(registry: Any) -> Iterator[None]:
    """Remove PyGPU's function from one of Dask's registries for the duration of a `with` block."""
    known = registry._lookup.pop(PyGPU.GPUArray)
    try:
        yield
    finally:
        registry.register(PyGPU.GPUArray, known)


@pytest.fixture
def x() -> Any:
    return da.from_array(PyGPU.arange(6.0), chunks=3)


@pytest.mark.starts_processes
@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize(
    "imports",
    [
        "import PyGPU, dask.array as da",
        "import dask.array as da, PyGPU",
        "import PyGPU.dask; PyGPU.dask.dask_setup(None); import dask.array as da, distributed",
    ],
)
def test_dask_registration_is_automatic_for_any_import_order(imports: str) -> None:
    program = A_PROGRAM.format(imports=imports)
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.starts_processes
@pytest.mark.enough_on("cpu")
def test_dask_registration_does_not_import_dask_array_by_itself() -> None:
    program = (
        "import sys, PyGPU.dask; assert 'dask' not in sys.modules\n"
        "import importlib.util, dask; assert 'dask.array' not in sys.modules\n"
        "assert importlib.util.find_spec('dask.array') and 'PyGPU._dask.chunks' not in sys.modules\n"
        "import dask.array; assert 'PyGPU._dask.chunks' in sys.modules\n"
        "assert not [one for one in sys.meta_path if getattr(one, 'name', '') == 'dask.array']"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_repeated_dask_registration_changes_nothing() -> None:
    from dask.array import chunk_types

    for _ in range(2):
        ours.register()
        ours.dask_setup(None)
    assert chunk_types._HANDLED_CHUNK_TYPES.count(PyGPU.GPUArray) == 1


def test_mean_of_dask_array_requires_registered_numel_function(x: Any) -> None:
    from dask.array.dispatch import numel_lookup

    with without(numel_lookup), pytest.raises(TypeError, match="in host memory"):
        x.mean(keepdims=True).compute(scheduler="synchronous")
    assert type(x.mean(keepdims=True).compute(scheduler="synchronous")) is PyGPU.GPUArray


@pytest.mark.parametrize("name", ["percentile_lookup", "empty_lookup"])
def test_percentile_of_dask_array_requires_registered_functions(x: Any, name: str) -> None:
    registry = getattr(dask.array.dispatch, name)
    with without(registry), pytest.raises(TypeError):
        da.percentile(x, 50).compute(scheduler="synchronous")
    assert type(da.percentile(x, 50).compute(scheduler="synchronous")) is PyGPU.GPUArray


def test_percentile_of_dask_array_skips_chunks_without_elements() -> None:
    x = da.from_array(PyGPU.arange(6.0), chunks=3)
    some = x[x > 2]
    assert da.percentile(some, 50).compute(scheduler="synchronous").item() == 4


def test_dask_to_backend_numpy_requires_registered_host_conversion(x: Any) -> None:
    from dask.array.dispatch import to_numpy_dispatch

    with without(to_numpy_dispatch), pytest.raises(ValueError, match="No dispatch for"):
        x.to_backend("numpy").compute(scheduler="synchronous")
    assert type(x.to_backend("numpy").compute(scheduler="synchronous")) is np.ndarray


def test_sum_of_dask_and_gpu_array_requires_registered_chunk_type(x: Any) -> None:
    from dask.array import chunk_types

    chunk_types._HANDLED_CHUNK_TYPES.remove(PyGPU.GPUArray)
    try:
        with pytest.raises(TypeError):
            x + PyGPU.arange(6.0)
    finally:
        ours.register()
    assert type((x + PyGPU.arange(6.0)).compute(scheduler="synchronous")) is PyGPU.GPUArray


def test_dask_sizeof_counts_stored_elements_in_bytes() -> None:
    from dask.sizeof import sizeof

    assert sizeof(PyGPU.zeros((100, 100))) == 80_000
    assert sizeof(PyGPU.zeros((100, 100))[::2]) == 40_000
    assert sizeof(PyGPU.broadcast_to(PyGPU.zeros(100), (1000, 100))) == 800
    assert sizeof(PyGPU.zeros((0, 3))) == 0
    assert sizeof(PyGPU.zeros(())) == 8


def test_dask_token_of_array_differs_at_each_call() -> None:
    from dask.base import tokenize

    a = PyGPU.zeros(3)
    assert tokenize(a) != tokenize(a)
    assert a.__dask_tokenize__()[0] == "PyGPU"


def of_all_layouts() -> dict[str, PyGPU.GPUArray]:
    """Return arrays of each memory layout and of unusual dtypes by name.

    The tests serialize each array into a message.
    """
    base = PyGPU.to_gpu(np.arange(24.0).reshape(4, 6))
    record = np.zeros(3, support.RECORD)
    record["id"] = [1, 2, 3]
    return {
        "dense": base,
        "F order": base.T,
        "every second": base[::2, 1::2],
        "backwards": base[::-1],
        "repeated": PyGPU.broadcast_to(base[0], (5, 6)),
        "all one element": PyGPU.broadcast_to(base[1, 1], (3, 2)),
        "no axes": base[1, 2],
        "empty": base[:0],
        "record": PyGPU.to_gpu(record),
        "bfloat16": PyGPU.to_gpu(np.arange(4).astype(ml_dtypes.bfloat16)),
    }


@pytest.mark.parametrize("serializers", [("dask",), ("pickle",)])
def test_array_is_unchanged_after_transfer_by_dask_message(serializers: tuple[str, ...]) -> None:
    protocol = pytest.importorskip("distributed.protocol")
    for name, array in of_all_layouts().items():
        header, frames = protocol.serialize(array, serializers=serializers)
        assert header["serializer"] == serializers[0], name
        # Copy each frame into read-only bytes: a connection between processes delivers such copies, not the original
        # frames.
        got = protocol.deserialize(header, [bytes(frame) for frame in frames])
        assert type(got) is PyGPU.GPUArray, name
        support.assert_same(got, array.get())
    f_order = of_all_layouts()["F order"]
    assert protocol.deserialize(*protocol.serialize(f_order, serializers=["dask"])).flags.f_contiguous


def test_dask_message_of_broadcast_array_has_each_element_once() -> None:
    protocol = pytest.importorskip("distributed.protocol")
    _, frames = protocol.serialize(PyGPU.broadcast_to(PyGPU.zeros(6), (1000, 6)), serializers=["dask"])
    assert sum(memoryview(frame).nbytes for frame in frames) == 48


def test_array_is_restored_from_message_frames_in_device_memory() -> None:
    pytest.importorskip("distributed")
    from PyGPU._dask import serialization

    for name, array in of_all_layouts().items():
        header, frames = serialization.to_device_frames(array)
        assert all(type(frame) is PyGPU.GPUArray and frame.dtype == np.uint8 for frame in frames), name
        support.assert_same(serialization.from_device_frames(header, frames), array.get())


def test_deserialized_array_is_on_original_or_else_current_device() -> None:
    pytest.importorskip("distributed")
    from PyGPU._dask import serialization

    array = PyGPU.zeros(3, device=PyGPU.device_count() - 1)
    header, frames = serialization.to_frames(array)
    assert serialization.from_frames(header, frames).device == array.device
    header["device"] = ["of another process", array.device.index]
    assert serialization.from_frames(header, frames).device.index == PyGPU.current_device()


def test_pickled_array_is_restored_with_same_values() -> None:
    a = PyGPU.arange(6.0)
    assert pickle.loads(pickle.dumps(a)).get().tolist() == a.get().tolist()


def test_spill_buffer_writes_arrays_to_disk_and_restores_them(tmp_path: Any) -> None:
    spill = pytest.importorskip("distributed.spill")
    buffer = spill.SpillBuffer(str(tmp_path), target=2_500_000)
    for number in range(6):
        # Each array occupies 1 MB; the buffer keeps at most 2.5 MB on the device.
        buffer[f"a{number}"] = PyGPU.full(125_000, number, "f8")
    assert (len(buffer.fast), len(buffer.slow)) == (2, 4)
    for number in range(6):
        array = buffer[f"a{number}"]
        assert type(array) is PyGPU.GPUArray
        assert set(array.get().tolist()) == {number}
