"""Test PybindGPU's interface: a class for each dtype, allocators, and PybindGPU's own test programs."""

from __future__ import annotations

import array
import ctypes
import pickle
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

import PyGPU
import PyGPU as gpuarray
from pybindgpu_helpers import device_content, typed
from PyGPU import _core, allocators, backend
from PyGPU._pybindgpu import pointer as _pointer
from PyGPU.gpuarray import SUPPORTED_DTYPES, dtype

LABELS = SUPPORTED_DTYPES


def values(label: str) -> NDArray[Any]:
    """Return an ndarray of three values of a dtype."""
    return numpy.array([1, 2, 3], label)


# Tests of names and signatures.


def test_backend_module_has_fifty_classes() -> None:
    kinds = ("DeviceArray", "HostAllocator", "DeviceAllocator", "PagelockedAllocator", "ptr_wrapper")
    classes = {typed(kind, label) for kind in kinds for label in LABELS}
    assert len(classes) == 50
    assert all(cls is typed(*cls.__name__.rsplit("_", 1)) for cls in classes)
    assert {cls.__name__ for cls in classes} <= set(backend.__all__)


def test_every_name_of_pybindgpu_backend_module_exists() -> None:
    assert [name for name in backend.__all__ if not hasattr(backend, name)] == []
    assert len(set(backend.__all__)) == len(backend.__all__)
    assert isinstance(backend.use_hip, bool)
    assert {"use_hip", "DeviceArray_int16"} <= set(dir(backend))


@pytest.mark.parametrize("name", ["DeviceArray_bool", "DeviceArray", "DeviceArray_", "ptr_wrapper_void", "no_such"])
def test_backend_module_rejects_unknown_class_names(name: str) -> None:
    with pytest.raises(AttributeError, match=name):
        getattr(backend, name)


def test_dtype_enumeration_prints_and_compares_like_pybind11() -> None:
    assert repr(dtype.int16) == "<dtype.int16: 0>"
    assert str(dtype.float_alias) == "dtype.float32"
    assert repr(dtype(99)) == "<dtype.???: 99>"
    assert str(dtype(99)) == "dtype.???"
    assert dtype(6) == dtype.float32 == 6
    assert dtype.float_alias == dtype.float32 != dtype.float64
    assert dtype.int16 != "int16"
    assert int(dtype.complex128) == dtype.complex128.value == 9
    assert {dtype.int64: 1}[2] == 1
    assert dtype.__doc__ is not None
    assert dtype.__doc__.startswith("Raw data types")
    assert pickle.loads(pickle.dumps(dtype.int32)) == dtype.int32
    with pytest.raises(AttributeError):
        dtype.int16.value = 3


@pytest.mark.parametrize(
    "argument",
    ["float32", numpy.float32, float, bool, numpy.dtype("i2"), "<u4", [("a", "i4"), ("b", "u1")], ("f4", (2,)), None],
    ids=str,
)
def test_dtype_class_converts_same_values_as_numpy(argument: Any) -> None:
    made = PyGPU.dtype(argument)
    assert type(made) is type(numpy.dtype(argument))
    assert made == numpy.dtype(argument)
    assert isinstance(made, PyGPU.dtype)


def test_dtype_accepts_parameters_of_numpy_and_rejects_other_objects() -> None:
    fields = [("a", "u1"), ("b", "f8")]
    assert PyGPU.dtype(fields, align=True) == numpy.dtype(fields, align=True)
    assert PyGPU.dtype("f4", metadata={"unit": "m"}).metadata == {"unit": "m"}
    assert PyGPU.dtype[numpy.float32] == numpy.dtype[numpy.float32]
    assert not isinstance("float32", PyGPU.dtype)
    for argument in ("nonsense", 1.5, object()):
        with pytest.raises(TypeError):
            numpy.dtype(argument)
        with pytest.raises(TypeError):
            PyGPU.dtype(argument)


def test_members_of_dtype_class_are_valid_array_dtypes() -> None:
    assert isinstance(dtype.int16, PyGPU.dtype)
    for label in LABELS:
        member = getattr(dtype, label)
        assert numpy.dtype(member) == PyGPU.zeros(2, member).dtype == PyGPU.ones(2).astype(member).dtype == label
    for without_dtype in (dtype.__size__, dtype(99)):
        with pytest.raises(TypeError):
            numpy.dtype(without_dtype)


def test_dtype_members_are_labels_then_aliases_then_end_marker() -> None:
    names = list(dtype.__members__)
    assert tuple(names[:10]) == LABELS
    assert all(name.endswith("_alias") for name in names[10:21])
    assert names[21:] == ["__size__"]
    assert all(getattr(dtype, name) == member for name, member in dtype.__members__.items())


@pytest.mark.parametrize("label", LABELS)
def test_device_array_copies_values_of_every_dtype_to_device_and_back(label: str) -> None:
    source = values(label)
    array = typed("DeviceArray", label)(source)
    array.allocate()
    array.to_device()
    source[:] = 0
    array.to_host()
    assert array.last_status() == 0
    assert source.tolist() == values(label).tolist()
    assert (array.size(), array.nbytes(), array.shape()) == (3, source.nbytes, [3])
    assert array.strides() == [source.itemsize]


def test_device_array_accepts_every_constructor_form() -> None:
    DeviceArray = PyGPU.DeviceArray_float32
    pointer = PyGPU.ptr_wrapper_float32()
    pointer.create(6)
    assert DeviceArray(3).shape() == DeviceArray(n=3).shape() == [3]
    assert DeviceArray(True).shape() == [1]
    assert DeviceArray([2, 3]).strides() == DeviceArray((2, 3)).strides() == [12, 4]
    assert DeviceArray([2, 3], 0).strides() == DeviceArray(l=[2, 3], flag_c_contiguous=0).strides() == [4, 8]
    assert DeviceArray(pointer, [2, 3]).strides() == [12, 4]
    assert int(DeviceArray(a=pointer, l=[2, 3], flag_c_contiguous=0).host_data()) == int(pointer)
    assert DeviceArray(int(pointer), 0, [2, 3], 0).strides() == [4, 8]
    assert DeviceArray(host_addr=pointer, device_addr=0, l=[6]).shape() == [6]
    assert DeviceArray(b=numpy.zeros((2, 2), "f4")).shape() == [2, 2]
    assert DeviceArray(array.array("f", [1, 2])).shape() == [2]


@pytest.mark.parametrize(
    "arguments", [(), (1.5,), (None,), ([2], 1, 1), ("ab",), ([2.5],), (["2"],), ({},), (0, 0), (0, 0, 3), ([2], "C")]
)
def test_device_array_rejects_arguments_of_wrong_type_or_number(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        PyGPU.DeviceArray_float64(*arguments)
    with pytest.raises(TypeError):
        PyGPU.DeviceArray_float64(3, order="F")


def test_copy_of_array_without_host_memory_returns_invalid_value() -> None:
    array = PyGPU.DeviceArray_float64(0, 0, [3])
    for call in (array.to_device, array.to_host):
        call()
        assert array.last_status() == 1
    with pytest.raises(BufferError):
        numpy.asarray(array)
    assert array.strides() == [8]
    assert repr(array.host_data()) == "<ptr_wrapper<float64>, is_safe=0, addr=0>"


def test_set_method_of_array_copies_from_host_address() -> None:
    array = PyGPU.DeviceArray_float64([3])
    source = numpy.array([4.0, 5.0, 6.0])
    array.set(source.ctypes.data)
    assert array.last_status() == 0
    assert device_content(array.device_data(), 3) == [4, 5, 6]
    pointer = PyGPU.ptr_wrapper_float64()
    pointer.create(3)
    array.set(pointer)
    assert array.last_status() == 0
    pointer.create(2)
    with pytest.raises(ValueError, match="16 bytes"):
        array.set(pointer)
    with pytest.raises(TypeError):
        array.set(source)
    with pytest.raises(ValueError, match="device memory"):
        array.set(array.device_data())
    array.set(0)
    assert array.last_status() == 1


def test_pointer_wrapper_prints_like_pybindgpu(capsys: pytest.CaptureFixture[str]) -> None:
    pointer = PyGPU.ptr_wrapper_float32()
    assert repr(pointer) == "<ptr_wrapper<float32>, is_safe=0, addr=0>"
    pointer.create(3)
    assert repr(pointer) == f"<ptr_wrapper<float32>, is_safe=1, addr={int(pointer)}>"
    pointer.print_address()
    assert capsys.readouterr().out == f"Address of ptr is {int(pointer):#x}\n"
    assert not hasattr(pointer, "__index__")


def test_ctypes_accepts_pointer_wrapper_as_void_pointer() -> None:
    pointer = PyGPU.ptr_wrapper_int32()
    pointer.create(2)
    ctypes.memset(int(pointer), 0, 8)
    memmove = ctypes.CDLL(None).memmove
    memmove.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    values = numpy.array([7, 8], "i4")
    memmove(pointer, values.ctypes.data, 8)
    assert numpy.asarray(PyGPU.DeviceArray_int32(pointer, [2])).tolist() == [7, 8]


def test_device_pointer_of_array_is_wrapper_marked_as_unsafe() -> None:
    array = gpuarray.to_gpu(numpy.array([1.0, 2.0]))
    pointer = _pointer.device_pointer(array)
    assert type(pointer) is PyGPU.ptr_wrapper_float64
    assert int(pointer) == array.ptr
    assert not pointer.is_safe()


# Tests with the programs of PybindGPU's own test suite, which must give the same results with PyGPU.


def test_dtype_test_program_finds_one_name_for_each_value() -> None:
    count = dtype.__size__.value
    names: list[str | None] = [None] * count
    for name in dtype.__members__:
        if not name.endswith("_alias") and name != "__size__":
            value = dtype.__members__[name].value
            assert names[value] is None
            names[value] = name
    assert None not in names
    assert [dtype(i).name for i in range(count)] == names


def products(array: Any) -> None:
    host = array.get()
    assert host.shape == (3, 5)
    for i in range(3):
        for j in range(5):
            host[i, j] = (i + 1) * (j + 1)
    array.to_device()
    assert (array.get() == numpy.outer(range(1, 4), range(1, 6))).all()


def test_gpuarray_test_program_computes_expected_values() -> None:
    products(gpuarray.GPUArray((3, 5), dtype="float64"))
    products(gpuarray.GPUArray(allocator=allocators.HostAllocator((3, 5), numpy.float64)))
    products(gpuarray.GPUArray(allocator=allocators.PagelockedAllocator((3, 5), numpy.float64)))
    array = gpuarray.GPUArray(numpy.arange(1.0, 6.0))
    array.to_device()
    assert array.get().tolist() == [1, 2, 3, 4, 5]


def test_memcpy_test_program_gets_status_zero_and_copied_values() -> None:
    array = PyGPU.DeviceArray_float64(numpy.arange(5.0))
    for call in (array.allocate, array.to_device, array.to_host):
        call()
        assert repr(array.last_status()) == "<cudaError: code=0>"

    allocator = PyGPU.PagelockedAllocator_float64()
    assert allocator.allocate(10) == 0
    first = PyGPU.DeviceArray_float64(allocator.ptr(), [5, 2])
    second = PyGPU.DeviceArray_float64(allocator.ptr(), [5, 2])
    view = numpy.array(first, copy=False)
    view[:] = numpy.arange(10.0).reshape(5, 2)
    assert (numpy.array(second, copy=False) == view).all()
    for call in (second.allocate, second.to_device, second.to_host):
        call()
        assert second.last_status() == 0
    assert (view == numpy.arange(10.0).reshape(5, 2)).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_order_test_program_gets_same_values_in_each_memory_order(order: Any) -> None:
    expected = numpy.arange(24).reshape(2, 3, 4) * (1 + 2j)
    array = gpuarray.GPUArray(shape=(2, 3, 4), dtype=numpy.complex64, order=order)
    assert len(array.strides) == 3
    host = array.get()
    for index in numpy.ndindex(2, 3, 4):
        host[index] = expected[index]
    array.to_device()
    assert (array.get() == expected).all()

    source = numpy.zeros((2, 3, 4), numpy.complex64, order)
    array = gpuarray.GPUArray(source, copy=False)
    source[:] = expected
    array.to_device()
    assert (array.get() == expected).all()


def test_allocator_test_program_gets_address_only_after_allocation() -> None:
    for kind, success in (("HostAllocator", None), ("DeviceAllocator", 0), ("PagelockedAllocator", 0)):
        for _ in range(2):
            allocator = typed(kind, "float32")()
            assert int(allocator.ptr()) == 0
            assert not allocator.ptr().is_safe()
            for _ in range(2):
                assert allocator.allocate(100) == success
                assert int(allocator.ptr()) != 0


def test_allocator_import_program_shares_memory_of_array(capsys: pytest.CaptureFixture[str]) -> None:
    source = numpy.arange(6).reshape(3, 2)
    first = gpuarray.to_gpu(source)
    assert repr(first)
    second = gpuarray.GPUArray(allocator=gpuarray.Allocator(first))
    assert (second.ptr, tuple(second.shape)) == (first.ptr, (3, 2))
    first.set_val(0, 43)
    first.set_val(1, 44)
    first.set_val(8, 45)
    assert first.last_status == 1
    assert second.get().tolist() == [[43, 44], [2, 3], [4, 5]]
    assert (source == numpy.arange(6).reshape(3, 2)).all()
    assert capsys.readouterr().out == ""


def test_allocator_import_program_shares_memory_of_cupy_array() -> None:
    cupy = pytest.importorskip("cupy")
    if _core.backend_name() != "cuda":
        pytest.skip("CuPy's memory is on a CUDA device")
    other = cupy.zeros((3, 2), numpy.int64)
    mine = gpuarray.GPUArray(allocator=gpuarray.Allocator(other))
    mine.set_val(0, 43)
    assert other[0, 0] == 43


def test_ctypes_program_reads_values_at_device_address(capsys: pytest.CaptureFixture[str]) -> None:
    source = numpy.array([1, 2, 3])
    array = PyGPU.DeviceArray_int64(source)
    array.allocate()
    array.to_device()
    array.device_data().print_address()
    address = array.device_data().__int__()
    assert capsys.readouterr().out == f"Address of ptr is {address:#x}\n"
    assert ctypes.c_void_p(address).value == address
    assert device_content(address, 3, "int64") == [1, 2, 3]
    if _core.backend_name() == "cpu":
        assert (ctypes.c_int64 * 3).from_address(address)[:] == [1, 2, 3]
    other = gpuarray.to_gpu(source)
    other.device_data.print_address()
    assert capsys.readouterr().out == f"Address of ptr is {other.ptr:#x}\n"
    assert device_content(other.ptr, 3, "int64") == [1, 2, 3]


def test_device_properties_program_gets_properties_of_all_devices() -> None:
    assert repr(PyGPU.nvmlInit()).startswith("<nvmlReturn")
    count, status = PyGPU.cudaGetDeviceCount()
    assert status == 0
    for index in range(count):
        found = PyGPU.cudaDeviceProp(index)
        assert isinstance(found.name(), str)
        assert isinstance(found.uuid(), str)
        assert all(isinstance(i, int) for i in (found.pciBusID(), found.pciDeviceID(), found.pciDomainID()))
        device = PyGPU.nvmlDevice(index)
        gpu, memory = device.utilization_rates()
        free, total, used = device.memory_info()
        assert all(number >= 0 for number in (gpu, memory, free, total, used))
    assert repr(PyGPU.nvmlShutdown()).startswith("<nvmlReturn")
