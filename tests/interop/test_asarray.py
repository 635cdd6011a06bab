"""Test `asarray`: every array-like input is accepted, without a copy if possible, and other input is rejected with a
message."""

import array
import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import dlpack_forge
import PyGPU

BACKEND = PyGPU.backend_name()
gpu_only = pytest.mark.skipif(BACKEND == "cpu", reason="needs a device with a driver")


def on_host(obj: object, *arguments: Any, **keywords: Any) -> PyGPU.GPUArray:
    return PyGPU.asarray(obj, *arguments, device="cpu", **keywords)


@pytest.mark.parametrize(
    "obj",
    [3, 2.5, 1j, True, [1, 2, 3], [[1.5], [2.5]], (1, 2), range(5), np.float32(3), [], np.arange(6).reshape(2, 3)],
    ids=repr,
)
def test_asarray_values_match_numpy(obj: Any) -> None:
    a, n = PyGPU.asarray(obj), np.asarray(obj)
    assert (a.dtype, a.shape, a.tolist()) == (n.dtype, n.shape, n.tolist())


def test_asarray_returns_argument_itself_if_no_conversion_is_needed() -> None:
    a = PyGPU.arange(6).reshape(2, 3)
    assert PyGPU.asarray(a) is a
    assert PyGPU.asarray(a, a.dtype, "C", device=a.device, copy=False) is a
    assert PyGPU.asarray(a, copy=True).ptr != a.ptr
    fortran = PyGPU.asarray(a, order="F")
    assert fortran.flags.f_contiguous
    assert fortran.tolist() == a.tolist()
    assert PyGPU.asarray(a, np.float32).dtype == np.float32


def test_asarray_of_subclass_returns_base_class_with_same_memory() -> None:
    class Mine(PyGPU.GPUArray):
        pass

    a = Mine(3, np.float32)
    b = PyGPU.asarray(a)
    assert (type(b), b.ptr, b.base is a) == (PyGPU.GPUArray, a.ptr, True)


class TestHostMemory:
    @pytest.mark.parametrize("key", [np.s_[:], np.s_[::-1], np.s_[::2, ::-3], np.s_[2:2], np.s_[None, ..., 1]])
    def test_asarray_shares_memory_of_ndarray_with_any_strides(self, key: Any) -> None:
        x = np.arange(24.0).reshape(4, 6)[key]
        a = on_host(x)
        assert (a.shape, a.strides, a.tolist()) == (x.shape, x.strides, x.tolist())
        if x.size:
            assert a.ptr == x.ctypes.data
            x[...] = -1
            assert (a.get() == -1).all()

    def test_asarray_of_readonly_ndarray_is_readonly(self) -> None:
        x = np.arange(3)
        x.flags.writeable = False
        a = on_host(x)
        with pytest.raises(ValueError, match="read-only"):
            a[0] = 1
        on_host(x, copy=True)[0] = 1
        assert x[0] == 0

    def test_ndarray_shared_by_asarray_is_kept_alive_by_each_view(self) -> None:
        x = np.arange(1000)
        before = sys.getrefcount(x)
        view = on_host(x)[::2]
        gc.collect()
        assert sys.getrefcount(x) > before
        del view
        assert sys.getrefcount(x) == before

    def test_asarray_shares_memory_of_unaligned_ndarray(self) -> None:
        x = np.zeros(4, np.dtype([("a", "u1"), ("b", "f8")]))["b"]
        assert not x.flags.aligned
        a = on_host(x)
        x[1] = 5
        assert a.tolist() == [0, 5, 0, 0]

    def test_asarray_shares_memory_of_buffer_objects(self) -> None:
        for x in (bytearray(b"abc"), array.array("i", [1, 2, 3]), memoryview(bytearray(4))):
            a = on_host(x)
            assert a.ptr == np.asarray(x).ctypes.data
        assert not on_host(b"abc" and memoryview(b"abc")).flags["WRITEABLE"]

    def test_asarray_shares_memory_of_array_interface(self) -> None:
        class Host:
            x = np.arange(3.0)
            __array_interface__ = x.__array_interface__

        assert on_host(Host()).ptr == Host.x.ctypes.data

    def test_asarray_shares_memory_of_host_dlpack_producer(self) -> None:
        producer = dlpack_forge.Producer()
        a = on_host(producer)
        assert a.ptr == producer.forged.memory.ctypes.data
        assert a.base is producer

    def test_asarray_shares_memory_of_structured_items(self) -> None:
        x = np.array([(1, 2.0)], np.dtype([("a", "i4"), ("b", "f8")]))
        a = on_host(x)
        assert (a.ptr, a.dtype) == (x.ctypes.data, x.dtype)


class TestCopy:
    def test_asarray_with_copy_true_copies_exactly_once(self) -> None:
        x = np.arange(3)
        a = PyGPU.asarray(x, copy=True)
        x[0] = 9
        assert a.tolist() == [0, 1, 2]

    @pytest.mark.parametrize("obj", [[1, 2], 3, (1.5,), range(3)], ids=repr)
    def test_asarray_with_copy_false_rejects_lists_and_scalars(self, obj: object) -> None:
        with pytest.raises(ValueError, match="copy=False"):
            on_host(obj, copy=False)

    def test_asarray_with_copy_false_rejects_conversion_of_dtype_or_order(self) -> None:
        x = np.arange(6).reshape(2, 3)
        assert on_host(x, copy=False).ptr == x.ctypes.data
        with pytest.raises(ValueError, match="copy=False"):
            on_host(x, np.float32, copy=False)
        with pytest.raises(ValueError, match="copy=False"):
            on_host(x, order="F", copy=False)
        a = on_host(x)
        with pytest.raises(ValueError, match="copy=False"):
            PyGPU.asarray(a, np.float32, copy=False)

    @gpu_only
    def test_asarray_with_copy_false_rejects_transfer_to_other_device(self) -> None:
        with pytest.raises(ValueError, match="copy=False"):
            PyGPU.asarray(np.arange(3), copy=False)
        with pytest.raises(ValueError, match="copy=False"):
            on_host(PyGPU.arange(3), copy=False)


class TestDtypeAndOrder:
    @pytest.mark.parametrize("dtype", ["float32", np.int8, "complex128", np.dtype("u2")])
    def test_asarray_converts_values_to_dtype_like_numpy(self, dtype: Any) -> None:
        x = np.array([0, 1, 200])
        assert PyGPU.asarray(x, dtype).tolist() == np.asarray(x).astype(dtype).tolist()
        assert PyGPU.asarray(x, dtype).dtype == dtype

    def test_large_integers_of_list_are_converted_to_uint64_exactly(self) -> None:
        assert PyGPU.asarray([2**63, 1], np.uint64).tolist() == [2**63, 1]

    def test_asarray_conversion_errors_match_numpy(self) -> None:
        # NumPy 1 warns in this case instead of raising an error, so PyGPU's error cannot be compared with NumPy's.
        with pytest.raises((OverflowError, DeprecationWarning)):
            PyGPU.asarray([300], np.uint8)
        with pytest.raises(ValueError, match="could not convert"):
            PyGPU.asarray(["x"], np.float32)
        with pytest.raises(ValueError, match="inhomogeneous"):
            PyGPU.asarray([[1], [1, 2]])

    @pytest.mark.parametrize("order", ["C", "F", "A", "K", None])
    def test_asarray_memory_orders_match_numpy(self, order: str | None) -> None:
        for x in (np.arange(6).reshape(2, 3), np.arange(6).reshape(3, 2).T, np.arange(24).reshape(2, 3, 4)[:, ::2]):
            a, n = PyGPU.asarray(x, order=order), np.asarray(x, order=order)
            assert a.tolist() == n.tolist()
            if order in ("C", "F"):
                assert a.flags.c_contiguous == n.flags.c_contiguous
                assert a.flags.f_contiguous == n.flags.f_contiguous

    @pytest.mark.parametrize("order", ["X", "", "CF"])
    def test_asarray_with_unknown_order_raises_value_error(self, order: str) -> None:
        with pytest.raises(ValueError, match="order"):
            PyGPU.asarray(np.arange(3), order=order)


class TestRefusals:
    @pytest.mark.parametrize("obj", [object(), "text", None, [object()], {1: 2}, {1}, lambda: 0, Ellipsis])
    def test_asarray_of_non_array_raises_type_error(self, obj: object) -> None:
        with pytest.raises(TypeError, match="asarray"):
            PyGPU.asarray(obj)

    @pytest.mark.parametrize("dtype", [">f4", "O", "U3", "M8[s]"])
    def test_asarray_of_unsupported_dtype_raises_type_error(self, dtype: str) -> None:
        with pytest.raises(TypeError):
            PyGPU.asarray(np.zeros(2, dtype))
        with pytest.raises(TypeError):
            PyGPU.asarray([1], dtype)

    def test_array_interface_error_has_dlpack_error_as_cause(self) -> None:
        class Refusing(dlpack_forge.Producer):
            def __dlpack__(self, **_: object) -> object:
                raise BufferError("dlpack refuses")

            @property
            def __cuda_array_interface__(self) -> object:
                raise RuntimeError("interface refuses")

        with pytest.raises(RuntimeError, match="interface refuses") as caught:
            PyGPU.asarray(Refusing())
        assert isinstance(caught.value.__cause__, BufferError)

    def test_dlpack_error_is_cause_of_type_error_if_numpy_rejects_object(self) -> None:
        class Refusing(dlpack_forge.Producer):
            def __dlpack__(self, **_: object) -> object:
                raise BufferError("dlpack refuses")

        with pytest.raises(TypeError, match="expected an array") as caught:
            PyGPU.asarray(Refusing())
        causes: list[BaseException] = []
        error: BaseException | None = caught.value
        while error is not None:
            causes.append(error)
            error = error.__cause__
        assert any("dlpack refuses" in str(cause) for cause in causes)

    def test_asarray_of_array_on_unknown_device_raises_and_copies_nothing(self) -> None:
        class Elsewhere(dlpack_forge.Producer):
            def __array__(self, *_: object, **__: object) -> np.ndarray:
                raise AssertionError("a silent transfer")

        with pytest.raises(BufferError, match="type 14"):
            PyGPU.asarray(Elsewhere(device=(14, 0)))

    @pytest.mark.parametrize("device", ["tpu", "cpu:x", 10**6, -1, 1.5, object()])
    def test_asarray_rejects_device_that_does_not_exist(self, device: object) -> None:
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            PyGPU.asarray([1, 2], device=device)


@gpu_only
class TestDevice:
    def test_asarray_uploads_host_data_to_default_device(self) -> None:
        for obj in ([1, 2], np.arange(3), dlpack_forge.Producer()):
            assert PyGPU.asarray(obj).device == PyGPU.zeros(1).device

    def test_asarray_leaves_data_on_device_unless_other_device_requested(self) -> None:
        a = PyGPU.arange(3)
        host = on_host(a)
        assert str(host.device) == "cpu"
        assert PyGPU.asarray(host) is host
        assert PyGPU.asarray(host, device=a.device).device == a.device
        assert PyGPU.asarray(host, device=a.device).tolist() == [0, 1, 2]


class TestAssignment:
    """Test that `a[...] = x` converts `x` in the same way as `asarray`."""

    def test_assignment_accepts_any_host_object(self) -> None:
        a = PyGPU.zeros((2, 3))
        for value in (1, 2.5, [1, 2, 3], np.arange(6).reshape(2, 3), dlpack_forge.Producer(), np.float32(4)):
            a[...] = value if not isinstance(value, dlpack_forge.Producer) else PyGPU.from_dlpack(value)
        assert a.tolist() == [[4, 4, 4], [4, 4, 4]]


def test_asarray_does_not_keep_class_of_argument_alive() -> None:
    class Foreign:
        memory = PyGPU.zeros(3)

    kept = weakref.ref(Foreign)
    for _ in range(2):
        with pytest.raises(TypeError):
            PyGPU.asarray(Foreign())
    del Foreign
    gc.collect()
    assert kept() is None

    # A new class may have the address of the deleted class.
    class Other:
        values = np.arange(3.0)
        __array_interface__ = values.__array_interface__

    assert PyGPU.asarray(Other()).get().tolist() == [0, 1, 2]
