"""Test the CPU backend without strict mode: NumPy reads arrays in place, and `asarray` shares an ndarray's memory.

On the CPU all other tests run in strict mode (`PYGPU_STRICT=1`), which forbids these two uses, so that code that passes
on the CPU also runs on a GPU.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy
from PyGPU import _core
from support import on_cpu

pytestmark = pytest.mark.reads_in_place
cpu_only = pytest.mark.skipif(not on_cpu(), reason="host data is shared where the device is the host")

DTYPES = ["bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))]
DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]
SHAPES: list[tuple[int, ...]] = [(), (0,), (3, 0, 2), (5,), (4, 1, 6)]


@pytest.mark.enough_on("cpu")
@pytest.mark.starts_processes
@pytest.mark.parametrize(("value", "strict"), [("1", True), ("0", False), ("", False), (None, False)])
def test_pygpu_strict_variable_is_read_at_first_use(value: str | None, strict: bool) -> None:
    """Check that PyGPU reads `PYGPU_STRICT` at its first use and ignores later changes.

    Strict mode exists because a program that ran on the CPU could fail on a GPU. In strict mode such a program fails on
    the CPU too.
    """
    script = """if True:
        import os
        import numpy as np
        import PyGPU
        x, a = np.zeros(3), PyGPU.zeros(3)
        os.environ["PYGPU_STRICT"] = "1"  # too late
        try:
            np.asarray(a)
        except TypeError as error:
            assert ".get()" in str(error)
            assert not hasattr(a, "__array_interface__")
            assert PyGPU.asarray(x).ptr != x.ctypes.data
            print("strict")
        else:
            assert hasattr(a, "__array_interface__")
            assert PyGPU.asarray(x, copy=False).ptr == x.ctypes.data
            print("not strict")
    """
    environment = {name: text for name, text in os.environ.items() if name != "PYGPU_STRICT"} | {"PYGPU_BACKEND": "cpu"}
    if value is not None:
        environment["PYGPU_STRICT"] = value
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout == ("strict\n" if strict else "not strict\n"), done.stderr


def test_import_of_host_array_makes_copy_in_strict_mode() -> None:
    x = np.arange(6.0).reshape(2, 3)

    class Producer:
        __dlpack__, __dlpack_device__ = x.__dlpack__, x.__dlpack_device__

    # The marker `reads_in_place` selects a fixture that restores the strict mode setting after the test.
    _core._set_strict(True)
    for exporter in (x, Producer(), memoryview(x)):
        made = PyGPU.asarray(exporter)
        assert made.tolist() == x.tolist()
        assert made.ptr != x.ctypes.data
        with pytest.raises(ValueError, match="copy=False"):
            PyGPU.asarray(exporter, copy=False)
        assert PyGPU.asarray(exporter, device="cpu", copy=False).ptr == x.ctypes.data


@cpu_only
def test_asarray_without_device_shares_memory_of_ndarray() -> None:
    x = np.arange(3)
    a = PyGPU.asarray(x)
    assert a.ptr == x.ctypes.data
    assert a.base is x


@cpu_only
# Before NumPy 2.2, NumPy's `from_dlpack` returns read-only arrays.
@pytest.mark.parametrize("take", [np.asarray, np.asanyarray, *([np.from_dlpack] if is_numpy("2.2") else [])])
def test_numpy_reads_memory_of_cpu_array_in_place(take: Any) -> None:
    a = PyGPU.zeros(3)
    take(a)[1] = 5
    assert a.tolist() == [0, 5, 0]


@cpu_only
def test_array_is_unchanged_by_set_from_zero_copy_view_of_itself() -> None:
    for assign in (lambda a, h: a.set(h), lambda a, h: a.__setitem__(..., h), lambda a, h: a.get(h)):
        device = PyGPU.to_gpu(np.arange(1, 11, dtype="int32"))
        shown = np.asarray(device)
        assert shown.ctypes.data == device.ptr
        assign(device, shown[::-1])
        assert device.tolist() == shown.tolist() == list(range(10, 0, -1))


class TestHostInterface:
    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("shape", SHAPES)
    def test_array_interface_matches_numpy(self, dtype: str, shape: tuple[int, ...]) -> None:
        a = PyGPU.ones(shape, dtype, device="cpu")
        said = a.__array_interface__
        pointer, readonly = said.pop("data")
        assert readonly is False
        # An empty array has the address 0 in PyGPU. Its array interface contains another address, because NumPy 1
        # rejects 0.
        assert pointer == a.ptr if a.size else pointer % 16 == 0
        theirs = np.ones(shape, dtype).__array_interface__
        assert said == {
            "shape": shape,
            "typestr": theirs["typestr"],
            "version": 3,
            "strides": None,
        }
        assert [type(length) for length in said["shape"]] == [int] * len(shape)
        n = np.asarray(a)
        assert (n.dtype, n.shape, n.tolist()) == (a.dtype, shape, a.tolist())

    @pytest.mark.parametrize("key", [np.s_[::-1], np.s_[::2, ::-3], np.s_[:, 2], np.s_[None, ..., :1]])
    def test_numpy_views_same_memory_for_any_strides(self, key: Any) -> None:
        a = PyGPU.asarray(np.arange(24.0).reshape(4, 6), device="cpu")[key]
        n = np.asarray(a)
        assert (n.ctypes.data, n.strides, n.shape) == (a.ptr, a.strides, a.shape)
        n[...] = 7
        assert (a.get() == 7).all()

    def test_change_of_returned_interface_dictionary_has_no_effect(self) -> None:
        a = PyGPU.zeros(3, device="cpu")
        a.__array_interface__["shape"] = (9,)
        assert a.__array_interface__["shape"] == (3,)

    def test_array_interface_of_structured_items_has_numpy_descr(self) -> None:
        dtype = np.dtype([("x", "f4"), ("y", "i8")])
        a = PyGPU.asarray(np.array([(1, 2), (3, 4)], dtype), device="cpu")
        assert (a.__array_interface__["typestr"], a.__array_interface__["descr"]) == (dtype.str, dtype.descr)
        assert np.asarray(a).dtype == dtype
        assert "descr" not in PyGPU.zeros(2, "V7", device="cpu").__array_interface__

    @pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn"])
    def test_array_of_ml_dtypes_has_no_array_interface_but_shares_memory(self, dtype: str) -> None:
        pytest.importorskip("ml_dtypes")
        a = PyGPU.zeros(3, dtype, device="cpu")
        assert not hasattr(a, "__array_interface__")
        n = np.asarray(a)
        assert (n.dtype, n.ctypes.data) == (a.dtype, a.ptr)

    def test_array_interface_of_readonly_array_is_readonly(self) -> None:
        x = np.arange(3.0)
        x.flags.writeable = False
        assert not np.asarray(PyGPU.asarray(x, device="cpu")).flags.writeable

    def test_dunder_array_shares_memory_unless_copy_or_dtype_is_requested(self) -> None:
        a = PyGPU.arange(3, device="cpu")
        assert a.__array__().ctypes.data == a.ptr
        assert a.__array__(copy=False).ctypes.data == a.ptr
        assert a.__array__(a.dtype, copy=None).ctypes.data == a.ptr
        assert a.__array__(copy=True).ctypes.data != a.ptr
        assert a.__array__(np.float32).dtype == np.float32
        with pytest.raises(ValueError, match="copy"):
            a.__array__(np.float32, copy=False)
        with pytest.raises(TypeError):
            a.__array__("no such type")

    def test_ndarray_view_of_array_keeps_memory_alive(self) -> None:
        a = PyGPU.full(1000, 3.0, device="cpu")
        n = np.asarray(a)
        del a
        gc.collect()
        assert (n == 3).all()
