"""Build DLPack structures and producers by ctypes, for tests of imports.

The structures follow or violate the standard of DLPack. The producers have unusual properties that also occur in real
libraries.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

import PyGPU

LEGACY, VERSIONED = b"dltensor", b"dltensor_versioned"
READ_ONLY, IS_COPIED = 1, 2
CPU, CUDA, CUDA_HOST, ROCM, ROCM_HOST, CUDA_MANAGED = 1, 2, 3, 10, 11, 13
INT, UINT, FLOAT, OPAQUE, BFLOAT, COMPLEX, BOOL = range(7)


class DLDevice(ctypes.Structure):
    _fields_ = (("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32))


class DLDataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class DLManagedTensor(ctypes.Structure):
    _fields_ = (("dl_tensor", DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", DLTensor),
    )


class DLPackExchangeAPI(ctypes.Structure):
    """Define DLPack's C exchange table: a header, and pointers to five functions."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("prev_api", ctypes.c_void_p),
        ("managed_tensor_allocator", ctypes.c_void_p),
        ("managed_tensor_from_py_object_no_sync", ctypes.c_void_p),
        ("managed_tensor_to_py_object_no_sync", ctypes.c_void_p),
        ("dltensor_from_py_object_no_sync", ctypes.c_void_p),
        ("current_work_stream", ctypes.c_void_p),
    )


TABLE = b"dlpack_exchange_api"
# A function of type PYFUNCTYPE is called with the GIL held, as by C code, and its Python exception is raised.
FROM_OBJECT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
LEND = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(DLTensor))
WORK_STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))

_api = ctypes.pythonapi
new_capsule = _api.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
capsule_pointer = _api.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
capsule_name = _api.PyCapsule_GetName
capsule_name.restype, capsule_name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
set_capsule_name = _api.PyCapsule_SetName
set_capsule_name.restype, set_capsule_name.argtypes = ctypes.c_int, (ctypes.py_object, ctypes.c_char_p)

# A capsule stores a pointer to its name without a copy of the text, so these names live as long as the process.
_NAMES = {name: ctypes.c_char_p(name) for name in (LEGACY, VERSIONED, b"used_" + LEGACY, b"used_" + VERSIONED)}


def int64s(values: Sequence[int]) -> Any:
    return (ctypes.c_int64 * max(len(values), 1))(*values)


class Forged:
    """Hold a forged tensor and count the calls of its deleter.

    The default is a float32 tensor of shape (2, 3). Keep this object as long as the deleter may be called.
    """

    def __init__(self, *, versioned: bool = True, deleter: bool = True) -> None:
        self.deleted: list[int] = []
        self.memory = np.arange(64, dtype=np.float32)
        self._kept: list[Any] = []
        self.managed = DLManagedTensorVersioned() if versioned else DLManagedTensor()
        self.versioned = versioned
        if versioned:
            self.managed.major, self.managed.minor = 1, 3
        self._deleter = Deleter(lambda pointer: self.deleted.append(pointer))
        if deleter:
            self.managed.deleter = ctypes.cast(self._deleter, ctypes.c_void_p)
        self.set(shape=(2, 3), strides=(3, 1))
        self.tensor.data = self.memory.ctypes.data
        self.tensor.device = DLDevice(CPU, 0)
        self.tensor.dtype = DLDataType(FLOAT, 32, 1)

    @property
    def tensor(self) -> DLTensor:
        return self.managed.dl_tensor

    @property
    def address(self) -> int:
        return ctypes.addressof(self.managed)

    def set(self, **claims: Any) -> Forged:
        """Set members of the structure DLTensor, `version` or `flags` to correct or incorrect values."""
        for name, value in claims.items():
            match name:
                case "version":
                    self.managed.major, self.managed.minor = value
                case "flags":
                    self.managed.flags = value
                case "shape" | "strides" if value is not None:
                    array = int64s(value)
                    self._kept.append(array)
                    setattr(self.tensor, name, ctypes.cast(array, ctypes.POINTER(ctypes.c_int64)))
                    if name == "shape":
                        self.tensor.ndim = len(value)
                case "dtype":
                    self.tensor.dtype = DLDataType(*value)
                case "device":
                    self.tensor.device = DLDevice(*value)
                case _:
                    setattr(self.tensor, name, value)
        return self

    def capsule(self, name: bytes | None = None) -> object:
        default = VERSIONED if self.versioned else LEGACY
        return new_capsule(self.address, _NAMES[name or default], None)


class Producer:
    """Export a forged tensor by DLPack's two methods, and record the arguments of each call."""

    def __init__(self, forged: Forged | None = None, device: object = (CPU, 0)) -> None:
        self.forged = forged or Forged()
        self.device = device
        self.requests: list[dict[str, Any]] = []

    def __dlpack_device__(self) -> object:
        return self.device

    def __dlpack__(self, **keywords: Any) -> object:
        self.requests.append(keywords)
        return self.forged.capsule()


def managed_of(capsule: object) -> DLManagedTensor | DLManagedTensorVersioned:
    """Return the managed tensor in a capsule that no consumer has consumed."""
    name = capsule_name(capsule)
    kind = DLManagedTensorVersioned if name == VERSIONED else DLManagedTensor
    return kind.from_address(capsule_pointer(capsule, name))


def consume(capsule: object) -> int:
    """Consume a capsule and return the address of the capsule's tensor; the caller must call the tensor's deleter."""
    name = capsule_name(capsule)
    pointer = capsule_pointer(capsule, name)
    assert set_capsule_name(capsule, _NAMES[b"used_" + name]) == 0
    return pointer


def delete(pointer: int, *, versioned: bool = True) -> None:
    """Call the deleter of a tensor; ctypes releases the GIL during the call."""
    kind = DLManagedTensorVersioned if versioned else DLManagedTensor
    Deleter(kind.from_address(pointer).deleter)(pointer)


def dimensions(tensor: DLTensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape and the strides of a tensor, in elements."""
    return tuple(tensor.shape[: tensor.ndim]), tuple(tensor.strides[: tensor.ndim])


def table() -> DLPackExchangeAPI:
    """Return the DLPack exchange table of PyGPU's arrays."""
    return DLPackExchangeAPI.from_address(capsule_pointer(PyGPU.GPUArray.__dlpack_c_exchange_api__, TABLE))


def exported(array: object) -> int:
    """Export an array by DLPack's C exchange table, and return the tensor's address. The function `delete` frees the
    tensor."""
    out = ctypes.c_void_p()
    assert FROM_OBJECT(table().managed_tensor_from_py_object_no_sync)(id(array), ctypes.byref(out)) == 0
    assert out.value
    return out.value


class Exported:
    """Own a tensor that DLPack's C exchange table exported.

    Like a consumer in C, the object calls the tensor's deleter when the object is dropped.
    """

    def __init__(self, array: object) -> None:
        self.pointer = exported(array)

    def __del__(self) -> None:
        delete(self.pointer)


def lent(array: object) -> DLTensor:
    """Return a tensor that an array lends by DLPack's C exchange table. The tensor is invalid after the array is
    freed."""
    out = DLTensor()
    assert LEND(table().dltensor_from_py_object_no_sync)(id(array), ctypes.byref(out)) == 0
    return out


def work_stream(kind: int, number: int) -> int:
    """Return the handle of the stream that DLPack's C exchange table reports as the current work stream of a device."""
    out = ctypes.c_void_p(1)
    assert WORK_STREAM(table().current_work_stream)(kind, number, ctypes.byref(out)) == 0
    return out.value or 0
