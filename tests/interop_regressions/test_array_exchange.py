"""Test interop regressions 1 to 8, 12 and 13 of docs/design/interop_regressions.md: exchange of arrays between
libraries."""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given

import dlpack_forge
import PyGPU
import simulated_driver
from gpu.support import Interface
from support import ML_DTYPES, NUMPYS_OWN, assert_same, basic_keys, on_cpu, pair

BACKEND = PyGPU.backend_name()
gpu_only = pytest.mark.skipif(BACKEND == "cpu", reason="device memory only")
cpu_only = pytest.mark.skipif(BACKEND != "cpu", reason="host memory only")
DEVICE_TYPE = {"cpu": dlpack_forge.CPU, "cuda": dlpack_forge.CUDA, "hip": dlpack_forge.ROCM}[BACKEND]
# Values of the argument `stream` of `__dlpack__` that are not handles: first the valid values, then the forbidden
# values.
STREAM_NUMBERS = {"cpu": ([None, -1, 0], [1]), "cuda": ([None, -1, 0, 1, 2], [-2]), "hip": ([None, -1, 0], [1, 2])}[
    BACKEND
]


class Readonly:
    """Export memory by an array interface whose flag declares it read-only."""

    def __init__(self, array: PyGPU.GPUArray) -> None:
        self.owner = array
        said = array.__array_interface__ if on_cpu() else array.__cuda_array_interface__
        said["data"] = (array.ptr, True)
        setattr(self, "__array_interface__" if on_cpu() else "__cuda_array_interface__", said)


def tensor_of(array: Any) -> tuple[object, dlpack_forge.DLTensor]:
    capsule = array.__dlpack__(max_version=(1, 0))
    return capsule, dlpack_forge.managed_of(capsule).dl_tensor


# Regression 1: protocols that exclude AMD devices.


def test_regression_01_dlpack_device_names_vendor_and_stream_is_checked() -> None:
    """Rule out the defect that an export with a CUDA stream number crashes on ROCm, or a library rejects AMD
    devices."""
    array = PyGPU.arange(3)
    assert array.__dlpack_device__() == (DEVICE_TYPE, 0)
    allowed, forbidden = STREAM_NUMBERS
    for number in allowed:
        assert PyGPU.from_dlpack(array.__dlpack__(stream=number)).ptr == array.ptr
    for number in forbidden:
        with pytest.raises((ValueError, BufferError)):
            array.__dlpack__(stream=number)


@pytest.mark.reads_in_place
def test_regression_01_hasattr_is_false_for_unsupported_interface() -> None:
    """Rule out the defect that the property of an unsupported interface raises RuntimeError, which `hasattr`
    propagates."""
    array = PyGPU.zeros(3)
    assert hasattr(array, "__cuda_array_interface__") is (BACKEND != "cpu")
    assert hasattr(array, "__array_interface__") is (BACKEND == "cpu")


@pytest.mark.skipif(BACKEND != "hip", reason="of AMD")
def test_regression_01_hip_array_interface_waits_and_has_no_stream(
    kernels: Any, slow: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    """Rule out the defect that the interface contains a stream number of CUDA, which is invalid or causes a crash on
    ROCm."""
    kernels.spin(0.05, slow.handle)
    block.fill(2, stream=slow)
    assert block.__cuda_array_interface__["stream"] is None
    assert slow.query()


# Regression 2: the buffer protocol.


def test_regression_02_memoryview_of_array_raises_type_error() -> None:
    """Rule out the defect that PyTorch tries the buffer protocol first, and cannot import a GPU array with a buffer
    slot."""
    array = PyGPU.zeros(3)
    with pytest.raises(TypeError, match="bytes-like"):
        memoryview(array)  # type: ignore[arg-type]


@gpu_only
def test_regression_02_numpy_conversion_of_gpu_array_raises() -> None:
    """Rule out the defect that `__array__` implicitly copies the whole array to the host on each call."""
    with pytest.raises(TypeError, match=r"\.get\(\)"):
        np.asarray(PyGPU.zeros(3))


# Regression 3: imports that copy the memory of an array instead of sharing it.


def test_regression_03_imported_array_shares_memory_with_exporter() -> None:
    """Rule out the defect that `torch.as_tensor(gpu_array)` silently copies to the CPU."""
    array = PyGPU.arange(6, dtype="float32").reshape(2, 3)[:, ::-1]
    for shared in (PyGPU.asarray(array), PyGPU.from_dlpack(array), PyGPU.from_dlpack(array.__dlpack__())):
        assert (shared.ptr, shared.strides, shared.device) == (array.ptr, array.strides, array.device)
    if not on_cpu():
        assert PyGPU.asarray(Interface(array)).ptr == array.ptr


@gpu_only
def test_regression_03_imported_host_array_stays_on_host() -> None:
    """Rule out the defect that the importer implicitly copies the data to its preferred device."""
    host = PyGPU.zeros(3, device="cpu")
    shared = PyGPU.from_dlpack(host)
    assert shared.device.kind == "cpu"
    assert shared.ptr == host.ptr
    with pytest.raises((ValueError, BufferError)):
        PyGPU.from_dlpack(host, device=0, copy=False)


@gpu_only
def test_regression_03_torch_tensor_shares_memory_of_array() -> None:
    """Rule out the defect that only `torch.from_dlpack` shares memory, and other functions of PyTorch make a copy."""
    torch = pytest.importorskip("torch")
    if BACKEND != "cuda" or simulated_driver.driver() is not None:
        pytest.skip("PyTorch is made for real CUDA")
    array = PyGPU.arange(6, dtype="float32")
    assert torch.from_dlpack(array).data_ptr() == array.ptr
    assert torch.asarray(array, device="cuda").data_ptr() == array.ptr


# Regression 4: empty arrays.


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), ()])
def test_regression_04_exchanged_empty_array_has_same_dtype_and_device(shape: tuple[int, ...]) -> None:
    """Rule out the defect that an import of an empty array rejects its null pointer, or changes its dtype or device."""
    array = PyGPU.zeros(shape, "int16")
    capsule, tensor = tensor_of(array)
    assert tensor.data == (array.ptr if array.size else None)
    assert (tensor.device.device_type, tensor.dtype.bits) == (DEVICE_TYPE, 16)
    made = [PyGPU.from_dlpack(capsule), PyGPU.from_dlpack(array), PyGPU.asarray(array.get(), device=array.device)]
    if not on_cpu():
        assert array.__cuda_array_interface__["data"][0] == (array.ptr if array.size else 0)
        made.append(PyGPU.asarray(Interface(array)))
    for other in made:
        assert (other.shape, other.dtype, other.device) == (shape, array.dtype, array.device)
        assert_same(other, np.zeros(shape, "int16"))


# Regression 5: negative strides.


@given(key=basic_keys((4, 5, 6)))
def test_regression_05_exchanged_random_view_has_same_values(key: Any) -> None:
    """Rule out the defect that strides are divided as unsigned numbers, or the process of the consumer aborts."""
    host, array = pair((4, 5, 6), "int32")
    try:
        expected = host[key]
    except IndexError:
        return
    view = array[key]
    shared = PyGPU.from_dlpack(view)
    assert (shared.ptr if shared.size else 0) == (view.ptr if view.size else 0)
    assert_same(shared, np.asarray(expected))


@pytest.mark.parametrize("key", [np.s_[::-1], np.s_[:, ::-1], np.s_[::-2, ::-3]])
def test_regression_05_negative_strides_are_exported_unchanged(key: Any) -> None:
    """Rule out the defect that an exported reversed array has other values than the array."""
    host, array = pair((5, 7), "float32")
    view, expected = array[key], host[key]
    _, tensor = tensor_of(view)
    assert dlpack_forge.dimensions(tensor)[1] == tuple(stride // 4 for stride in expected.strides)
    assert (tensor.data, tensor.byte_offset) == (view.ptr, 0)
    assert view.strides == expected.strides
    if not on_cpu():
        assert view.__cuda_array_interface__["strides"] == expected.strides
    assert_same(PyGPU.from_dlpack(view), expected)
    # If a consumer rejects negative strides, it must still accept a contiguous copy.
    dense = view.copy("C")
    assert dense.flags.c_contiguous
    assert_same(dense, expected)


# Regression 6: read-only data.


@pytest.mark.reads_in_place
def test_regression_06_exchanged_read_only_array_stays_read_only() -> None:
    """Rule out the defect that the consumer ignores the read-only flag, and overwrites a constant of another
    library."""
    array = PyGPU.asarray(Readonly(PyGPU.zeros((2, 3), "float32")))
    for view in (array, array[0], array.T):
        assert not view.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 1
        with pytest.raises(ValueError, match="read-only"):
            view.fill(1)
    capsule = array.__dlpack__(max_version=(1, 0))
    assert dlpack_forge.managed_of(capsule).flags & dlpack_forge.READ_ONLY
    again = PyGPU.from_dlpack(capsule)
    assert not again.flags.writeable
    if not on_cpu():
        assert array.__cuda_array_interface__["data"] == (array.ptr, True)
    copied = array.copy()
    copied[0] = 1
    assert copied.tolist() == [[1, 1, 1], [0, 0, 0]]


@pytest.mark.reads_in_place
def test_regression_06_error_of_read_only_export_suggests_max_version() -> None:
    """Rule out the defect that the BufferError does not name `max_version`, which the consumer must pass."""
    with pytest.raises(BufferError, match="max_version"):
        PyGPU.asarray(Readonly(PyGPU.zeros(3))).__dlpack__()


# Regression 7: dtypes other than float32.


@pytest.mark.reads_in_place
@pytest.mark.parametrize("name", [*NUMPYS_OWN, *ML_DTYPES])
def test_regression_07_array_of_every_dtype_is_exchanged_unchanged(name: str) -> None:
    """Rule out the defect that arrays of bool, bfloat16 or 8-bit floats are rejected, change dtype, or crash the
    process."""
    dtype = np.dtype(getattr(ml_dtypes, name) if name in ML_DTYPES else name)
    host, array = pair((2, 3), dtype)
    _, tensor = tensor_of(array)
    assert (tensor.dtype.bits, tensor.dtype.lanes) == (8 * dtype.itemsize, 1)
    assert_same(array, host)
    assert_same(PyGPU.from_dlpack(array), host)
    interface = "__array_interface__" if on_cpu() else "__cuda_array_interface__"
    # An array has no array interface if its dtype has no typestr that all libraries accept.
    assert hasattr(array, interface) is (name in NUMPYS_OWN)
    if name in NUMPYS_OWN:
        assert getattr(array, interface)["typestr"] == dtype.str
        if not on_cpu():
            assert_same(PyGPU.asarray(Interface(array)), host)


# Regression 8: strides of axes of length 1.


@pytest.mark.parametrize("shape", [(1, 77), (77, 1), (1, 1, 5)])
def test_regression_08_stride_of_axis_of_length_one_is_ignored(shape: tuple[int, ...]) -> None:
    """Rule out the defect that the stride of an axis of length 1 makes an importer treat the array as not contiguous,
    or changes its values."""
    host, array = pair(shape, "float32")
    assert array.flags.c_contiguous
    product = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    assert list(dlpack_forge.dimensions(tensor_of(array)[1])[1]) == product
    forged = dlpack_forge.Forged().set(
        shape=shape, strides=[p if n > 1 else 12345 for n, p in zip(shape, product, strict=True)]
    )
    forged.memory = host.reshape(-1).copy()
    forged.tensor.data = forged.memory.ctypes.data
    taken = PyGPU.from_dlpack(forged.capsule())
    assert taken.flags.c_contiguous
    assert taken.flags.f_contiguous is host.flags.f_contiguous
    assert taken.tolist() == host.tolist()


def test_regression_08_exchanged_view_with_new_axis_has_same_values() -> None:
    """Rule out the defect that the exported strides of the views `x[:, :1]` and `x[None]` are wrong."""
    host, array = pair((4, 6), "float32")
    for take in (lambda x: x[:, :1], lambda x: x[None], lambda x: x[:1, None, ::2]):
        assert take(array).flags.c_contiguous is take(host).flags.c_contiguous
        assert_same(PyGPU.from_dlpack(take(array)), take(host))


# Regression 12: `byte_offset` and alignment.


def forged_on_device(array: PyGPU.GPUArray, **claims: Any) -> dlpack_forge.Forged:
    forged = dlpack_forge.Forged()
    forged.owner = array  # type: ignore[attr-defined]
    forged.tensor.data = array.ptr
    forged.tensor.device = dlpack_forge.DLDevice(*array.__dlpack_device__())
    return forged.set(**claims)


def test_regression_12_import_adds_byte_offset_to_data_address() -> None:
    """Rule out the defect that the byte offset is ignored, which gives wrong data without an error."""
    host, array = pair((64,), "float32")
    taken = PyGPU.from_dlpack(forged_on_device(array, byte_offset=8 * 4).capsule())
    assert taken.ptr == array.ptr + 32
    assert_same(taken, host[8:14].reshape(2, 3))
    _, tensor = tensor_of(taken[1:])
    assert (tensor.data, tensor.byte_offset) == (array.ptr + 32 + 12, 0)


def test_regression_12_array_aligned_to_item_size_is_exchanged() -> None:
    """Rule out the defect that a consumer that requires addresses at multiples of 64 or 256 bytes rejects views."""
    host, array = pair((64,), "float32")
    assert_same(PyGPU.from_dlpack(array[1:]), host[1:])
    with pytest.raises((BufferError, ValueError), match="align"):
        PyGPU.from_dlpack(forged_on_device(array, byte_offset=2).capsule())


# Regression 13: the cost of exchanging an array.


def test_regression_13_c_exchange_table_is_exported() -> None:
    """Rule out the defect that an exchange by Python methods takes ten times as long as by the table of C functions."""
    name = b"dlpack_exchange_api"
    address = dlpack_forge.capsule_pointer(PyGPU.GPUArray.__dlpack_c_exchange_api__, name)
    table = dlpack_forge.DLPackExchangeAPI.from_address(address)
    assert (table.major, table.minor) == (1, 3)
    lend = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(dlpack_forge.DLTensor))
    array, tensor = PyGPU.zeros((2, 3)), dlpack_forge.DLTensor()
    assert lend(table.dltensor_from_py_object_no_sync)(array, ctypes.byref(tensor)) == 0
    assert (tensor.data, dlpack_forge.dimensions(tensor)) == (array.ptr, ((2, 3), (3, 1)))


@pytest.mark.reads_in_place
def test_regression_13_exchange_table_of_other_library_is_used_first() -> None:
    """Rule out the defect that PyGPU calls the Python methods of a library that has an exchange table."""
    array = PyGPU.zeros((2, 3))

    class Tensor:
        """Imitate a type of another library, with an exchange table, and with DLPack methods that must not be
        called."""

        __dlpack_c_exchange_api__ = dlpack_forge.new_capsule(ctypes.addressof(OTHERS), OTHERS_NAME, None)

        def __dlpack__(self, **_: object) -> object:
            raise AssertionError("the table comes first")

        __dlpack_device__ = __dlpack__

    ASKED.clear()
    LENT[:] = [array]
    try:
        for take in (PyGPU.from_dlpack, PyGPU.asarray):
            assert take(Tensor()).ptr == array.ptr
    finally:
        LENT.clear()
    assert ASKED == ["export", "export"]


ASKED: list[str] = []
LENT: list[PyGPU.GPUArray] = []
EXPORT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
WORK_STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


@EXPORT
def export_lent(_: int, out: Any) -> int:
    ASKED.append("export")
    out[0] = dlpack_forge.consume(LENT[0].__dlpack__(max_version=(1, 0)))
    return 0


@WORK_STREAM
def default_stream(_: int, __: int, out: Any) -> int:
    out[0] = None
    return 0


# The exchange table, its name and its functions stay valid until the process ends.
OTHERS_NAME = ctypes.c_char_p(b"dlpack_exchange_api")
OTHERS = dlpack_forge.DLPackExchangeAPI(major=1, minor=3)
OTHERS.managed_tensor_from_py_object_no_sync = ctypes.cast(export_lent, ctypes.c_void_p).value
OTHERS.current_work_stream = ctypes.cast(default_stream, ctypes.c_void_p).value
