"""`cuda*` calls that query attributes of a device, an address or a kernel."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, SupportsIndex

from PyGPU import _core
from PyGPU._pybindgpu.address_arguments import Address, address_of
from PyGPU._pybindgpu.runtime.device import checked_device
from PyGPU._pybindgpu.status import INVALID_VALUE, StatusError, cudaError_t, value_of

if TYPE_CHECKING:
    from PyGPU._core import Function, Kernel

__all__ = [
    "cudaDeviceAttr",
    "cudaDeviceGetAttribute",
    "cudaFuncAttributes",
    "cudaFuncGetAttributes",
    "cudaInvalidDeviceId",
    "cudaMemoryTypeDevice",
    "cudaMemoryTypeHost",
    "cudaMemoryTypeManaged",
    "cudaMemoryTypeUnregistered",
    "cudaPointerAttributes",
    "cudaPointerGetAttributes",
]

cudaInvalidDeviceId = -2
"""Device number of memory that is not registered with the driver."""

cudaMemoryTypeUnregistered = 0
"""Ordinary host memory, or an address without memory."""
cudaMemoryTypeHost = 1
"""Page-locked memory of the host."""
cudaMemoryTypeDevice = 2
"""Memory of a device."""
cudaMemoryTypeManaged = 3
"""Managed memory, which host and device both access."""

_TYPES = {"host": cudaMemoryTypeHost, "device": cudaMemoryTypeDevice, "managed": cudaMemoryTypeManaged}


class cudaDeviceAttr(IntEnum):
    """Attributes for `cudaDeviceGetAttribute`; CUDA's driver uses the same numbers.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cudaDeviceAttr.cudaDevAttrWarpSize == 10
    True
    """

    cudaDevAttrMaxThreadsPerBlock = 1
    cudaDevAttrMaxBlockDimX = 2
    cudaDevAttrMaxBlockDimY = 3
    cudaDevAttrMaxBlockDimZ = 4
    cudaDevAttrMaxGridDimX = 5
    cudaDevAttrMaxGridDimY = 6
    cudaDevAttrMaxGridDimZ = 7
    cudaDevAttrMaxSharedMemoryPerBlock = 8
    cudaDevAttrTotalConstantMemory = 9
    cudaDevAttrWarpSize = 10
    cudaDevAttrMaxPitch = 11
    cudaDevAttrMaxRegistersPerBlock = 12
    cudaDevAttrClockRate = 13
    cudaDevAttrTextureAlignment = 14
    cudaDevAttrGpuOverlap = 15
    cudaDevAttrMultiProcessorCount = 16
    cudaDevAttrKernelExecTimeout = 17
    cudaDevAttrIntegrated = 18
    cudaDevAttrCanMapHostMemory = 19
    cudaDevAttrComputeMode = 20
    cudaDevAttrMaxTexture1DWidth = 21
    cudaDevAttrMaxTexture2DWidth = 22
    cudaDevAttrMaxTexture2DHeight = 23
    cudaDevAttrMaxTexture3DWidth = 24
    cudaDevAttrMaxTexture3DHeight = 25
    cudaDevAttrMaxTexture3DDepth = 26
    cudaDevAttrMaxTexture2DLayeredWidth = 27
    cudaDevAttrMaxTexture2DLayeredHeight = 28
    cudaDevAttrMaxTexture2DLayeredLayers = 29
    cudaDevAttrSurfaceAlignment = 30
    cudaDevAttrConcurrentKernels = 31
    cudaDevAttrEccEnabled = 32
    cudaDevAttrPciBusId = 33
    cudaDevAttrPciDeviceId = 34
    cudaDevAttrTccDriver = 35
    cudaDevAttrMemoryClockRate = 36
    cudaDevAttrGlobalMemoryBusWidth = 37
    cudaDevAttrL2CacheSize = 38
    cudaDevAttrMaxThreadsPerMultiProcessor = 39
    cudaDevAttrAsyncEngineCount = 40
    cudaDevAttrUnifiedAddressing = 41
    cudaDevAttrMaxTexture1DLayeredWidth = 42
    cudaDevAttrMaxTexture1DLayeredLayers = 43
    cudaDevAttrMaxTexture2DGatherWidth = 45
    cudaDevAttrMaxTexture2DGatherHeight = 46
    cudaDevAttrMaxTexture3DWidthAlt = 47
    cudaDevAttrMaxTexture3DHeightAlt = 48
    cudaDevAttrMaxTexture3DDepthAlt = 49
    cudaDevAttrPciDomainId = 50
    cudaDevAttrTexturePitchAlignment = 51
    cudaDevAttrMaxTextureCubemapWidth = 52
    cudaDevAttrMaxTextureCubemapLayeredWidth = 53
    cudaDevAttrMaxTextureCubemapLayeredLayers = 54
    cudaDevAttrMaxSurface1DWidth = 55
    cudaDevAttrMaxSurface2DWidth = 56
    cudaDevAttrMaxSurface2DHeight = 57
    cudaDevAttrMaxSurface3DWidth = 58
    cudaDevAttrMaxSurface3DHeight = 59
    cudaDevAttrMaxSurface3DDepth = 60
    cudaDevAttrMaxSurface1DLayeredWidth = 61
    cudaDevAttrMaxSurface1DLayeredLayers = 62
    cudaDevAttrMaxSurface2DLayeredWidth = 63
    cudaDevAttrMaxSurface2DLayeredHeight = 64
    cudaDevAttrMaxSurface2DLayeredLayers = 65
    cudaDevAttrMaxSurfaceCubemapWidth = 66
    cudaDevAttrMaxSurfaceCubemapLayeredWidth = 67
    cudaDevAttrMaxSurfaceCubemapLayeredLayers = 68
    cudaDevAttrMaxTexture1DLinearWidth = 69
    cudaDevAttrMaxTexture2DLinearWidth = 70
    cudaDevAttrMaxTexture2DLinearHeight = 71
    cudaDevAttrMaxTexture2DLinearPitch = 72
    cudaDevAttrMaxTexture2DMipmappedWidth = 73
    cudaDevAttrMaxTexture2DMipmappedHeight = 74
    cudaDevAttrComputeCapabilityMajor = 75
    cudaDevAttrComputeCapabilityMinor = 76
    cudaDevAttrMaxTexture1DMipmappedWidth = 77
    cudaDevAttrStreamPrioritiesSupported = 78
    cudaDevAttrGlobalL1CacheSupported = 79
    cudaDevAttrLocalL1CacheSupported = 80
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81
    cudaDevAttrMaxRegistersPerMultiprocessor = 82
    cudaDevAttrManagedMemory = 83
    cudaDevAttrIsMultiGpuBoard = 84
    cudaDevAttrMultiGpuBoardGroupID = 85
    cudaDevAttrHostNativeAtomicSupported = 86
    cudaDevAttrSingleToDoublePrecisionPerfRatio = 87
    cudaDevAttrPageableMemoryAccess = 88
    cudaDevAttrConcurrentManagedAccess = 89
    cudaDevAttrComputePreemptionSupported = 90
    cudaDevAttrCanUseHostPointerForRegisteredMem = 91
    cudaDevAttrCooperativeLaunch = 95
    cudaDevAttrCooperativeMultiDeviceLaunch = 96
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
    cudaDevAttrCanFlushRemoteWrites = 98
    cudaDevAttrHostRegisterSupported = 99
    cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100
    cudaDevAttrDirectManagedMemAccessFromHost = 101
    cudaDevAttrMaxBlocksPerMultiprocessor = 106
    cudaDevAttrMaxPersistingL2CacheSize = 108
    cudaDevAttrMaxAccessPolicyWindowSize = 109
    cudaDevAttrReservedSharedMemoryPerBlock = 111
    cudaDevAttrSparseCudaArraySupported = 112
    cudaDevAttrHostRegisterReadOnlySupported = 113
    cudaDevAttrTimelineSemaphoreInteropSupported = 114
    cudaDevAttrMemoryPoolsSupported = 115
    cudaDevAttrGPUDirectRDMASupported = 116
    cudaDevAttrGPUDirectRDMAFlushWritesOptions = 117
    cudaDevAttrGPUDirectRDMAWritesOrdering = 118
    cudaDevAttrMemoryPoolSupportedHandleTypes = 119
    cudaDevAttrClusterLaunch = 120
    cudaDevAttrDeferredMappingCudaArraySupported = 121
    cudaDevAttrIpcEventSupport = 125


def cudaDeviceGetAttribute(attr: SupportsIndex, device: SupportsIndex) -> tuple[int, cudaError_t]:
    """Query an attribute of a device.

    Parameters
    ----------
    attr : int
        A member of `cudaDeviceAttr`, or the number of a newer attribute.
    device : int
        Ordinal of the device.

    Returns
    -------
    value : int
        Value of the attribute; 0 after an error.
    status : cudaError_t
        1 (``cudaErrorInvalidValue``) for an attribute unknown to the driver, 101 for a device that does not exist, 801
        (``cudaErrorNotSupported``) for an attribute that only CUDA has.

    Raises
    ------
    TypeError
        If an argument is not an integer.

    Examples
    --------
    >>> import PyGPU
    >>> warp, err = PyGPU.cudaDeviceGetAttribute(PyGPU.cudaDeviceAttr.cudaDevAttrWarpSize, 0)
    >>> warp > 0, err
    (True, <cudaError: code=0>)
    """
    number, ordinal = operator.index(attr), operator.index(device)

    def query() -> int:
        checked_device(ordinal)
        if not 0 < number < 1 << 31:
            raise StatusError(INVALID_VALUE)
        return _core.device_attribute(number, ordinal)

    return value_of(0, query)


@dataclass(frozen=True)
class cudaPointerAttributes:
    """Result of `cudaPointerGetAttributes`.

    Parameters
    ----------
    type : int
        ``cudaMemoryTypeUnregistered`` (0), ``cudaMemoryTypeHost`` (1), ``cudaMemoryTypeDevice`` (2) or
        ``cudaMemoryTypeManaged`` (3).
    device : int
        Number of the device that owns the memory, or for which the memory is page-locked; ``cudaInvalidDeviceId`` (-2)
        for memory that is not registered with the driver.
    devicePointer : int
        Address of the memory in device code; 0 if devices cannot access the memory.
    hostPointer : int
        Address of the memory in host code; 0 if the host cannot access the memory.

    Examples
    --------
    >>> import numpy, PyGPU
    >>> attributes, err = PyGPU.cudaPointerGetAttributes(numpy.zeros(3))
    >>> attributes.type, attributes.device
    (0, -2)
    """

    type: int
    device: int
    devicePointer: int
    hostPointer: int


def cudaPointerGetAttributes(ptr: Address) -> tuple[cudaPointerAttributes, cudaError_t]:
    """Query the attributes of an address.

    Parameters
    ----------
    ptr : int, ctypes.c_void_p, pointer wrapper or ndarray
        Address to query.

    Returns
    -------
    attributes : cudaPointerAttributes
        The attributes; the type of ordinary host memory is ``cudaMemoryTypeUnregistered``.
    status : cudaError_t
        Success, also for memory that is not
        registered with the driver.

    Raises
    ------
    TypeError
        If `ptr` is not an address.

    Examples
    --------
    >>> import PyGPU
    >>> address, err = PyGPU.cudaMalloc(64)
    >>> attributes, err = PyGPU.cudaPointerGetAttributes(address)
    >>> attributes.type == PyGPU.cudaMemoryTypeDevice, attributes.device, attributes.hostPointer
    (True, 0, 0)
    >>> err = PyGPU.cudaFree(address)
    """
    address = address_of(ptr, 0)

    def query() -> cudaPointerAttributes:
        attributes = _core.pointer_attributes(address)
        if attributes is None:
            return cudaPointerAttributes(cudaMemoryTypeUnregistered, cudaInvalidDeviceId, 0, address)
        kind, device, device_pointer, host_pointer = attributes
        return cudaPointerAttributes(_TYPES[kind], device, device_pointer, host_pointer)

    return value_of(cudaPointerAttributes(cudaMemoryTypeUnregistered, cudaInvalidDeviceId, 0, 0), query)


@dataclass(frozen=True)
class cudaFuncAttributes:
    """Result of `cudaFuncGetAttributes`.

    Parameters
    ----------
    sharedSizeBytes : int
        Size of static shared memory per block, in bytes.
    constSizeBytes : int
        Size of constant memory, in bytes.
    localSizeBytes : int
        Size of local memory per thread, in bytes.
    maxThreadsPerBlock : int
        Maximum number of threads per block.
    numRegs : int
        Number of registers per thread.
    ptxVersion : int
        Virtual architecture (PTX) for which the kernel was compiled: 90 stands for 9.0.
    binaryVersion : int
        Architecture for which the kernel was compiled: 90 stands for ``sm_90``.
    maxDynamicSharedSizeBytes : int
        Maximum dynamic shared memory of a launch, in bytes.
    preferredShmemCarveout : int
        Preferred percentage of the on-chip memory to use as shared memory; -1 lets the driver choose.

    Examples
    --------
    >>> import PyGPU
    >>> kernel = PyGPU.Kernel("__global__ void one(int *x) { *x = 1; }")
    >>> attributes, err = PyGPU.cudaFuncGetAttributes(kernel)
    >>> attributes.sharedSizeBytes, attributes.numRegs >= 0
    (0, True)
    """

    sharedSizeBytes: int
    constSizeBytes: int
    localSizeBytes: int
    maxThreadsPerBlock: int
    numRegs: int
    ptxVersion: int
    binaryVersion: int
    maxDynamicSharedSizeBytes: int
    preferredShmemCarveout: int


def cudaFuncGetAttributes(func: Kernel | Function) -> tuple[cudaFuncAttributes, cudaError_t]:
    """Query the attributes of a kernel.

    Parameters
    ----------
    func : PyGPU.Kernel or PyGPU.driver.Function
        Kernel that PyGPU compiled or loaded; PybindGPU has no kernels.

    Returns
    -------
    attributes : cudaFuncAttributes
        The attributes; all 0 after an error.
    status : cudaError_t

    Raises
    ------
    TypeError
        If `func` is no kernel.

    Examples
    --------
    >>> import PyGPU
    >>> kernel = PyGPU.Kernel("__global__ void one(int *x) { *x = 1; }")
    >>> attributes, err = PyGPU.cudaFuncGetAttributes(kernel)
    >>> attributes.maxThreadsPerBlock > 0, err
    (True, <cudaError: code=0>)
    """
    if not isinstance(func, _core.Kernel | _core.Function):
        raise TypeError(f"func is a PyGPU.Kernel or a PyGPU.driver.Function, not {type(func).__name__}")

    def query() -> cudaFuncAttributes:
        attributes = _core.Function(func) if isinstance(func, _core.Kernel) else func
        return cudaFuncAttributes(
            attributes.shared_size_bytes,
            attributes.const_size_bytes,
            attributes.local_size_bytes,
            attributes.max_threads_per_block,
            attributes.num_regs,
            attributes.ptx_version,
            attributes.binary_version,
            attributes.max_dynamic_shared_size_bytes,
            attributes.preferred_shared_memory_carveout,
        )

    return value_of(cudaFuncAttributes(*(0,) * 9), query)
