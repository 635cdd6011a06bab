"""Test `from_dlpack`: producers of every protocol version, capsules, and tensors with invalid fields."""

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dlpack_forge
import PyGPU
from dlpack_forge import Forged, Producer

BACKEND = PyGPU.backend_name()
gpu_only = pytest.mark.skipif(BACKEND == "cpu", reason="needs a device with a driver")

DTYPES = ["bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))]
DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (5,), (2, 1, 3)])
def test_imported_ndarray_has_same_memory_dtype_and_shape(dtype: str, shape: tuple[int, ...]) -> None:
    x = np.ones(shape, dtype)
    a = PyGPU.from_dlpack(x)
    assert (a.dtype, a.shape) == (x.dtype, x.shape)
    assert str(a.device) == "cpu"
    if x.size:
        assert a.ptr == x.ctypes.data
        x[...] = 0
    assert a.tolist() == x.tolist()


@pytest.mark.parametrize("key", [np.s_[::-1], np.s_[::2, ::-3], np.s_[:, 2], np.s_[..., :1], np.s_[None], np.s_[2:2]])
def test_import_of_strided_ndarray_shares_memory(key: Any) -> None:
    x = np.arange(24, dtype=np.int32).reshape(4, 6)[key]
    a = PyGPU.from_dlpack(x)
    assert a.get().tolist() == x.tolist()
    if x.size:
        assert a.ptr == x.ctypes.data
        a[...] = 9
        assert (x == 9).all()


def test_producer_memory_is_deleted_after_last_view_is_dropped() -> None:
    forged = Forged()
    a = PyGPU.from_dlpack(Producer(forged))
    view = a[1]
    exported = np.from_dlpack(view)
    del a
    gc.collect()
    assert forged.deleted == []
    del view
    assert forged.deleted == []
    assert exported.tolist() == [3, 4, 5]
    del exported
    assert forged.deleted == [forged.address]


def test_dlpack_import_of_pygpu_array_is_view_with_same_memory() -> None:
    a = PyGPU.arange(6).reshape(2, 3)
    b = PyGPU.from_dlpack(a[::-1])
    assert (b.ptr, b.shape, b.strides) == (a[::-1].ptr, (2, 3), a[::-1].strides)
    assert PyGPU.from_dlpack(a.__dlpack__()).ptr == a.ptr
    assert PyGPU.from_dlpack(a.__dlpack__(max_version=(1, 0))).device == a.device


class TestArguments:
    def test_array_imported_with_copy_true_owns_its_memory(self) -> None:
        x = np.arange(3)
        a = PyGPU.from_dlpack(x, copy=True)
        x[0] = 9
        assert a.tolist() == [0, 1, 2]
        assert PyGPU.from_dlpack(a, copy=True).ptr != a.ptr

    def test_argument_copy_false_is_passed_to_producer_and_forbids_copies(self) -> None:
        producer = Producer()
        assert PyGPU.from_dlpack(producer, copy=False).ptr == producer.forged.memory.ctypes.data
        assert producer.requests[-1]["copy"] is False
        producer.forged.set(flags=dlpack_forge.IS_COPIED)
        with pytest.raises(ValueError, match="copy=False"):
            PyGPU.from_dlpack(producer, copy=False)

    def test_tensor_that_producer_copied_is_not_copied_again(self) -> None:
        producer = Producer(Forged().set(flags=dlpack_forge.IS_COPIED))
        assert PyGPU.from_dlpack(producer, copy=True).ptr == producer.forged.memory.ctypes.data

    def test_dlpack_import_with_device_cpu_returns_host_array(self) -> None:
        a = PyGPU.arange(6).reshape(2, 3)
        b = PyGPU.from_dlpack(a, device="cpu")
        assert str(b.device) == "cpu"
        assert b.tolist() == a.tolist()
        assert PyGPU.from_dlpack(np.arange(3), device="cpu", copy=False).tolist() == [0, 1, 2]

    @gpu_only
    def test_dlpack_import_copies_data_only_if_other_device_is_requested(self) -> None:
        x = np.arange(6).reshape(2, 3)
        assert str(PyGPU.from_dlpack(x).device) == "cpu"
        there = PyGPU.from_dlpack(x[::-1], device=BACKEND)
        assert there.device.kind == BACKEND if hasattr(there.device, "kind") else True
        assert there.tolist() == x[::-1].tolist()
        with pytest.raises(ValueError, match="copy=False"):
            PyGPU.from_dlpack(x, device=BACKEND, copy=False)
        with pytest.raises(ValueError, match="copy=False"):
            PyGPU.from_dlpack(there, device="cpu", copy=False)

    def test_import_to_unknown_device_raises_before_producer_is_called(self) -> None:
        producer = Producer()
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            PyGPU.from_dlpack(producer, device="tpu:7")
        assert producer.requests == []

    def test_import_from_host_passes_no_stream_to_producer(self) -> None:
        producer = Producer()
        PyGPU.from_dlpack(producer)
        assert producer.requests == [{"max_version": (1, 3)}]

    def test_from_dlpack_with_wrong_arguments_raises_type_error(self) -> None:
        with pytest.raises(TypeError):
            PyGPU.from_dlpack()
        with pytest.raises(TypeError):
            PyGPU.from_dlpack(x=np.arange(3))
        with pytest.raises(TypeError):
            PyGPU.from_dlpack(np.arange(3), copy="no")


class Old(Producer):
    """Define a producer whose `__dlpack__` has the signature of NumPy 1.26."""

    def __dlpack__(self, *, stream: object = None) -> object:
        return super().__dlpack__(stream=stream)


class Ancient(Producer):
    def __dlpack__(self) -> object:
        return super().__dlpack__()


class WithoutCopy(Producer):
    def __dlpack__(self, *, stream: object = None, max_version: object = None) -> object:
        return super().__dlpack__(stream=stream, max_version=max_version)


class TestProducers:
    @pytest.mark.parametrize("kind", [Producer, WithoutCopy, Old, Ancient])
    @pytest.mark.parametrize("copy", [None, False])
    def test_producer_of_each_protocol_version_is_called_once_and_imported(
        self, kind: type[Producer], copy: bool | None
    ) -> None:
        producer = kind()
        assert PyGPU.from_dlpack(producer, copy=copy).tolist() == [[0, 1, 2], [3, 4, 5]]
        assert len(producer.requests) == 1
        gc.collect()
        assert len(producer.forged.deleted) == 1

    def test_producer_may_return_legacy_capsule(self) -> None:
        producer = Producer(Forged(versioned=False))
        a = PyGPU.from_dlpack(producer)
        assert a.tolist() == [[0, 1, 2], [3, 4, 5]]
        assert a.flags["WRITEABLE"]

    def test_producer_error_is_raised(self) -> None:
        class Refusing(Producer):
            def __dlpack__(self, **_: object) -> object:
                raise BufferError("not today")

        with pytest.raises(BufferError, match="not today"):
            PyGPU.from_dlpack(Refusing())

    def test_type_error_of_producer_is_raised(self) -> None:
        class Broken(Producer):
            def __dlpack__(self, **_: object) -> object:
                raise TypeError("my own fault")

        with pytest.raises(TypeError, match="my own fault"):
            PyGPU.from_dlpack(Broken())

    @pytest.mark.parametrize("answer", [None, 1, "dltensor", object()])
    def test_producer_that_returns_no_capsule_raises_type_error(self, answer: object) -> None:
        class Odd(Producer):
            def __dlpack__(self, **_: object) -> object:
                return answer

        with pytest.raises(TypeError, match="capsule"):
            PyGPU.from_dlpack(Odd())

    @pytest.mark.parametrize("device", [None, 1, (1,), (1, "0"), "cpu", (1, 0, 0)])
    def test_producer_device_that_is_no_integer_pair_raises_type_error(self, device: object) -> None:
        with pytest.raises(TypeError, match="__dlpack_device__"):
            PyGPU.from_dlpack(Producer(device=device))

    @pytest.mark.parametrize("device", [(4, 0), (99, 0), (2, 10**6), (2, -1), (-5, 0), (10, 3), (14, 0)])
    def test_error_for_producer_on_missing_device_has_device_type_and_number(self, device: tuple[int, int]) -> None:
        producer = Producer(device=device)
        with pytest.raises(BufferError, match=f"type {device[0]}, number {device[1]}"):
            PyGPU.from_dlpack(producer)
        assert producer.requests == []

    def test_producer_on_unknown_device_is_imported_by_copy_to_host(self) -> None:
        producer = Producer(Forged().set(flags=dlpack_forge.IS_COPIED), device=(14, 0))
        assert PyGPU.from_dlpack(producer, device="cpu").tolist() == [[0, 1, 2], [3, 4, 5]]
        assert producer.requests == [{"dl_device": (1, 0), "max_version": (1, 3)}]

    @pytest.mark.parametrize("device_type", [dlpack_forge.CPU, dlpack_forge.CUDA_HOST, dlpack_forge.ROCM_HOST])
    def test_pinned_memory_is_imported_as_host_memory(self, device_type: int) -> None:
        producer = Producer(Forged().set(device=(device_type, 0)), device=(device_type, 0))
        assert str(PyGPU.from_dlpack(producer).device) == "cpu"

    @pytest.mark.parametrize("x", [1, "text", [1, 2], None, object(), {}])
    def test_object_without_both_dlpack_methods_raises_attribute_error(self, x: object) -> None:
        with pytest.raises(AttributeError, match="__dlpack__"):
            PyGPU.from_dlpack(x)

    def test_object_with_one_of_two_dlpack_methods_raises_attribute_error(self) -> None:
        class Half:
            def __dlpack_device__(self) -> tuple[int, int]:
                return (1, 0)

        class OtherHalf:
            def __dlpack__(self, **_: object) -> object:
                raise AssertionError("asked without knowing the device")

        for half in (Half(), OtherHalf()):
            with pytest.raises(AttributeError, match="both"):
                PyGPU.from_dlpack(half)


class TestCapsules:
    @pytest.mark.parametrize("versioned", [False, True])
    def test_second_import_of_capsule_raises_value_error(self, versioned: bool) -> None:
        forged = Forged(versioned=versioned)
        capsule = forged.capsule()
        a = PyGPU.from_dlpack(capsule)
        assert dlpack_forge.capsule_name(capsule) == b"used_" + (
            dlpack_forge.VERSIONED if versioned else dlpack_forge.LEGACY
        )
        with pytest.raises(ValueError, match="consumed"):
            PyGPU.from_dlpack(capsule)
        del capsule
        assert (a.tolist(), forged.deleted) == ([[0, 1, 2], [3, 4, 5]], [])
        del a
        assert forged.deleted == [forged.address]

    def test_capsule_with_unknown_name_is_rejected(self) -> None:
        import datetime

        with pytest.raises(ValueError, match="datetime"):
            PyGPU.from_dlpack(datetime.datetime_CAPI)
        nameless = dlpack_forge.new_capsule(1, None, None)
        with pytest.raises(ValueError, match="None"):
            PyGPU.from_dlpack(nameless)

    def test_tensor_with_null_deleter_is_imported(self) -> None:
        forged = Forged(deleter=False)
        a = PyGPU.from_dlpack(forged.capsule())
        assert a.tolist() == [[0, 1, 2], [3, 4, 5]]
        del a
        assert forged.deleted == []


LIES: dict[str, dict[str, Any]] = {
    "major version": {"version": (2, 0)},
    "ancient version": {"version": (0, 8)},
    "negative rank": {"ndim": -1},
    "too many axes": {"shape": (1,) * 65, "strides": (1,) * 65},
    "largest rank": {"ndim": 2**31 - 1},
    "null shape": {"shape": None},
    "negative length": {"shape": (2, -3)},
    "size beyond 64 bits": {"shape": (2**62, 2**62)},
    "bytes beyond 64 bits": {"shape": (2**62, 1)},
    "size beyond memory": {"shape": (2**58, 1), "strides": None},
    "empty but overflowing": {"shape": (2**62, 2**62, 0), "strides": None},
    "strides beyond 64 bits": {"strides": (2**62, 1)},
    "negative strides beyond 64 bits": {"strides": (-(2**63), 1)},
    "strides beyond memory": {"strides": (2**55, 1)},
    "strides below zero": {"strides": (-(2**50), 1)},
    "null data": {"data": None},
    "misaligned data": {"byte_offset": 2},
    "offset beyond 64 bits": {"byte_offset": 2**64 - 1},
    "offset from nothing": {"data": None, "byte_offset": 64},
    "data at the end of memory": {"data": 2**64 - 4},
    "no bits": {"dtype": (dlpack_forge.FLOAT, 0, 1)},
    "odd bits": {"dtype": (dlpack_forge.FLOAT, 24, 1)},
    "no lanes": {"dtype": (dlpack_forge.FLOAT, 32, 0)},
    "vector lanes": {"dtype": (dlpack_forge.FLOAT, 32, 4)},
    "opaque handle": {"dtype": (dlpack_forge.OPAQUE, 64, 1)},
    "unknown code": {"dtype": (200, 32, 1)},
    "packed float4": {"dtype": (17, 4, 1)},
    "unknown device": {"device": (77, 0)},
    "negative device type": {"device": (-1, 0)},
    "device that is not there": {"device": (dlpack_forge.CUDA, 10**6)},
}


class TestInvalidTensors:
    @pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
    def test_invalid_tensor_raises_buffer_error_and_is_deleted_once(self, lie: dict[str, Any]) -> None:
        forged = Forged().set(**lie)
        with pytest.raises(BufferError):
            PyGPU.from_dlpack(Producer(forged))
        assert forged.deleted == [forged.address]

    @pytest.mark.parametrize(
        "lie", [lie for lie in LIES.values() if "version" not in lie], ids=[n for n in LIES if "version" not in n]
    )
    def test_invalid_legacy_tensor_raises_buffer_error_and_is_deleted_once(self, lie: dict[str, Any]) -> None:
        forged = Forged(versioned=False).set(**lie)
        with pytest.raises(BufferError):
            PyGPU.from_dlpack(forged.capsule())
        assert forged.deleted == [forged.address]

    def test_error_for_misaligned_tensor_contains_address(self) -> None:
        forged = Forged().set(byte_offset=2)
        with pytest.raises(BufferError, match=f"{forged.tensor.data + 2:#x}"):
            PyGPU.from_dlpack(Producer(forged))

    def test_tensor_of_other_dlpack_major_version_is_deleted_and_not_read(self) -> None:
        forged = Forged().set(version=(2, 0), ndim=-1, data=1, shape=None)
        with pytest.raises(BufferError, match=r"2\.0"):
            PyGPU.from_dlpack(forged.capsule())
        assert forged.deleted == [forged.address]

    def test_tensor_of_later_dlpack_minor_version_is_imported(self) -> None:
        assert PyGPU.from_dlpack(Producer(Forged().set(version=(1, 99)))).shape == (2, 3)

    def test_unknown_flags_of_tensor_are_ignored(self) -> None:
        a = PyGPU.from_dlpack(Producer(Forged().set(flags=2**63 | 4)))
        assert a.flags["WRITEABLE"]

    def test_tensor_on_other_device_than_producer_reports_is_rejected(self) -> None:
        if BACKEND != "cuda":
            pytest.skip("needs CUDA: elsewhere the device itself is refused first")
        forged = Forged()
        with pytest.raises(BufferError, match="says"):
            PyGPU.from_dlpack(Producer(forged, device=(dlpack_forge.CUDA, 0)))
        assert len(forged.deleted) == 1


class TestUnusualTensors:
    """Test tensors that the DLPack standard allows and that many importers handle wrongly."""

    def read(self, **claims: Any) -> PyGPU.GPUArray:
        return PyGPU.from_dlpack(Producer(Forged().set(**claims)))

    def test_imported_tensor_with_null_strides_is_in_c_order(self) -> None:
        assert self.read(strides=None).tolist() == [[0, 1, 2], [3, 4, 5]]

    def test_byte_offset_of_imported_tensor_is_added_to_data_address(self) -> None:
        a = self.read(byte_offset=8)
        assert a.tolist() == [[2, 3, 4], [5, 6, 7]]

    def test_imported_tensor_with_negative_strides_is_reversed(self) -> None:
        a = self.read(strides=(-3, -1), byte_offset=5 * 4)
        assert a.tolist() == [[5, 4, 3], [2, 1, 0]]
        assert a[::-1, ::-1].flags.c_contiguous

    def test_imported_tensor_with_zero_stride_repeats_row(self) -> None:
        assert self.read(strides=(0, 1)).tolist() == [[0, 1, 2], [0, 1, 2]]

    @pytest.mark.parametrize("stride", [0, -7, 2**62, -(2**63)])
    def test_imported_stride_of_axis_of_length_one_is_ignored(self, stride: int) -> None:
        a = self.read(shape=(2, 1, 3), strides=(3, stride, 1))
        assert a.flags.c_contiguous
        assert a.strides == (12, 12, 4)

    @pytest.mark.parametrize("shape", [(0,), (3, 0, 2)])
    def test_empty_tensor_accepts_null_data_and_any_strides(self, shape: tuple[int, ...]) -> None:
        for data in (None, 3):
            a = self.read(shape=shape, strides=(2**62,) * len(shape), data=data)
            assert (a.shape, a.size, a.get().shape) == (shape, 0, shape)

    def test_tensor_of_rank_zero_needs_neither_shape_nor_strides(self) -> None:
        a = self.read(ndim=0, shape=None, strides=None)
        assert (a.shape, float(a)) == ((), 0.0)

    def test_array_imported_from_readonly_tensor_is_readonly(self) -> None:
        a = self.read(flags=dlpack_forge.READ_ONLY)
        with pytest.raises(ValueError, match="read-only"):
            a[0, 0] = 1
        assert not a[1].flags["WRITEABLE"]
        assert a.copy().flags["WRITEABLE"]

    def test_complex128_tensor_with_8_byte_alignment_is_imported(self) -> None:
        a = self.read(shape=(2,), strides=(1,), dtype=(dlpack_forge.COMPLEX, 128, 1), byte_offset=8)
        assert a.dtype == np.complex128

    def test_tensor_with_64_axes_is_imported(self) -> None:
        a = self.read(shape=(1,) * 64, strides=(1,) * 64)
        assert a.ndim == 64


def test_each_deleter_runs_once_during_concurrent_imports_and_drops() -> None:
    rounds, kept = 50, []

    def run() -> None:
        for _ in range(rounds):
            forged = Forged()
            kept.append(forged)
            a = PyGPU.from_dlpack(forged.capsule())
            b = a[::-1]
            del a
            assert b.tolist()[0] == [3, 4, 5]

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert len(kept) == 4 * rounds
    assert all(len(forged.deleted) == 1 for forged in kept)


@pytest.mark.parametrize("make", [lambda: np.arange(3), lambda: np.ones((2, 3), "f4", order="F")])
def test_numpy_array_exported_and_imported_again_shares_memory(make: Callable[[], np.ndarray]) -> None:
    x = make()
    back = np.from_dlpack(PyGPU.from_dlpack(x))
    assert (back.ctypes.data, back.strides, back.dtype) == (x.ctypes.data, x.strides, x.dtype)
