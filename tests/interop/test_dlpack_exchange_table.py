"""Test DLPack's C exchange table: the table that PyGPU exports, and imports by tables of other libraries."""

import ctypes
import gc
import sys
from typing import Any

import numpy as np
import pytest

import dlpack_forge
import PyGPU
from dlpack_forge import (
    FROM_OBJECT,
    LEND,
    WORK_STREAM,
    DLManagedTensorVersioned,
    DLPackExchangeAPI,
    DLTensor,
    Forged,
    exported,
    table,
)

BACKEND = PyGPU.backend_name()
gpu_only = pytest.mark.skipif(BACKEND == "cpu", reason="needs a device with a driver")
KEPT_NAME = ctypes.c_char_p(dlpack_forge.TABLE)

TO_OBJECT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
SET_ERROR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
ALLOCATE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(DLTensor), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, SET_ERROR
)


class TestTableOfPygpu:
    def test_exchange_table_has_version_1_3_and_every_function(self) -> None:
        ours = table()
        assert (ours.major, ours.minor, ours.prev_api) == (1, 3, None)
        for name, _ in DLPackExchangeAPI._fields_[3:]:
            assert getattr(ours, name), name
        assert "__dlpack_c_exchange_api__" not in vars(PyGPU.zeros(1))

    def test_subclass_has_same_exchange_table_as_base_class(self) -> None:
        class Mine(PyGPU.GPUArray):
            pass

        assert dlpack_forge.capsule_pointer(Mine.__dlpack_c_exchange_api__, dlpack_forge.TABLE) == ctypes.addressof(
            table()
        )

    def test_tensor_exported_by_exchange_table_keeps_memory_of_array_alive(self) -> None:
        owner = np.arange(6, dtype=np.float32).reshape(2, 3)
        before = sys.getrefcount(owner)
        a = PyGPU.from_dlpack(owner)[::-1]
        pointer, address = exported(a), a.ptr
        tensor = DLManagedTensorVersioned.from_address(pointer).dl_tensor
        assert (tensor.data, dlpack_forge.dimensions(tensor)) == (address, ((2, 3), (-3, 1)))
        del a
        gc.collect()
        assert sys.getrefcount(owner) > before
        dlpack_forge.delete(pointer)
        PyGPU.zeros(1)  # A reference that was dropped without the GIL is released at the next call of PyGPU.
        assert sys.getrefcount(owner) == before

    def test_tensor_exported_from_readonly_array_has_readonly_flag(self) -> None:
        x = np.arange(3.0)
        x.flags.writeable = False
        pointer = exported(PyGPU.asarray(x, device="cpu"))
        assert DLManagedTensorVersioned.from_address(pointer).flags == dlpack_forge.READ_ONLY
        dlpack_forge.delete(pointer)

    @pytest.mark.parametrize("other", [np.arange(3), 3, None])
    def test_exchange_table_rejects_export_of_objects_that_are_no_arrays(self, other: object) -> None:
        out = ctypes.c_void_p()
        for function in (
            lambda: FROM_OBJECT(table().managed_tensor_from_py_object_no_sync)(id(other), ctypes.byref(out)),
            lambda: LEND(table().dltensor_from_py_object_no_sync)(id(other), ctypes.byref(DLTensor())),
        ):
            with pytest.raises(TypeError, match="GPUArray"):
                function()
        assert out.value is None

    def test_exchange_table_rejects_export_of_structured_array(self) -> None:
        a = PyGPU.empty(2, np.dtype([("x", "f4")]))
        with pytest.raises(BufferError):
            exported(a)

    def test_tensor_imported_by_exchange_table_is_deleted_with_its_array(self) -> None:
        forged = Forged()
        out = ctypes.c_void_p()
        assert TO_OBJECT(table().managed_tensor_to_py_object_no_sync)(forged.address, ctypes.byref(out)) == 0
        a = ctypes.cast(out, ctypes.py_object).value
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(a))
        assert type(a) is PyGPU.GPUArray
        assert a.tolist() == [[0, 1, 2], [3, 4, 5]]
        del a
        assert forged.deleted == [forged.address]

    def test_exchange_table_rejects_and_deletes_invalid_tensor(self) -> None:
        forged = Forged().set(shape=(2, -3))
        out = ctypes.c_void_p()
        with pytest.raises(BufferError):
            TO_OBJECT(table().managed_tensor_to_py_object_no_sync)(forged.address, ctypes.byref(out))
        assert (forged.deleted, out.value) == ([forged.address], None)
        with pytest.raises(BufferError, match="null"):
            TO_OBJECT(table().managed_tensor_to_py_object_no_sync)(None, ctypes.byref(out))

    def test_tensor_lent_by_exchange_table_is_valid_until_array_is_dropped(self) -> None:
        arrays = [PyGPU.zeros((n + 2, 3))[:, ::-1] for n in range(50)]
        tensors = [dlpack_forge.lent(array) for array in arrays]
        for array, tensor in zip(arrays, tensors, strict=True):
            assert (tensor.data, tensor.ndim) == (array.ptr, 2)
            assert dlpack_forge.dimensions(tensor) == (array.shape, (3, -1))
            again = dlpack_forge.lent(array)
            assert ctypes.addressof(again.shape.contents) == ctypes.addressof(tensor.shape.contents)

    def test_work_stream_is_null_for_host_and_raises_for_unknown_device(self) -> None:
        assert dlpack_forge.work_stream(dlpack_forge.CPU, 0) == 0
        with pytest.raises(BufferError, match="type 77"):
            dlpack_forge.work_stream(77, 0)

    @gpu_only
    def test_work_stream_of_exchange_table_is_current_stream_of_thread(self) -> None:
        kind, number = PyGPU.zeros(1).__dlpack_device__()
        assert dlpack_forge.work_stream(kind, number) == 0
        stream = PyGPU.Stream()
        with stream:
            assert dlpack_forge.work_stream(kind, number) == stream.handle


class TestAllocator:
    def allocate(self, prototype: DLTensor | None) -> tuple[int, int | None, list[tuple[bytes, bytes]]]:
        errors: list[tuple[bytes, bytes]] = []
        report = SET_ERROR(lambda _, kind, text: errors.append((kind, text)))
        out = ctypes.c_void_p()
        pointer = ctypes.byref(prototype) if prototype is not None else None
        status = ALLOCATE(table().managed_tensor_allocator)(pointer, ctypes.byref(out), None, report)
        return status, out.value, errors

    def test_exchange_table_allocator_uses_shape_and_dtype_of_prototype(self) -> None:
        prototype = Forged().set(data=None, strides=None).tensor
        prototype.device = dlpack_forge.DLDevice(*PyGPU.zeros(1).__dlpack_device__())
        status, pointer, errors = self.allocate(prototype)
        assert (status, errors) == (0, [])
        assert pointer
        tensor = DLManagedTensorVersioned.from_address(pointer).dl_tensor
        assert dlpack_forge.dimensions(tensor) == ((2, 3), (3, 1))
        assert tensor.data
        assert (tensor.dtype.code, tensor.dtype.bits) == (dlpack_forge.FLOAT, 32)
        dlpack_forge.delete(pointer)

    @pytest.mark.parametrize(
        "lie",
        [{"shape": (2, -1)}, {"shape": (2**62, 4)}, {"ndim": -1}, {"dtype": (99, 8, 1)}, {"device": (77, 0)}],
    )
    def test_exchange_table_allocator_reports_unsupported_prototype_once(self, lie: dict[str, Any]) -> None:
        status, pointer, errors = self.allocate(Forged().set(**lie).tensor)
        assert (status, pointer) == (-1, None)
        [(kind, text)] = errors
        assert kind == b"BufferError"
        assert text

    def test_exchange_table_allocator_reports_null_prototype_as_error(self) -> None:
        status, pointer, [(kind, text)] = self.allocate(None)
        assert (status, pointer, kind) == (-1, None, b"BufferError")
        assert b"null" in text

    def test_exchange_table_allocator_reports_error_for_huge_tensor(self) -> None:
        prototype = Forged().set(shape=(2**50, 1)).tensor
        prototype.device = dlpack_forge.DLDevice(*PyGPU.zeros(1).__dlpack_device__())
        status, pointer, [(kind, _)] = self.allocate(prototype)
        assert (status, pointer, kind) == (-1, None, b"MemoryError")


class Library:
    """Define types of another library whose exchange table exports a forged tensor, and record the table's calls."""

    def __init__(self, *, major: int = 1, fails: bool = False) -> None:
        self.forged = Forged()
        self.requests: list[str] = []
        self.api = DLPackExchangeAPI(major=major, minor=3)
        self.fails = fails
        self._functions = (FROM_OBJECT(self._export), WORK_STREAM(self._work_stream))
        self.api.managed_tensor_from_py_object_no_sync = ctypes.cast(self._functions[0], ctypes.c_void_p).value
        self.api.current_work_stream = ctypes.cast(self._functions[1], ctypes.c_void_p).value

    def _export(self, _: int, out: Any) -> int:
        self.requests.append("export")
        if self.fails:
            return -1
        out[0] = self.forged.address
        return 0

    def _work_stream(self, device_type: int, number: int, out: Any) -> int:
        self.requests.append(f"stream of {device_type}:{number}")
        out[0] = None
        return 0

    def make_type(self, api: DLPackExchangeAPI | None = None, **members: Any) -> type:
        capsule = dlpack_forge.new_capsule(ctypes.addressof(api or self.api), KEPT_NAME, None)
        return type("Tensor", (), {"__dlpack_c_exchange_api__": capsule, **members})


KEEP: list[Any] = []  # The DLPack standard requires that an exchange table stays valid until the process ends.


def library(**options: Any) -> Library:
    made = Library(**options)
    KEEP.append(made)
    return made


class TestTableOfOtherLibrary:
    def test_exchange_table_of_producer_is_preferred_to_dlpack_methods(self) -> None:
        other = library()

        def refuse(*_: object, **__: object) -> object:
            raise AssertionError("the table comes first")

        tensor = other.make_type(__dlpack__=refuse, __dlpack_device__=refuse)()
        for take in (PyGPU.from_dlpack, lambda x: PyGPU.asarray(x, device="cpu")):
            other.forged.deleted.clear()
            a = take(tensor)
            assert a.tolist() == [[0, 1, 2], [3, 4, 5]]
            del a
            gc.collect()
            assert len(other.forged.deleted) == 1
        # For host memory, PyGPU does not query the current stream from the producer's table.
        assert set(other.requests) == {"export"}

    def test_older_exchange_table_is_used_if_newer_one_is_unsupported(self) -> None:
        newer, older = library(major=2), library()
        newer.api.prev_api = ctypes.addressof(older.api)
        a = PyGPU.from_dlpack(newer.make_type()())
        assert (newer.requests, older.requests) == ([], ["export"])
        assert a.shape == (2, 3)

    def test_cyclic_chain_of_exchange_tables_raises_attribute_error(self) -> None:
        endless = library(major=2)
        endless.api.prev_api = ctypes.addressof(endless.api)
        with pytest.raises(AttributeError):
            PyGPU.from_dlpack(endless.make_type()())

    @pytest.mark.parametrize("missing", ["managed_tensor_from_py_object_no_sync", "current_work_stream"])
    def test_exchange_table_without_required_function_is_not_used(self, missing: str) -> None:
        other = library()
        setattr(other.api, missing, None)
        with pytest.raises(AttributeError):
            PyGPU.from_dlpack(other.make_type()())
        assert other.requests == []

    @pytest.mark.parametrize("attribute", [1, None, "x", object(), dlpack_forge.new_capsule(1, None, None)])
    def test_exchange_attribute_that_is_no_valid_capsule_is_ignored(self, attribute: object) -> None:
        kind = type("Odd", (dlpack_forge.Producer,), {"__dlpack_c_exchange_api__": attribute})
        assert PyGPU.from_dlpack(kind()).shape == (2, 3)

    def test_exchange_table_error_is_cause_if_dlpack_methods_also_fail(self) -> None:
        other = library(fails=True)
        with pytest.raises(AttributeError, match="both") as caught:
            PyGPU.from_dlpack(other.make_type()())
        causes = []
        error: BaseException | None = caught.value
        while error is not None:
            causes.append(error)
            error = error.__cause__
        assert isinstance(causes[-1], (BufferError, AttributeError))
        assert other.requests == ["export"]

    def test_dlpack_methods_are_used_if_exchange_table_fails(self) -> None:
        other, producer = library(fails=True), dlpack_forge.Producer()
        members = {"__dlpack__": lambda _, **kw: producer.__dlpack__(**kw), "__dlpack_device__": lambda _: (1, 0)}
        assert PyGPU.from_dlpack(other.make_type(**members)()).shape == (2, 3)
        assert other.requests == ["export"]

    def test_invalid_tensor_of_exchange_table_is_deleted_and_raises(self) -> None:
        other = library()
        other.forged.set(shape=(-1, 3))
        with pytest.raises((BufferError, AttributeError)):
            PyGPU.from_dlpack(other.make_type()())
        assert len(other.forged.deleted) == 1

    @pytest.mark.parametrize("mark", ["is_conj", "is_neg"])
    def test_lazily_conjugated_or_negated_tensor_is_rejected(self, mark: str) -> None:
        """Test that lazily conjugated or negated tensors are rejected.

        PyTorch's exchange table, and some of PyTorch's export methods, export the memory without the conjugation or
        negation.
        """
        other, producer = library(), dlpack_forge.Producer()
        marks: dict[str, Any] = {"is_conj": lambda _: False, "is_neg": lambda _: False, "requires_grad": False}
        marks[mark] = lambda _: True
        members = {"__dlpack__": lambda _, **kw: producer.__dlpack__(**kw), "__dlpack_device__": lambda _: (1, 0)}
        tensor = other.make_type(**members, **marks)()
        for take in (PyGPU.from_dlpack, PyGPU.asarray):
            with pytest.raises(BufferError, match=mark.replace("is_", "resolve_")):
                take(tensor)
        assert (other.requests, producer.requests) == ([], [])

    def test_tensor_requiring_gradient_is_imported_by_dlpack_methods(self) -> None:
        other = library()

        def refuse(*_: object, **__: object) -> object:
            raise BufferError("detach it first")

        marks = {"is_conj": lambda _: False, "is_neg": lambda _: False, "requires_grad": True}
        tensor = other.make_type(__dlpack__=refuse, __dlpack_device__=lambda _: (1, 0), **marks)()
        with pytest.raises(BufferError, match="detach"):
            PyGPU.from_dlpack(tensor)
        assert other.requests == []
        plain = other.make_type(**marks | {"requires_grad": False})()
        assert PyGPU.from_dlpack(plain).shape == (2, 3)

    def test_exchange_table_stored_on_instance_is_ignored(self) -> None:
        other = library()
        tensor = type("Tensor", (), {})()
        tensor.__dlpack_c_exchange_api__ = dlpack_forge.new_capsule(ctypes.addressof(other.api), KEPT_NAME, None)
        with pytest.raises(AttributeError):
            PyGPU.from_dlpack(tensor)
        assert other.requests == []


def test_imports_of_300_producer_types_are_correct() -> None:
    kinds = [type(f"Plain{n}", (dlpack_forge.Producer,), {}) for n in range(300)]
    for kind in kinds:
        assert PyGPU.from_dlpack(kind()).shape == (2, 3)
    with_table = library()
    assert PyGPU.from_dlpack(with_table.make_type()()).shape == (2, 3)
    assert with_table.requests == ["export"]
